package io.sargo.spark.shims;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke;
import org.apache.spark.sql.types.DataType;
import scala.Option;

/** An expression that calls a static method of Java, whose result is not null. */
public final class StaticCall {
  private StaticCall() {}

  public static Expression of(
      Class<?> type, DataType result, String method, List<Expression> arguments) {
    return new StaticInvoke(
        type, result, method, Seqs.of(arguments), Seqs.empty(), false, false, true, Option.empty());
  }
}
