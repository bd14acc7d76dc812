package io.sargo.spark.joins;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.plans.Joins;
import io.sargo.spark.plans.LimitedKeys;
import io.sargo.spark.plans.Nodes;
import io.sargo.spark.scans.NarrowedIndex;
import io.sargo.spark.shims.Reflection;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.optimizer.DecimalAggregates$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.RebalancePartitions;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/**
 * Narrows a scan by the keys of a join's side that is too large to be read twice: by the rows of
 * the exchange that the join needs anyway, which adaptive execution runs once for both.
 *
 * <p>The scan waits for that exchange, and loses rows without a key. It does so only if the side
 * has few rows for the size of the scan, which Spark counts before the keys are taken.
 *
 * <p>The side must stay as it is once its keys are used: a condition more on one of its scans would
 * make it another exchange. {@link UnsharedKeys} looks whether it is the same. For that its scans
 * are without the conditions by broadcasts that they can spare.
 */
final class SharedKeys {
  /**
   * So many scans a side has at most, with those of its conditions. They stand in the query once
   * more: without a bound a chain of joins would become twice as large with each of them.
   */
  private static final int MAX_SCANS = 8;

  /** A scan of so many bytes must stand against each row of the side. */
  private static final long BYTES_A_ROW = 256;

  private final long minBytes;
  private final Broadcasts broadcasts;

  /** The scans of sides whose keys are used. */
  private final Set<LogicalPlan> fixed = Collections.newSetFromMap(new IdentityHashMap<>());

  SharedKeys(SparkSession session) {
    minBytes = DynamicSettings.minBytes(session);
    broadcasts = new Broadcasts(session.sessionState().conf().autoBroadcastJoinThreshold());
  }

  /** Whether adaptive execution runs an exchange once, and has the rule that looks for it. */
  static boolean canShare(SparkSession session) {
    return session.sessionState().conf().adaptiveExecutionEnabled()
        && session.sessionState().conf().exchangeReuseEnabled()
        && Seqs.list(session.sessionState().adaptiveRulesHolder().queryStagePrepRules()).stream()
            .anyMatch(rule -> rule instanceof UnsharedKeys);
  }

  LogicalPlan narrowed(LogicalPlan plan) {
    List<LogicalPlan> children = Seqs.list(plan.children());
    LogicalPlan[] others = new LogicalPlan[children.size()];
    for (int i = 0; i < others.length; i++) {
      others[i] = narrowed(children.get(i));
    }
    LogicalPlan result = Nodes.withChildren(plan, others);
    return result instanceof Join && broadcasts.isShuffled((Join) result)
        ? narrowedJoin((Join) result)
        : result;
  }

  /** A join with one side narrowed, the larger one if both can be; itself if none can. */
  private LogicalPlan narrowedJoin(Join join) {
    List<JoinSide> sides = new ArrayList<>(JoinSide.of(join));
    sides.sort(Comparator.comparingLong(side -> -KeySource.bytesOfScans(side.narrowed)));
    for (JoinSide whole : sides) {
      JoinSide side = whole.beside(Conditions.without(whole.other, KeySubquery::isSpare));
      for (int i = 0; i < side.narrowedKeys.size(); i++) {
        Side other = side.isUsable(i) ? exchanged(side, i) : null;
        LogicalPlan fewer =
            other == null
                ? side.narrowed
                : new ByKey(other).narrowed(side.narrowed, side.narrowedKeys.get(i));
        if (fewer != side.narrowed) {
          LogicalPlan rest = other.isAdded ? other.plan : side.other;
          boolean isLeft = side.narrowed == join.left();
          return Nodes.withChildren(join, isLeft ? fewer : rest, isLeft ? rest : fewer);
        }
      }
    }
    return join;
  }

  /** The rows with the i-th key of the other side that are exchanged; null without such. */
  private Side exchanged(JoinSide join, int i) {
    Side side = new Side(join.other, join.otherKeys, join.otherKeys.get(i), false);
    Side below = side;
    while (below != null) {
      side = below;
      below = sideBelow(side);
    }
    boolean isSame =
        scans(side.plan) <= MAX_SCANS
            && hasOnlySubqueries(side.plan)
            && Repeatable.isRepeatable(LimitedKeys.without(side.plan));
    if (!isSame || !SelectiveSide.isSelective(side.plan)) {
      return null;
    }
    if (!isGrouped(side)) {
      return side;
    }
    return side.plan == join.other && hasHaving(side.plan) ? withExchange(side) : null;
  }

  /**
   * A side whose groups are exchanged once more. Those that a HAVING leaves are often few; without
   * it Spark would sum them for the keys, and for each join, again.
   */
  private static Side withExchange(Side side) {
    LogicalPlan groups = DecimalAggregates$.MODULE$.apply(side.plan); // as Spark does later
    LogicalPlan exchanged = Reflection.made(RebalancePartitions.class, Seqs.of(side.keys), groups);
    return new Side(exchanged, side.keys, side.key, true);
  }

  /** Whether the rows of a side are groups, exchanged by no more than its keys before they were. */
  private static boolean isGrouped(Side side) {
    List<Expression> keys = new ArrayList<>(side.keys);
    LogicalPlan node = belowProjects(side.plan, keys);
    return node instanceof Aggregate
        && areIn(
            Seqs.list(((Aggregate) node).groupingExpressions()),
            keys.stream()
                .map(
                    key ->
                        KeysAtScan.meaning(
                            key, Seqs.list(((Aggregate) node).aggregateExpressions())))
                .collect(Collectors.toList()));
  }

  /** Whether there is a condition on groups. */
  private static boolean hasHaving(LogicalPlan plan) {
    LogicalPlan node = plan;
    boolean has = false;
    while (node instanceof Project || node instanceof Filter) {
      has |=
          node instanceof Filter
              && Conditions.conjuncts(((Filter) node).condition()).stream()
                  .anyMatch(SelectiveSide::isSelective);
      node = node.children().head();
    }
    return has;
  }

  /** What is below the projects and filters of a plan, with the keys over it in the list. */
  private static LogicalPlan belowProjects(LogicalPlan plan, List<Expression> keys) {
    LogicalPlan node = plan;
    while (node instanceof Project || node instanceof Filter) {
      if (node instanceof Project) {
        List<NamedExpression> columns = Seqs.list(((Project) node).projectList());
        keys.replaceAll(one -> KeysAtScan.meaning(one, columns));
      }
      node = node.children().head();
    }
    return node;
  }

  /**
   * The side of the join below, where that has exchanged its rows by the same keys; null where the
   * rows are exchanged for this join.
   */
  private Side sideBelow(Side side) {
    List<Expression> keys = new ArrayList<>(side.keys);
    keys.add(side.key);
    LogicalPlan node = belowProjects(side.plan, keys);
    Expression key = keys.remove(keys.size() - 1);
    if (!(node instanceof Join) || !broadcasts.isShuffled((Join) node)) {
      return null;
    }
    Join join = (Join) node;
    List<Expression> left = new ArrayList<>();
    List<Expression> right = new ArrayList<>();
    Joins.keys(join, left, right);
    if (Joins.keepsLeft(join) && areIn(left, keys) && isOf(key, join.left())) {
      return new Side(join.left(), left, key, false);
    }
    return Joins.keepsRight(join) && areIn(right, keys) && isOf(key, join.right())
        ? new Side(join.right(), right, key, false)
        : null;
  }

  /** The number of scans in a plan and in the subqueries of its conditions by keys. */
  private static int scans(LogicalPlan plan) {
    List<LogicalPlan> parts = new ArrayList<>(Seqs.list(plan.children()));
    if (plan instanceof Filter) {
      Conditions.conjuncts(((Filter) plan).condition()).stream()
          .filter(LimitedKeys::is)
          .forEach(one -> parts.add(((DynamicPruningSubquery) one).buildQuery()));
    }
    return parts.isEmpty() ? 1 : parts.stream().mapToInt(SharedKeys::scans).sum();
  }

  /**
   * Whether all conditions by keys in a plan are by subqueries: those by broadcasts of joins
   * further up in the query would be other ones in a subquery.
   */
  private static boolean hasOnlySubqueries(LogicalPlan plan) {
    boolean isSubquery =
        !(plan instanceof Filter)
            || Conditions.conjuncts(((Filter) plan).condition()).stream()
                .allMatch(one -> !(one instanceof DynamicPruningSubquery) || LimitedKeys.is(one));
    return isSubquery
        && Seqs.list(plan.children()).stream().allMatch(SharedKeys::hasOnlySubqueries);
  }

  private static boolean isOf(Expression key, LogicalPlan plan) {
    return key instanceof Attribute && key.references().subsetOf(plan.outputSet());
  }

  private static boolean areIn(List<Expression> some, List<Expression> all) {
    return some.stream().allMatch(one -> all.stream().anyMatch(one::semanticEquals));
  }

  /** A side of a join, the keys by which it is exchanged, and that of them by which to narrow. */
  private static final class Side {
    final LogicalPlan plan;
    final List<Expression> keys;
    final Expression key;

    /** Whether the join does not exchange these rows, but is to. */
    final boolean isAdded;

    Side(LogicalPlan plan, List<Expression> keys, Expression key, boolean isAdded) {
      this.isAdded = isAdded;
      this.plan = plan;
      this.keys = keys;
      this.key = key;
    }
  }

  private final class ByKey extends KeysAtScan {
    private final Side other;

    ByKey(Side other) {
      this.other = other;
    }

    @Override
    LogicalPlan at(
        LogicalRelation scan,
        NarrowedIndex index,
        List<Expression> filters,
        Expression key,
        List<LogicalPlan> passed) {
      if (fixed.contains(scan)
          || index.sizeInBytes() < minBytes
          || !KeyRows.canFilter(key)
          || hasPartitions(scan, index, key)
          || filters.stream().anyMatch(LimitedKeys::is)) {
        return scan;
      }
      UselessKeys useless = UselessKeys.of(index, key, other.plan);
      if (!useless.mayAsk() && !useless.haveLostRows()) {
        return scan;
      }
      fixed.addAll(Seqs.list(other.plan.collectLeaves()));
      long most = Math.min(KeySubquery.MAX_KEYS, index.sizeInBytes() / BYTES_A_ROW);
      DynamicPruningSubquery condition =
          KeySubquery.ofExchanged(
              key, new Exchanged(Seqs.of(other.keys), most, other.plan), other.key);
      useless.comeFrom(condition.exprId());
      return new Filter(condition, scan);
    }
  }
}
