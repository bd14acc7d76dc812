package io.sargo.spark.joins;

import io.sargo.spark.plans.Nodes;
import io.sargo.spark.scans.NarrowedIndex;
import io.sargo.spark.shims.Seqs;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts a dynamic condition over scans that a join narrows: Spark's own {@code
 * DynamicPruningSubquery}, of a column that is no partition column.
 *
 * <pre>
 *   the other side of the join                      the keys come from
 *   ----------------------------------------------  ---------------------------------------------
 *   cannot have few keys ({@link SelectiveSide})        nowhere
 *   will be broadcast, with adaptive execution      the broadcast ({@link NarrowByBroadcasts})
 *   may have others next time ({@link Repeatable})  nowhere else
 *   will be broadcast, without                      the broadcast, which Spark reuses
 *   will be shuffled, and a subquery pays           a subquery, which runs before the scan
 *   will be shuffled otherwise                      nowhere
 * </pre>
 *
 * <p>A subquery pays if the scan has at least {@code spark.sargo.dynamic.subquery.min.bytes} and
 * {@link #MIN_RATIO} times the bytes of all scans of the other side, which it reads once more, both
 * after skipping; and if keys have not skipped nothing of the table by that column again and again
 * ({@link UselessKeys}).
 */
public final class DynamicKeys extends Rule<LogicalPlan> {
  private static final Logger LOG = LoggerFactory.getLogger(DynamicKeys.class);

  private static final int MIN_RATIO = 2;

  private final SparkSession session;

  public DynamicKeys(SparkSession session) {
    this.session = session;
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    try {
      DynamicSettings settings = DynamicSettings.of(session);
      return settings == DynamicSettings.FALSE || plan.isStreaming()
          ? plan
          : rewritten(plan, settings);
    } catch (Exception | LinkageError | StackOverflowError e) {
      LOG.warn("sargo: not narrowed by joins, because of {}", e.toString(), e);
      return plan;
    }
  }

  /** The other sides stay as they are in the subqueries: those have no dynamic conditions. */
  private LogicalPlan rewritten(LogicalPlan plan, DynamicSettings settings) {
    List<LogicalPlan> children = Seqs.list(plan.children());
    LogicalPlan[] others = new LogicalPlan[children.size()];
    for (int i = 0; i < others.length; i++) {
      others[i] = rewritten(children.get(i), settings);
    }
    if (plan instanceof Join && ((Join) plan).condition().isDefined()) {
      Join join = (Join) plan;
      for (JoinSide side : JoinSide.of(join)) {
        int i = side.narrowed == join.left() ? 0 : 1;
        others[i] = narrowed(others[i], join, side, settings);
      }
    }
    return Nodes.withChildren(plan, others);
  }

  private LogicalPlan narrowed(
      LogicalPlan plan, Join join, JoinSide side, DynamicSettings settings) {
    if (!SelectiveSide.isSelective(side.other)) {
      return plan;
    }
    boolean isBroadcast = side.canBroadcastOther(join) && bytes(side.other) <= broadcastBelow();
    if (isBroadcast && narrowsByBroadcasts()
        || !isBroadcast && settings != DynamicSettings.SUBQUERY
        || !Repeatable.isRepeatable(side.other)) {
      return plan;
    }
    LogicalPlan result = plan;
    for (int i = 0; i < side.narrowedKeys.size(); i++) {
      if (side.isUsable(i)) {
        result = new ByKey(side, i, isBroadcast).below(result, side.narrowedKeys.get(i));
      }
    }
    return result;
  }

  private long broadcastBelow() {
    return session.sessionState().conf().autoBroadcastJoinThreshold();
  }

  /** Whether adaptive execution has the rule that narrows by broadcasts, too. */
  private boolean narrowsByBroadcasts() {
    return session.sessionState().conf().adaptiveExecutionEnabled()
        && Seqs.list(session.sessionState().adaptiveRulesHolder().runtimeOptimizerRules()).stream()
            .anyMatch(rule -> rule instanceof NarrowByBroadcasts);
  }

  private static long bytes(LogicalPlan plan) {
    return plan.stats().sizeInBytes().isValidLong()
        ? plan.stats().sizeInBytes().toLong()
        : Long.MAX_VALUE;
  }

  private static long bytesOfScans(LogicalPlan plan) {
    long sum = 0;
    for (LogicalPlan leaf : Seqs.list(plan.collectLeaves())) {
      long bytes = bytes(leaf);
      sum = bytes > Long.MAX_VALUE - sum ? Long.MAX_VALUE : sum + bytes;
    }
    return sum;
  }

  /** Puts a condition by the i-th key of a join over a scan. */
  private final class ByKey extends KeysAtScan {
    private final JoinSide side;
    private final int i;
    private final boolean isBroadcast;

    ByKey(JoinSide side, int i, boolean isBroadcast) {
      this.side = side;
      this.i = i;
      this.isBroadcast = isBroadcast;
    }

    @Override
    LogicalPlan at(
        LogicalRelation scan, NarrowedIndex index, List<Expression> filters, Expression key) {
      UselessKeys useless = UselessKeys.of(index, key);
      if (isBroadcast ? !useless.mayAsk() : !pays(index, useless)) {
        return scan;
      }
      Expression subquery =
          isBroadcast
              ? KeySubquery.ofBroadcast(key, side.other, side.otherKeys, i)
              : KeySubquery.ofKeys(key, side.other, side.otherKeys.get(i));
      return new Filter(subquery, scan);
    }

    private boolean pays(NarrowedIndex index, UselessKeys useless) {
      long bytes = index.sizeInBytes();
      long others = bytesOfScans(side.other);
      return bytes >= DynamicSettings.minBytes(session)
          && others <= bytes / MIN_RATIO
          && useless.mayAsk();
    }
  }
}
