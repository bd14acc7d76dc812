package io.sargo.spark.joins;

import io.sargo.spark.plans.Nodes;
import io.sargo.spark.plans.Rewrite;
import io.sargo.spark.scans.NarrowedIndex;
import io.sargo.spark.scans.Narrowing;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Narrows the scan of a join's side by the keys of the other side, once adaptive execution has
 * broadcast it and plans the rest of the query again.
 *
 * <p>The keys are one more condition of the scan: rows that fail it have no partner, and the join
 * loses them ({@link JoinSide}). The plan stays as it is if the keys skip nothing more.
 */
public final class NarrowByBroadcasts extends Rule<LogicalPlan> {
  private static final Logger LOG = LoggerFactory.getLogger(NarrowByBroadcasts.class);

  private final SparkSession session;

  public NarrowByBroadcasts(SparkSession session) {
    this.session = session;
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    try {
      return DynamicSettings.of(session) == DynamicSettings.FALSE
          ? plan
          : plan.transform(Rewrite.by(NarrowByBroadcasts::narrowed));
    } catch (Exception | LinkageError | StackOverflowError e) {
      LOG.warn("sargo: not narrowed by a join, because of {}", e.toString(), e);
      return plan;
    }
  }

  /** A join with narrowed scans; null for what is no join by a condition. */
  private static LogicalPlan narrowed(LogicalPlan node) {
    if (!(node instanceof Join) || ((Join) node).condition().isEmpty()) {
      return null;
    }
    Join join = (Join) node;
    LogicalPlan left = join.left();
    LogicalPlan right = join.right();
    for (JoinSide side : JoinSide.of(join)) {
      if (side.narrowed == left) {
        left = narrowed(side);
      } else {
        right = narrowed(side);
      }
    }
    return Nodes.withChildren(join, left, right);
  }

  private static LogicalPlan narrowed(JoinSide side) {
    BroadcastKeys keys = BroadcastKeys.of(side.other, side.otherKeys);
    LogicalPlan plan = side.narrowed;
    if (keys == null || !SelectiveSide.isSelective(side.other)) {
      return plan;
    }
    for (int i = 0; i < side.narrowedKeys.size(); i++) {
      if (side.isUsable(i)) {
        plan = new ByKey(keys, side.other, i).narrowed(plan, side.narrowedKeys.get(i));
      }
    }
    return plan;
  }

  /** Narrows a scan by the i-th key of a broadcast. */
  private static final class ByKey extends KeysAtScan {
    private final BroadcastKeys keys;
    private final LogicalPlan other;
    private final int i;

    ByKey(BroadcastKeys keys, LogicalPlan other, int i) {
      this.keys = keys;
      this.other = other;
      this.i = i;
    }

    @Override
    LogicalPlan at(
        LogicalRelation scan,
        NarrowedIndex index,
        List<Expression> filters,
        Expression key,
        List<LogicalPlan> passed) {
      UselessKeys useless = UselessKeys.of(index, key, other);
      if (filters.stream().anyMatch(one -> isBySubquery(one, key)) || !useless.mayAsk()) {
        return scan;
      }
      Expression condition = keys.condition(key, i);
      NarrowedIndex narrowed = index.narrowedBy(Collections.singletonList(condition));
      if (narrowed == index) {
        return scan; // a plan of this query that was narrowed already
      }
      boolean isLess =
          useless.narrow(
              index, condition, any -> foreseen(any, filters), keys.isFirst(index, condition));
      if (!isLess) {
        return scan;
      }
      narrowed.foresee(filters);
      return narrowed.scannedBy(scan);
    }

    private static Narrowing foreseen(NarrowedIndex index, List<Expression> filters) {
      index.foresee(filters);
      return index.foreseen();
    }

    /** Whether a filter is a subquery of {@link DynamicKeys} by the same key. */
    private static boolean isBySubquery(Expression filter, Expression key) {
      return filter instanceof DynamicPruningSubquery
          && ((DynamicPruningSubquery) filter).pruningKey().semanticEquals(key);
    }
  }
}
