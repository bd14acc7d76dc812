package io.sargo.spark.joins;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.plans.LimitedKeys;
import io.sargo.spark.plans.Nodes;
import io.sargo.spark.plans.Rewrite;
import io.sargo.spark.scans.NarrowedIndex;
import io.sargo.spark.shims.ListStrategy;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.PlanLater;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.FileSourceStrategy$;

/**
 * Plans a scan with the condition of {@link DynamicKeys} as a {@link DynamicScan}: what Spark's own
 * strategy plans for files, with this condition taken from the filter over the scan.
 *
 * <p>All of them narrow the scan, one after the other. They are left out, for they change no row of
 * the query, where the scan has subqueries of its own, of a partition column. None may stay a
 * filter of rows: with more keys than are taken to the driver it would lose some.
 */
public final class DynamicScanStrategy extends ListStrategy {
  private static final long serialVersionUID = 1;

  @Override
  protected List<SparkPlan> plans(LogicalPlan plan) {
    if (!hasCondition(plan)) {
      return withoutLimited(plan);
    }
    List<SparkPlan> plans = new ArrayList<>();
    for (SparkPlan one : Seqs.list(FileSourceStrategy$.MODULE$.apply(plan))) {
      plans.add(one.transformUp(Rewrite.by(DynamicScanStrategy::scanned)));
    }
    return plans;
  }

  /**
   * A filter that some rule has moved away from its scan, planned without the conditions whose keys
   * may not be all; nothing for any other plan.
   */
  private static List<SparkPlan> withoutLimited(LogicalPlan plan) {
    return plan instanceof Filter && LimitedKeys.areIn((Filter) plan)
        ? Collections.singletonList(new PlanLater(LimitedKeys.without(plan)))
        : Collections.emptyList();
  }

  /** Whether one of the filters and projects that begin a plan has such a condition. */
  private static boolean hasCondition(LogicalPlan plan) {
    LogicalPlan node = plan;
    boolean has = false;
    while (node.children().size() == 1) {
      has |= Seqs.list(node.expressions()).stream().anyMatch(DynamicScanStrategy::isDynamic);
      node = node.children().head();
    }
    return has && NarrowedIndex.of(node) != null;
  }

  private static boolean isDynamic(Expression condition) {
    return Conditions.conjuncts(condition).stream()
        .anyMatch(one -> one instanceof DynamicPruningSubquery);
  }

  /** A filter by keys as a scan that waits for them; null for any other node. */
  private static SparkPlan scanned(SparkPlan node) {
    if (!(node instanceof FilterExec) || !isDynamic(((FilterExec) node).condition())) {
      return null;
    }
    FilterExec filter = (FilterExec) node;
    Expression rest = null;
    Expression dynamic = null;
    for (Expression one : Conditions.conjuncts(filter.condition())) {
      if (!(one instanceof DynamicPruningSubquery)) {
        rest = rest == null ? one : new And(rest, one);
      } else {
        dynamic = dynamic == null ? one : new And(dynamic, one);
      }
    }
    SparkPlan left = filter.child();
    if (left instanceof FileSourceScanExec) {
      FileSourceScanExec scan = withoutSubqueries((FileSourceScanExec) left);
      left = isOwn(scan) ? new DynamicScan(scan, dynamic) : left;
    }
    return rest == null ? left : new FilterExec(rest, left);
  }

  /**
   * A scan without filters of data that hold subqueries, which Spark 4 gives to it, too. They
   * filter the rows over the scan.
   */
  private static FileSourceScanExec withoutSubqueries(FileSourceScanExec scan) {
    List<Expression> filters = Seqs.list(scan.dataFilters());
    List<Expression> usable =
        filters.stream().filter(Conditions::isUsable).collect(Collectors.toList());
    return usable.size() == filters.size()
        ? scan
        : (FileSourceScanExec) Nodes.withPart(scan, scan.dataFilters(), Seqs.of(usable));
  }

  /** Whether a scan is of a narrowed table, and has no subquery of its own. */
  private static boolean isOwn(FileSourceScanExec scan) {
    return scan.relation().location() instanceof NarrowedIndex
        && Seqs.list(scan.expressions()).stream().allMatch(Conditions::isUsable);
  }
}
