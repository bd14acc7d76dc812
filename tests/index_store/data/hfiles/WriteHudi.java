import java.io.*;
import java.util.*;
import org.apache.hudi.io.compress.CompressionCodec;
import org.apache.hudi.io.hfile.*;

/** WriteHudi [NONE|GZIP] [block] [count] [out]: an HFile by the writer of Hudi 1.1 itself. */
public class WriteHudi {
  public static void main(String[] a) throws Exception {
    HFileContext context =
        HFileContext.builder()
            .blockSize(Integer.parseInt(a[1]))
            .compressionCodec(CompressionCodec.valueOf(a[0]))
            .build();
    try (OutputStream out = new FileOutputStream(a[3]);
        HFileWriter w = new HFileWriterImpl(context, out)) {
      Random random = new Random(7);
      for (int i = 0; i < Integer.parseInt(a[2]); i++) {
        byte[] value = new byte[10 + random.nextInt(30)];
        for (int k = 0; k < value.length; k++) value[k] = (byte) (i + k / 4);
        w.append(String.format("key-%05d", i * 3), value);
      }
      w.appendFileInfo("schema", "{\"type\":\"string\"}".getBytes());
      w.appendMetaInfo("bloomFilter", "a meta block".getBytes());
    }
  }
}
