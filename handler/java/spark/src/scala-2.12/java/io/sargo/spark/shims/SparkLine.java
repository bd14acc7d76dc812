package io.sargo.spark.shims;

/** The line of Spark that this jar is built for. */
public final class SparkLine {
  /** Versions of Spark begin with it. Under any other no scan is touched. */
  public static final String PREFIX = "3.5.";

  private SparkLine() {}
}
