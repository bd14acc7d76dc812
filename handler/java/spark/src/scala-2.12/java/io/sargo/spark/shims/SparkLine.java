package io.sargo.spark.shims;

import java.util.Collections;
import java.util.List;

/** The lines of Spark that this jar was run on. */
public final class SparkLine {
  /** The first two numbers of their versions. Under any other no scan is touched. */
  public static final List<String> LINES = Collections.singletonList("3.5");

  private SparkLine() {}
}
