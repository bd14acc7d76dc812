package io.sargo.spark.joins;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.ExecutionException;
import org.apache.spark.SparkException;
import org.junit.jupiter.api.Test;

class CancelledTest {
  private static SparkException awaited(Throwable cause) {
    return new SparkException("Exception thrown in awaitResult: ", cause);
  }

  @Test
  void aQueryThatIsToEndEnds() {
    for (Throwable why :
        new Throwable[] {
          new InterruptedException(),
          new ExecutionException(new InterruptedException()),
          awaited(new SparkException("Job 7 cancelled part of cancelled job group g")),
          awaited(new SparkException("[SPARK_JOB_CANCELLED] Job 3 cancelled as asked")),
          new SparkException("Job 2 cancelled because SparkContext was shut down"),
        }) {
      assertSame(why, assertThrows(Throwable.class, () -> Cancelled.rethrow(why)));
    }
  }

  @Test
  void aRowThatFailsEndsNoQuery() {
    for (Throwable why :
        new Throwable[] {
          new RuntimeException((String) null),
          new ArithmeticException("[CAST_OVERFLOW] The value 717 cannot be cast to TINYINT"),
          awaited(
              new SparkException("Job aborted due to stage failure: Task 0 in stage 3.0 failed")),
        }) {
      assertDoesNotThrow(() -> Cancelled.rethrow(why));
    }
  }

  @Test
  void causesWithoutEndAreLookedAtForAWhile() {
    RuntimeException first = new RuntimeException("a");
    first.initCause(new RuntimeException("b", first));
    assertDoesNotThrow(() -> Cancelled.rethrow(first));
  }
}
