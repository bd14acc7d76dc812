package io.sargo.spark.shims;

import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.plans.physical.Distribution;
import org.apache.spark.sql.catalyst.plans.physical.UnspecifiedDistribution$;
import org.apache.spark.sql.execution.SparkPlan;
import scala.collection.IndexedSeq;
import scala.collection.Seq;

/** A physical plan whose methods take and return Java's lists. */
public abstract class ListPlan extends SparkPlan {
  private static final long serialVersionUID = 1;

  protected abstract List<SparkPlan> childPlans();

  protected abstract List<Attribute> attributes();

  /** A copy of this node over other children. */
  protected abstract SparkPlan over(List<SparkPlan> children);

  /** How the rows of each child must be distributed: in any way. */
  protected List<Distribution> required() {
    return Collections.nCopies(childPlans().size(), UnspecifiedDistribution$.MODULE$);
  }

  @Override
  public final Seq<Distribution> requiredChildDistribution() {
    return Seqs.of(required());
  }

  @Override
  public final Seq<SparkPlan> children() {
    return Seqs.of(childPlans());
  }

  @Override
  public final Seq<Attribute> output() {
    return Seqs.of(attributes());
  }

  @Override
  public final SparkPlan withNewChildrenInternal(IndexedSeq<SparkPlan> children) {
    return over(Seqs.list(children));
  }
}
