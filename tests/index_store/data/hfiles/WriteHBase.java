import java.nio.charset.StandardCharsets;
import java.util.*;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.*;
import org.apache.hadoop.hbase.*;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.hfile.*;
import org.apache.hadoop.hbase.util.*;

/**
 * WriteHBase [codec] [checksum] [block] [indexblock] [count] [out]: an HFile as Hudi's HBase writer
 * makes it, in small blocks.
 */
public class WriteHBase {
  public static void main(String[] a) throws Exception {
    Configuration conf = new Configuration();
    conf.setInt("hfile.index.block.max.size", Integer.parseInt(a[3]));
    conf.setInt("hfile.index.block.min.entries", 2);
    Path path = new Path(a[5]);
    HFileContext context =
        new HFileContextBuilder()
            .withBlockSize(Integer.parseInt(a[2]))
            .withCompression(Compression.Algorithm.valueOf(a[0]))
            .withChecksumType(ChecksumType.valueOf(a[1]))
            .withBytesPerCheckSum(a.length > 6 ? Integer.parseInt(a[6]) : 16384)
            .withCellComparator(new org.apache.hadoop.hbase.CellComparatorImpl())
            .build();
    HFile.Writer w =
        HFile.getWriterFactory(conf, new CacheConfig(conf))
            .withPath(path.getFileSystem(conf), path)
            .withFileContext(context)
            .create();
    int n = Integer.parseInt(a[4]);
    Random random = new Random(7);
    for (int i = 0; i < n; i++) {
      String key = String.format("key-%05d", i * 3);
      byte[] value = new byte[10 + random.nextInt(30)];
      for (int k = 0; k < value.length; k++) value[k] = (byte) (i + k / 4);
      w.append(new KeyValue(key.getBytes(StandardCharsets.UTF_8), null, null, value));
    }
    w.appendMetaBlock(
        "bloomFilter",
        new org.apache.hadoop.io.Writable() {
          public void write(java.io.DataOutput out) throws java.io.IOException {
            out.write("a meta block".getBytes());
          }

          public void readFields(java.io.DataInput in) {}
        });
    w.appendFileInfo("schema".getBytes(), "{\"type\":\"string\"}".getBytes());
    w.close();
  }
}
