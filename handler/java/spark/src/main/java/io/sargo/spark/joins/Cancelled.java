package io.sargo.spark.joins;

import java.util.Locale;
import org.apache.spark.unsafe.Platform;

/** Tells a query that its user or Spark ends from one whose rows fail. */
final class Cancelled {
  private Cancelled() {}

  /** Throws a failure on that says that the query is to end; returns for any other. */
  static void rethrow(Throwable failure) {
    if (Causes.anyOf(
        failure, one -> one instanceof InterruptedException || isOfJob(one.getMessage()))) {
      Platform.throwException(failure);
    }
  }

  /** Whether Spark says that it cancelled a job: "Job 7 cancelled because SparkContext ...". */
  private static boolean isOfJob(String message) {
    String text = message == null ? "" : message.toLowerCase(Locale.ROOT);
    return text.contains("job") && text.contains("cancel");
  }
}
