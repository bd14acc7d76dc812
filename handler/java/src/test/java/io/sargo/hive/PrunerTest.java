package io.sargo.hive;

import static io.sargo.client.FakeSidecar.answering;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sargo.client.FakeSidecar;
import io.sargo.client.Messages;
import io.sargo.client.Printable;
import io.sargo.client.Wire;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.InflaterInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.SerializationUtilities;
import org.apache.hadoop.hive.ql.plan.ExprNodeColumnDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeConstantDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc;
import org.apache.hadoop.hive.ql.plan.TableScanDesc;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPEqual;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoFactory;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.hadoop.RealtimeFileStatus;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.transport.TIOStreamTransport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A listing of three files, the names of {@link Messages}, from Hive's job to the files kept. */
class PrunerTest {
  private static final String[] NAMES = {"dt=1/a.parquet", "dt=1/b.parquet", "dt=2/c.parquet"};
  private static final String INSTANT = "20250101000000000";

  /** Its instant is {@link #INSTANT}. It skips the first and the third file. */
  private static final byte[] ANSWER = Messages.frame("reply.all_fields");

  private static final String FILTER =
      SerializationUtilities.serializeExpression(
          new ExprNodeGenericFuncDesc(
              TypeInfoFactory.booleanTypeInfo,
              new GenericUDFOPEqual(),
              Arrays.asList(
                  new ExprNodeColumnDesc(TypeInfoFactory.intTypeInfo, "id", "t", false),
                  new ExprNodeConstantDesc(1))));

  private final JobConf job = new JobConf(false);
  private @TempDir java.nio.file.Path folder;
  private FakeSidecar sidecar;

  @BeforeEach
  void startSidecar() throws IOException {
    sidecar = new FakeSidecar(answering(ANSWER));
    job.set("sargo.sidecar.address", sidecar.address());
    job.set("sargo.sidecar.timeout.ms", "20000");
    job.set(TableScanDesc.FILTER_EXPR_CONF_STR, FILTER);
    declareTable("COPY_ON_WRITE");
  }

  @AfterEach
  void stopSidecar() throws IOException {
    sidecar.close();
  }

  private void declareTable(String type) throws IOException {
    Files.createDirectories(folder.resolve(".hoodie"));
    Files.writeString(
        folder.resolve(".hoodie/hoodie.properties"),
        "hoodie.table.name=trips\nhoodie.table.type=" + type + "\n");
  }

  private FileStatus[] files() {
    return Arrays.stream(NAMES)
        .map(name -> new FileStatus(1, false, 1, 1, 0, new Path("file:" + folder + "/" + name)))
        .toArray(FileStatus[]::new);
  }

  private FileStatus[] slices(String instant) throws IOException {
    FileStatus[] files = files();
    for (int i = 0; i < files.length; i++) {
      RealtimeFileStatus slice =
          new RealtimeFileStatus(files[i], "file:" + folder, List.of(), false, Option.empty());
      slice.setMaxCommitTime(instant);
      files[i] = slice;
    }
    return files;
  }

  private List<String> kept(FileStatus[] listed) {
    return Arrays.stream(Pruner.prune(job, listed)).map(file -> file.getPath().getName()).toList();
  }

  // ---- what is skipped

  @Test
  void theFilesThatTheAnswerNamesAreSkipped() {
    assertEquals(List.of("b.parquet"), kept(files()));
  }

  @Test
  void slicesAreSkippedIfTheAnswerIsForTheirInstant() throws IOException {
    assertEquals(List.of("b.parquet"), kept(slices(INSTANT)));
  }

  @Test
  void whatIsSkippedIsCounted() {
    Map<String, Long> counted = countsOf(() -> Pruner.prune(job, files()));
    assertEquals(Map.of("files_listed", 3L, "files_skipped", 2L), counted);
  }

  private static Map<String, Long> countsOf(Runnable work) {
    Map<String, Long> before = Counters.INSTANCE.getCounts();
    work.run();
    Map<String, Long> counted = new TreeMap<>(Counters.INSTANCE.getCounts());
    before.forEach((name, n) -> counted.merge(name, -n, Long::sum));
    counted.values().removeIf(n -> n == 0);
    return counted;
  }

  // ---- what goes wrong

  @ParameterizedTest
  @CsvSource({
    "sargo.enabled, false, disabled",
    "sargo.sidecar.address, '', no_address",
    "sargo.sidecar.address, no address, failure",
    "hive.io.filter.expr.serialized, '', no_filter",
    "hive.io.filter.expr.serialized, no expression, failure",
    "hive.exec.plan, file:/no/such/plan, foreign_filter",
    "hive.local.time.zone, Atlantis, failure",
    "sargo.secret.file, /no/such/file, failure",
    "sargo.tls.ca.file, /no/such/file, sidecar_down",
  })
  void aWrongSettingKeepsEveryFileForItsReason(String key, String value, String reason) {
    job.set(key, value);
    keepsAll(files(), reason);
  }

  private void keepsAll(FileStatus[] listed, String reason) {
    Map<String, Long> expected = new TreeMap<>(Map.of("kept_all." + reason, 1L));
    if (listed.length > 0) {
      expected.put("files_listed", (long) listed.length);
    }
    assertEquals(expected, countsOf(() -> assertSame(listed, Pruner.prune(job, listed))));
  }

  static Stream<Arguments> wrongAnswers() {
    return Stream.of(
        arguments("a refusal", Messages.frame("refused.secret"), "refused"),
        arguments("another version", Messages.frame("refused.version"), "wrong_version"),
        arguments("no digest", Messages.frame("reply.no_digest"), "wrong_answer"),
        arguments("no reply", Messages.frame("exception.of_no_call"), "wrong_answer"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("wrongAnswers")
  void aWrongAnswerKeepsEveryFileForItsReason(String name, byte[] answer, String reason)
      throws IOException {
    try (FakeSidecar other = new FakeSidecar(answering(answer))) {
      job.set("sargo.sidecar.address", other.address());
      keepsAll(files(), reason);
    }
  }

  @Test
  void anAnswerForAnotherInstantKeepsEverySlice() throws IOException {
    keepsAll(slices("20250202000000000"), "wrong_answer");
  }

  @Test
  void anEmptyListingStaysEmpty() {
    keepsAll(new FileStatus[0], "no_files");
  }

  @Test
  void aMethodThatAnotherVersionOfHiveLacksKeepsEveryFile() {
    FileStatus[] listed = files();
    listed[1] =
        new FileStatus() {
          private static final long serialVersionUID = 1;

          @Override
          public Path getPath() {
            throw new NoSuchMethodError("FileStatus.getPath");
          }
        };
    keepsAll(listed, "failure");
  }

  // ---- the request

  /** The fields of the last request by their number in the IDL, bytes as ISO 8859-1 text. */
  private Map<Integer, Object> request() throws TException {
    TProtocol in =
        Wire.protocol(new TIOStreamTransport(new ByteArrayInputStream(sidecar.lastRequest)));
    in.readMessageBegin();
    in.readFieldBegin();
    Map<Integer, Object> fields = new HashMap<>();
    for (TField field = in.readFieldBegin();
        field.type != TType.STOP;
        field = in.readFieldBegin()) {
      Object value =
          switch (field.type) {
            case TType.I32 -> in.readI32();
            case TType.BOOL -> in.readBool();
            default -> StandardCharsets.ISO_8859_1.decode(in.readBinary()).toString();
          };
      fields.put((int) field.id, value);
    }
    return fields;
  }

  @Test
  void aRequestHasWhatTheJobSays() throws IOException, TException {
    java.nio.file.Path secrets = folder.resolve("secrets");
    Files.writeString(secrets, sidecar.address() + " open sesame\n");
    job.set("sargo.secret.file", secrets.toString());
    job.set(TableScanDesc.FILTER_TEXT_CONF_STR, "(id = 1)");
    job.set("hive.local.time.zone", "Europe/Berlin");
    job.set("hive.query.id", "hive_1");
    kept(files());
    Map<Integer, Object> expected = new HashMap<>();
    expected.put(1, 1);
    expected.put(2, "file:" + folder);
    expected.put(3, FILTER);
    expected.put(4, "(id = 1)");
    expected.put(5, "hive4");
    expected.put(6, "4.0.1");
    expected.put(7, "Europe/Berlin");
    expected.put(8, "snapshot");
    expected.put(10, String.join("\n", NAMES));
    expected.put(11, false);
    expected.put(12, 3);
    expected.put(13, "hive_1");
    expected.put(14, "open sesame");
    expected.put(15, System.getProperty("user.name"));
    assertEquals(expected, request());
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "none",
      value = {
        "COPY_ON_WRITE, false, none, none, snapshot, none",
        "MERGE_ON_READ, false, none, none, read_optimized, none",
        "MERGE_ON_READ, true, none, none, snapshot, none",
        "COPY_ON_WRITE, false, commit, 20240101, as_of, 20240101",
        "MERGE_ON_READ, false, commit, 20240101, as_of, 20240101",
        "MERGE_ON_READ, true, commit, 20240101, snapshot, none",
        "COPY_ON_WRITE, false, mode, INCREMENTAL, incremental, 20230101",
        "MERGE_ON_READ, true, mode, INCREMENTAL, incremental, 20230101",
        "COPY_ON_WRITE, false, mode, SNAPSHOT, snapshot, none",
      })
  void theQueryTypeIsThatOfTheListing(
      String type, boolean merged, String key, String value, String queryType, String instant)
      throws IOException, TException {
    declareTable(type);
    if (key != null) {
      job.set("hoodie.trips.consume." + key, value);
      job.set("hoodie.trips.consume.start.timestamp", "20230101");
    }
    kept(merged ? slices(INSTANT) : files());
    Map<Integer, Object> request = request();
    assertEquals(queryType, request.get(8));
    assertEquals(instant, request.get(9));
    assertEquals(merged && key == null ? true : null, request.get(16));
  }

  @ParameterizedTest
  @CsvSource({
    "hoodie.realtime.merge.skip, false",
    "hoodie.Record.Merge.Mode, false",
    "hoodie.datasource.write.payload.class, false",
    "hoodie.table.ordering.fields, false",
    "hoodie.datasource.write.precombine.field, false",
    "hoodie.memory.merge.max.size, true",
    "hive.merge.mapfiles, true",
  })
  void mergedRowsAreAskedForWithoutSettingsOfTheMerge(String setting, boolean asked)
      throws IOException, TException {
    declareTable("MERGE_ON_READ");
    job.set(setting, "1");
    kept(slices(INSTANT));
    assertEquals(asked ? true : null, request().get(16));
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "none",
      value = {
        "Asia/Tokyo, Asia/Tokyo",
        "' UTC ', UTC",
        "+05:00, none",
        "UTC+05:00, none",
      })
  void onlyANamedTimeZoneIsSent(String setting, String zone) throws TException {
    job.set("hive.local.time.zone", setting);
    kept(files());
    assertEquals(zone, request().get(7));
  }

  @ParameterizedTest
  @CsvSource({"44, true", "45, false"}) // the names have 44 bytes
  void namesFromTheSetLengthOnAreSentCompressed(String compressFrom, boolean compressed)
      throws IOException, TException {
    job.set("sargo.names.compress.from", compressFrom);
    kept(files());
    assertEquals(compressed, request().get(11));
    byte[] names = ((String) request().get(10)).getBytes(StandardCharsets.ISO_8859_1);
    if (compressed) {
      names = new InflaterInputStream(new ByteArrayInputStream(names)).readAllBytes();
    }
    assertArrayEquals(String.join("\n", NAMES).getBytes(StandardCharsets.UTF_8), names);
    assertEquals(3, request().get(12));
  }

  // ---- the log

  static Stream<Arguments> texts() {
    return Stream.of(
        arguments("gr\u00f6\u00dfe \u8868 \ud83d\ude00", "gr\u00f6\u00dfe \u8868 \ud83d\ude00"),
        arguments("a\nsargo: asked", "a\\u000asargo: asked"),
        arguments("a\r\0\u001b[2J\u007f\u0085", "a\\u000d\\u0000\\u001b[2J\\u007f\\u0085"),
        arguments("\u2028\u2029\u202e\u2066\u200b", "\\u2028\\u2029\\u202e\\u2066\\u200b"),
        arguments("\ud800 \udb40\udc41", "\\ud800 \\ue0041"),
        arguments(null, "null"));
  }

  @ParameterizedTest
  @MethodSource("texts")
  void aTextInTheLogStaysOnItsLine(String text, String printable) {
    assertEquals(printable, Printable.text(text));
  }
}
