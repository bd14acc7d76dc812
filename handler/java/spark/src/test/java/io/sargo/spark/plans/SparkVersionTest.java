package io.sargo.spark.plans;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.sargo.spark.shims.SparkLine;
import org.junit.jupiter.api.Test;

class SparkVersionTest {
  @Test
  void theLinesThatItWasRunOnAreTaken() {
    for (String line : SparkLine.LINES) {
      assertDoesNotThrow(() -> SparkVersion.check(line + ".7"));
    }
  }

  @Test
  void anotherLineIsLeftUntouchedWithTheReason() {
    for (String version : new String[] {"3.3.4", "3.55.0", "4.10.0", "5.0.0"}) {
      Untouched why = assertThrows(Untouched.class, () -> SparkVersion.check(version));
      assertEquals(
          "this jar is for Spark " + String.join(", ", SparkLine.LINES) + ", not " + version,
          why.getMessage());
    }
  }
}
