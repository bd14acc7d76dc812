package io.sargo.spark.joins;

import io.sargo.spark.plans.Rewrite;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.execution.InSubqueryExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SubqueryExec;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;

/**
 * Subqueries of keys that run without a word to the UI, and in threads of their own ({@link
 * KeysExec}), so that a scalar subquery can wait for them.
 *
 * <p>Adaptive execution takes the subquery of a dynamic condition for a query, which explains the
 * whole plan before it runs. For that it needs the lock of each exchange. In a scalar subquery, and
 * in the Bloom filter that Spark makes of a join's side, an exchange is locked while its scan waits
 * for the keys, and was not explained before: both would wait forever.
 */
final class UnexplainedKeys {
  private UnexplainedKeys() {}

  /** The condition with such subqueries in the place of the others. */
  static Expression in(Expression condition) {
    return condition.transform(
        Rewrite.by(
            one -> one instanceof InSubqueryExec ? unexplained((InSubqueryExec) one) : null));
  }

  private static Expression unexplained(InSubqueryExec keys) {
    if (!(keys.plan() instanceof SubqueryExec)
        || !(keys.plan().child() instanceof AdaptiveSparkPlanExec)) {
      return null;
    }
    AdaptiveSparkPlanExec plan = (AdaptiveSparkPlanExec) keys.plan().child();
    SparkPlan quiet =
        plan.copy(
            plan.inputPlan(),
            plan.context(),
            plan.preprocessingRules(),
            true,
            plan.supportsColumnar());
    return keys.withNewPlan(new KeysExec(keys.plan().name(), quiet));
  }
}
