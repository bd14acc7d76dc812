package io.sargo.spark.scans;

import static io.sargo.spark.scans.Slices.merged;
import static io.sargo.spark.scans.Slices.plain;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.sargo.client.KeepAll;
import io.sargo.spark.hudi.HudiTables;
import io.sargo.spark.scans.Slices.Slice;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.junit.jupiter.api.Test;

/** The names of listed slices, and what is left of them. */
class ListedSlicesTest {
  private static ListedSlices listed(PartitionDirectory... directories) throws Exception {
    return new ListedSlices(HudiTables.MOR, Arrays.asList(directories));
  }

  private static List<String> names(ListedSlices slices) {
    return Arrays.asList(new String(slices.names, StandardCharsets.UTF_8).split("\n"));
  }

  private static List<String> without(ListedSlices slices, int... bits) {
    BitSet skip = new BitSet();
    Arrays.stream(bits).forEach(skip::set);
    return Slices.files(slices.without(skip).directories);
  }

  @Test
  void aBaseFileIsItsSlice() throws Exception {
    ListedSlices slices = listed(plain("/w/t/p=1/a_0_1.parquet", "/w/t/p=1/b_0_1.parquet"));
    assertEquals(List.of("p=1/a_0_1.parquet", "p=1/b_0_1.parquet"), names(slices));
    assertEquals(List.of("a_0_1.parquet"), without(slices, 1));
    assertEquals(List.of(), without(slices, 0, 1));
    assertEquals(100, slices.without(BitSet.valueOf(new byte[] {1})).bytes);
  }

  @Test
  void aSliceIsSkippedOnlyWithAllOfItsFiles() throws Exception {
    ListedSlices slices =
        listed(
            merged(
                Map.of("a", new Slice(true, ".a_1.log.1", ".a_1.log.2")),
                "/w/t/a_0_1.parquet",
                "/w/t/b_0_1.parquet"));
    assertEquals(
        List.of("a_0_1.parquet", ".a_1.log.1", ".a_1.log.2", "b_0_1.parquet"), names(slices));
    assertEquals(List.of("b_0_1.parquet"), without(slices, 0, 1, 2));
    assertEquals(List.of("a_0_1.parquet", "b_0_1.parquet"), without(slices, 0, 1));
    assertEquals(List.of("a_0_1.parquet"), without(slices, 3));
    assertEquals(214, slices.without(new BitSet()).bytes);
    assertEquals(114, slices.without(BitSet.valueOf(new byte[] {8})).bytes);
  }

  @Test
  void aSliceOfLogFilesAloneIsNamedByThem() throws Exception {
    ListedSlices slices =
        listed(
            merged(Map.of("a", new Slice(false, ".a_1.log.1", ".a_2.log.1")), "/w/t/.a_1.log.1"));
    assertEquals(List.of(".a_1.log.1", ".a_2.log.1"), names(slices));
    assertEquals(List.of(), without(slices, 0, 1));
    assertEquals(List.of(".a_1.log.1"), without(slices, 1));
    assertEquals(14, slices.without(new BitSet()).bytes);
  }

  @Test
  void whatCannotBeNamedIsNeverSkipped() throws Exception {
    ListedSlices slices =
        listed(
            plain(
                "/elsewhere/a_0_1.parquet",
                "/w/t2/b_0_1.parquet",
                "/w/t/c_0\n_1.parquet",
                "/w/t/.d_1.log.1",
                "/w/t/e_0_1.parquet"),
            merged(Map.of("f", new Slice(false, ".f_1.log.1")), "/w/t/f_0_1.parquet"),
            merged(Map.of("g", new Slice(true, ".g_1.log.1")), "/w/t/.g_1.log.1"),
            merged(Map.of("h", new Slice(false)), "/w/t/.h_1.log.1"));
    assertEquals(List.of("e_0_1.parquet"), names(slices));
    assertEquals(7, without(slices, 0).size());
    assertEquals(8, slices.count);
  }

  @Test
  void namesStandAsTheyAreInTheFileSystem() throws Exception {
    ListedSlices slices = listed(plain("/w/t/p=a%20b/\u00e4 +_0_1.parquet"));
    assertEquals(List.of("p=a%20b/\u00e4 +_0_1.parquet"), names(slices));
  }

  @Test
  void withoutANameThereIsNothingToAsk() {
    assertThrows(KeepAll.class, () -> listed(plain()));
    assertThrows(KeepAll.class, () -> listed(plain("/elsewhere/a_0_1.parquet")));
  }
}
