package io.sargo.spark;

import java.lang.reflect.Constructor;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.DataTypes;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

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
final class DynamicKeys extends Rule<LogicalPlan> {
  private static final Logger LOG = LoggerFactory.getLogger(DynamicKeys.class);

  /** So many keys of a subquery are taken to the driver. With more of them nothing is narrowed. */
  static final int MAX_KEYS = 1_000_000;

  private static final int MIN_RATIO = 2;

  private final SparkSession session;

  DynamicKeys(SparkSession session) {
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
    return KeysAtScan.with(plan, others);
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
      LogicalPlan keys = isBroadcast ? side.other : distinct(side.other, side.otherKeys.get(i));
      List<Expression> otherKeys =
          isBroadcast
              ? side.otherKeys
              : Collections.singletonList((Expression) Seqs.list(keys.output()).get(0));
      return new Filter(subquery(key, keys, otherKeys, isBroadcast ? i : 0, isBroadcast), scan);
    }

    private boolean pays(NarrowedIndex index, UselessKeys useless) {
      long bytes = index.sizeInBytes();
      long others = bytesOfScans(side.other);
      return bytes >= DynamicSettings.minBytes(session)
          && others <= bytes / MIN_RATIO
          && useless.mayAsk();
    }
  }

  /** At most one key more than are taken: then not all of them are there. */
  private static LogicalPlan distinct(LogicalPlan plan, Expression key) {
    Expression limit = new Literal(MAX_KEYS + 1, DataTypes.IntegerType);
    NamedExpression named =
        key instanceof NamedExpression
            ? (NamedExpression) key
            : new Alias(
                key,
                "key",
                NamedExpression.newExprId(),
                Seqs.<String>empty(),
                Option.empty(),
                Seqs.<String>empty());
    Object[] parts = new Object[Aggregate.class.getConstructors()[0].getParameterCount()];
    java.util.Arrays.fill(parts, Option.empty()); // Spark 4 has a hint more
    parts[0] = Seqs.of(Collections.singletonList(key));
    parts[1] = Seqs.of(Collections.singletonList(named));
    parts[2] = plan;
    LogicalPlan all = made(Aggregate.class, parts);
    return new GlobalLimit(limit, new LocalLimit(limit, all));
  }

  /** Whether a condition is one of this rule's whose keys may be more than are taken. */
  static boolean isLimited(Expression condition) {
    return condition instanceof DynamicPruningSubquery
        && ((DynamicPruningSubquery) condition).buildQuery() instanceof GlobalLimit;
  }

  private static Expression subquery(
      Expression key,
      LogicalPlan keys,
      List<Expression> otherKeys,
      int place,
      boolean onlyInBroadcast) {
    Class<?> fourth = DynamicPruningSubquery.class.getConstructors()[0].getParameterTypes()[3];
    return made(
        DynamicPruningSubquery.class,
        key,
        keys,
        Seqs.of(otherKeys),
        // Spark 4 has a list of places
        fourth == int.class ? (Object) place : Seqs.of(Collections.<Object>singletonList(place)),
        onlyInBroadcast,
        NamedExpression.newExprId(),
        Option.empty());
  }

  /** An instance by its first constructor, whose parameters differ between lines of Spark. */
  @SuppressWarnings("unchecked")
  private static <T> T made(Class<T> type, Object... arguments) {
    try {
      Constructor<?> constructor = type.getConstructors()[0];
      return (T) constructor.newInstance(arguments);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
