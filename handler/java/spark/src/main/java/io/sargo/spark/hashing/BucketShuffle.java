package io.sargo.spark.hashing;

import io.sargo.spark.shims.ListShuffle;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.physical.ClusteredDistribution;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.catalyst.plans.physical.ShuffleSpec;
import org.apache.spark.sql.catalyst.plans.physical.ShuffleSpecCollection;
import org.apache.spark.sql.catalyst.plans.physical.SinglePartitionShuffleSpec$;

/**
 * Which partitionings a {@link BucketPartitioning} goes with in a join, and how its other side is
 * shuffled.
 *
 * <pre>
 *   left      right     keys of the join              compatible
 *   --------  --------  ----------------------------  ------------------------------------
 *   (a, b) 8  (x, y) 8  l.a = r.x AND l.b = r.y       yes
 *   (a, b) 8  (y, x) 8  l.a = r.x AND l.b = r.y       no: the hash depends on the order
 *   (a) 8     (x) 4     l.a = r.x                     no
 *   (a) 8     (x) 8     l.a = r.x, int with bigint    no: Spark compares cast(l.a)
 * </pre>
 */
final class BucketShuffle extends ListShuffle {
  private final BucketPartitioning partitioning;
  private final ClusteredDistribution distribution;

  /** For each hashed expression its places among the keys of the join. */
  private final List<BitSet> places = new ArrayList<>();

  BucketShuffle(BucketPartitioning partitioning, ClusteredDistribution distribution) {
    this.partitioning = partitioning;
    this.distribution = distribution;
    List<Expression> keys = Seqs.list(distribution.clustering());
    for (Expression hashed : Seqs.list(partitioning.expressions())) {
      BitSet found = new BitSet();
      for (int i = 0; i < keys.size(); i++) {
        found.set(i, keys.get(i).semanticEquals(hashed));
      }
      places.add(found);
    }
  }

  @Override
  public int numPartitions() {
    return partitioning.numPartitions();
  }

  @Override
  public boolean isCompatibleWith(ShuffleSpec other) {
    if (other instanceof ShuffleSpecCollection) {
      return Seqs.list(((ShuffleSpecCollection) other).specs()).stream()
          .anyMatch(this::isCompatibleWith);
    }
    if (other.equals(SinglePartitionShuffleSpec$.MODULE$)) {
      return numPartitions() == 1;
    }
    return other instanceof BucketShuffle && isCompatible((BucketShuffle) other);
  }

  private boolean isCompatible(BucketShuffle other) {
    List<Expression> mine = Seqs.list(partitioning.expressions());
    List<Expression> others = Seqs.list(other.partitioning.expressions());
    boolean isAlike =
        numPartitions() == other.numPartitions()
            && mine.size() == others.size()
            && distribution.clustering().size() == other.distribution.clustering().size();
    for (int i = 0; isAlike && i < mine.size(); i++) {
      isAlike =
          places.get(i).intersects(other.places.get(i))
              && mine.get(i).dataType().equals(others.get(i).dataType());
    }
    return isAlike;
  }

  /** Whether the other side can be shuffled by the same hash: if its keys are known by place. */
  @Override
  public boolean canCreatePartitioning() {
    return places.stream().noneMatch(BitSet::isEmpty);
  }

  @Override
  protected Partitioning partitioning(List<Expression> keys) {
    List<Expression> hashed = new ArrayList<>();
    for (BitSet found : places) {
      hashed.add(keys.get(found.nextSetBit(0)));
    }
    return new BucketPartitioning(hashed, numPartitions());
  }
}
