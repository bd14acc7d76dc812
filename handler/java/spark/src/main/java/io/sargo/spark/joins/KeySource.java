package io.sargo.spark.joins;

import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;

/**
 * A plan and an expression over it: the keys of a join's other side, and perhaps more of them.
 *
 * <p>The keys of a join come from one of its sides, whatever its type: each is a key of that side
 * or NULL, which equals nothing. So the keys of a side alone are enough, and cost less to read.
 */
final class KeySource {
  final LogicalPlan plan;
  final Expression key;

  private KeySource(LogicalPlan plan, Expression key) {
    this.plan = plan;
    this.key = key;
  }

  /** The other side itself, then what is below each join that the key comes through. */
  static List<KeySource> of(LogicalPlan other, Expression key) {
    List<KeySource> sources = new ArrayList<>();
    add(sources, other, key);
    return sources;
  }

  private static void add(List<KeySource> sources, LogicalPlan plan, Expression key) {
    sources.add(new KeySource(plan, key));
    LogicalPlan node = plan;
    Expression meant = key;
    while (node instanceof Project || node instanceof Filter) {
      if (node instanceof Project) {
        List<NamedExpression> columns = Seqs.list(((Project) node).projectList());
        if (!columns.stream().allMatch(column -> ((Expression) column).deterministic())) {
          return;
        }
        meant = KeysAtScan.meaning(meant, columns);
      }
      node = node.children().head();
    }
    if (node instanceof Join) {
      for (LogicalPlan side : Seqs.list(node.children())) {
        if (meant.references().nonEmpty() && meant.references().subsetOf(side.outputSet())) {
          add(sources, side, meant);
          return;
        }
      }
    }
  }
}
