package io.sargo.spark.plans;

import io.sargo.spark.shims.SparkLine;

/** Whether this jar is for the Spark that runs. */
public final class SparkVersion {
  private SparkVersion() {}

  /** Throws Untouched for another line of Spark than that of the build. */
  public static void check(String version) throws Untouched {
    Untouched.when(
        !version.startsWith(SparkLine.PREFIX),
        "this jar is for Spark " + SparkLine.PREFIX + "x, not " + version);
  }
}
