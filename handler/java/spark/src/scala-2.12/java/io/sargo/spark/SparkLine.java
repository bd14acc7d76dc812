package io.sargo.spark;

/** The line of Spark that this jar is built for. */
final class SparkLine {
  /** Versions of Spark begin with it. Under any other no scan is touched. */
  static final String PREFIX = "3.5.";

  private SparkLine() {}
}
