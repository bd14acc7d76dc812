package io.sargo.spark.hudi;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.sargo.spark.plans.Untouched;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which options of Hudi's relation leave a scan as it is. */
class ReadOptionsTest {
  private static String unset(String key, String otherwise) {
    return otherwise;
  }

  @ParameterizedTest
  @CsvSource({
    "path, /t",
    "hoodie.datasource.query.type, snapshot",
    "hoodie.datasource.query.type, read_optimized",
    "hoodie.datasource.query.type, SNAPSHOT",
    "as.of.instant, 20250101000000000",
    "hoodie.table.ordering.fields, ts",
    "hoodie.enable.data.skipping, false",
    "hoodie.metadata.enable, true",
    "hoodie.datasource.read.file.index.listing.mode, lazy",
    "hoodie.datasource.merge.type, payload_combine",
    "hoodie.schema.on.read.enable, false",
    "hoodie.datasource.write.recordkey.field, id",
  })
  void theRowsOfTheTable(String name, String value) {
    assertDoesNotThrow(() -> ReadOptions.check(Map.of(name, value), ReadOptionsTest::unset));
  }

  @ParameterizedTest
  @CsvSource({
    "hoodie.datasource.query.type, incremental",
    "HOODIE.Datasource.query.type, incremental",
    "hoodie.datasource.read.begin.instanttime, 0",
    "hoodie.datasource.merge.type, skip_merge",
    "hoodie.schema.on.read.enable, true",
    "hoodie.datasource.read.extract.partition.values.from.path, true",
    "hoodie.datasource.read.paths, /t/dt=1",
    "glob.paths, /t/*",
    "timestampAsOf, 2025-01-01",
    "versionAsOf, 1",
    "hoodie.datasource.read.of.a.later.release, true",
    "hoodie.read.of.a.later.release, true",
    "hoodie.query.of.a.later.release, true",
  })
  void otherRowsPerhaps(String name, String value) {
    Untouched why =
        assertThrows(
            Untouched.class, () -> ReadOptions.check(Map.of(name, value), ReadOptionsTest::unset));
    assertEquals("the option " + name.toLowerCase() + " may give other rows", why.getMessage());
  }

  @ParameterizedTest
  @CsvSource({
    "hoodie.schema.on.read.enable, true",
    "spark.hoodie.schema.on.read.enable, true",
    "hoodie.datasource.query.type, incremental",
    "hoodie.datasource.merge.type, skip_merge",
  })
  void aSettingOfTheSessionCountsWhereNoOptionIsGiven(String name, String value) {
    Untouched why =
        assertThrows(
            Untouched.class,
            () -> ReadOptions.check(Map.of(), (key, no) -> key.equals(name) ? value : no));
    assertEquals("the setting " + name + " may give other rows", why.getMessage());
    String option = name.replaceFirst("^spark\\.", "");
    String plain =
        option.endsWith("query.type")
            ? "snapshot"
            : option.endsWith("merge.type") ? "payload_combine" : "false";
    assertDoesNotThrow(
        () -> ReadOptions.check(Map.of(option, plain), (key, no) -> key.equals(name) ? value : no));
  }

  @ParameterizedTest
  @CsvSource({
    "20250101000000000, 20250101000000000",
    "20250101000000, 202501010000000",
    "2025-01-01, 2025-01-01",
    "2025-01-01 10:00:00.123, 2025-01-01 10:00:00.123",
  })
  void anInstantOfSecondsIsBeforeTheInstantsOfThatSecond(String option, String instant) {
    assertEquals(instant, ReadOptions.instant(Map.of("As.Of.Instant", option)));
  }

  @Test
  void withoutTimeTravelThereIsNoInstant() {
    assertNull(ReadOptions.instant(Map.of("path", "/t")));
  }
}
