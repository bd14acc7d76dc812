package io.sargo.spark.aggregates;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.shims.Reflection;
import io.sargo.spark.shims.Seqs;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.CheckOverflow;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.IsNull;
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
import org.apache.spark.sql.types.DecimalType;

/**
 * One aggregate of a query over a scan, and how its values over two parts of the rows become one.
 *
 * <pre>
 *   the query has               asked as         of two parts
 *   --------------------------  ---------------  ---------------------------------
 *   count(1), count(*)          count(*)         the sum, 0 where there is none
 *   count(c)                    count(`c`)       the same
 *   min(c), max(c)              min(`c`) ...     the least, the greatest
 *   sum(c)                      sum(`c`)         the sum, in the same arithmetic
 * </pre>
 *
 * <p>A sum of decimals is NULL where there is no value, and, without ANSI arithmetic, where it
 * overflows. A second column of the parts tells the two apart.
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
    String name = nameOf(function);
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

  /** The name of an aggregate that is asked; null for another one, such as try_sum. */
  private static String nameOf(AggregateFunction function) {
    boolean isAsked =
        function instanceof Count
            || function instanceof Min
            || function instanceof Max
            || (function instanceof Sum && function.prettyName().equals("sum"));
    return isAsked ? function.prettyName() : null;
  }

  /** What is computed of the rows that are read: a column of {@code together}, or two. */
  List<Expression> ofRest() {
    if (!mayOverflow()) {
      return Arrays.asList(whole);
    }
    Expression count =
        new Count(Seqs.of(Seqs.list(whole.aggregateFunction().children()))).toAggregateExpression();
    Expression some = new GreaterThan(count, new Literal(0L, DataTypes.LongType));
    return Arrays.asList(whole, new And(some, new IsNull(whole)));
  }

  /** The same columns of the rows that are answered. */
  List<Expression> ofAnswer(Literal value) {
    return mayOverflow()
        ? Arrays.asList(value, new Literal(false, DataTypes.BooleanType))
        : Arrays.asList(value);
  }

  /** The aggregate over its values of the parts. */
  Expression together(List<Attribute> parts) {
    AggregateFunction function = whole.aggregateFunction();
    Attribute values = parts.get(0);
    if (function instanceof Min) {
      return new Min(values).toAggregateExpression();
    }
    if (function instanceof Max) {
      return new Max(values).toAggregateExpression();
    }
    if (function instanceof Count) {
      return new Coalesce(
          Seqs.of(
              Arrays.<Expression>asList(
                  new Sum(values).toAggregateExpression(), new Literal(0L, DataTypes.LongType))));
    }
    Expression sum =
        ((AggregateFunction) function.withNewChildren(Seqs.of(Arrays.<Expression>asList(values))))
            .toAggregateExpression();
    if (!mayOverflow()) {
      return sum;
    }
    DecimalType type = (DecimalType) function.dataType();
    return new If(
        new Max(parts.get(1)).toAggregateExpression(),
        new Literal(null, type),
        new CheckOverflow(sum, type, !isAnsi(function)));
  }

  private boolean mayOverflow() {
    AggregateFunction function = whole.aggregateFunction();
    return function instanceof Sum && function.dataType() instanceof DecimalType;
  }

  /** Whether a sum fails where it overflows. */
  private static boolean isAnsi(AggregateFunction sum) {
    try {
      Object of = Reflection.has(sum, "evalContext") ? Reflection.call(sum, "evalContext") : sum;
      return String.valueOf(Reflection.call(of, "evalMode")).equals("ANSI");
    } catch (ReflectiveOperationException e) {
      throw new IllegalArgumentException(e);
    }
  }
}
