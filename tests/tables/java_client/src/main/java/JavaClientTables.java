import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Properties;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericRecord;
import org.apache.hadoop.conf.Configuration;
import org.apache.hudi.client.HoodieJavaWriteClient;
import org.apache.hudi.client.WriteStatus;
import org.apache.hudi.client.common.HoodieJavaEngineContext;
import org.apache.hudi.common.engine.EngineType;
import org.apache.hudi.common.model.DefaultHoodieRecordPayload;
import org.apache.hudi.common.model.HoodieAvroRecord;
import org.apache.hudi.common.model.HoodieKey;
import org.apache.hudi.common.model.HoodieRecord;
import org.apache.hudi.common.model.HoodieTableType;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.config.HoodieWriteConfig;
import org.apache.hudi.storage.hadoop.HadoopStorageConfiguration;

/** Writes a small table by Hudi's Java client: {@code FOLDER COPY_ON_WRITE|MERGE_ON_READ}. */
public final class JavaClientTables {
  private static final String SCHEMA =
      "{'type':'record','name':'row','fields':["
          + "{'name':'id','type':'string'},{'name':'p','type':'string'},"
          + optional("i", "'int'")
          + optional("l", "'long'")
          + optional("f", "'float'")
          + optional("d", "'double'")
          + optional("b", "'boolean'")
          + optional("s", "'string'")
          + optional("dt", "{'type':'int','logicalType':'date'}")
          + optional("t", "{'type':'long','logicalType':'timestamp-micros'}")
          + optional("dec", "{'type':'bytes','logicalType':'decimal','precision':10,'scale':2}")
          + "{'name':'ts','type':'long'}]}";
  private static final Schema ROW = new Schema.Parser().parse(SCHEMA.replace('\'', '"'));
  private static final double[] DOUBLES = {Double.NaN, -0.0, 0.0, Double.POSITIVE_INFINITY, -1.5};

  private JavaClientTables() {}

  private static String optional(String name, String type) {
    return "{'name':'" + name + "','type':['null'," + type + "],'default':null},";
  }

  /** The rows with these numbers, as the writer of this commit has them. */
  private static List<HoodieRecord<DefaultHoodieRecordPayload>> rows(
      int commit, IntStream numbers) {
    return numbers.mapToObj(number -> row(commit, number)).collect(Collectors.toList());
  }

  private static HoodieRecord<DefaultHoodieRecordPayload> row(int commit, int number) {
    GenericRecord row = new GenericData.Record(ROW);
    row.put("id", "k" + number);
    row.put("p", "p" + number % 2);
    row.put("i", number % 7 == 3 ? null : commit * 1000 + number);
    row.put("l", number % 9 == 4 ? null : (1L << 40) * (number - 20) + commit);
    row.put(
        "f", number % 8 == 1 ? null : (float) (number < 10 ? DOUBLES[number % 5] : number / 3.0));
    row.put(
        "d", number % 5 == 0 ? null : number < 10 ? DOUBLES[number % 5] : number * 1.5 - commit);
    row.put("b", number % 3 == 0 ? null : number % 4 == 1);
    String text = number % 11 == 5 ? "é".repeat(60) + number : "name" + (100 + number);
    row.put("s", number % 6 == 0 ? null : text);
    row.put(
        "dt",
        number % 10 == 7
            ? null
            : (int) LocalDate.of(1969, 12, 1).plusDays(9L * number).toEpochDay());
    row.put("t", number % 4 == 2 ? null : -1_000_000L + 86_400_000_123L * number);
    BigDecimal decimal = BigDecimal.valueOf(number * 1337L - 9000, 2);
    row.put("dec", number % 5 == 3 ? null : ByteBuffer.wrap(decimal.unscaledValue().toByteArray()));
    row.put("ts", (long) commit);
    return new HoodieAvroRecord<>(key(number), new DefaultHoodieRecordPayload(row, (long) commit));
  }

  private static HoodieKey key(int number) {
    return new HoodieKey("k" + number, "p=p" + number % 2);
  }

  /** Write the table. */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[0]);
    HoodieTableType type = HoodieTableType.valueOf(arguments[1]);
    HadoopStorageConfiguration storage = new HadoopStorageConfiguration(new Configuration());
    HoodieTableMetaClient.newTableBuilder()
        .setTableType(type)
        .setTableName(folder.getFileName().toString())
        .setRecordKeyFields("id")
        .setPartitionFields("p")
        .setHiveStylePartitioningEnable(true)
        .setOrderingFields("ts")
        .setKeyGeneratorClassProp("org.apache.hudi.keygen.SimpleAvroKeyGenerator")
        .setPayloadClassName(DefaultHoodieRecordPayload.class.getName())
        .initTable(storage, folder.toString());
    Properties given = new Properties();
    given.setProperty("hoodie.embed.timeline.server", "false"); // its jar is not on Maven Central
    given.setProperty("hoodie.write.markers.type", "direct");
    given.setProperty("hoodie.index.type", "SIMPLE");
    given.setProperty("hoodie.metadata.enable", "true");
    given.setProperty("hoodie.metadata.index.column.stats.enable", "true");
    given.setProperty("hoodie.metadata.record.index.enable", "true");
    given.setProperty("hoodie.copyonwrite.insert.auto.split", "false");
    given.setProperty("hoodie.copyonwrite.insert.split.size", "5");
    given.setProperty("hoodie.parquet.small.file.limit", "0");
    given.setProperty("hoodie.compact.inline.max.delta.commits", "2");
    HoodieWriteConfig config =
        HoodieWriteConfig.newBuilder()
            .withPath(folder.toString())
            .withSchema(ROW.toString())
            .withEngineType(EngineType.JAVA)
            .forTable(folder.getFileName().toString())
            .withProps(given)
            .build();
    try (HoodieJavaWriteClient<DefaultHoodieRecordPayload> client =
        new HoodieJavaWriteClient<>(new HoodieJavaEngineContext(storage), config)) {
      for (int commit = 0; commit < 2; commit++) {
        String instant = client.startCommit();
        int first = commit * 20;
        end(
            client,
            instant,
            client.insert(rows(commit, IntStream.range(first, first + 20)), instant));
      }
      String updated = client.startCommit();
      end(client, updated, client.upsert(rows(2, IntStream.of(0, 2, 3, 9, 14, 27)), updated));
      String deleted = client.startCommit();
      List<HoodieKey> keys =
          IntStream.of(4, 5, 21).mapToObj(JavaClientTables::key).collect(Collectors.toList());
      end(client, deleted, client.delete(keys, deleted));
      if (type == HoodieTableType.MERGE_ON_READ) {
        String compacted = client.scheduleCompaction(Option.empty()).get().toString();
        client.commitCompaction(compacted, client.compact(compacted), Option.empty());
      }
      String last = client.startCommit();
      end(client, last, client.upsert(rows(3, IntStream.of(2, 31, 33, 40)), last));
    }
  }

  private static void end(
      HoodieJavaWriteClient<DefaultHoodieRecordPayload> client,
      String instant,
      List<WriteStatus> done) {
    if (done.stream().anyMatch(WriteStatus::hasErrors) || !client.commit(instant, done)) {
      throw new IllegalStateException("the write of " + instant + " failed");
    }
  }
}
