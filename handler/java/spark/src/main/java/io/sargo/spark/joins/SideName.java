package io.sargo.spark.joins;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/**
 * What a side of a join has in common with itself in other queries, whatever their constants are:
 * its tables, and the columns that it has conditions on.
 */
final class SideName {
  private SideName() {}

  static String of(LogicalPlan side) {
    Set<String> tables = new TreeSet<>();
    Set<String> columns = new TreeSet<>();
    Deque<LogicalPlan> waiting = new ArrayDeque<>(Collections.singletonList(side));
    while (!waiting.isEmpty()) {
      LogicalPlan node = waiting.removeFirst();
      if (node instanceof LogicalQueryStage) {
        waiting.add(((LogicalQueryStage) node).logicalPlan());
        continue;
      }
      if (node instanceof Filter) {
        for (Expression one : Conditions.conjuncts(((Filter) node).condition())) {
          if (SelectiveSide.isSelective(one)) {
            columns.add(names(Seqs.list(one.references().toSeq())));
          }
        }
      }
      if (node.children().isEmpty()) {
        tables.add(table(node));
      }
      waiting.addAll(Seqs.list(node.children()));
    }
    return tables + " by " + columns;
  }

  private static String table(LogicalPlan leaf) {
    return leaf instanceof LogicalRelation
            && ((LogicalRelation) leaf).relation() instanceof HadoopFsRelation
        ? Seqs.list(((HadoopFsRelation) ((LogicalRelation) leaf).relation()).location().rootPaths())
            .toString()
        : leaf.nodeName() + names(Seqs.list(leaf.output()));
  }

  private static String names(Iterable<Attribute> columns) {
    Set<String> names = new TreeSet<>();
    columns.forEach(column -> names.add(column.name()));
    return names.stream().collect(Collectors.joining(",", "(", ")"));
  }
}
