package io.sargo.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.NamedExpression$;
import org.apache.spark.sql.catalyst.plans.physical.ClusteredDistribution;
import org.apache.spark.sql.catalyst.plans.physical.HashPartitioning;
import org.apache.spark.sql.catalyst.plans.physical.ShuffleSpec;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;
import scala.Option;

/** Rows in and out of their buckets, and which partitionings are said to agree. */
class RowPlacesTest {
  private static final Attribute A = column("a", DataTypes.StringType);
  private static final Attribute B = column("b", DataTypes.StringType);
  private static final Attribute X = column("x", DataTypes.StringType);
  private static final Attribute Y = column("y", DataTypes.StringType);
  private static final Attribute N = column("n", DataTypes.IntegerType);

  private static Attribute column(String name, DataType type) {
    return new AttributeReference(
        name, type, true, Metadata.empty(), NamedExpression$.MODULE$.newExprId(), Seqs.empty());
  }

  private static BucketPartitioning by(int buckets, Expression... keys) {
    return new BucketPartitioning(Arrays.asList(keys), buckets);
  }

  private static ShuffleSpec spec(HashPartitioning partitioning, Expression... clustering) {
    return partitioning.createShuffleSpec(
        new ClusteredDistribution(Seqs.of(Arrays.asList(clustering)), false, Option.empty()));
  }

  @Test
  void aRowOfAnotherBucketFails() throws Untouched {
    BucketKey key = BucketKey.of(Collections.singletonList("a"), Arrays.asList(N, A));
    GenericInternalRow row = new GenericInternalRow(new Object[] {7, UTF8String.fromString("1")});
    new RowPlaces(key, 19, 4, "t").check(row);
    RowPlaces wrong = new RowPlaces(key, 19, 5, "t");
    Exception e = assertThrows(IllegalStateException.class, () -> wrong.check(row));
    assertTrue(e.getMessage().contains("belongs to bucket 4"), e.getMessage());
    assertTrue(e.getMessage().contains("spark.sargo.buckets=false"), e.getMessage());
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

  @Test
  void aFileNamesItsBucket() {
    String id = "-0011-4a3b-8c4d-0123456789ab";
    assertEquals(7, BucketFiles.bucketOf("00000007" + id + "-0_0-1-2_20250101000000000.parquet"));
    assertEquals(7, BucketFiles.bucketOf(".00000007" + id + "-0_20250101000000000.log.1_0-1-2"));
    assertEquals(7, BucketFiles.bucketOf("00000007" + id + "_0-1-2_20250101000000000.parquet"));
    assertEquals(-1, BucketFiles.bucketOf("0000007" + id + "-0_0-1-2_20250101000000000.parquet"));
    assertEquals(-1, BucketFiles.bucketOf("fd8f15fa" + id + "-0_0-1-2_2025.parquet"));
  }
}
