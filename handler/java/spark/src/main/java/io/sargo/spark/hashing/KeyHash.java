package io.sargo.spark.hashing;

import java.time.LocalDate;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The hash of Hudi's simple bucket index: Java's {@code List.hashCode} over the texts of a key.
 *
 * <pre>
 *   hash = 1, then for each value 31 * hash + value's text.hashCode(), NULL being 0
 *   bucket = (hash &amp; 0x7fffffff) % number of buckets
 *
 *   string                          itself
 *   tinyint, smallint, int, bigint  decimal digits
 *   timestamp_ntz                   microseconds since 1970, decimal digits
 *   boolean                         true, false
 *   date                            2026-01-31
 *   decimal                         BigDecimal.toString
 * </pre>
 *
 * <p>Public, because the code that Spark generates calls it. Facts: docs/facts/hudi-buckets.md.
 */
public final class KeyHash {
  static final int FIRST = 1;

  private static final int TRUE = "true".hashCode();
  private static final int FALSE = "false".hashCode();
  private static final int SMALLEST = Long.toString(Long.MIN_VALUE).hashCode();

  private KeyHash() {}

  public static int addNull(int hash) {
    return 31 * hash;
  }

  public static int add(int hash, boolean value) {
    return 31 * hash + (value ? TRUE : FALSE);
  }

  public static int add(int hash, byte value) {
    return add(hash, (long) value);
  }

  public static int add(int hash, short value) {
    return add(hash, (long) value);
  }

  public static int add(int hash, int value) {
    return add(hash, (long) value);
  }

  public static int add(int hash, long value) {
    return 31 * hash + ofDigits(value);
  }

  /** {@code days} since 1970. */
  public static int addDate(int hash, int days) {
    return 31 * hash + LocalDate.ofEpochDay(days).toString().hashCode();
  }

  public static int add(int hash, Decimal value) {
    return 31 * hash + value.toJavaBigDecimal().toString().hashCode();
  }

  public static int add(int hash, UTF8String value) {
    return 31 * hash + ofText(value);
  }

  public static int bucket(int hash, int buckets) {
    return (hash & Integer.MAX_VALUE) % buckets;
  }

  /** {@code Long.toString(value).hashCode()}: from the last digit to the first. */
  private static int ofDigits(long value) {
    if (value == Long.MIN_VALUE) {
      return SMALLEST;
    }
    long left = Math.abs(value);
    int hash = 0;
    int weight = 1;
    do {
      hash += weight * ('0' + (int) (left % 10));
      weight *= 31;
      left /= 10;
    } while (left != 0);
    return value < 0 ? hash + weight * '-' : hash;
  }

  /** {@code value.toString().hashCode()}. Only a text beyond ASCII is decoded. */
  private static int ofText(UTF8String value) {
    Object base = value.getBaseObject();
    long offset = value.getBaseOffset();
    int length = value.numBytes();
    int hash = 0;
    for (int i = 0; i < length; i++) {
      byte one = Platform.getByte(base, offset + i);
      if (one < 0) {
        return value.toString().hashCode();
      }
      hash = 31 * hash + one;
    }
    return hash;
  }
}
