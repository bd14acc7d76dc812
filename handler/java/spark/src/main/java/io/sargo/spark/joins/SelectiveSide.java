package io.sargo.spark.joins;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.plans.Joins;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import org.apache.spark.sql.catalyst.expressions.DynamicPruning;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/**
 * Whether the keys of a join's side can be few of all keys.
 *
 * <p>They are all keys, as far as anyone knows, of a table that is read whole: nothing is asked
 * then. A filter, a semi join, a limit, and rows that are no table's (a list in the query, a frame
 * that was made or cached) leave fewer.
 */
final class SelectiveSide {
  private SelectiveSide() {}

  static boolean isSelective(LogicalPlan side) {
    Deque<LogicalPlan> waiting = new ArrayDeque<>(Collections.singletonList(side));
    while (!waiting.isEmpty()) {
      LogicalPlan node = waiting.removeFirst();
      if (node instanceof LogicalQueryStage) {
        waiting.add(((LogicalQueryStage) node).logicalPlan());
      } else if (leavesFewer(node)) {
        return true;
      } else {
        waiting.addAll(Seqs.list(node.children()));
      }
    }
    return false;
  }

  private static boolean leavesFewer(LogicalPlan node) {
    if (node instanceof Filter) {
      return Conditions.conjuncts(((Filter) node).condition()).stream()
          .anyMatch(SelectiveSide::isSelective);
    }
    if (node instanceof Join) {
      String type = Joins.type((Join) node);
      return type.equals("LEFT SEMI") || type.equals("LEFT ANTI");
    }
    String name = node.getClass().getSimpleName();
    return node instanceof LocalRelation
        || name.endsWith("Limit")
        || name.equals("Sample")
        || node.children().isEmpty() && !isTable(node, name);
  }

  private static boolean isTable(LogicalPlan node, String name) {
    return node instanceof LogicalRelation
        || name.equals("HiveTableRelation")
        || name.startsWith("DataSourceV2");
  }

  static boolean isSelective(Expression condition) {
    return !(condition instanceof IsNotNull) && !(condition instanceof DynamicPruning);
  }
}
