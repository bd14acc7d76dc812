package io.sargo.spark.joins;

import io.sargo.spark.plans.Rewrite;
import io.sargo.spark.shims.Seqs;
import java.util.HashSet;
import java.util.Set;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningExpression;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.execution.InSubqueryExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SubqueryAdaptiveBroadcastExec;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.exchange.Exchange;
import org.apache.spark.sql.execution.exchange.ReusedExchangeExec;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Leaves out the conditions of {@link SharedKeys} whose exchange is not in the plan: their side
 * would be read once more. Adaptive execution calls this each time that it has planned a query.
 */
public final class UnsharedKeys extends Rule<SparkPlan> {
  private static final Logger LOG = LoggerFactory.getLogger(UnsharedKeys.class);

  /** Of a subquery whose exchange was there: later it is a stage, whose scans may have changed. */
  private static final TreeNodeTag<Boolean> IS_SHARED = new TreeNodeTag<>("sargo.is.shared");

  @Override
  public SparkPlan apply(SparkPlan plan) {
    try {
      Set<SparkPlan> exchanges = new HashSet<>();
      if (hasDynamicScan(plan)) {
        addExchanges(plan, exchanges);
      }
      return plan.transformUp(
          Rewrite.by(
              node -> node instanceof DynamicScan ? shared((DynamicScan) node, exchanges) : null));
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      LOG.warn("sargo: not looked for shared exchanges, because of {}", e.toString(), e);
      return plan;
    }
  }

  private static boolean hasDynamicScan(SparkPlan plan) {
    return plan instanceof DynamicScan
        || Seqs.list(plan.children()).stream().anyMatch(UnsharedKeys::hasDynamicScan);
  }

  private static void addExchanges(SparkPlan node, Set<SparkPlan> exchanges) {
    if (node instanceof QueryStageExec) {
      addExchanges(((QueryStageExec) node).plan(), exchanges);
      return;
    }
    if (node instanceof ReusedExchangeExec) {
      exchanges.add(((ReusedExchangeExec) node).child().canonicalized());
    }
    if (node instanceof Exchange) {
      exchanges.add(node.canonicalized());
    }
    for (SparkPlan child : Seqs.list(node.children())) {
      addExchanges(child, exchanges);
    }
  }

  private static SparkPlan shared(DynamicScan scan, Set<SparkPlan> exchanges) {
    return scan.with(
        scan.condition()
            .transform(
                Rewrite.by(
                    one ->
                        one instanceof DynamicPruningExpression && !isShared(one, exchanges)
                            ? new DynamicPruningExpression(Literal.TrueLiteral())
                            : null)));
  }

  private static boolean isShared(Expression condition, Set<SparkPlan> exchanges) {
    Expression keys = ((DynamicPruningExpression) condition).child();
    if (!(keys instanceof InSubqueryExec)
        || !(((InSubqueryExec) keys).plan() instanceof SubqueryAdaptiveBroadcastExec)) {
      return true;
    }
    SparkPlan subquery = ((InSubqueryExec) keys).plan();
    ExchangedExec rows =
        exchanged(((AdaptiveSparkPlanExec) subquery.children().head()).initialPlan());
    if (rows == null || subquery.getTagValue(IS_SHARED).isDefined()) {
      return true;
    }
    boolean isShared = exchanges.contains(rows.child().canonicalized());
    if (isShared) {
      subquery.setTagValue(IS_SHARED, true);
    }
    return isShared;
  }

  /** The rows of an exchange that a subquery is of; null if it is of none. */
  private static ExchangedExec exchanged(SparkPlan plan) {
    SparkPlan node = plan;
    while (!(node instanceof ExchangedExec) && node.children().size() == 1) {
      node = node.children().head();
    }
    return node instanceof ExchangedExec ? (ExchangedExec) node : null;
  }
}
