package io.sargo.spark.joins;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.plans.Rewrite;
import io.sargo.spark.shims.Seqs;
import java.util.List;
import java.util.function.Predicate;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.execution.BaseSubqueryExec;
import org.apache.spark.sql.execution.ReusedSubqueryExec;
import org.apache.spark.sql.execution.ScalarSubquery;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;

/**
 * Conditions of a scan with scalar subqueries: {@code ts > (SELECT max(ts) FROM loaded)}.
 *
 * <p>The filter over the scan keeps the condition, and the scan has a copy. Only the value by which
 * the filter decides may narrow the scan: a subquery that runs twice may give two. With adaptive
 * execution both copies are over one plan, and Spark reuses the filter's subquery for the scan,
 * whose node is below. So a copy counts where Spark says that it is reused.
 */
final class ScalarValues {
  private ScalarValues() {}

  /**
   * Whether a condition of the query compares columns, of which some are of data, with scalar
   * subqueries, and has nothing else that only a running query knows.
   */
  static boolean canNarrow(Expression condition, Predicate<Attribute> isPartition) {
    List<Expression> later = Conditions.later(condition);
    List<Attribute> columns = Seqs.list(condition.references().toSeq());
    return condition.deterministic()
        && !later.isEmpty()
        && later.stream().allMatch(ScalarValues::isUncorrelated)
        && !columns.stream().allMatch(isPartition);
  }

  private static boolean isUncorrelated(Expression later) {
    return later instanceof org.apache.spark.sql.catalyst.expressions.ScalarSubquery
        && later.children().isEmpty();
  }

  /** Waits for the subqueries of a planned condition. Throws what they fail with. */
  static void await(Expression condition) {
    for (Expression one : Conditions.later(condition)) {
      if (one instanceof ScalarSubquery) {
        ((ScalarSubquery) one).updateResult();
      }
    }
  }

  /**
   * A planned condition with the values of its subqueries, which have run; null if it has none, and
   * if one is not sure to be the filter's.
   */
  static Expression known(Expression condition) {
    List<Expression> later = Conditions.later(condition);
    return !later.isEmpty() && later.stream().allMatch(ScalarValues::isReused)
        ? folded(Conditions.withValues(condition, one -> ((ScalarSubquery) one).eval(null)))
        : null;
  }

  /** The condition without any value: the same for all of them. */
  static Expression template(Expression condition) {
    return Conditions.withValues(condition, one -> null);
  }

  private static boolean isReused(Expression later) {
    if (!(later instanceof ScalarSubquery)) {
      return false;
    }
    BaseSubqueryExec plan = ((ScalarSubquery) later).plan();
    return plan instanceof ReusedSubqueryExec
        && ((ReusedSubqueryExec) plan).child().child() instanceof AdaptiveSparkPlanExec;
  }

  /** What a value is computed from is a value: {@code (SELECT max(ts) ...) - INTERVAL 1 DAY}. */
  private static Expression folded(Expression condition) {
    return condition.transformUp(
        Rewrite.by(
            one ->
                one.foldable() && !(one instanceof Literal)
                    ? new Literal(one.eval(null), one.dataType())
                    : null));
  }
}
