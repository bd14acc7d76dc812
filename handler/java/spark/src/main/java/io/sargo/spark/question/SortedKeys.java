package io.sargo.spark.question;

import io.sargo.client.Deflated;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.Set;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/**
 * The integers of a long list as the sidecar reads them: their differences in ascending order.
 *
 * <pre>
 *   {"type": "integer", "differences": "..."}
 * </pre>
 *
 * <p>The text is Base64 of a zlib stream: the least value and then each distance to the next one,
 * as eight bytes each, the lowest first. A key takes a byte to three then.
 */
public final class SortedKeys {
  /** Shorter lists are written as lists. */
  static final int MIN_KEYS = 1000;

  private static final int MAX_WRITTEN = 8;

  /** The lists that were written last: adaptive execution asks about one again at each stage. */
  private static final Deque<Written> WRITTEN = new ArrayDeque<>();

  private SortedKeys() {}

  /** Whether values of a type are integers in Spark's internal form. */
  public static boolean areIntegers(DataType type) {
    return type instanceof IntegralType
        || type instanceof DateType
        || type instanceof TimestampType
        || type instanceof TimestampNTZType;
  }

  /**
   * The JSON of a set of integers; null if it is short, has a NULL, or is of another type.
   *
   * @param list an object that never stands for another set
   */
  static String json(Object list, Set<Object> values, DataType type) {
    if (values.size() < MIN_KEYS || !areIntegers(type) || values.contains(null)) {
      return null;
    }
    return "{\"type\":\"" + type.typeName() + "\",\"differences\":\"" + text(list, values) + "\"}";
  }

  private static String text(Object list, Set<Object> values) {
    synchronized (WRITTEN) {
      for (Written one : WRITTEN) {
        if (one.list.get() == list) {
          return one.text;
        }
      }
    }
    Written written = new Written(list, text(values));
    synchronized (WRITTEN) {
      WRITTEN.addFirst(written);
      if (WRITTEN.size() > MAX_WRITTEN) {
        WRITTEN.removeLast();
      }
    }
    return written.text;
  }

  /** The bytes that integers, none of them NULL, take in a filter. */
  public static int length(Set<Object> values) {
    return text(values).length();
  }

  private static String text(Set<Object> values) {
    long[] sorted = values.stream().mapToLong(one -> ((Number) one).longValue()).sorted().toArray();
    ByteBuffer bytes = ByteBuffer.allocate(8 * sorted.length).order(ByteOrder.LITTLE_ENDIAN);
    for (int i = 0; i < sorted.length; i++) {
      bytes.putLong(i == 0 ? sorted[0] : sorted[i] - sorted[i - 1]);
    }
    try {
      return Base64.getEncoder().encodeToString(Deflated.stream(bytes.array()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static final class Written {
    final WeakReference<Object> list;
    final String text;

    Written(Object list, String text) {
      this.list = new WeakReference<>(list);
      this.text = text;
    }
  }
}
