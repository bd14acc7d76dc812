package io.sargo.spark.shims;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning;
import scala.collection.immutable.IndexedSeq;
import scala.collection.immutable.Seq;

/** A partitioning by a hash, whose copies are of its own class. */
public abstract class ListPartitioning extends HashPartitioning {
  private static final long serialVersionUID = 1;

  protected ListPartitioning(List<Expression> expressions, int partitions) {
    super(Seqs.of(expressions), partitions);
  }

  protected abstract ListPartitioning over(List<Expression> expressions, int partitions);

  @Override
  public final HashPartitioning copy(Seq<Expression> expressions, int partitions) {
    return over(Seqs.list(expressions), partitions);
  }

  @Override
  public final HashPartitioning withNewChildrenInternal(IndexedSeq<Expression> expressions) {
    return over(Seqs.list(expressions), numPartitions());
  }

  /** Spark's own partitioning by a hash asks the other one whether it can be equal, too. */
  @Override
  public final boolean canEqual(Object other) {
    return getClass().isInstance(other);
  }

  @Override
  public final boolean equals(Object other) {
    return canEqual(other) && super.equals(other);
  }

  @Override
  public final int hashCode() {
    return 31 * super.hashCode() + 1;
  }
}
