package io.sargo.spark.hashing;

import io.sargo.spark.plans.Untouched;
import io.sargo.spark.shims.ListPartitioning;
import io.sargo.spark.shims.Seqs;
import io.sargo.spark.shims.StaticCall;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.plans.physical.ClusteredDistribution;
import org.apache.spark.sql.catalyst.plans.physical.ShuffleSpec;
import org.apache.spark.sql.types.DataTypes;

/**
 * Rows are in the partition that {@link KeyHash} gives their expressions, instead of Spark's hash.
 *
 * <p>It is a HashPartitioning, because that is the one partitioning by which Spark shuffles rows
 * and which asks for the partition of a row by a method that can be overridden. It equals no other,
 * and is compatible with its own kind alone.
 */
public final class BucketPartitioning extends ListPartitioning {
  private static final long serialVersionUID = 1;

  /** Throws IllegalArgumentException for an expression whose type has no certain text. */
  public BucketPartitioning(List<Expression> expressions, int buckets) {
    super(expressions, buckets);
    partitionIdExpression(); // fails for other types
  }

  @Override
  protected BucketPartitioning over(List<Expression> expressions, int buckets) {
    return new BucketPartitioning(expressions, buckets);
  }

  @Override
  public Expression partitionIdExpression() {
    Expression hash = number(KeyHash.FIRST);
    for (Expression value : Seqs.list(expressions())) {
      hash =
          new If(
              new IsNull(value),
              call("addNull", Collections.singletonList(hash)),
              add(hash, value));
    }
    return call("bucket", Arrays.asList(hash, number(numPartitions())));
  }

  private static Expression add(Expression hash, Expression value) {
    try {
      return call(KeyType.of(value.dataType()).method, Arrays.asList(hash, value));
    } catch (Untouched e) {
      throw new IllegalArgumentException(e.getMessage());
    }
  }

  private static Expression number(int value) {
    return new Literal(value, DataTypes.IntegerType);
  }

  private static Expression call(String method, List<Expression> arguments) {
    return StaticCall.of(KeyHash.class, DataTypes.IntegerType, method, arguments);
  }

  @Override
  public ShuffleSpec createShuffleSpec(ClusteredDistribution distribution) {
    return new BucketShuffle(this, distribution);
  }
}
