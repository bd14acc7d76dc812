package io.sargo.spark.question;

import io.sargo.spark.shims.Reflection;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ILike;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.Like;
import org.apache.spark.sql.catalyst.expressions.LikeAllBase;
import org.apache.spark.sql.catalyst.expressions.LikeAnyBase;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;
import scala.collection.JavaConverters;

/**
 * The values that Catalyst's JSON of an expression leaves out or does not give exactly, as JSON by
 * the number of their node, parents first.
 *
 * <pre>
 *   node                            value
 *   ------------------------------  -----------------------------------------------------------
 *   Literal of type timestamp       microseconds since 1970, in UTC
 *   Literal of type binary          {"base64": "..."}
 *   Like, ILike                     the escape character, as a text
 *   LikeAny, LikeAll, NotLike...    the patterns: a list of texts and nulls
 *   InSet                           a list of [type, value], as Spark has the values inside; of
 *                                   many integers as {@link SortedKeys}
 *   CommonExpressionDef, ...Ref     the id, as a text
 * </pre>
 */
final class ExactValues {
  /** Spark's JSON has dates by java.sql.Date, exact from the Gregorian calendar to year 9999. */
  private static final int FIRST_DATE = -141427;

  private static final int LAST_DATE = 2932896;

  private ExactValues() {}

  /** A value that has no exact form. */
  static final class Inexact extends Exception {
    private static final long serialVersionUID = 1;

    Inexact(String why) {
      super(why, null, false, false);
    }
  }

  /** Adds the values of all nodes below a condition. Throws Inexact if one has no exact form. */
  static void collect(Expression condition, Map<Integer, String> into) throws Inexact {
    collect(condition, into, 0);
  }

  private static int collect(Expression node, Map<Integer, String> into, int index) throws Inexact {
    String value = valueOf(node);
    if (value != null) {
      into.put(index, value);
    }
    int next = index + 1;
    for (Expression child : Seqs.list(node.children())) {
      next = collect(child, into, next);
    }
    return next;
  }

  /** The JSON of the value that a node's own JSON leaves out, or null. */
  private static String valueOf(Expression node) throws Inexact {
    if (node instanceof Literal) {
      return literal(((Literal) node).value(), node.dataType());
    }
    if (node instanceof Like) {
      return text(String.valueOf(((Like) node).escapeChar()));
    }
    if (node instanceof ILike) {
      return text(String.valueOf(((ILike) node).escapeChar()));
    }
    if (node instanceof LikeAnyBase) {
      return texts(Seqs.list(((LikeAnyBase) node).patterns()));
    }
    if (node instanceof LikeAllBase) {
      return texts(Seqs.list(((LikeAllBase) node).patterns()));
    }
    if (node instanceof InSet) {
      InSet in = (InSet) node;
      Set<Object> values = JavaConverters.setAsJavaSetConverter(in.hset()).asJava();
      String sorted = SortedKeys.json(in.hset(), values, in.child().dataType());
      return sorted != null ? sorted : members(values, in.child().dataType());
    }
    if (node.getClass().getSimpleName().startsWith("CommonExpression")) { // new in Spark 4
      try {
        return text(Reflection.call(node, "id").toString());
      } catch (ReflectiveOperationException e) {
        throw new Inexact(e.toString());
      }
    }
    return null;
  }

  private static String literal(Object value, DataType type) throws Inexact {
    if (value == null) {
      return null;
    }
    if (type.equals(DataTypes.TimestampType)) {
      return value.toString();
    }
    if (type.equals(DataTypes.BinaryType)) {
      return binary((byte[]) value);
    }
    if (type.equals(DataTypes.DateType)
        && ((Integer) value < FIRST_DATE || (Integer) value > LAST_DATE)) {
      throw new Inexact("a date of another calendar");
    }
    if (value instanceof UTF8String) {
      plain((UTF8String) value);
    }
    return null;
  }

  private static String members(Iterable<Object> values, DataType type) throws Inexact {
    List<String> members = new ArrayList<>();
    for (Object value : values) {
      members.add("[" + text(type.typeName()) + "," + member(value) + "]");
    }
    return "[" + String.join(",", members) + "]";
  }

  private static String member(Object value) throws Inexact {
    if (value == null || value instanceof Boolean) {
      return String.valueOf(value);
    }
    if (value instanceof UTF8String) {
      return text(plain((UTF8String) value));
    }
    if (value instanceof byte[]) {
      return binary((byte[]) value);
    }
    if (value instanceof Decimal) {
      return text(value.toString());
    }
    if (value instanceof Float || value instanceof Double) {
      double number = ((Number) value).doubleValue();
      boolean isFinite = !Double.isNaN(number) && !Double.isInfinite(number);
      return isFinite ? value.toString() : text(value.toString());
    }
    if (value instanceof Byte
        || value instanceof Short
        || value instanceof Integer
        || value instanceof Long) {
      return value.toString();
    }
    throw new Inexact("a value of " + value.getClass());
  }

  private static String texts(List<UTF8String> values) throws Inexact {
    List<String> texts = new ArrayList<>();
    for (UTF8String value : values) {
      texts.add(value == null ? "null" : text(plain(value)));
    }
    return texts.stream().collect(Collectors.joining(",", "[", "]"));
  }

  private static String binary(byte[] bytes) {
    return "{\"base64\":\"" + Base64.getEncoder().encodeToString(bytes) + "\"}";
  }

  /** The text of a value. Throws Inexact if its bytes are no UTF-8. */
  private static String plain(UTF8String value) throws Inexact {
    String plain = value.toString();
    if (!UTF8String.fromString(plain).equals(value)) {
      throw new Inexact("a text that is no UTF-8");
    }
    return plain;
  }

  private static String text(String value) {
    StringBuilder json = new StringBuilder("\"");
    for (int i = 0; i < value.length(); i++) {
      char one = value.charAt(i);
      if (one == '"' || one == '\\') {
        json.append('\\').append(one);
      } else if (one < ' ') {
        json.append(String.format("\\u%04x", (int) one));
      } else {
        json.append(one);
      }
    }
    return json.append('"').toString();
  }
}
