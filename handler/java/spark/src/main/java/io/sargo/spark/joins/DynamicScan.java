package io.sargo.spark.joins;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.plans.Nodes;
import io.sargo.spark.plans.Rewrite;
import io.sargo.spark.scans.NarrowedIndex;
import io.sargo.spark.shims.ListPlan;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.DynamicPruningExpression;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.execution.CollapseCodegenStages;
import org.apache.spark.sql.execution.ColumnarToRowExec;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.InSubqueryExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/**
 * A scan that lists its files when the keys of a join's other side are known, and the values of
 * scalar subqueries.
 *
 * <p>Spark plans, runs and reuses the subqueries in {@code condition}. Of its parts that must all
 * hold, each of a join becomes a {@code DynamicPruningExpression} over an {@code InSubqueryExec},
 * or over TRUE where no broadcast has the keys; the others are {@link ScalarValues}. The rows come
 * from a scan of its own, a copy of {@code scan} over a {@link LateIndex}: so they are read, split
 * and counted as those of any scan, and no code of this class runs in an executor. It has no
 * children, because nothing but this copy may run.
 *
 * <p>Where {@code rows} is not null, rows without a key are lost as well ({@link KeyRows}), before
 * they are exchanged for a join that would lose them.
 */
public final class DynamicScan extends ListPlan {
  private static final long serialVersionUID = 1;
  private static final Logger LOG = LoggerFactory.getLogger(DynamicScan.class);

  private final FileSourceScanExec scan;
  private final Expression condition;
  private final Expression rows;

  /**
   * Not this node's own lock: Spark holds that one while a subquery runs, which asks for metrics.
   */
  private final transient Object lock = new Object();

  private transient volatile LateIndex index;
  private transient FileSourceScanExec own;
  private transient boolean isNarrowed;
  private transient SparkPlan filtered;

  /**
   * The scan is over a {@link NarrowedIndex} and has no subquery of its own.
   *
   * @param rows what its rows must satisfy, too, where they are lost without a key; null where they
   *     are not
   */
  public DynamicScan(FileSourceScanExec scan, Expression condition, Expression rows) {
    this.scan = scan;
    this.condition = UnexplainedKeys.in(condition);
    this.rows = rows;
  }

  Expression condition() {
    return condition;
  }

  /** The same scan with another condition; itself if it is its own. */
  DynamicScan with(Expression other) {
    return other == condition ? this : new DynamicScan(scan, other, rows);
  }

  private FileSourceScanExec own() {
    synchronized (lock) {
      return ownLocked();
    }
  }

  private FileSourceScanExec ownLocked() {
    if (own == null) {
      HadoopFsRelation relation = scan.relation();
      index = new LateIndex(planned());
      HadoopFsRelation late =
          relation.copy(
              index,
              relation.partitionSchema(),
              relation.dataSchema(),
              relation.bucketSpec(),
              relation.fileFormat(),
              relation.options(),
              relation.sparkSession());
      own = (FileSourceScanExec) Nodes.withPart(scan, relation, late);
    }
    return own;
  }

  private NarrowedIndex planned() {
    return (NarrowedIndex) scan.relation().location();
  }

  /** The scan over what is left. Subqueries have their results when this is called. */
  private FileSourceScanExec narrowed() {
    synchronized (lock) {
      FileSourceScanExec result = ownLocked();
      if (!isNarrowed) {
        isNarrowed = true;
        try {
          narrow();
        } catch (RuntimeException | LinkageError e) {
          LOG.warn("sargo: not narrowed by a subquery, because of {}", e.toString(), e);
        }
      }
      return result;
    }
  }

  /** The rows that are left of the scan over what is left. */
  private SparkPlan filtered() {
    FileSourceScanExec left = narrowed();
    synchronized (lock) {
      if (filtered == null) {
        filtered = session().withActive(() -> filtered(left));
      }
      return filtered;
    }
  }

  private SparkPlan filtered(FileSourceScanExec left) {
    SparkPlan read = left.supportsColumnar() ? new ColumnarToRowExec(left) : left;
    SparkPlan kept = new FilterExec(rows, read);
    List<UselessKeys> losing = new ArrayList<>();
    for (Expression one : Conditions.conjuncts(condition)) {
      if (inner(one) instanceof InSubqueryExec) {
        InSubqueryExec subquery = (InSubqueryExec) inner(one);
        Expression ofRow = ofRow(subquery);
        if (ofRow != null) {
          kept = new FilterExec(ofRow, kept);
          losing.add(UselessKeys.of(planned(), subquery.child(), subquery.exprId()));
        }
      }
    }
    SparkPlan run = new CollapseCodegenStages(new AtomicInteger()).apply(kept);
    List<SQLMetric> counts = rowsOfFilters(run);
    for (int i = 0; i < losing.size(); i++) {
      losing.get(i).losesRows(counts.get(i), counts.get(i + 1));
    }
    return run;
  }

  /** The rows that each filter of a plan that runs leaves, the one right over the scan first. */
  private static List<SQLMetric> rowsOfFilters(SparkPlan plan) {
    List<SQLMetric> counts = new ArrayList<>();
    SparkPlan node = plan;
    while (node.children().nonEmpty()) {
      if (node instanceof FilterExec) {
        counts.add(0, node.metrics().apply("numOutputRows"));
      }
      node = node.children().head();
    }
    return counts;
  }

  /** The condition that a row has a key of a subquery; null without one. */
  private static Expression ofRow(InSubqueryExec subquery) {
    try {
      List<Object> keys = keys(subquery);
      return keys != null && KeyRows.canFilter(subquery.child())
          ? KeyRows.condition(subquery.child(), keys)
          : null;
    } catch (RuntimeException | LinkageError e) {
      LOG.warn("sargo: no rows lost by a subquery, because of {}", e.toString(), e);
      return null;
    }
  }

  /** Null if they are not known, or may not be all. */
  private static List<Object> keys(InSubqueryExec subquery) {
    Option<Object[]> keys = subquery.values();
    return keys.isDefined() && keys.get().length <= KeySubquery.MAX_KEYS
        ? Arrays.asList(keys.get())
        : null;
  }

  private static Expression inner(Expression one) {
    return one instanceof DynamicPruningExpression ? ((DynamicPruningExpression) one).child() : one;
  }

  private void narrow() {
    for (Expression one : Conditions.conjuncts(condition)) {
      Expression inner = inner(one);
      if (inner instanceof InSubqueryExec) {
        Expression key = ((InSubqueryExec) inner).child();
        List<Object> keys = keys((InSubqueryExec) inner);
        UselessKeys useless = UselessKeys.of(planned(), key, ((InSubqueryExec) inner).exprId());
        if (keys != null && useless.asks()) { // a list of many keys takes long
          index.narrow(KeyCondition.of(key, keys), useless, "keys");
        }
      } else {
        narrowByValues(inner);
      }
    }
  }

  private void narrowByValues(Expression one) {
    try {
      Expression known = ScalarValues.known(one);
      if (known != null) {
        index.narrow(known, UselessKeys.of(planned(), ScalarValues.template(one)), "values");
      }
    } catch (RuntimeException | LinkageError | StackOverflowError e) {
      LOG.warn("sargo: not narrowed by a scalar subquery, because of {}", e.toString(), e);
    }
  }

  /**
   * Spark's own would fail the query with a subquery. Its keys may fail for a row that the join
   * does not look at. Without them the scan is not narrowed; the join itself fails where it needs
   * that row, and the filter over the scan with its scalar subquery.
   */
  @Override
  public synchronized void waitForSubqueries() {
    for (Expression one : Conditions.conjuncts(condition)) {
      Expression inner = inner(one);
      await(inner);
    }
  }

  private void await(Expression one) {
    try {
      if (one instanceof InSubqueryExec) {
        ((InSubqueryExec) one).updateResult();
      } else {
        ScalarValues.await(one);
      }
    } catch (Exception | LinkageError e) {
      Cancelled.rethrow(e);
      if (one instanceof InSubqueryExec && ExchangedExec.hasTooMany(e)) {
        LOG.info("sargo: not narrowed by a subquery, because {}", e.getMessage());
        UselessKeys.of(planned(), ((InSubqueryExec) one).child(), ((InSubqueryExec) one).exprId())
            .wereTooMany();
      } else {
        LOG.warn("sargo: not narrowed by a subquery that failed, because of {}", e.toString(), e);
      }
    }
  }

  @Override
  public RDD<InternalRow> doExecute() {
    return rows == null ? narrowed().execute() : filtered().execute();
  }

  @Override
  public RDD<ColumnarBatch> doExecuteColumnar() {
    return narrowed().executeColumnar();
  }

  @Override
  public boolean supportsColumnar() {
    return rows == null && scan.supportsColumnar();
  }

  @Override
  public scala.collection.immutable.Map<String, SQLMetric> metrics() {
    return own().metrics();
  }

  @Override
  protected List<SparkPlan> childPlans() {
    return Collections.emptyList();
  }

  @Override
  protected List<Attribute> attributes() {
    return Seqs.list(scan.output());
  }

  @Override
  protected SparkPlan over(List<SparkPlan> children) {
    return this;
  }

  /** What an executor gets with a plan around it: a scan of Spark's, whose classes it has. */
  private Object writeReplace() {
    return scan;
  }

  /** Two of them read the same if their scans do, and their conditions by the same columns. */
  @Override
  public SparkPlan doCanonicalize() {
    return new DynamicScan(
        (FileSourceScanExec) scan.canonicalized(),
        byPlace(condition, attributes()).canonicalized(),
        rows == null ? null : byPlace(rows, attributes()).canonicalized());
  }

  @Override
  public String nodeName() {
    LateIndex late = index;
    String left = late == null ? null : late.summary();
    return "DynamicScan " + scan.relation() + (left == null ? "" : ", " + left);
  }

  @Override
  public int productArity() {
    return 3;
  }

  @Override
  public Object productElement(int n) {
    return n == 0 ? scan : n == 1 ? condition : rows;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof DynamicScan;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof DynamicScan
        && scan.equals(((DynamicScan) other).scan)
        && condition.equals(((DynamicScan) other).condition)
        && Objects.equals(rows, ((DynamicScan) other).rows);
  }

  @Override
  public int hashCode() {
    return Objects.hash(scan, condition, rows);
  }

  /** The condition with columns that have the number of their place in the output. */
  private static Expression byPlace(Expression condition, List<Attribute> output) {
    List<ExprId> columns = output.stream().map(Attribute::exprId).collect(Collectors.toList());
    return condition.transform(
        Rewrite.by(
            one -> {
              int place =
                  one instanceof AttributeReference
                      ? columns.indexOf(((AttributeReference) one).exprId())
                      : -1;
              return place < 0
                  ? null
                  : ((AttributeReference) one)
                      .withExprId(new ExprId(place, columns.get(place).jvmId()));
            }));
  }
}
