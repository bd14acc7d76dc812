package io.sargo.spark.buckets;

import io.sargo.spark.hashing.BucketKey;
import io.sargo.spark.plans.LimitedKeys;
import io.sargo.spark.plans.Rewrite;
import io.sargo.spark.plans.Untouched;
import io.sargo.spark.shims.ListStrategy;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.ReturnAnswer;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.FileSourceStrategy;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Scans tables with Hudi's bucket index as {@link BucketedScan} where that spares an exchange.
 *
 * <p>Spark plans a query from its root. There the scans are chosen ({@link BucketChoice}).
 */
public final class BucketStrategy extends ListStrategy {
  private static final Logger LOG = LoggerFactory.getLogger(BucketStrategy.class);

  /** A bucket may have so many times the bytes of the average one; a small one may have more. */
  private static final int MAX_SKEW = 4;

  private static final long MAX_SMALL_BYTES = 64L << 20;

  private final BucketChoice choice;

  public BucketStrategy(SparkSession session) {
    choice = new BucketChoice(session);
  }

  @Override
  protected List<SparkPlan> plans(LogicalPlan plan) {
    try {
      if (plan instanceof ReturnAnswer) {
        choice.mark(((ReturnAnswer) plan).child());
        return Collections.emptyList();
      }
      BucketTable table = BucketChoice.of(scanBelow(plan));
      return table == null ? Collections.<SparkPlan>emptyList() : bucketed(plan, table);
    } catch (Exception | LinkageError | StackOverflowError e) {
      LOG.warn("sargo: no buckets, because of {}", e.toString(), e);
      return Collections.emptyList();
    }
  }

  private static LogicalRelation scanBelow(LogicalPlan plan) {
    LogicalPlan node = plan;
    while (node instanceof Project || node instanceof Filter) {
      node = Seqs.list(node.children()).get(0);
    }
    return node instanceof LogicalRelation ? (LogicalRelation) node : null;
  }

  private List<SparkPlan> bucketed(LogicalPlan plan, BucketTable table) {
    List<SparkPlan> plans = new ArrayList<>();
    List<Untouched> failures = new ArrayList<>();
    for (SparkPlan one : Seqs.list(FileSourceStrategy.apply(LimitedKeys.without(plan)))) {
      plans.add(one.transformUp(Rewrite.by(node -> bucketed(node, table, failures))));
    }
    failures.forEach(failure -> BucketChoice.log(failure, table.relation));
    return failures.isEmpty() ? plans : Collections.<SparkPlan>emptyList();
  }

  /** A scan by buckets; null for what is no scan, or, with a failure, cannot be one. */
  private SparkPlan bucketed(SparkPlan node, BucketTable table, List<Untouched> failures) {
    if (!(node instanceof FileSourceScanExec)) {
      return null;
    }
    try {
      return bucketed((FileSourceScanExec) node, table);
    } catch (Untouched e) {
      failures.add(e);
      return null;
    }
  }

  private BucketedScan bucketed(FileSourceScanExec scan, BucketTable table) throws Untouched {
    List<Attribute> output = Seqs.list(scan.output());
    BucketKey key = BucketKey.of(table.names, output);
    Untouched.when(
        Seqs.list(scan.partitionFilters()).stream().anyMatch(SubqueryExpression::hasSubquery)
            || Seqs.list(scan.dataFilters()).stream().anyMatch(SubqueryExpression::hasSubquery),
        "a filter of the scan is known only while the query runs");
    List<PartitionDirectory> listed =
        Seqs.list(
            scan.relation().location().listFiles(scan.partitionFilters(), scan.dataFilters()));
    BucketFiles files = new BucketFiles(listed, table.buckets, table.tasks);
    long most = Math.max(MAX_SMALL_BYTES, MAX_SKEW * (files.total() / table.tasks));
    Untouched.when(
        !choice.isAlways() && files.largest() > most, "a bucket is much larger than others");
    return new BucketedScan(scan, key, table.tasks);
  }
}
