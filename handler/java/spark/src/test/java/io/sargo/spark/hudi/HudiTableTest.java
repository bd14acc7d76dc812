package io.sargo.spark.hudi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.sargo.spark.plans.Untouched;
import java.lang.reflect.Proxy;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.junit.jupiter.api.Test;

class HudiTableTest {
  private static String queryType(boolean isMergeOnRead, boolean withLogs, String instant) {
    return new HudiTable(new Path("file:/t"), isMergeOnRead, withLogs).queryType(instant);
  }

  @Test
  void whatIsListedDependsOnTheTableAndTheInstant() {
    assertEquals("snapshot", queryType(false, false, null));
    assertEquals("snapshot", queryType(true, true, null));
    assertEquals("read_optimized", queryType(true, false, null));
    assertEquals("as_of", queryType(true, false, "20250101000000000"));
  }

  @Test
  void aVersionOfHudiThatWasNotTestedIsLeftUntouchedWithTheReason() {
    FileIndex index =
        (FileIndex)
            Proxy.newProxyInstance(
                FileIndex.class.getClassLoader(),
                new Class<?>[] {FileIndex.class},
                (proxy, method, arguments) -> null);
    Untouched why = assertThrows(Untouched.class, () -> HudiTable.of(index));
    assertEquals("Hudi null has not been tested", why.getMessage());
  }

  @Test
  void aFileIdEndsAtTheFirstUnderscore() {
    assertEquals("a-0", HudiTable.fileId("a-0_1-2-3_4.parquet"));
    assertEquals("a-0", HudiTable.fileId(".a-0_4.log.1_1-2-3"));
    assertEquals("plain", HudiTable.fileId("plain"));
  }
}
