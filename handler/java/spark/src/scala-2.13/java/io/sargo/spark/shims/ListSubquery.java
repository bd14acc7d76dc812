package io.sargo.spark.shims;

import java.util.Collections;
import org.apache.spark.sql.execution.BaseSubqueryExec;
import org.apache.spark.sql.execution.SparkPlan;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** A subquery of one child, whose methods take and return Java's types. */
public abstract class ListSubquery extends BaseSubqueryExec {
  private static final long serialVersionUID = 1;

  /** A copy of this node over another child. */
  protected abstract SparkPlan over(SparkPlan child);

  @Override
  public final Seq<SparkPlan> children() {
    return Seqs.of(Collections.singletonList(child()));
  }

  @Override
  public final SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
    return over(children.head());
  }
}
