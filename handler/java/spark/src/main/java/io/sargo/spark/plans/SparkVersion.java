package io.sargo.spark.plans;

import io.sargo.spark.shims.SparkLine;

/** Whether this jar is for the Spark that runs. */
public final class SparkVersion {
  private SparkVersion() {}

  /** Throws Untouched for a line of Spark that the jar was not run on. */
  public static void check(String version) throws Untouched {
    Untouched.when(
        SparkLine.LINES.stream().noneMatch(line -> version.startsWith(line + ".")),
        "this jar is for Spark " + String.join(", ", SparkLine.LINES) + ", not " + version);
  }
}
