package io.sargo.spark.joins;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.plans.Rewrite;
import io.sargo.spark.scans.NarrowedIndex;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BoundReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.physical.BroadcastMode;
import org.apache.spark.sql.execution.adaptive.BroadcastQueryStageExec;
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage;
import org.apache.spark.sql.execution.exchange.BroadcastExchangeExec;
import org.apache.spark.sql.execution.joins.HashJoin$;
import org.apache.spark.sql.execution.joins.HashedRelation;
import org.apache.spark.sql.execution.joins.HashedRelationBroadcastMode;
import org.apache.spark.sql.types.DataTypes;
import scala.collection.Iterator;

/**
 * The keys of a join's side that has been broadcast.
 *
 * <p>Spark hashes a side by a row of its keys; integers of at most 64 bits together are packed into
 * one long. The values of one key are read from it only if the broadcast is one by these keys.
 */
final class BroadcastKeys {
  /**
   * What was made of a broadcast: a query is planned again after each of its stages, and the keys
   * stay the same.
   */
  private static final Map<Broadcast<?>, Made> MADE = new WeakHashMap<>();

  private final List<Expression> keys;
  private final HashedRelation relation;
  private final boolean isPacked;
  private final Made made;

  private BroadcastKeys(
      List<Expression> keys, HashedRelation relation, boolean isPacked, Made made) {
    this.keys = keys;
    this.relation = relation;
    this.isPacked = isPacked;
    this.made = made;
  }

  /** The keys of a side of a join; null if it is no broadcast by these keys that is done. */
  static BroadcastKeys of(LogicalPlan side, List<Expression> keys) {
    if (!(side instanceof LogicalQueryStage)
        || !(((LogicalQueryStage) side).physicalPlan() instanceof BroadcastQueryStageExec)) {
      return null;
    }
    BroadcastQueryStageExec stage =
        (BroadcastQueryStageExec) ((LogicalQueryStage) side).physicalPlan();
    if (!stage.isMaterialized()) {
      return null;
    }
    List<Expression> hashed =
        Seqs.list(HashJoin$.MODULE$.rewriteKeyExpr(Seqs.of(new ArrayList<>(keys))));
    Broadcast<?> broadcast = (Broadcast<?>) stage.resultOption().get().get();
    Object value = broadcast.value();
    if (!(stage.broadcast() instanceof BroadcastExchangeExec)
        || !(value instanceof HashedRelation)
        || !isBy(
            ((BroadcastExchangeExec) stage.broadcast()).mode(),
            hashed,
            Seqs.list(stage.output()))) {
      return null;
    }
    boolean isPacked = hashed.size() == 1 && hashed.get(0).dataType().equals(DataTypes.LongType);
    HashedRelation relation = ((HashedRelation) value).asReadOnlyCopy();
    synchronized (MADE) {
      Made made = MADE.computeIfAbsent(broadcast, absent -> new Made());
      return new BroadcastKeys(keys, relation, isPacked, made);
    }
  }

  private static boolean isBy(
      BroadcastMode mode, List<Expression> hashed, List<Attribute> columns) {
    if (!(mode instanceof HashedRelationBroadcastMode)
        || ((HashedRelationBroadcastMode) mode).isNullAware()) {
      return false;
    }
    List<Expression> keys = Seqs.list(((HashedRelationBroadcastMode) mode).key());
    if (keys.size() != hashed.size()) {
      return false;
    }
    Rewrite<Expression> bound = Rewrite.by(one -> bound(one, columns));
    for (int i = 0; i < keys.size(); i++) {
      Expression expected = hashed.get(i).transform(bound).canonicalized();
      if (!keys.get(i).transform(bound).canonicalized().equals(expected)) {
        return false;
      }
    }
    return true;
  }

  /** The condition that {@code key} of the other side, by name, equals the i-th key of a row. */
  Expression condition(Expression key, int i) {
    Expression byName = Conditions.byName(key);
    Object of = keys.get(i).canonicalized();
    return made.conditions.computeIfAbsent(Arrays.asList(byName, of, i), absent -> read(byName, i));
  }

  /** Whether a condition of these keys meets an index for the first time. */
  boolean isFirst(NarrowedIndex index, Expression condition) {
    return made.met.add(Arrays.asList(index.withoutMore(), condition));
  }

  private Expression read(Expression key, int i) {
    Expression value =
        isPacked
            ? HashJoin$.MODULE$.extractKeyExprAt(Seqs.of(new ArrayList<>(keys)), i)
            : new BoundReference(i, keys.get(i).dataType(), true);
    KeyCondition condition = new KeyCondition(key);
    Iterator<InternalRow> rows = relation.keys();
    while (rows.hasNext()) {
      condition.add(value.eval(rows.next()));
    }
    return condition.expression();
  }

  /** The column's place in the row, whether or not it may be NULL; null for what is no column. */
  private static Expression bound(Expression one, List<Attribute> columns) {
    if (one instanceof BoundReference) {
      return new BoundReference(((BoundReference) one).ordinal(), one.dataType(), true);
    }
    for (int i = 0; one instanceof Attribute && i < columns.size(); i++) {
      if (columns.get(i).exprId().equals(((Attribute) one).exprId())) {
        return new BoundReference(i, one.dataType(), true);
      }
    }
    return null;
  }

  private static final class Made {
    /** By key of both sides, and its place. */
    final Map<List<Object>, Expression> conditions = new ConcurrentHashMap<>();

    final Set<List<Object>> met = ConcurrentHashMap.newKeySet();
  }
}
