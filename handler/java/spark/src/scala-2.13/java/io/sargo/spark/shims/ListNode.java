package io.sargo.spark.shims;

import java.util.Collections;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** A node of a logical plan that has the rows of its one child. */
public abstract class ListNode extends LogicalPlan {
  private static final long serialVersionUID = 1;

  protected abstract LogicalPlan child();

  /** A copy of this node over another child. */
  protected abstract LogicalPlan over(LogicalPlan child);

  @Override
  public final Seq<LogicalPlan> children() {
    return Seqs.of(Collections.singletonList(child()));
  }

  @Override
  public final Seq<Attribute> output() {
    return child().output();
  }

  @Override
  public final LogicalPlan withNewChildrenInternal(IndexedSeq<LogicalPlan> children) {
    return over(children.head());
  }
}
