package io.sargo.spark.joins;

import io.sargo.spark.shims.ListSubquery;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import org.apache.spark.SparkException;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.SQLExecution;
import org.apache.spark.sql.execution.SQLExecution$;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.util.ThreadUtils;
import scala.concurrent.duration.Duration;

/**
 * A subquery of keys in a thread that is always free.
 *
 * <p>Spark runs the subqueries of all queries in one pool of sixteen threads. Sixteen scalar
 * subqueries that wait for the keys of their scans would leave no thread for those.
 */
final class KeysExec extends ListSubquery {
  private static final long serialVersionUID = 1;
  private static final ExecutorService THREADS =
      ThreadUtils.newDaemonCachedThreadPool("sargo-keys");

  private final String name;
  private final SparkPlan child;

  /** Not this node's own lock, which Spark holds while it prepares the node. */
  private final transient Object lock = new Object();

  private transient Future<InternalRow[]> rows;

  KeysExec(String name, SparkPlan child) {
    this.name = name;
    this.child = child;
  }

  private Future<InternalRow[]> rows() {
    synchronized (lock) {
      if (rows == null) {
        String query = sparkContext().getLocalProperty(SQLExecution.EXECUTION_ID_KEY());
        rows =
            SQLExecution$.MODULE$.withThreadLocalCaptured(
                session(),
                THREADS,
                () ->
                    SQLExecution$.MODULE$.withExecutionId(session(), query, child::executeCollect));
      }
      return rows;
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public SparkPlan child() {
    return child;
  }

  @Override
  protected SparkPlan over(SparkPlan other) {
    return new KeysExec(name, other);
  }

  @Override
  public void doPrepare() {
    rows();
  }

  @Override
  public InternalRow[] executeCollect() {
    try {
      return ThreadUtils.awaitResult(rows(), Duration.Inf());
    } catch (SparkException e) {
      Platform.throwException(e); // which Spark's own subqueries throw, unchecked
      return null;
    }
  }

  @Override
  public RDD<InternalRow> doExecute() {
    throw new UnsupportedOperationException("the keys of a scan are rows of the driver");
  }

  @Override
  public SparkPlan doCanonicalize() {
    return new KeysExec("keys", child.canonicalized());
  }

  @Override
  public int productArity() {
    return 2;
  }

  @Override
  public Object productElement(int n) {
    return n == 0 ? name : child;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof KeysExec;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof KeysExec
        && name.equals(((KeysExec) other).name)
        && child.equals(((KeysExec) other).child);
  }

  @Override
  public int hashCode() {
    return Objects.hash(name, child);
  }
}
