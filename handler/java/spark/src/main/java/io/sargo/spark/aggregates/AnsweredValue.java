package io.sargo.spark.aggregates;

import java.math.BigDecimal;
import java.math.BigInteger;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.types.UTF8String;

/** A value of the sidecar as a constant of Spark. */
final class AnsweredValue {
  private AnsweredValue() {}

  /**
   * Throws IllegalArgumentException for a value that is none of the type, and for another type than
   * the query has.
   */
  static Literal of(Object value, Object type, DataType wanted) {
    String text = String.valueOf(value);
    if (!wanted.catalogString().equals(type)) {
      throw new IllegalArgumentException(
          "an aggregate is " + type + ", in Spark " + wanted.catalogString());
    }
    if (text.isEmpty()) {
      return new Literal(null, wanted);
    }
    if (text.charAt(0) != '=') {
      throw new IllegalArgumentException("no value");
    }
    return new Literal(internal(text.substring(1), wanted), wanted);
  }

  private static Object internal(String text, DataType type) {
    if (type.equals(DataTypes.StringType)) {
      return UTF8String.fromString(text);
    }
    BigInteger number = new BigInteger(text);
    if (type instanceof DecimalType) {
      DecimalType of = (DecimalType) type;
      BigDecimal value = new BigDecimal(number, of.scale());
      if (value.precision() > of.precision()) {
        throw new IllegalArgumentException("a value beyond its type");
      }
      return Decimal.apply(value, of.precision(), of.scale());
    }
    long whole = number.longValueExact();
    if (type.equals(DataTypes.LongType)
        || type.equals(DataTypes.TimestampType)
        || type.equals(DataTypes.TimestampNTZType)) {
      return whole;
    }
    int small = Math.toIntExact(whole);
    if (type.equals(DataTypes.IntegerType) || type.equals(DataTypes.DateType)) {
      return small;
    }
    if (type.equals(DataTypes.ShortType) && small == (short) small) {
      return (short) small;
    }
    if (type.equals(DataTypes.ByteType) && small == (byte) small) {
      return (byte) small;
    }
    if (type.equals(DataTypes.BooleanType) && (small == 0 || small == 1)) {
      return small == 1;
    }
    throw new IllegalArgumentException("a value beyond its type");
  }
}
