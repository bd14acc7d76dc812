package io.sargo.spark.hashing;

import static io.sargo.spark.plans.Columns.column;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.sargo.spark.shims.Seqs;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.physical.ClusteredDistribution;
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning;
import org.apache.spark.sql.catalyst.plans.physical.ShuffleSpec;
import org.apache.spark.sql.types.DataTypes;
import org.junit.jupiter.api.Test;
import scala.Option;

/** Which partitionings are said to agree, and how the other side is shuffled. */
class BucketPartitioningTest {
  private static final Attribute A = column("a", DataTypes.StringType);
  private static final Attribute B = column("b", DataTypes.StringType);
  private static final Attribute X = column("x", DataTypes.StringType);
  private static final Attribute Y = column("y", DataTypes.StringType);
  private static final Attribute N = column("n", DataTypes.IntegerType);

  private static BucketPartitioning by(int buckets, Expression... keys) {
    return new BucketPartitioning(Arrays.asList(keys), buckets);
  }

  private static ShuffleSpec spec(HashPartitioning partitioning, Expression... clustering) {
    return partitioning.createShuffleSpec(
        new ClusteredDistribution(Seqs.of(Arrays.asList(clustering)), false, Option.empty()));
  }

  @Test
  void sidesAgreeByTheSameHashOfKeysThatAreComparedInOrder() {
    Expression[] left = {A, B};
    Expression[] right = {X, Y};
    ShuffleSpec ab = spec(by(8, A, B), left);
    assertTrue(ab.isCompatibleWith(spec(by(8, X, Y), right)));
    assertFalse(ab.isCompatibleWith(spec(by(8, Y, X), right)));
    assertFalse(ab.isCompatibleWith(spec(by(4, X, Y), right)));
    assertFalse(ab.isCompatibleWith(spec(by(8, X), right)));
    assertFalse(spec(by(8, A), A).isCompatibleWith(spec(by(8, N), N)));
  }

  @Test
  void sparksOwnHashAgreesWithNoBuckets() {
    HashPartitioning spark = new HashPartitioning(Seqs.of(Arrays.asList(X)), 8);
    assertFalse(spec(by(8, A), A).isCompatibleWith(spec(spark, X)));
    assertFalse(spec(spark, X).isCompatibleWith(spec(by(8, A), A)));
    HashPartitioning alike = new HashPartitioning(Seqs.of(Arrays.asList(A)), 8);
    assertFalse(alike.equals(by(8, A)));
    assertFalse(by(8, A).equals(alike));
    assertEquals(by(8, A), by(8, A));
  }

  @Test
  void theOtherSideIsShuffledByTheKeysThatMeetThoseOfTheBuckets() {
    Expression[] left = {N, B, A};
    Expression[] right = {N, Y, X};
    ShuffleSpec spec = spec(by(8, A, B), left);
    assertTrue(spec.canCreatePartitioning());
    assertEquals(by(8, X, Y), spec.createPartitioning(Seqs.of(Arrays.asList(right))));
    assertFalse(spec(by(8, A), B).canCreatePartitioning());
  }

  @Test
  void copiesAreOfTheSameKind() {
    BucketPartitioning by = by(8, A);
    assertEquals(BucketPartitioning.class, by.copy(by.expressions(), 4).getClass());
    List<Expression> other = Collections.singletonList(X);
    assertEquals(BucketPartitioning.class, by.withNewChildren(Seqs.of(other)).getClass());
    assertEquals(BucketPartitioning.class, by.canonicalized().getClass());
  }
}
