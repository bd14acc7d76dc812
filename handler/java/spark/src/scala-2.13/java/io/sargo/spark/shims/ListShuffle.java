package io.sargo.spark.shims;

import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.catalyst.plans.physical.ShuffleSpec;
import scala.collection.immutable.Seq;

/** How the other side of a join is shuffled, by Java's list of its keys. */
public abstract class ListShuffle implements ShuffleSpec {
  protected abstract Partitioning partitioning(List<Expression> keys);

  @Override
  public final Partitioning createPartitioning(Seq<Expression> keys) {
    return partitioning(Seqs.list(keys));
  }
}
