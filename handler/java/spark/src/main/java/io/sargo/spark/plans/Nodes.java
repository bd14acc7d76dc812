package io.sargo.spark.plans;

import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNode;

/** Copies of a plan's nodes. */
public final class Nodes {
  private Nodes() {}

  /** A copy with {@code other} for one of its parts. Lines of Spark have them in other numbers. */
  public static <T extends TreeNode<T>> T withPart(TreeNode<T> node, Object part, Object other) {
    Object[] parts = new Object[node.productArity()];
    for (int i = 0; i < parts.length; i++) {
      parts[i] = node.productElement(i) == part ? other : node.productElement(i);
    }
    return node.makeCopy(parts);
  }

  /** A node with these children: itself if they are its own. */
  public static LogicalPlan withChildren(LogicalPlan node, LogicalPlan... children) {
    List<LogicalPlan> old = Seqs.list(node.children());
    boolean isSame = true;
    List<LogicalPlan> all = new ArrayList<>();
    for (int i = 0; i < children.length; i++) {
      isSame &= old.get(i) == children[i];
      all.add(children[i]);
    }
    return isSame ? node : node.withNewChildren(Seqs.of(all));
  }
}
