package io.sargo.spark.joins;

import io.sargo.spark.plans.Joins;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;

/**
 * A plan and an expression over it: the keys of a join's other side, and perhaps more of them.
 *
 * <p>Each row of a join has a row of its kept side ({@link Joins#keepsLeft}, {@link
 * Joins#keepsRight}): so the keys of that side alone are enough, and cost less to read. Of a side
 * that an outer join fills with NULL they are not: {@code coalesce(x, 5)} is 5 there. Only a column
 * is taken from below a join: an expression might fail for a row that the join leaves out.
 */
final class KeySource {
  final LogicalPlan plan;
  final Expression key;

  private KeySource(LogicalPlan plan, Expression key) {
    this.plan = plan;
    this.key = key;
  }

  /** The estimated bytes of all that a plan reads. */
  static long bytesOfScans(LogicalPlan plan) {
    long sum = 0;
    for (LogicalPlan leaf : Seqs.list(plan.collectLeaves())) {
      sum = sum(sum, Broadcasts.bytes(leaf));
    }
    return sum;
  }

  /** The sum of two numbers of bytes; the greatest number where it would be more. */
  static long sum(long one, long other) {
    return other > Long.MAX_VALUE - one ? Long.MAX_VALUE : one + other;
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
    if (node instanceof Join && meant instanceof Attribute) {
      Join join = (Join) node;
      if (Joins.keepsLeft(join) && meant.references().subsetOf(join.left().outputSet())) {
        add(sources, join.left(), meant);
      } else if (Joins.keepsRight(join) && meant.references().subsetOf(join.right().outputSet())) {
        add(sources, join.right(), meant);
      }
    }
  }
}
