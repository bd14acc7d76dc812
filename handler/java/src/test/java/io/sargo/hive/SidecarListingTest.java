package io.sargo.hive;

import static io.sargo.client.FakeSidecar.answering;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.sargo.client.FakeSidecar;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.InflaterInputStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.hive.ql.plan.TableScanDesc;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hudi.common.model.HoodieLogFile;
import org.apache.hudi.hadoop.RealtimeFileStatus;
import org.apache.hudi.hadoop.realtime.HoodieRealtimePath;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Files that the sidecar lists: what it is asked, and what Hive gets. */
class SidecarListingTest {
  private static final String A = "dt=1/a-0_0-1-2_20250101000000000.parquet";
  private static final String A_LOG_1 = "dt=1/.a-0_20250101000000000.log.1_0-1-2";
  private static final String A_LOG_2 = "dt=1/.a-0_20250102000000000.log.1_0-1-2";
  private static final String B = "dt=1/b-0_0-1-2_20250102000000000.parquet";
  private static final String C_LOG_1 = "dt=1/.c-0_20250101000000000.log.1_0-1-2";
  private static final String C_LOG_2 = "dt=1/.c-0_20250101000000000.log.2_0-1-2";

  private @TempDir java.nio.file.Path folder;

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  private static String nameOf(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }

  @Test
  void baseFilesAreListedAsHudiListsThem() throws IOException {
    TableFolder table = new TableFolder(folder, "COPY_ON_WRITE", "dt");
    PlanAnswer answer = new PlanAnswer().file(0, 10, A).file(1, 20, B);
    answer.partitions = utf8("dt=1");
    table.files(answer);
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      ListedScan scan = new ListedScan(table, sidecar, "dt=1");
      FileStatus[] listed = new PruningInputFormat().listStatus(scan.job);
      assertEquals(2, listed.length);
      assertEquals(table.uri() + "/" + A, listed[0].getPath().toString());
      assertEquals(FileStatus.class, listed[0].getClass());
      assertEquals(20, listed[1].getLen());
      assertTrue(listed[0].getBlockSize() > 0);
      assertEquals(0, listed[0].getModificationTime());
      assertFalse(listed[0].isDirectory());
      scan.job.setInt("mapreduce.job.maps", 1);
      assertEquals(2, new PruningInputFormat().getSplits(scan.job, 1).length);
    }
  }

  @Test
  void slicesAreListedAsHudiListsThem() throws IOException {
    TableFolder table = new TableFolder(folder, "MERGE_ON_READ", "dt");
    PlanAnswer answer = new PlanAnswer();
    answer.file(0, 10, A).file(0, 2, A_LOG_2).file(0, 1, A_LOG_1).file(1, 20, B);
    answer.file(2, 3, C_LOG_1).file(2, 4, C_LOG_2);
    answer.partitions = utf8("dt=1");
    table.files(answer);
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      FileStatus[] listed = new ListedScan(table, sidecar, "dt=1").list(true);
      assertEquals(3, listed.length);
      slice(listed[0], table.uri() + "/" + A, 10, A_LOG_1 + " 1", A_LOG_2 + " 2");
      slice(listed[1], table.uri() + "/" + B, 20);
      slice(listed[2], table.uri() + "/" + C_LOG_2, 4, C_LOG_1 + " 3", C_LOG_2 + " 4");
      assertTrue(((HoodieRealtimePath) listed[1].getPath()).isSplitable());
      assertFalse(((HoodieRealtimePath) listed[2].getPath()).isSplitable());
    }
  }

  private void slice(FileStatus status, String path, long length, String... logs) {
    RealtimeFileStatus slice = (RealtimeFileStatus) status;
    HoodieRealtimePath realtime = (HoodieRealtimePath) slice.getPath();
    assertEquals(path, realtime.toString());
    assertEquals(length, slice.getLen());
    assertEquals(
        List.of(logs),
        slice.getDeltaLogFiles().stream().map(SidecarListingTest::nameAndLength).toList());
    assertEquals(TableFolder.LAST, realtime.getMaxCommitTime());
    assertEquals("file:" + folder, realtime.getBasePath());
    assertFalse(realtime.getBelongsToIncrementalQuery());
    assertFalse(realtime.includeBootstrapFilePath());
    assertFalse(realtime.getVirtualKeyInfo().isPresent());
  }

  private static String nameAndLength(HoodieLogFile log) {
    return "dt=1/" + log.getFileName() + " " + log.getFileSize();
  }

  @Test
  void aScanIsListedAtTheInstantOfTheAnswer() throws IOException {
    TableFolder table = new TableFolder(folder, "MERGE_ON_READ", "dt");
    PlanAnswer answer = new PlanAnswer().file(0, 10, A);
    answer.instant = TableFolder.COMMIT;
    answer.partitions = utf8("dt=1");
    table.files(answer);
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      ListedScan scan = new ListedScan(table, sidecar, "dt=1");
      scan.job.set("hive.query.id", "hive_1");
      RealtimeFileStatus slice = (RealtimeFileStatus) scan.list(true)[0];
      assertEquals(TableFolder.COMMIT, slice.getMaxCommitTime());
    }
  }

  @Test
  void namesMayHoldWhatUrisEscape() throws IOException {
    String name = "dt=12:30 %20#?\u00e9/a-0_0-1-2_20250101000000000.parquet";
    TableFolder table = new TableFolder(folder, "COPY_ON_WRITE", "dt");
    PlanAnswer answer = new PlanAnswer().file(0, 10, name);
    table.files(answer);
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      FileStatus[] listed = new ListedScan(table, sidecar, "").list(false);
      assertEquals(folder + "/" + name, listed[0].getPath().toUri().getPath());
    }
  }

  @Test
  void whatTheFilterSkipsIsCounted() throws Exception {
    TableFolder table = new TableFolder(folder, "COPY_ON_WRITE", "dt");
    PlanAnswer answer = new PlanAnswer().file(0, 10, A);
    answer.partitions = utf8("dt=1\ndt=2");
    answer.skipped = 3;
    table.files(answer);
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      ListedScan scan = new ListedScan(table, sidecar, "dt=1", "dt=2");
      scan.job.set(TableScanDesc.FILTER_EXPR_CONF_STR, ListedScan.FILTER);
      assertEquals(List.of(nameOf(A)), scan.names(false));
      assertEquals(
          Map.of("files_listed", 4L, "files_skipped", 3L, "listed_by_sidecar", 1L), scan.counted);
    }
  }

  @Test
  void withoutAFilterEveryFileIsAskedFor() throws Exception {
    TableFolder table = new TableFolder(folder, "COPY_ON_WRITE", "dt");
    PlanAnswer answer = new PlanAnswer().file(0, 10, A);
    table.files(answer);
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      ListedScan scan = new ListedScan(table, sidecar, "");
      assertEquals(List.of(nameOf(A)), scan.names(false));
      assertEquals(
          Map.of("files_listed", 1L, "kept_all.no_filter", 1L, "listed_by_sidecar", 1L),
          scan.counted);
      assertFalse(ListedScan.request(sidecar).containsKey(3));
    }
  }

  // ---- the request

  @Test
  void aRequestHasWhatTheJobSays() throws Exception {
    TableFolder table = new TableFolder(folder, "COPY_ON_WRITE", "dt");
    java.nio.file.Path secrets = folder.resolve("secrets");
    try (FakeSidecar sidecar = new FakeSidecar(answering(ListedScan.refusal("listing")))) {
      java.nio.file.Files.writeString(secrets, sidecar.address() + " open sesame\n");
      ListedScan scan = new ListedScan(table, sidecar, "dt=1", "dt=2", "dt=1");
      scan.job.set("sargo.secret.file", secrets.toString());
      scan.job.set(TableScanDesc.FILTER_EXPR_CONF_STR, ListedScan.FILTER);
      scan.job.set(TableScanDesc.FILTER_TEXT_CONF_STR, "(id = 1)");
      scan.job.set("hive.local.time.zone", "Europe/Berlin");
      scan.job.set("hive.query.id", "hive_1");
      scan.byHudi = new FileStatus[0]; // so that it is not asked to prune
      scan.list(false);
      Map<Integer, Object> expected = new HashMap<>();
      expected.put(1, 1);
      expected.put(2, table.uri());
      expected.put(3, ListedScan.FILTER);
      expected.put(4, "(id = 1)");
      expected.put(5, "hive4");
      expected.put(6, "4.0.1");
      expected.put(7, "Europe/Berlin");
      expected.put(8, "snapshot");
      expected.put(9, TableFolder.LAST);
      expected.put(10, 2);
      expected.put(11, "dt=1\ndt=2");
      expected.put(12, false);
      expected.put(13, 2);
      expected.put(14, "hive_1");
      expected.put(15, "open sesame");
      expected.put(16, System.getProperty("user.name"));
      expected.put(17, true);
      assertEquals(expected, ListedScan.request(sidecar));
    }
  }

  @ParameterizedTest
  @CsvSource(
      nullValues = "none",
      value = {
        "COPY_ON_WRITE, dt, dt=1, false, snapshot, dt=1, 1",
        "MERGE_ON_READ, dt, dt=1, false, read_optimized, dt=1, 1",
        "MERGE_ON_READ, dt, dt=1, true, snapshot, dt=1, 1",
        "COPY_ON_WRITE, dt, '', false, snapshot, none, none", // every partition
        "COPY_ON_WRITE, dt, 'dt=1;', false, snapshot, none, none",
        "COPY_ON_WRITE, '', '', false, snapshot, '', 1", // the base path is its one partition
        "COPY_ON_WRITE, 'a,b', 'a=1/b=2;a=1/b=3', false, snapshot, 'a=1/b=2|a=1/b=3', 2",
      })
  void theFoldersAreThoseThatHudiWouldList(
      String type,
      String fields,
      String inputs,
      boolean merged,
      String queryType,
      String partitions,
      Integer count)
      throws Exception {
    TableFolder table = new TableFolder(folder, type, fields);
    try (FakeSidecar sidecar = new FakeSidecar(answering(ListedScan.refusal("listing")))) {
      ListedScan scan = new ListedScan(table, sidecar, inputs.split(";", -1));
      scan.list(merged);
      Map<Integer, Object> request = ListedScan.request(sidecar);
      assertEquals(queryType, request.get(8));
      assertEquals(merged ? true : null, request.get(18));
      assertEquals(partitions == null ? null : partitions.replace('|', '\n'), request.get(11));
      assertEquals(count, request.get(13));
    }
  }

  @Test
  void manyFoldersAreSentCompressed() throws Exception {
    TableFolder table = new TableFolder(folder, "COPY_ON_WRITE", "dt");
    try (FakeSidecar sidecar = new FakeSidecar(answering(ListedScan.refusal("listing")))) {
      ListedScan scan = new ListedScan(table, sidecar, "dt=1", "dt=2");
      scan.job.set("sargo.names.compress.from", "9");
      scan.list(false);
      Map<Integer, Object> request = ListedScan.request(sidecar);
      assertEquals(true, request.get(12));
      byte[] bytes = ((String) request.get(11)).getBytes(StandardCharsets.ISO_8859_1);
      assertEquals(
          "dt=1\ndt=2",
          new String(
              new InflaterInputStream(new ByteArrayInputStream(bytes)).readAllBytes(),
              StandardCharsets.UTF_8));
    }
  }

  @ParameterizedTest
  @CsvSource({"sargo.enabled, false", "sargo.listing, hudi", "sargo.listing, sidekick"})
  void theSidecarListsOnlyWhereItIsSetTo(String key, String value) throws Exception {
    TableFolder table = new TableFolder(folder, "COPY_ON_WRITE", "dt");
    try (FakeSidecar sidecar = new FakeSidecar(answering(new PlanAnswer().frame()))) {
      ListedScan scan = new ListedScan(table, sidecar, "dt=1");
      scan.job.set(key, value);
      assertEquals(List.of("of-hudi.parquet"), scan.names(false));
      assertEquals(0, sidecar.requests.get());
      assertFalse(scan.counted.keySet().stream().anyMatch(name -> name.startsWith("listed_by")));
      assertEquals(1, FileInputFormat.getInputPaths(scan.job).length);
    }
  }
}
