package io.sargo.hive;

import static io.sargo.client.FakeSidecar.answering;
import static io.sargo.client.FakeSidecar.closing;
import static io.sargo.client.FakeSidecar.hanging;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sargo.client.FakeSidecar;
import io.sargo.client.Messages;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.plan.TableScanDesc;
import org.apache.hadoop.mapred.FileInputFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Scans that Hudi lists although the sidecar was to list them, and the reasons that are counted.
 */
class ByHudiTest {
  private static final String A = "dt=1/a-0_0-1-2_20250101000000000.parquet";
  private static final String LOG = "dt=1/.a-0_20250102000000000.log.1_0-1-2";
  private static final String B = "dt=1/b-0_0-1-2_20250102000000000.parquet";

  private @TempDir java.nio.file.Path folder;
  private TableFolder table;

  private PlanAnswer answer() throws IOException {
    table = new TableFolder(folder, "MERGE_ON_READ", "dt");
    PlanAnswer answer = new PlanAnswer().file(0, 10, A).file(0, 5, LOG).file(1, 20, B);
    answer.partitions = "dt=1".getBytes(StandardCharsets.UTF_8);
    table.files(answer);
    return answer;
  }

  private static void byHudi(ListedScan scan, String reason) throws IOException {
    assertEquals(List.of("of-hudi.parquet"), scan.names(true));
    scan.counted.keySet().removeAll(List.of("files_listed", "kept_all.no_filter"));
    scan.counted.keySet().removeAll(List.of("listing_turned_off", "kept_all." + reason));
    assertEquals(java.util.Map.of("listed_by_hudi." + reason, 1L), scan.counted);
  }

  private static void bySidecar(ListedScan scan) throws IOException {
    assertEquals(2, scan.list(true).length);
    assertEquals(1, scan.counted.get("listed_by_sidecar"));
  }

  // ---- the job and the table

  @ParameterizedTest
  @CsvSource({
    "hoodie.trips.consume.commit, 20250101000000000",
    "hoodie.trips.consume.mode, INCREMENTAL",
    "hoodie.trips.consume.pending.commits, true",
    "hoodie.db.trips.consume.start.timestamp, 20250101000000000",
  })
  void aSettingOfWhatIsConsumed(String key, String value) throws IOException {
    PlanAnswer answer = answer();
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      ListedScan scan = new ListedScan(table, sidecar, "dt=1");
      scan.job.set(key.replace("trips", "journeys"), value);
      bySidecar(scan);
      scan.job.set(key, value);
      byHudi(scan, "consume_setting");
      assertEquals(1, sidecar.requests.get());
    }
  }

  @Test
  void aJobThatTurnsTheMetadataTableOff() throws IOException {
    PlanAnswer answer = answer();
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      ListedScan scan = new ListedScan(table, sidecar, "dt=1");
      scan.job.set("hoodie.metadata.enable", "true");
      bySidecar(scan);
      for (String off : List.of("false", " FALSE ")) {
        scan.job.set("hoodie.metadata.enable", off);
        byHudi(scan, "metadata_disabled");
      }
      assertEquals(1, sidecar.requests.get());
    }
  }

  @ParameterizedTest
  @CsvSource({
    "hoodie.bootstrap.base.path, file:/elsewhere, bootstrapped",
    "hoodie.table.version, 9, failure", // a later one than this Hudi reads
    "hoodie.table.metadata.partitions, '', no_metadata_table",
    "hoodie.table.metadata.partitions, 'column_stats,record_index', no_metadata_table",
  })
  void aPropertyOfTheTable(String key, String value, String reason) throws IOException {
    PlanAnswer answer = answer();
    table.property(key, value);
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      byHudi(new ListedScan(table, sidecar, "dt=1"), reason);
      assertEquals(0, sidecar.requests.get());
    }
  }

  @Test
  void aTableWithoutACompletedCommit() throws IOException {
    PlanAnswer answer = answer();
    for (String name : List.of("20250101000000000", "20250102000000000")) {
      Files.delete(
          folder.resolve(".hoodie/timeline/" + name + "_" + name.substring(0, 14) + "500.commit"));
    }
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      byHudi(new ListedScan(table, sidecar, "dt=1"), "no_commit");
    }
  }

  @Test
  void inputsThatAreNotFoldersOfOneTable() throws IOException {
    PlanAnswer answer = answer();
    TableFolder other = new TableFolder(folder.resolve("other"), "COPY_ON_WRITE", "dt");
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      ListedScan scan = new ListedScan(table, sidecar, "dt=1");
      for (String second :
          List.of("file:/elsewhere", table.uri() + "2", "hdfs://host" + folder + "/dt=2")) {
        FileInputFormat.setInputPaths(scan.job, new Path(table.uri() + "/dt=1"), new Path(second));
        byHudi(scan, "unknown_table");
      }
      FileInputFormat.setInputPaths(
          scan.job, new Path(other.uri() + "/dt=1"), new Path(table.uri() + "/dt=1"));
      byHudi(scan, "unknown_table");
      FileInputFormat.setInputPaths(scan.job, new Path("file:/elsewhere/dt=1"));
      byHudi(scan, "failure");
      FileInputFormat.setInputPaths(scan.job, new Path(table.uri() + "/dt=a\\\u0001b"));
      byHudi(scan, "unusual_folder");
      scan.job.unset("mapreduce.input.fileinputformat.inputdir");
      byHudi(scan, "unknown_table");
      assertEquals(0, sidecar.requests.get());
    }
  }

  @Test
  void aFolderOfATableWithoutPartitions() throws IOException {
    table = new TableFolder(folder, "COPY_ON_WRITE", "");
    try (FakeSidecar sidecar = new FakeSidecar(answering(new PlanAnswer().frame()))) {
      byHudi(new ListedScan(table, sidecar, "dt=1"), "unknown_table");
    }
  }

  @Test
  void aFilterThatCannotBeRead() throws IOException {
    PlanAnswer answer = answer();
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      ListedScan scan = new ListedScan(table, sidecar, "dt=1");
      scan.job.set("hive.io.filter.expr.serialized", "no expression");
      assertEquals(List.of("of-hudi.parquet"), scan.names(true));
      assertEquals(1, scan.counted.get("listed_by_hudi.failure"));
    }
  }

  // ---- the sidecar

  static Stream<Arguments> answers() {
    PlanAnswer other = new PlanAnswer().file(0, 10, A);
    PlanAnswer stranger = new PlanAnswer().file(0, 10, "../" + A);
    stranger.partitions = "dt=1".getBytes(StandardCharsets.UTF_8);
    return Stream.of(
        arguments(ListedScan.refusal("listing"), "refused"),
        arguments(ListedScan.refusal("instant"), "refused"),
        arguments(ListedScan.refusal("busy"), "refused"),
        arguments(ListedScan.refusal("version"), "wrong_version"),
        arguments(ListedScan.unknownMethod(), "wrong_version"),
        arguments(Messages.frame("reply.all_fields"), "wrong_answer"), // of prune()
        arguments(other.frame(), "wrong_answer"), // for every partition
        arguments(stranger.frame(), "wrong_answer"));
  }

  @ParameterizedTest
  @MethodSource("answers")
  void anAnswerThatIsNoList(byte[] answer, String reason) throws IOException {
    answer();
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer))) {
      byHudi(new ListedScan(table, sidecar, "dt=1"), reason);
    }
  }

  @Test
  void aSidecarThatAnswersNothing() throws IOException {
    answer();
    FakeSidecar sidecar = new FakeSidecar(closing());
    ListedScan scan = new ListedScan(table, sidecar, "dt=1");
    byHudi(scan, "wrong_answer");
    sidecar.close();
    byHudi(scan, "sidecar_down");
    scan.job.set("sargo.sidecar.breaker.ms", "60000");
    byHudi(scan, "sidecar_down");
    byHudi(scan, "breaker_open");
  }

  @Test
  void aScanThatGotNoAnswerAsksNoSecondQuestion() throws IOException {
    answer();
    try (FakeSidecar sidecar = new FakeSidecar(hanging())) {
      ListedScan scan = new ListedScan(table, sidecar, "dt=1");
      scan.job.set(TableScanDesc.FILTER_EXPR_CONF_STR, ListedScan.FILTER);
      scan.job.set("sargo.sidecar.timeout.ms", "100");
      assertEquals(List.of("of-hudi.parquet"), scan.names(true));
      assertEquals(1, scan.counted.get("listed_by_hudi.sidecar_slow"));
      assertEquals(1, scan.counted.get("kept_all.sidecar_slow"));
      assertEquals(1, sidecar.connections.get());
    }
  }

  @Test
  void anOlderInstantThatTheTimelineDoesNotHave() throws IOException {
    PlanAnswer answer = answer();
    answer.instant = "20250101120000000";
    answer.names.remove(2);
    answer.lengths.remove(2);
    answer.slices.remove(2);
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      ListedScan scan = new ListedScan(table, sidecar, "dt=1");
      scan.job.set("hive.query.id", "hive_1");
      byHudi(scan, "unknown_instant");
    }
  }

  // ---- folders that the metadata table does not have

  @ParameterizedTest
  @CsvSource({
    "'', true",
    "dt=2/, true",
    "dt=2/.hoodie_partition_metadata, true",
    "dt=2/.hoodie_partition_metadata.parquet, true",
    "dt=2/f-0_0-1-2_20250101000000000.parquet, false",
    "dt=2/.f-0_20250101000000000.log.1_0-1-2, false",
    "dt=2/000000_0, false",
    "dt=2/hour=1/, false",
    "dt=2/.hoodie_partition_metadata/, false",
    "dt=2, false",
  })
  void aFolderOfWhichTheSidecarKnowsNothing(String there, boolean isEmpty) throws IOException {
    PlanAnswer answer = answer();
    answer.partitions = "dt=1\ndt=2".getBytes(StandardCharsets.UTF_8);
    answer.unknown.add("dt=2");
    if (there.endsWith("/")) {
      Files.createDirectories(folder.resolve(there));
    } else if (!there.isEmpty()) {
      table.write(there, new byte[1]);
    }
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      ListedScan scan = new ListedScan(table, sidecar, "dt=1", "dt=2");
      if (isEmpty) {
        bySidecar(scan);
      } else {
        byHudi(scan, "unknown_partition");
      }
    }
  }

  @Test
  void aScanOfSuchFoldersAloneReadsNothing() throws IOException {
    table = new TableFolder(folder, "COPY_ON_WRITE", "dt");
    PlanAnswer answer = new PlanAnswer();
    answer.partitions = "dt=2\ndt=3".getBytes(StandardCharsets.UTF_8);
    answer.unknown.addAll(List.of("dt=3", "dt=2"));
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      assertEquals(List.of(), new ListedScan(table, sidecar, "dt=2", "dt=3").names(false));
    }
  }

  // ---- lengths

  @ParameterizedTest
  @CsvSource({A + ", 11", A + ", 9", LOG + ", 4", B + ", 0"})
  void aWrongLengthTurnsTheSidecarsListingOffForTheTable(String name, int length)
      throws IOException {
    PlanAnswer answer = answer();
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      ListedScan scan = new ListedScan(table, sidecar, "dt=1");
      bySidecar(scan);
      table.write(name, new byte[length]);
      byHudi(scan, "wrong_length");
      table.files(answer);
      byHudi(scan, "turned_off");
      assertEquals(2, sidecar.requests.get());
    }
  }

  @Test
  void aLogFileMayHaveGrown() throws IOException {
    PlanAnswer answer = answer();
    table.write(LOG, new byte[6]);
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      bySidecar(new ListedScan(table, sidecar, "dt=1"));
    }
  }

  @Test
  void aFileThatIsGoneTurnsNothingOff() throws IOException {
    PlanAnswer answer = answer();
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      ListedScan scan = new ListedScan(table, sidecar, "dt=1");
      Files.delete(folder.resolve(B));
      byHudi(scan, "file_gone");
      table.files(answer);
      bySidecar(scan);
    }
  }

  @Test
  void noLengthIsComparedWithoutASample() throws IOException {
    PlanAnswer answer = answer();
    table.write(A, new byte[1]);
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      ListedScan scan = new ListedScan(table, sidecar, "dt=1");
      scan.job.set("sargo.listing.verify", "0");
      bySidecar(scan);
    }
  }

  @Test
  void theSampleIsSpreadOverThePlan() {
    assertArrayEquals(new int[] {}, Lengths.sample(0, 16));
    assertArrayEquals(new int[] {}, Lengths.sample(9, 0));
    assertArrayEquals(new int[] {0}, Lengths.sample(9, 1));
    assertArrayEquals(new int[] {0, 8}, Lengths.sample(9, 2));
    assertArrayEquals(new int[] {0, 2, 5, 8}, Lengths.sample(9, 4));
    assertArrayEquals(new int[] {0, 1, 2}, Lengths.sample(3, 16));
    assertArrayEquals(new int[] {0, 1333333, 2666666, 3999999}, Lengths.sample(4_000_000, 4));
  }
}
