package io.sargo.spark.question;

import static io.sargo.spark.plans.Columns.column;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.shims.Seqs;
import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningExpression;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.ILike;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.Like;
import org.apache.spark.sql.catalyst.expressions.LikeAny;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.NotLikeAll;
import org.apache.spark.sql.catalyst.expressions.Rand;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import scala.collection.JavaConverters;

/** Conditions as the sidecar reads them. */
class FilterDocumentTest {
  private static Expression is(Object value, DataType type) {
    return new EqualTo(column("c", type), new Literal(value, type));
  }

  private static UTF8String utf8(String text) {
    return UTF8String.fromString(text);
  }

  private static InSet in(DataType type, Object... values) {
    scala.collection.immutable.Set<Object> set =
        JavaConverters.asScalaBufferConverter(Arrays.asList(values)).asScala().toSet();
    return new InSet(column("c", type), set);
  }

  private static String exact(FilterDocument document) {
    String condition = document.conditions().get(0);
    return condition.substring(condition.lastIndexOf(",\"exact\":") + 9, condition.length() - 1);
  }

  static Stream<Arguments> values() {
    return Stream.of(
        arguments(is(7, DataTypes.IntegerType), "{}"),
        arguments(is(null, DataTypes.TimestampType), "{}"),
        arguments(is(-1L, DataTypes.TimestampType), "{\"2\":-1}"),
        arguments(is(Long.MIN_VALUE, DataTypes.TimestampType), "{\"2\":-9223372036854775808}"),
        arguments(is(1L, DataTypes.TimestampNTZType), "{}"),
        arguments(is(new byte[] {0, -1, 7}, DataTypes.BinaryType), "{\"2\":{\"base64\":\"AP8H\"}}"),
        arguments(is(new byte[0], DataTypes.BinaryType), "{\"2\":{\"base64\":\"\"}}"),
        arguments(
            new Like(
                column("c", DataTypes.StringType),
                new Literal(utf8("a"), DataTypes.StringType),
                '\\'),
            "{\"0\":\"\\\\\"}"),
        arguments(
            new ILike(
                column("c", DataTypes.StringType),
                new Literal(utf8("A"), DataTypes.StringType),
                '/'),
            "{\"0\":\"/\"}"),
        arguments(
            new Not(
                new Like(
                    column("c", DataTypes.StringType),
                    new Literal(utf8("a"), DataTypes.StringType),
                    '"')),
            "{\"1\":\"\\\"\"}"),
        arguments(
            new LikeAny(
                column("c", DataTypes.StringType),
                Seqs.of(Arrays.asList(utf8("a%"), null, utf8("\n\u00e4\u2028")))),
            "{\"0\":[\"a%\",null,\"\\u000a\u00e4\u2028\"]}"),
        arguments(
            new NotLikeAll(column("c", DataTypes.StringType), Seqs.of(List.of(utf8("a")))),
            "{\"0\":[\"a\"]}"),
        arguments(
            in(DataTypes.IntegerType, 7, null), "{\"0\":[[\"integer\",7],[\"integer\",null]]}"),
        arguments(in(DataTypes.DateType, -800000), "{\"0\":[[\"date\",-800000]]}"),
        arguments(in(DataTypes.TimestampType, 5L), "{\"0\":[[\"timestamp\",5]]}"),
        arguments(in(DataTypes.StringType, utf8("a\"b")), "{\"0\":[[\"string\",\"a\\\"b\"]]}"),
        arguments(in(DataTypes.BooleanType, true), "{\"0\":[[\"boolean\",true]]}"),
        arguments(in(DataTypes.DoubleType, Double.NaN), "{\"0\":[[\"double\",\"NaN\"]]}"),
        arguments(
            in(DataTypes.DoubleType, Double.NEGATIVE_INFINITY),
            "{\"0\":[[\"double\",\"-Infinity\"]]}"),
        arguments(in(DataTypes.FloatType, 1.5f), "{\"0\":[[\"float\",1.5]]}"),
        arguments(
            in(DataTypes.BinaryType, new byte[] {1}),
            "{\"0\":[[\"binary\",{\"base64\":\"AQ==\"}]]}"),
        arguments(
            in(DataTypes.createDecimalType(10, 2), Decimal.apply(new BigDecimal("1.50"))),
            "{\"0\":[[\"decimal(10,2)\",\"1.50\"]]}"));
  }

  @ParameterizedTest
  @MethodSource("values")
  void whatTheJsonLeavesOutIsSentBesideIt(Expression condition, String exact) {
    FilterDocument document = FilterDocument.of(List.of(condition));
    assertEquals(exact, exact(document));
  }

  static Stream<Arguments> leftOut() {
    return Stream.of(
        arguments("a date before the Gregorian calendar", is(-141428, DataTypes.DateType)),
        arguments("a date after the year 9999", is(2932897, DataTypes.DateType)),
        arguments(
            "a text that is no UTF-8",
            is(UTF8String.fromBytes(new byte[] {(byte) 0xff}), DataTypes.StringType)),
        arguments(
            "a member that is no UTF-8",
            in(DataTypes.StringType, UTF8String.fromBytes(new byte[] {(byte) 0xff}))),
        arguments(
            "what is not deterministic",
            new EqualTo(
                new Rand(new Literal(1L, DataTypes.LongType), false),
                new Literal(0.5, DataTypes.DoubleType))),
        arguments(
            "what only the running query knows",
            new DynamicPruningExpression(is(1, DataTypes.IntegerType))));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("leftOut")
  void aConditionThatIsNotExactIsLeftOut(String name, Expression condition) {
    assertTrue(FilterDocument.of(List.of(condition)).isEmpty());
    Expression plain = is(7, DataTypes.IntegerType);
    FilterDocument both = FilterDocument.of(List.of(condition, plain));
    assertEquals(FilterDocument.of(List.of(plain)).conditions(), both.conditions());
  }

  @Test
  void theFirstAndTheLastExactDateAreSent() {
    assertEquals("{}", exact(FilterDocument.of(List.of(is(-141427, DataTypes.DateType)))));
    assertEquals("{}", exact(FilterDocument.of(List.of(is(2932896, DataTypes.DateType)))));
  }

  @Test
  void equalConditionsOfTwoAnalysesAreTheSameText() {
    assertEquals(
        FilterDocument.of(List.of(is(7, DataTypes.IntegerType))).json(),
        FilterDocument.of(List.of(is(7, DataTypes.IntegerType))).json());
  }

  @Test
  void theDocumentIsAListOfConditionsAndTheirNodes() {
    FilterDocument document =
        FilterDocument.of(List.of(is(7, DataTypes.IntegerType), is(1L, DataTypes.TimestampType)));
    assertTrue(
        document.json().startsWith("{\"version\":1,\"conditions\":[{\"nodes\":[{\"class\":"));
    assertTrue(document.json().endsWith(",\"exact\":{\"2\":1}}]}"));
    assertEquals("(c = 7) AND (c = TIMESTAMP '1970-01-01 00:00:00.000001')", document.text());
  }

  @Test
  void aFilterIsNoLongerThanTheSidecarTakes() {
    Expression large = is(utf8("x".repeat(600_000)), DataTypes.StringType);
    Expression small = is(7, DataTypes.IntegerType);
    FilterDocument document = FilterDocument.of(List.of(large, large, small));
    assertEquals(2, document.conditions().size());
    assertTrue(document.json().length() < 1 << 20);
    assertTrue(document.text().length() < 2100);
  }

  @Test
  void aLongListIsWrittenOnceAndItsTextIsTheNumberOfItsMembers() {
    InSet list = in(DataTypes.LongType, LongStream.range(0, 5000).boxed().toArray());
    FilterDocument first = FilterDocument.of(List.of(list));
    assertEquals("(c IN ('5000 values'))", first.text());
    assertTrue(exact(first).contains("\"differences\":\""));
    assertEquals(exact(first), exact(FilterDocument.of(List.of(list))));
    InSet equal = in(DataTypes.LongType, LongStream.range(0, 5000).boxed().toArray());
    assertEquals(exact(first), exact(FilterDocument.of(List.of(equal))));
    InSet more = in(DataTypes.LongType, LongStream.range(0, 5001).boxed().toArray());
    assertNotEquals(exact(first), exact(FilterDocument.of(List.of(more))));
  }

  @Test
  void aConditionThatNestsTooDeeplyIsLeftOut() {
    Expression deep = is(7, DataTypes.IntegerType);
    for (int i = 0; i < 20_000; i++) {
      deep = new Not(deep);
    }
    assertTrue(FilterDocument.of(List.of(deep)).isEmpty());
  }

  @Test
  void conjunctsOfALongFilterAreFoundInTheirOrder() {
    Expression all = is(0, DataTypes.IntegerType);
    for (int i = 1; i < 20_000; i++) {
      all = new And(all, is(i, DataTypes.IntegerType));
    }
    List<Expression> found = Conditions.conjuncts(all);
    assertEquals(20_000, found.size());
    assertEquals("(c = 19999)", Conditions.byName(found.get(19_999)).sql());
    assertFalse(found.get(0) instanceof And);
  }
}
