package io.sargo.spark.shims;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.SparkStrategy;
import scala.collection.Seq;

/** A planner's strategy that returns Java's list: the physical plans of a node, or none. */
public abstract class ListStrategy extends SparkStrategy {
  protected abstract List<SparkPlan> plans(LogicalPlan plan);

  @Override
  public final Seq<SparkPlan> apply(LogicalPlan plan) {
    return Seqs.of(plans(plan));
  }
}
