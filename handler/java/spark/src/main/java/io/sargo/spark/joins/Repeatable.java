package io.sargo.spark.joins;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.expressions.aggregate.Min;
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Range;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/**
 * Whether a side of a join has the same keys when it runs twice, in a subquery and in the join.
 *
 * <p>Else a scan narrowed by the keys of the first run loses partners of the second. A limit takes
 * any rows, a sample and a number of rows depend on their order, a sum of floating-point numbers
 * too, and tables that are not read by listed files may have changed between the two. Only what is
 * known to be repeatable is.
 */
final class Repeatable {
  private Repeatable() {}

  static boolean isRepeatable(LogicalPlan side) {
    Deque<LogicalPlan> waiting = new ArrayDeque<>(Collections.singletonList(side));
    while (!waiting.isEmpty()) {
      LogicalPlan node = waiting.removeFirst();
      if (!isKnown(node)
          || !Seqs.list(node.expressions()).stream().allMatch(Repeatable::isExpression)) {
        return false;
      }
      waiting.addAll(Seqs.list(node.children()));
    }
    return true;
  }

  private static boolean isKnown(LogicalPlan node) {
    return node instanceof Project
        || node instanceof Filter
        || node instanceof Join
        || node instanceof LocalRelation
        || node instanceof Range
        || node instanceof Aggregate && isExact((Aggregate) node)
        || node instanceof LogicalRelation
            && ((LogicalRelation) node).relation() instanceof HadoopFsRelation;
  }

  /**
   * Whether an aggregate has what it groups by, and functions whose values depend on no order: not
   * a sum of floating-point numbers, nor the first of some rows.
   */
  private static boolean isExact(Aggregate aggregate) {
    List<Expression> groups = Seqs.list(aggregate.groupingExpressions());
    for (NamedExpression named : Seqs.list(aggregate.aggregateExpressions())) {
      Expression one = named instanceof Alias ? ((Alias) named).child() : (Expression) named;
      if (groups.stream().noneMatch(one::semanticEquals)
          && !(one instanceof AggregateExpression && isExact((AggregateExpression) one))) {
        return false;
      }
    }
    return true;
  }

  /** Spark would still have to rewrite a function of distinct values. */
  private static boolean isExact(AggregateExpression aggregate) {
    Expression function = aggregate.aggregateFunction();
    boolean isKnown =
        function instanceof Sum
            || function instanceof Count
            || function instanceof Min
            || function instanceof Max;
    return isKnown
        && !aggregate.isDistinct()
        && Seqs.list(function.children()).stream().allMatch(of -> JoinSide.isExact(of.dataType()));
  }

  /**
   * Whether an expression has the same value for a row each time, and is no function in Python:
   * those are planned by rules that do not look into subqueries.
   */
  static boolean isExpression(Expression root) {
    if (!Conditions.isUsable(root)) {
      return false;
    }
    Deque<Expression> waiting = new ArrayDeque<>(Collections.singletonList(root));
    while (!waiting.isEmpty()) {
      Expression one = waiting.removeFirst();
      if (one instanceof PythonUDF) {
        return false;
      }
      waiting.addAll(Seqs.list(one.children()));
    }
    return true;
  }
}
