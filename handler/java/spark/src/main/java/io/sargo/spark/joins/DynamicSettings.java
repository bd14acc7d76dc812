package io.sargo.spark.joins;

import io.sargo.spark.plans.Untouched;
import java.util.Locale;
import org.apache.spark.sql.SparkSession;

/**
 * Whether the keys of one side of a join narrow the scan of the other: {@code spark.sargo.dynamic}.
 *
 * <pre>
 *   broadcast   by the keys of a broadcast alone, as if nothing is set
 *   subquery    by those, and by the keys of a subquery where that pays
 *   false       not at all
 * </pre>
 */
enum DynamicSettings {
  BROADCAST,
  SUBQUERY,
  FALSE;

  private static final String KEY = "spark.sargo.dynamic";

  /** Below so many bytes of a scan, running a subquery first does not pay. */
  private static final String MIN_BYTES = "spark.sargo.dynamic.subquery.min.bytes";

  private static final String DEFAULT_MIN_BYTES = String.valueOf(16L << 20);

  /** What a session sets; anything but the three words is {@code false}, with a line in the log. */
  static DynamicSettings of(SparkSession session) {
    String text = session.conf().get(KEY, "broadcast").trim();
    try {
      return valueOf(text.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      Untouched.log(KEY + " is none of broadcast, subquery and false: " + text, "any");
      return FALSE;
    }
  }

  static long minBytes(SparkSession session) {
    String text = session.conf().get(MIN_BYTES, DEFAULT_MIN_BYTES).trim();
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      Untouched.log(MIN_BYTES + " is no number: " + text, "any");
      return Long.MAX_VALUE;
    }
  }
}
