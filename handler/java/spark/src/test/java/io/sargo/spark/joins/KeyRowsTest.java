package io.sargo.spark.joins;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.sargo.spark.plans.Columns;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Cast$;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

class KeyRowsTest {
  /** Types of keys, and the value of each number in Spark's internal form. */
  private static final Map<DataType, LongFunction<Object>> TYPES = new LinkedHashMap<>();

  static {
    TYPES.put(DataTypes.ShortType, n -> (short) n);
    TYPES.put(DataTypes.IntegerType, n -> (int) n);
    TYPES.put(DataTypes.DateType, n -> (int) n);
    TYPES.put(DataTypes.LongType, n -> n << 33);
    TYPES.put(DataTypes.TimestampType, n -> n * 1_000_003);
    TYPES.put(DataTypes.StringType, n -> UTF8String.fromString("key " + n));
    TYPES.put(new DecimalType(12, 2), n -> Decimal.apply(n, 12, 2));
    TYPES.put(
        new DecimalType(38, 4),
        n -> Decimal.apply(new scala.math.BigDecimal(BigDecimal.valueOf(n).pow(7)), 38, 4));
  }

  private static boolean passes(Expression condition, Object value) {
    return Boolean.TRUE.equals(condition.eval(new GenericInternalRow(new Object[] {value})));
  }

  private static List<Object> values(LongStream numbers, LongFunction<Object> value) {
    return numbers.mapToObj(value).collect(Collectors.toCollection(ArrayList::new));
  }

  @Test
  void eachRowWithAKeyPassesAndFewOthers() {
    TYPES.forEach(
        (type, value) -> {
          for (int count : Arrays.asList(1, 2, 399, 400, 401, 5_000)) {
            List<Object> keys = values(LongStream.range(0, count), value);
            Expression condition = KeyRows.condition(new BoundReference(0, type, true), keys);
            keys.forEach(key -> assertTrue(passes(condition, key), () -> type + " " + key));
            long others =
                values(LongStream.range(count, 3L * count), value).stream()
                    .filter(other -> passes(condition, other))
                    .count();
            assertTrue(others <= (count > 400 ? count / 10 : 0), () -> type + " " + others);
          }
        });
  }

  @Test
  void nullIsNoKey() {
    Expression column = new BoundReference(0, DataTypes.LongType, true);
    List<Object> keys = values(LongStream.range(0, 1000), n -> n);
    keys.add(null);
    assertFalse(passes(KeyRows.condition(column, Arrays.asList(7L, null)), null));
    assertTrue(passes(KeyRows.condition(column, keys), 999L));
    assertEquals(Literal.FalseLiteral(), KeyRows.condition(column, Collections.emptyList()));
    assertEquals(
        Literal.FalseLiteral(), KeyRows.condition(column, Collections.singletonList(null)));
  }

  @Test
  void fewKeysAreAList() {
    Expression column = new BoundReference(0, DataTypes.LongType, true);
    List<Object> keys = values(LongStream.range(0, 401), n -> n);
    assertEquals(InSet.class, KeyRows.condition(column, keys.subList(0, 400)).getClass());
    assertNotEquals(InSet.class, KeyRows.condition(column, keys).getClass());
  }

  @Test
  void onlyKeysThatCannotFailAreAskedOfRows() {
    Expression number = Columns.column("i", DataTypes.IntegerType);
    Expression text = Columns.column("s", DataTypes.StringType);
    assertTrue(KeyRows.canFilter(number));
    assertTrue(KeyRows.canFilter(text));
    assertTrue(KeyRows.canFilter(cast(number, DataTypes.LongType)));
    assertFalse(KeyRows.canFilter(cast(number, DataTypes.ShortType)));
    assertFalse(KeyRows.canFilter(cast(text, DataTypes.IntegerType)));
    assertFalse(KeyRows.canFilter(cast(cast(text, DataTypes.IntegerType), DataTypes.LongType)));
    assertFalse(KeyRows.canFilter(new IsNull(number)));
  }

  private static Expression cast(Expression of, DataType type) {
    return Cast$.MODULE$.apply(of, type, true);
  }
}
