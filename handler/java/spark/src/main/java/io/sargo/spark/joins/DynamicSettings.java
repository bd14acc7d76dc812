package io.sargo.spark.joins;

import io.sargo.spark.plans.Untouched;
import java.util.Locale;
import org.apache.spark.sql.SparkSession;

/**
 * Whether the keys of one side of a join narrow the scan of the other: {@code spark.sargo.dynamic}.
 *
 * <pre>
 *   auto        by the keys of a broadcast, and by those of a subquery that reads little of what the
 *               scan has, as if nothing is set
 *   subquery    the same with subqueries that read up to half of it
 *   broadcast   by the keys of a broadcast alone
 *   false       not at all
 * </pre>
 */
enum DynamicSettings {
  AUTO(8),
  SUBQUERY(2),
  BROADCAST(0),
  FALSE(0);

  private static final String KEY = "spark.sargo.dynamic";

  /** Below so many bytes of a scan, running a subquery first does not pay. */
  private static final String MIN_BYTES = "spark.sargo.dynamic.subquery.min.bytes";

  private static final String DEFAULT_MIN_BYTES = String.valueOf(16L << 20);

  private final int minRatio;

  DynamicSettings(int minRatio) {
    this.minRatio = minRatio;
  }

  /** How many times the bytes of its subqueries a scan must have; 0 without subqueries. */
  int minRatio() {
    return minRatio;
  }

  boolean hasSubqueries() {
    return minRatio > 0;
  }

  /** What a session sets; anything but the four words is {@code false}, with a line in the log. */
  static DynamicSettings of(SparkSession session) {
    String text = session.conf().get(KEY, "auto").trim();
    try {
      return valueOf(text.toUpperCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      Untouched.log(KEY + " is none of auto, subquery, broadcast and false: " + text, "any");
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
