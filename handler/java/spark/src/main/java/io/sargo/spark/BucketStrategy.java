package io.sargo.spark;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.ReturnAnswer;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.FileSourceStrategy;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Option;

/**
 * Scans tables with Hudi's bucket index as {@link BucketedScan} where that spares an exchange.
 *
 * <p>Spark plans a query from its root. There the scans are chosen, and marked; a mark stays when
 * Spark plans the rest of a query again. Settings: {@code spark.sargo.buckets}, false, true
 * (wherever an exchange is spared) or auto (by size, too).
 */
final class BucketStrategy extends ListStrategy {
  private static final Logger LOG = LoggerFactory.getLogger(BucketStrategy.class);
  private static final TreeNodeTag<BucketMark> MARK = TreeNodeTag.apply("sargo.buckets");
  private static final String SETTING = "spark.sargo.buckets";

  /** A bucket may have so many times the bytes of the average one; a small one may have more. */
  private static final int MAX_SKEW = 4;

  private static final long MAX_SMALL_BYTES = 64L << 20;

  private final SparkSession session;

  BucketStrategy(SparkSession session) {
    this.session = session;
  }

  /** What was decided about a scan. */
  private static final class BucketMark {
    final BucketTable table;

    BucketMark(BucketTable table) {
      this.table = table;
    }
  }

  @Override
  List<SparkPlan> plans(LogicalPlan plan) {
    try {
      if (plan instanceof ReturnAnswer) {
        choose(((ReturnAnswer) plan).child());
        return Collections.emptyList();
      }
      BucketTable table = markOf(scanBelow(plan));
      return table == null ? Collections.<SparkPlan>emptyList() : bucketed(plan, table);
    } catch (Exception | LinkageError | StackOverflowError e) {
      LOG.warn("sargo: no buckets, because of {}", e.toString(), e);
      return Collections.emptyList();
    }
  }

  // -- which scans

  private void choose(LogicalPlan root) throws Exception {
    String mode = session.conf().get(SETTING, "auto").trim();
    SessionSettings settings = SessionSettings.of(NarrowScans.settingsOf(session));
    if (mode.equalsIgnoreCase("false") || !settings.enabled || root.isStreaming()) {
      return;
    }
    boolean always = mode.equalsIgnoreCase("true");
    if (!always && !mode.equalsIgnoreCase("auto")) {
      throw new IllegalArgumentException(SETTING + " is auto, true or false, not " + mode);
    }
    List<BucketTable> tables = new ArrayList<>();
    for (LogicalPlan leaf : Seqs.list(root.collectLeaves())) {
      if (leaf instanceof LogicalRelation && leaf.getTagValue(MARK).isEmpty()) {
        LogicalRelation scan = (LogicalRelation) leaf;
        scan.setTagValue(MARK, new BucketMark(null));
        BucketTable table = tableOf(scan, settings);
        if (table != null) {
          tables.add(table);
        }
      }
    }
    if (!tables.isEmpty()) {
      new BucketUses(tables, always).find(root, parallel());
      tables.stream()
          .filter(table -> table.isUseful)
          .forEach(table -> table.relation.setTagValue(MARK, new BucketMark(table)));
    }
  }

  private int parallel() {
    int partitions = session.sessionState().conf().numShufflePartitions();
    return Math.min(session.sparkContext().defaultParallelism(), partitions);
  }

  private BucketTable tableOf(LogicalRelation scan, SessionSettings settings) {
    if (!(scan.relation() instanceof HadoopFsRelation)
        || NarrowedIndex.hudiIndex(((HadoopFsRelation) scan.relation()).location()) == null) {
      return null;
    }
    Map<String, String> options = BucketTable.options(scan, session.conf());
    if (options == null) {
      return null;
    }
    try {
      String version = session.sparkContext().version();
      Untouched.when(
          !version.startsWith(SparkLine.PREFIX),
          "this jar is for Spark " + SparkLine.PREFIX + "x, not " + version);
      Untouched.when(
          !session.sparkContext().conf().get("spark.plugins", "").isEmpty(),
          "spark.plugins may shuffle rows by another hash");
      Untouched.when(!settings.hasAddress(), "spark.sargo.sidecar.address is not set");
      return BucketTable.of(session, settings, scan, options);
    } catch (Untouched e) {
      log(e, scan);
      return null;
    }
  }

  private static void log(Untouched e, LogicalRelation scan) {
    HadoopFsRelation relation = (HadoopFsRelation) scan.relation();
    Untouched.log("no buckets: " + e.getMessage(), relation.location().rootPaths().mkString(","));
  }

  // -- their plans

  private static LogicalRelation scanBelow(LogicalPlan plan) {
    LogicalPlan node = plan;
    while (node instanceof Project || node instanceof Filter) {
      node = Seqs.list(node.children()).get(0);
    }
    return node instanceof LogicalRelation ? (LogicalRelation) node : null;
  }

  private static BucketTable markOf(LogicalRelation scan) {
    Option<BucketMark> mark = scan == null ? Option.empty() : scan.getTagValue(MARK);
    return mark.isDefined() ? mark.get().table : null;
  }

  private List<SparkPlan> bucketed(LogicalPlan plan, BucketTable table) {
    List<SparkPlan> plans = new ArrayList<>();
    List<Untouched> failures = new ArrayList<>();
    for (SparkPlan one : Seqs.list(FileSourceStrategy.apply(plan))) {
      plans.add(one.transformUp(Rewrite.by(node -> bucketed(node, table, failures))));
    }
    failures.forEach(failure -> log(failure, table.relation));
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
    boolean always = session.conf().get(SETTING, "auto").trim().equalsIgnoreCase("true");
    long most = Math.max(MAX_SMALL_BYTES, MAX_SKEW * (files.total() / table.tasks));
    Untouched.when(!always && files.largest() > most, "a bucket is much larger than others");
    return new BucketedScan(scan, key, table.tasks);
  }
}
