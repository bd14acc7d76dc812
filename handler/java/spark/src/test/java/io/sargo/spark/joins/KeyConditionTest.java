package io.sargo.spark.joins;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.sargo.spark.plans.Columns;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;

class KeyConditionTest {
  private static final Expression KEY = Columns.column("k", DataTypes.LongType);

  private static Expression of(LongStream keys) {
    List<Object> values = keys.boxed().collect(Collectors.toList());
    return KeyCondition.of(KEY, values);
  }

  @Test
  void keysAsManyAsAFilterHasRoomForAreAList() {
    assertEquals(3, ((InSet) of(LongStream.of(5, 3, 9, 3))).hset().size());
    assertEquals(500_000, ((InSet) of(LongStream.range(0, 500_000))).hset().size());
    // not sure by their mean distance
    assertEquals(
        400_000, ((InSet) of(LongStream.range(0, 400_000).map(n -> 7 * n + n % 5))).hset().size());
  }

  @Test
  void moreKeysAreTheirRange() {
    Expression range =
        new And(
            new GreaterThanOrEqual(KEY, new Literal(0L, DataTypes.LongType)),
            new LessThanOrEqual(KEY, new Literal(500_000L, DataTypes.LongType)));
    assertEquals(range, of(LongStream.rangeClosed(0, 500_000)));
    assertTrue(of(new SplittableRandom(7).longs(200_000)) instanceof And, "some seven bytes each");
  }

  @Test
  void noKeyIsNothing() {
    assertEquals(Literal.FalseLiteral(), of(LongStream.empty()));
  }
}
