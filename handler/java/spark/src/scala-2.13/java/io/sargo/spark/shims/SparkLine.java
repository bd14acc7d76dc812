package io.sargo.spark.shims;

import java.util.List;

/** The lines of Spark that this jar was run on. */
public final class SparkLine {
  /** The first two numbers of their versions. Under any other no scan is touched. */
  public static final List<String> LINES = List.of("4.0", "4.1", "4.2", "4.3");

  private SparkLine() {}
}
