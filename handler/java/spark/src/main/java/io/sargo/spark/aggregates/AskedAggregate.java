package io.sargo.spark.aggregates;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.shims.Seqs;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.Complete$;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.expressions.aggregate.Min;
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.DataTypes;

/**
 * One aggregate of a query over a scan, and how its values over two parts of the rows become one.
 *
 * <pre>
 *   the query has               asked as         of two parts
 *   --------------------------  ---------------  ---------------------------------
 *   count(1), count(*)          count(*)         the sum, 0 where there is none
 *   count(c)                    count(`c`)       the same
 *   min(c), max(c)              min(`c`) ...     the least, the greatest
 * </pre>
 */
final class AskedAggregate {
  /** Columns that a reader may fill in. */
  private static final String HUDIS_OWN = "_hoodie_";

  final AggregateExpression whole;

  /** As the sidecar reads it. */
  final String text;

  private AskedAggregate(AggregateExpression whole, String text) {
    this.whole = whole;
    this.text = text;
  }

  /** Null for what is none of these: over DISTINCT values, with a FILTER, of an expression. */
  static AskedAggregate of(AggregateExpression one, LogicalRelation scan) {
    if (one.isDistinct() || one.filter().isDefined() || one.mode() != Complete$.MODULE$) {
      return null;
    }
    AggregateFunction function = one.aggregateFunction();
    if (function.children().size() != 1) {
      return null;
    }
    Expression of = function.children().head();
    if (function instanceof Count && of instanceof Literal && ((Literal) of).value() != null) {
      return new AskedAggregate(one, "count(*)");
    }
    String name =
        function instanceof Count
            ? "count"
            : function instanceof Min ? "min" : function instanceof Max ? "max" : null;
    String column = columnOf(of, scan);
    return name == null || column == null
        ? null
        : new AskedAggregate(one, name + "(`" + column.replace("`", "``") + "`)");
  }

  /** The name of a column of the table's users; null for what is none. */
  private static String columnOf(Expression of, LogicalRelation scan) {
    if (!(of instanceof AttributeReference) || !scan.outputSet().contains((Attribute) of)) {
      return null;
    }
    String name = ((Attribute) Conditions.namedAs(scan, of)).name();
    boolean isOfTable =
        Arrays.asList(scan.relation().schema().fieldNames()).contains(name)
            && !name.startsWith(HUDIS_OWN);
    return isOfTable && name.indexOf('\n') < 0 ? name : null;
  }

  /** The aggregate over its values of the parts. */
  Expression together(Attribute parts) {
    AggregateFunction function = whole.aggregateFunction();
    if (function instanceof Min) {
      return new Min(parts).toAggregateExpression();
    }
    if (function instanceof Max) {
      return new Max(parts).toAggregateExpression();
    }
    return new Coalesce(
        Seqs.of(
            Arrays.<Expression>asList(
                new Sum(parts).toAggregateExpression(), new Literal(0L, DataTypes.LongType))));
  }
}
