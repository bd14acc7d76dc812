package io.sargo.spark.aggregates;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.math.BigDecimal;
import java.util.stream.Stream;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Values of the sidecar are exactly Spark's, or none. */
class AnsweredValueTest {
  private static final DataType DECIMAL = DataTypes.createDecimalType(10, 2);

  static Stream<Arguments> values() {
    return Stream.of(
        Arguments.of("=9223372036854775807", DataTypes.LongType, Long.MAX_VALUE),
        Arguments.of("=-7", DataTypes.IntegerType, -7),
        Arguments.of("=-32768", DataTypes.ShortType, Short.MIN_VALUE),
        Arguments.of("=127", DataTypes.ByteType, (byte) 127),
        Arguments.of("=1", DataTypes.BooleanType, true),
        Arguments.of("=0", DataTypes.BooleanType, false),
        Arguments.of("=20454", DataTypes.DateType, 20454),
        Arguments.of("=-1", DataTypes.TimestampType, -1L),
        Arguments.of("=1764547200000000", DataTypes.TimestampNTZType, 1764547200000000L),
        Arguments.of("=-12345", DECIMAL, Decimal.apply(new BigDecimal("-123.45"), 10, 2)),
        Arguments.of("=9999999999", DECIMAL, Decimal.apply(new BigDecimal("99999999.99"), 10, 2)),
        Arguments.of("=", DataTypes.StringType, UTF8String.fromString("")),
        Arguments.of("==x\n", DataTypes.StringType, UTF8String.fromString("=x\n")));
  }

  @ParameterizedTest
  @MethodSource("values")
  void aValueIsThatOfSpark(String text, DataType type, Object expected) {
    assertEquals(expected, AnsweredValue.of(text, type.catalogString(), type).value());
  }

  @Test
  void noTextIsNull() {
    assertNull(AnsweredValue.of("", "int", DataTypes.IntegerType).value());
    assertEquals(
        DataTypes.IntegerType, AnsweredValue.of("", "int", DataTypes.IntegerType).dataType());
  }

  static Stream<Arguments> others() {
    return Stream.of(
        Arguments.of("=7", "bigint", DataTypes.IntegerType),
        Arguments.of("=7", null, DataTypes.IntegerType),
        Arguments.of("=7", "decimal(10,3)", DECIMAL),
        Arguments.of("=10000000000", "decimal(10,2)", DECIMAL),
        Arguments.of("=2147483648", "int", DataTypes.IntegerType),
        Arguments.of("=9223372036854775808", "bigint", DataTypes.LongType),
        Arguments.of("=32768", "smallint", DataTypes.ShortType),
        Arguments.of("=128", "tinyint", DataTypes.ByteType),
        Arguments.of("=2", "boolean", DataTypes.BooleanType),
        Arguments.of("=1.5", "int", DataTypes.IntegerType),
        Arguments.of("=", "int", DataTypes.IntegerType),
        Arguments.of("7", "int", DataTypes.IntegerType),
        Arguments.of("=1", "double", DataTypes.DoubleType),
        Arguments.of("=1", "binary", DataTypes.BinaryType));
  }

  @ParameterizedTest
  @MethodSource("others")
  void whatIsNoValueOfTheTypeIsRefused(String text, String type, DataType wanted) {
    assertThrows(RuntimeException.class, () -> AnsweredValue.of(text, type, wanted));
  }
}
