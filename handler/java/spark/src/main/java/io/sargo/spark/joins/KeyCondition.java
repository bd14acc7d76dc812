package io.sargo.spark.joins;

import io.sargo.spark.question.SortedKeys;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.JavaConverters;

/**
 * The condition that a column has one of a join's keys.
 *
 * <pre>
 *   keys                                        condition
 *   ------------------------------------------  ---------------------------------
 *   none                                        FALSE
 *   as many as a filter of a MiB has room for:  IN
 *     some 400,000 integers, 30,000 texts
 *   more                                        &gt;= the least AND &lt;= the greatest
 * </pre>
 */
final class KeyCondition {
  /** Integers take a byte to three each ({@link SortedKeys}) where they are near each other. */
  private static final int MAX_INTEGERS = 500_000;

  /** The sidecar's default limit of the parts of a filter is 100,000. */
  private static final int MAX_OTHERS = 40_000;

  private static final int MAX_BYTES = 900_000;

  /** What stands around a member of a list. */
  private static final int MEMBER_BYTES = 8;

  private static final int NUMBER_BYTES = 20;

  private final Expression key;
  private final Set<Object> values = new HashSet<>();
  private Object least;
  private Object greatest;
  private long bytes;
  private boolean isList = true;
  private final boolean isIntegers;

  KeyCondition(Expression key) {
    this.key = key;
    isIntegers = SortedKeys.areIntegers(key.dataType());
  }

  static Expression of(Expression key, Collection<Object> values) {
    KeyCondition condition = new KeyCondition(key);
    values.forEach(condition::add);
    return condition.expression();
  }

  /** Adds a value of Spark's internal form. NULL is no key. */
  void add(Object value) {
    if (value == null) {
      return;
    }
    Object own = value instanceof UTF8String ? ((UTF8String) value).clone() : value;
    least = least == null || compare(own, least) < 0 ? own : least;
    greatest = greatest == null || compare(own, greatest) > 0 ? own : greatest;
    if (isList && values.add(own)) {
      bytes += length(own);
      isList =
          isIntegers
              ? values.size() <= MAX_INTEGERS
              : values.size() <= MAX_OTHERS && bytes <= MAX_BYTES;
      if (!isList) {
        values.clear();
      }
    }
  }

  Expression expression() {
    if (least == null) {
      return Literal.FalseLiteral();
    }
    if (isList && (!isIntegers || areFew())) {
      return new InSet(key, JavaConverters.asScalaSetConverter(values).asScala().toSet());
    }
    DataType type = key.dataType();
    return new And(
        new GreaterThanOrEqual(key, new Literal(least, type)),
        new LessThanOrEqual(key, new Literal(greatest, type)));
  }

  /** Whether a filter has room for the integers: what they take is counted where it is not sure. */
  private boolean areFew() {
    return bytesOfIntegers() <= MAX_BYTES || SortedKeys.length(values) <= MAX_BYTES;
  }

  /** At most so many bytes in Base64: the mean distance of two integers, and two bytes for zlib. */
  private double bytesOfIntegers() {
    double range = ((Number) greatest).doubleValue() - ((Number) least).doubleValue();
    double bits = Math.log(range / values.size() + 2) / Math.log(2);
    return values.size() * (2 + bits / 8) * 4 / 3;
  }

  /** As text; the letters of a text may take six characters each at worst. */
  private int length(Object value) {
    int own = value instanceof UTF8String ? ((UTF8String) value).numBytes() : NUMBER_BYTES;
    return own + key.dataType().typeName().length() + MEMBER_BYTES;
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static int compare(Object a, Object b) {
    return ((Comparable) a).compareTo(b);
  }
}
