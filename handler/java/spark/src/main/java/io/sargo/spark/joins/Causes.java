package io.sargo.spark.joins;

import java.util.function.Predicate;

/** A failure and its causes, which may go round in a circle. */
final class Causes {
  private static final int MAX_CAUSES = 32;

  private Causes() {}

  /** Whether a failure or one of its causes is such. */
  static boolean anyOf(Throwable failure, Predicate<Throwable> such) {
    Throwable cause = failure;
    for (int i = 0; cause != null && i < MAX_CAUSES; i++) {
      if (such.test(cause)) {
        return true;
      }
      cause = cause.getCause();
    }
    return false;
  }
}
