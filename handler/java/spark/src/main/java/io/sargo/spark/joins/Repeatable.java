package io.sargo.spark.joins;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PythonUDF;
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
        || node instanceof Aggregate && isDistinct((Aggregate) node)
        || node instanceof LogicalRelation
            && ((LogicalRelation) node).relation() instanceof HadoopFsRelation;
  }

  /** Whether an aggregate has no functions, only what it groups by. */
  private static boolean isDistinct(Aggregate aggregate) {
    return Seqs.list(aggregate.aggregateExpressions()).stream()
        .allMatch(
            one ->
                Seqs.list(aggregate.groupingExpressions()).stream()
                    .anyMatch(grouping -> grouping.semanticEquals((Expression) one)));
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
