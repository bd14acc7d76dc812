package io.sargo.spark.plans;

import org.apache.spark.sql.catalyst.expressions.DynamicPruningSubquery;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/**
 * Dynamic conditions whose subquery has a limit, so that their keys may not be all. They are for a
 * scan that counts the keys. As filters of rows or of partitions they would lose rows.
 */
public final class LimitedKeys {
  private LimitedKeys() {}

  public static boolean is(Expression condition) {
    return condition instanceof DynamicPruningSubquery
        && ((DynamicPruningSubquery) condition).buildQuery() instanceof GlobalLimit;
  }

  /** A plan whose filters have no such condition. */
  public static LogicalPlan without(LogicalPlan plan) {
    return Conditions.without(plan, LimitedKeys::is);
  }

  /** Whether one of a filter's conditions is such. */
  public static boolean areIn(Filter filter) {
    return Conditions.conjuncts(filter.condition()).stream().anyMatch(LimitedKeys::is);
  }
}
