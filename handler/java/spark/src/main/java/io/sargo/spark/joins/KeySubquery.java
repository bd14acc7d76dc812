package io.sargo.spark.joins;

import io.sargo.spark.shims.Reflection;
import io.sargo.spark.shims.Seqs;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.optimizer.ColumnPruning$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.types.DataTypes;
import scala.Option;

/** The condition that a scan's column has a key of a join's other side, as Spark's own subquery. */
final class KeySubquery {
  /** So many keys of a subquery are taken to the driver. With more of them nothing is narrowed. */
  static final int MAX_KEYS = 1_000_000;

  /** Spark takes tags along with the copies of an expression. */
  private static final TreeNodeTag<Boolean> LOSES_ROWS = new TreeNodeTag<>("sargo.loses.rows");

  private static final TreeNodeTag<Boolean> IS_SPARE = new TreeNodeTag<>("sargo.is.spare");

  private KeySubquery() {}

  /** Whether a scan with this condition loses rows without a key, too, not only files. */
  static boolean losesRows(Expression condition) {
    return condition.getTagValue(LOSES_ROWS).isDefined();
  }

  /** The condition for a scan whose rows are exchanged before they meet the keys. */
  static DynamicPruningSubquery losingRows(DynamicPruningSubquery condition) {
    if (KeyRows.canFilter(condition.pruningKey())) {
      condition.setTagValue(LOSES_ROWS, true);
    }
    return condition;
  }

  /** Whether a scan with this condition loses little by it, so that another use of it may win. */
  static boolean isSpare(Expression condition) {
    return condition.getTagValue(IS_SPARE).isDefined();
  }

  static void setSpare(DynamicPruningSubquery condition) {
    condition.setTagValue(IS_SPARE, true);
  }

  /** By the i-th key of a broadcast, which Spark reuses; TRUE where it has none. */
  static DynamicPruningSubquery ofBroadcast(
      Expression key, LogicalPlan other, List<Expression> otherKeys, int i) {
    return subquery(key, other, otherKeys, i, true);
  }

  /**
   * By the distinct keys of a plan, which runs before the scan. Spark does not optimize it: else
   * its scans would read all columns.
   */
  static DynamicPruningSubquery ofKeys(Expression key, LogicalPlan other, Expression otherKey) {
    return ofLimited(key, limited(ColumnPruning$.MODULE$.apply(distinct(other, otherKey))));
  }

  /** By the distinct keys of an exchange; rows without one are lost. */
  static DynamicPruningSubquery ofExchanged(Expression key, Exchanged other, Expression otherKey) {
    return losingRows(ofLimited(key, limited(distinct(other, otherKey))));
  }

  private static DynamicPruningSubquery ofLimited(Expression key, LogicalPlan keys) {
    Expression output = (Expression) Seqs.list(keys.output()).get(0);
    return subquery(key, keys, Collections.singletonList(output), 0, false);
  }

  /**
   * At most one key more than are taken: then not all of them are there ({@link
   * io.sargo.spark.plans.LimitedKeys}).
   */
  private static LogicalPlan limited(LogicalPlan keys) {
    Expression limit = new Literal(MAX_KEYS + 1, DataTypes.IntegerType);
    return new GlobalLimit(limit, new LocalLimit(limit, keys));
  }

  private static LogicalPlan distinct(LogicalPlan plan, Expression key) {
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
    return Reflection.made(
        Aggregate.class,
        Seqs.of(Collections.singletonList(key)),
        Seqs.of(Collections.singletonList(named)),
        plan);
  }

  private static DynamicPruningSubquery subquery(
      Expression key,
      LogicalPlan keys,
      List<Expression> otherKeys,
      int place,
      boolean onlyInBroadcast) {
    Class<?> fourth = Reflection.parameters(DynamicPruningSubquery.class)[3];
    return Reflection.made(
        DynamicPruningSubquery.class,
        key,
        keys,
        Seqs.of(otherKeys),
        // Spark 4 has a list of places
        fourth == int.class ? (Object) place : Seqs.of(Collections.<Object>singletonList(place)),
        onlyInBroadcast,
        NamedExpression.newExprId());
  }
}
