package io.sargo.spark.scans;

import static io.sargo.spark.scans.Slices.merged;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.sargo.client.KeepAll;
import io.sargo.spark.hudi.HudiTables;
import io.sargo.spark.scans.Slices.Slice;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A slice with two log files, one without, and one of a log file alone. */
class GivenSlicesTest {
  private static final String A = "a_0_1.parquet|.a_1.log.1|.a_1.log.2";

  private final Slices.Index hudi =
      new Slices.Index(
          1,
          merged(
              Map.of(
                  "a", new Slice(true, ".a_1.log.1", ".a_1.log.2"),
                  "c", new Slice(false, ".c_1.log.1")),
              "/w/t/a_0_1.parquet",
              "/w/t/b_0_1.parquet",
              "/w/t/.c_1.log.1"));

  private GivenSlices given(String names, int slices) throws Exception {
    return new GivenSlices(hudi, HudiTables.MOR, Set.of(names.split("\\|")), slices);
  }

  private static List<String> left(GivenSlices index) {
    return Slices.files(index.list(List.of(), List.of()));
  }

  @Test
  void theGivenSlicesAreLeft() throws Exception {
    assertEquals(List.of("a_0_1.parquet"), left(given(A, 1)));
    assertEquals(List.of("b_0_1.parquet"), left(given("b_0_1.parquet", 1)));
    assertEquals(List.of("a_0_1.parquet", ".c_1.log.1"), left(given(A + "|.c_1.log.1", 2)));
    assertEquals(114, given(A, 1).sizeInBytes());
    assertArrayEquals(new String[] {"file:/w/t/a_0_1.parquet"}, given(A, 1).inputFiles());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a_0_1.parquet",
        ".a_1.log.1|.a_1.log.2",
        A + "|.a_1.log.3",
        A + "|b_0_2.parquet",
        "a_0_0.parquet|.a_1.log.1|.a_1.log.2",
        "d_0_1.parquet"
      })
  void otherFilesThanHudiListsAreRefused(String names) {
    assertThrows(KeepAll.class, () -> given(names, 1));
  }

  @Test
  void anotherNumberOfSlicesIsRefused() {
    assertThrows(KeepAll.class, () -> given(A, 2));
  }

  @Test
  void aSliceWhoseFilesHaveNoNamesBelowTheTableIsRefused() {
    Slices.Index elsewhere =
        new Slices.Index(1, Slices.plain("/w/t/a_0_1.parquet", "/x/b.parquet"));
    assertThrows(
        KeepAll.class,
        () -> new GivenSlices(elsewhere, HudiTables.MOR, Set.of("a_0_1.parquet"), 1));
  }

  @Test
  void partitionFiltersAreHudisAndDataFiltersAreNot() throws Exception {
    GivenSlices index = given(A, 1);
    Literal yes = new Literal(true, DataTypes.BooleanType);
    hudi.asked.clear();
    assertEquals(List.of("a_0_1.parquet"), Slices.files(index.list(List.of(yes), List.of(yes))));
    assertEquals(List.of("1 0"), hudi.asked);
    assertEquals(List.of("a_0_1.parquet"), Slices.files(index.list(List.of(), List.of(yes))));
    assertEquals(List.of("1 0"), hudi.asked);
  }

  @Test
  void itStaysWhatItWasPlannedAs() throws Exception {
    GivenSlices index = given(A, 1);
    hudi.asked.add("before");
    index.refresh();
    assertEquals(List.of("0 0", "before"), hudi.asked);
    assertEquals(index, given(A, 1));
    assertEquals(index.hashCode(), given(A, 1).hashCode());
    assertNotEquals(index, given("b_0_1.parquet", 1));
  }
}
