package io.sargo.hive;

import static io.sargo.client.FakeSidecar.answering;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.sargo.client.FakeSidecar;
import io.sargo.hive.ShadowListing.Difference;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.plan.TableScanDesc;
import org.apache.hudi.common.model.HoodieLogFile;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.hadoop.RealtimeFileStatus;
import org.apache.hudi.storage.StoragePath;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is said of two listings, and that the scan reads Hudi's. */
class ShadowListingTest {
  private static final String A = "dt=1/a-0_0-1-2_20250101000000000.parquet";
  private static final String B = "dt=1/b-0_0-1-2_20250102000000000.parquet";

  private @TempDir java.nio.file.Path folder;

  private static FileStatus file(String name, long length) {
    return new FileStatus(length, false, 0, 1, 0, new Path("file:/t/" + name));
  }

  private static FileStatus slice(String name, String... logs) throws IOException {
    List<HoodieLogFile> files =
        Arrays.stream(logs)
            .map(log -> new HoodieLogFile(new StoragePath("file:/t/" + log), log.length()))
            .toList();
    return new RealtimeFileStatus(file(name, 1), "file:/t", files, false, Option.empty());
  }

  private static void differ(FileStatus[] hudi, FileStatus[] sidecar, String expected) {
    Difference found = new Difference(hudi, sidecar);
    assertEquals(
        expected,
        found.onlyFirst + " " + found.onlySecond + " " + found.lengths + " " + found.slices);
    assertEquals(expected.equals("0 0 0 0"), found.isNone());
  }

  private static FileStatus[] all(FileStatus... files) {
    return files;
  }

  @Test
  void filesAreComparedByPathLengthAndSlice() throws IOException {
    differ(all(), all(), "0 0 0 0");
    differ(all(file("a", 1), file("b", 2)), all(file("b", 2), file("a", 1)), "0 0 0 0");
    differ(all(file("a", 1), file("b", 2)), all(file("a", 1)), "1 0 0 0");
    differ(all(), all(file("a", 1)), "0 1 0 0");
    differ(all(file("a", 1)), all(file("a", 2)), "0 0 1 0");
    differ(all(slice("a", ".l", ".m")), all(slice("a", ".l", ".m")), "0 0 0 0");
    differ(all(slice("a", ".l", ".m")), all(slice("a", ".m", ".l")), "0 0 0 1");
    differ(all(slice("a", ".l"), slice("b")), all(slice("a"), slice("b", ".l")), "0 0 0 2");
    differ(all(slice("a", ".l")), all(slice("a")), "1 0 0 1");
  }

  @Test
  void atMostFiveNamesAreSaid() {
    FileStatus[] many =
        IntStream.range(0, 9).mapToObj(i -> file("f" + i, 1)).toArray(FileStatus[]::new);
    Difference found = new Difference(many, all());
    assertEquals(9, found.onlyFirst);
    assertEquals(5, found.examples.size());
  }

  private static FileStatus statusOf(TableFolder table, String name, long length) {
    return new FileStatus(length, false, 0, 1, 0, new Path(table.uri() + "/" + name));
  }

  @ParameterizedTest
  @CsvSource({"10, same", "11, different"})
  void theScanReadsWhatHudiLists(long length, String counted) throws Exception {
    TableFolder table = new TableFolder(folder, "COPY_ON_WRITE", "dt");
    PlanAnswer answer = new PlanAnswer().file(0, 10, A).file(1, 20, B);
    answer.partitions = "dt=1".getBytes(StandardCharsets.UTF_8);
    try (FakeSidecar sidecar = new FakeSidecar(answering(answer.frame()))) {
      ListedScan scan = new ListedScan(table, sidecar, "dt=1");
      scan.job.set("sargo.listing", "shadow");
      scan.job.set("hive.query.id", "hive_1");
      scan.byHudi = all(statusOf(table, A, length), statusOf(table, B, 20));
      assertSame(scan.byHudi, scan.list(false));
      assertEquals(1L, scan.counted.get("shadow_listing." + counted));
      assertEquals(2L, scan.counted.get("files_listed"));
      assertFalse(ListedScan.request(sidecar).containsKey(14));
      scan.job.set(TableScanDesc.FILTER_EXPR_CONF_STR, ListedScan.FILTER);
      assertSame(scan.byHudi, scan.list(false)); // the answer to plan() is none to prune()
      assertEquals(1L, scan.counted.get("kept_all.wrong_answer"));
    }
  }

  @Test
  void noFailureReachesTheScan() throws IOException {
    TableFolder table = new TableFolder(folder, "COPY_ON_WRITE", "dt");
    for (byte[] answer : List.of(ListedScan.refusal("listing"), new PlanAnswer().frame())) {
      try (FakeSidecar sidecar = new FakeSidecar(answering(answer))) {
        ListedScan scan = new ListedScan(table, sidecar, "dt=1");
        scan.job.set("sargo.listing", "shadow");
        assertSame(scan.byHudi, scan.list(false));
        assertEquals(1L, scan.counted.get("shadow_listing.not_compared"));
        scan.job.set("hoodie.trips.consume.mode", "INCREMENTAL");
        assertSame(scan.byHudi, scan.list(false));
        assertEquals(1L, scan.counted.get("shadow_listing.not_compared"));
      }
    }
  }
}
