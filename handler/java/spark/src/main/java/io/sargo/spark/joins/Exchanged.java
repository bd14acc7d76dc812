package io.sargo.spark.joins;

import io.sargo.spark.shims.ListNode;
import java.util.Objects;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.collection.Seq;

/**
 * The rows of a join's side in a subquery of its keys, after the exchange that the join needs, too:
 * so that Spark reads that side once for both.
 */
public final class Exchanged extends ListNode {
  private static final long serialVersionUID = 1;

  private final Seq<Expression> keys;
  private final long maxRows;
  private final LogicalPlan child;

  /**
   * @param keys by which the join exchanges the side
   * @param maxRows with more of them the subquery fails before it reads one
   */
  public Exchanged(Seq<Expression> keys, long maxRows, LogicalPlan child) {
    this.keys = keys;
    this.maxRows = maxRows;
    this.child = child;
  }

  Seq<Expression> keys() {
    return keys;
  }

  long most() {
    return maxRows;
  }

  @Override
  protected LogicalPlan child() {
    return child;
  }

  @Override
  protected LogicalPlan over(LogicalPlan other) {
    return new Exchanged(keys, maxRows, other);
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
    return other instanceof Exchanged;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Exchanged
        && keys.equals(((Exchanged) other).keys)
        && maxRows == ((Exchanged) other).maxRows
        && child.equals(((Exchanged) other).child);
  }

  @Override
  public int hashCode() {
    return Objects.hash(keys, maxRows, child);
  }
}
