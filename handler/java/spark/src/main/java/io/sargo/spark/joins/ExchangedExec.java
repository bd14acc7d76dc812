package io.sargo.spark.joins;

import io.sargo.spark.shims.ListPlan;
import io.sargo.spark.shims.Seqs;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.physical.ClusteredDistribution;
import org.apache.spark.sql.catalyst.plans.physical.Distribution;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.adaptive.ShuffleQueryStageExec;
import scala.Option;
import scala.collection.Seq;

/** The rows of an exchange ({@link Exchanged}), unless they are too many. */
public final class ExchangedExec extends ListPlan {
  private static final long serialVersionUID = 1;

  private final Seq<Expression> keys;
  private final long maxRows;
  private final SparkPlan child;

  public ExchangedExec(Seq<Expression> keys, long maxRows, SparkPlan child) {
    this.keys = keys;
    this.maxRows = maxRows;
    this.child = child;
  }

  SparkPlan child() {
    return child;
  }

  @Override
  protected List<Distribution> required() {
    return Collections.singletonList(
        new ClusteredDistribution(Seqs.of(Seqs.list(keys)), false, Option.empty()));
  }

  @Override
  public Partitioning outputPartitioning() {
    return child.outputPartitioning();
  }

  @Override
  public RDD<InternalRow> doExecute() {
    long rows = rows(child);
    if (rows > maxRows) {
      throw new TooManyRows(rows);
    }
    return child.execute();
  }

  /** The rows of the stage below, which is done; 0 where Spark does not count them. */
  private static long rows(SparkPlan plan) {
    SparkPlan node = plan;
    while (!(node instanceof QueryStageExec) && node.children().size() == 1) {
      node = node.children().head();
    }
    Option<?> counted =
        node instanceof ShuffleQueryStageExec
            ? ((ShuffleQueryStageExec) node).getRuntimeStatistics().rowCount()
            : Option.empty();
    return counted.isDefined() ? ((scala.math.BigInt) counted.get()).toLong() : 0;
  }

  /** Whether a subquery failed because of too many rows. */
  static boolean hasTooMany(Throwable error) {
    return Causes.anyOf(error, one -> one instanceof TooManyRows);
  }

  @Override
  protected List<SparkPlan> childPlans() {
    return Collections.singletonList(child);
  }

  @Override
  protected List<Attribute> attributes() {
    return Seqs.list(child.output());
  }

  @Override
  protected SparkPlan over(List<SparkPlan> children) {
    return new ExchangedExec(keys, maxRows, children.get(0));
  }

  @Override
  public int productArity() {
    return 3;
  }

  @Override
  public Object productElement(int n) {
    return n == 0 ? keys : n == 1 ? (Object) maxRows : child;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof ExchangedExec;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof ExchangedExec
        && keys.equals(((ExchangedExec) other).keys)
        && maxRows == ((ExchangedExec) other).maxRows
        && child.equals(((ExchangedExec) other).child);
  }

  @Override
  public int hashCode() {
    return Objects.hash(keys, maxRows, child);
  }

  /** More rows than keys would pay for. */
  private static final class TooManyRows extends RuntimeException {
    private static final long serialVersionUID = 1;

    TooManyRows(long rows) {
      super("a side of a join has " + rows + " rows");
    }
  }
}
