package io.sargo.spark.joins;

import io.sargo.spark.plans.LimitedKeys;
import io.sargo.spark.plans.Nodes;
import io.sargo.spark.scans.NarrowedIndex;
import io.sargo.spark.shims.Seqs;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.optimizer.CollapseProject$;
import org.apache.spark.sql.catalyst.optimizer.ColumnPruning$;
import org.apache.spark.sql.catalyst.optimizer.RemoveNoopOperators$;
import org.apache.spark.sql.catalyst.optimizer.RewritePredicateSubquery$;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Subquery;
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
 *   cannot have few keys ({@link SelectiveSide})    a subquery, if smaller sides of joins further up
 *                                                   leave few of them ({@link LaterKeys})
 *   will be broadcast, with adaptive execution      the broadcast ({@link NarrowByBroadcasts}), but
 *                                                   below a join that is shuffled: as without
 *   may have others next time ({@link Repeatable})  nowhere else
 *   will be broadcast, without                      the broadcast, which Spark reuses
 *   will be shuffled, and a subquery pays           a subquery, which runs before the scan, of the
 *                                                   side or of a part of it ({@link KeySource}),
 *                                                   unless the key has a column of partitions
 *   will be shuffled otherwise                      the exchange that the join needs, with adaptive
 *                                                   execution ({@link SharedKeys}), or nowhere
 * </pre>
 *
 * <p>Adaptive execution starts the exchange of a scan at once. Where another join is between, by
 * which the scan's rows are exchanged, the keys of a broadcast would come too late: there the scan
 * waits for them if it has at least {@code spark.sargo.dynamic.subquery.min.bytes}.
 *
 * <p>A subquery pays if the scan has that many bytes and {@link DynamicSettings#minRatio()} times
 * the bytes that all subqueries of this scan read once more, both after skipping; and if keys have
 * not skipped nothing of the table by that column and side again and again ({@link UselessKeys}).
 *
 * <p>Spark makes joins of IN and EXISTS after this rule. Where they narrow a scan, this rule calls
 * Spark's before.
 */
public final class DynamicKeys extends Rule<LogicalPlan> {
  private static final Logger LOG = LoggerFactory.getLogger(DynamicKeys.class);

  private final SparkSession session;

  public DynamicKeys(SparkSession session) {
    this.session = session;
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    try {
      DynamicSettings settings = DynamicSettings.of(session);
      // Without this setting Spark leaves the conditions as they are, which fails when they run.
      boolean isPlanned = session.sessionState().conf().dynamicPartitionPruningEnabled();
      boolean isCorrelated = plan instanceof Subquery && ((Subquery) plan).correlated();
      if (settings == DynamicSettings.FALSE || !isPlanned || isCorrelated || plan.isStreaming()) {
        return plan;
      }
      LogicalPlan joined = joined(plan);
      if (Seqs.list(joined.collectLeaves()).stream()
          .allMatch(leaf -> NarrowedIndex.of(leaf) == null)) {
        return plan;
      }
      LogicalPlan narrowed = rewritten(joined, settings, LaterKeys.NONE);
      if (settings.hasSubqueries() && SharedKeys.canShare(session)) {
        narrowed = new SharedKeys(session).narrowed(narrowed);
      }
      return narrowed == joined ? plan : narrowed;
    } catch (Exception | LinkageError | StackOverflowError e) {
      LOG.warn("sargo: not narrowed by joins, because of {}", e.toString(), e);
      return plan;
    }
  }

  /**
   * With joins for IN and EXISTS. Their sides have the columns that Spark leaves them later, by the
   * rules that it has after this one: else no broadcast would be that of a condition.
   */
  private static LogicalPlan joined(LogicalPlan plan) {
    LogicalPlan joined = RewritePredicateSubquery$.MODULE$.apply(plan);
    if (joined == plan) {
      return plan;
    }
    LogicalPlan pruned = CollapseProject$.MODULE$.apply(ColumnPruning$.MODULE$.apply(joined));
    return RemoveNoopOperators$.MODULE$.apply(pruned);
  }

  /** The other sides stay as they are in the subqueries: those have no dynamic conditions. */
  private LogicalPlan rewritten(LogicalPlan plan, DynamicSettings settings, LaterKeys later) {
    List<LogicalPlan> children = Seqs.list(plan.children());
    LogicalPlan[] others = new LogicalPlan[children.size()];
    for (int i = 0; i < others.length; i++) {
      others[i] = rewritten(children.get(i), settings, later.below(plan, children.get(i)));
    }
    if (plan instanceof Join && ((Join) plan).condition().isDefined()) {
      Join join = (Join) plan;
      for (JoinSide side : JoinSide.of(join)) {
        int i = side.narrowed == join.left() ? 0 : 1;
        LogicalPlan selected = later.selected(join, side.other);
        others[i] = narrowed(others[i], join, side, selected, settings);
      }
    }
    return Nodes.withChildren(plan, others);
  }

  /**
   * @param selected the rows of the side's other side that can be in the result
   */
  private LogicalPlan narrowed(
      LogicalPlan plan, Join join, JoinSide side, LogicalPlan selected, DynamicSettings settings) {
    if (!SelectiveSide.isSelective(selected)) {
      return plan;
    }
    LogicalPlan result = plan;
    for (int i = 0; i < side.narrowedKeys.size(); i++) {
      if (side.isUsable(i)) {
        result =
            new ByKey(join, side, selected, i, settings).narrowed(result, side.narrowedKeys.get(i));
      }
    }
    return result;
  }

  /** Whether adaptive execution has the rule that narrows by broadcasts, too. */
  private boolean narrowsByBroadcasts() {
    return session.sessionState().conf().adaptiveExecutionEnabled()
        && Seqs.list(session.sessionState().adaptiveRulesHolder().runtimeOptimizerRules()).stream()
            .anyMatch(rule -> rule instanceof NarrowByBroadcasts);
  }

  /** Puts a condition by the i-th key of a join over a scan. */
  private final class ByKey extends KeysAtScan {
    private final JoinSide side;
    private final int i;
    private final int minRatio;
    private final Broadcasts broadcasts;
    private final boolean isBroadcast;

    /** The rows that a subquery reads; null without one. */
    private final LogicalPlan source;

    ByKey(Join join, JoinSide side, LogicalPlan selected, int i, DynamicSettings settings) {
      this.side = side;
      this.i = i;
      minRatio = settings.minRatio();
      broadcasts = new Broadcasts(session.sessionState().conf().autoBroadcastJoinThreshold());
      isBroadcast = broadcasts.isLikely(join, side.other);
      // of a broadcast the keys come without a subquery
      boolean isAsked = settings.hasSubqueries() && (!isBroadcast || selected != side.other);
      source = isAsked ? selected : null;
    }

    @Override
    LogicalPlan at(
        LogicalRelation scan,
        NarrowedIndex index,
        List<Expression> filters,
        Expression key,
        List<LogicalPlan> passed) {
      LogicalPlan from = source;
      DynamicPruningSubquery condition = bySubquery(scan, index, filters, key);
      if (condition == null) {
        from = side.other;
        condition = byBroadcast(index, filters, key, passed);
      }
      if (condition == null) {
        return scan;
      }
      boolean isKnownLater =
          isBroadcast && from == side.other
              || session.sessionState().conf().adaptiveExecutionEnabled();
      UselessKeys useless =
          isKnownLater ? UselessKeys.of(index, key, from) : UselessKeys.of(index, key);
      useless.comeFrom(condition.exprId());
      return useless.mayAsk() || KeySubquery.losesRows(condition) && useless.haveLostRows()
          ? new Filter(condition, scan)
          : scan;
    }

    private DynamicPruningSubquery bySubquery(
        LogicalRelation scan, NarrowedIndex index, List<Expression> filters, Expression key) {
      if (source == null || hasPartitions(scan, index, key)) {
        return null;
      }
      return KeySource.of(source, side.otherKeys.get(i)).stream()
          .limit(isBroadcast ? 1 : Long.MAX_VALUE)
          .filter(one -> pays(one.plan, index, filters))
          .findFirst()
          .map(one -> KeySubquery.ofKeys(key, one.plan, one.key))
          .map(KeySubquery::losingRows)
          .orElse(null);
    }

    private DynamicPruningSubquery byBroadcast(
        NarrowedIndex index, List<Expression> filters, Expression key, List<LogicalPlan> passed) {
      if (!isBroadcast
          || !SelectiveSide.isSelective(side.other)
          || !Repeatable.isRepeatable(side.other)
          || !waits(index, passed)) {
        return null;
      }
      DynamicPruningSubquery condition =
          KeySubquery.ofBroadcast(key, side.other, side.otherKeys, i);
      if (losesEnough(index, filters)) {
        KeySubquery.setSpare(condition);
      }
      return passesExchange(passed) ? KeySubquery.losingRows(condition) : condition;
    }

    /** Whether a scan loses rows by a subquery, and gains little by the broadcast of this side. */
    private boolean losesEnough(NarrowedIndex index, List<Expression> filters) {
      return filters.stream().anyMatch(LimitedKeys::is) && !readsLittle(side.other, index, filters);
    }

    /** Whether a scan is to wait for a broadcast, which no later rule has in time. */
    private boolean waits(NarrowedIndex index, List<LogicalPlan> passed) {
      return !narrowsByBroadcasts()
          || passesExchange(passed) && index.sizeInBytes() >= DynamicSettings.minBytes(session);
    }

    /** Whether the rows of the scan are exchanged before they come to the join. */
    private boolean passesExchange(List<LogicalPlan> passed) {
      return passed.stream()
          .anyMatch(node -> !(node instanceof Join) || broadcasts.isShuffled((Join) node));
    }

    private boolean pays(LogicalPlan source, NarrowedIndex index, List<Expression> filters) {
      if (!SelectiveSide.isSelective(source) || !Repeatable.isRepeatable(source)) {
        return false;
      }
      return index.sizeInBytes() >= DynamicSettings.minBytes(session)
          && readsLittle(source, index, filters);
    }

    /** Whether a scan has many times the bytes that this source and its subqueries read. */
    private boolean readsLittle(LogicalPlan source, NarrowedIndex index, List<Expression> filters) {
      long others = KeySource.bytesOfScans(source);
      for (Expression filter : filters) {
        if (LimitedKeys.is(filter)) {
          LogicalPlan known = ((DynamicPruningSubquery) filter).buildQuery();
          others = KeySource.sum(others, KeySource.bytesOfScans(known));
        }
      }
      return others <= index.sizeInBytes() / minRatio;
    }
  }
}
