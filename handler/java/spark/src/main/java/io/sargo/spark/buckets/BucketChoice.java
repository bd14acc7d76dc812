package io.sargo.spark.buckets;

import io.sargo.spark.plans.SparkVersion;
import io.sargo.spark.plans.Untouched;
import io.sargo.spark.question.SessionSettings;
import io.sargo.spark.scans.NarrowedIndex;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.trees.TreeNodeTag;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.Option;

/**
 * Chooses the scans whose tasks are to be buckets, and marks them: a mark stays when Spark plans
 * the rest of a query again.
 *
 * <p>Settings: {@code spark.sargo.buckets}, false, true (wherever an exchange is spared) or auto
 * (by size, too).
 */
final class BucketChoice {
  private static final TreeNodeTag<Mark> MARK = TreeNodeTag.apply("sargo.buckets");
  private static final String SETTING = "spark.sargo.buckets";

  private final SparkSession session;

  BucketChoice(SparkSession session) {
    this.session = session;
  }

  /** What was decided about a scan: null for no buckets. */
  private static final class Mark {
    final BucketTable table;

    Mark(BucketTable table) {
      this.table = table;
    }
  }

  /** The table of a scan that was chosen, or null. */
  static BucketTable of(LogicalRelation scan) {
    Option<Mark> mark = scan == null ? Option.empty() : scan.getTagValue(MARK);
    return mark.isDefined() ? mark.get().table : null;
  }

  /** Whether sizes do not count. */
  boolean isAlways() {
    return mode().equalsIgnoreCase("true");
  }

  private String mode() {
    return session.conf().get(SETTING, "auto").trim();
  }

  /** Marks the scans of a query, each once. */
  void mark(LogicalPlan root) throws Exception {
    String mode = mode();
    SessionSettings settings = SessionSettings.of(session);
    if (mode.equalsIgnoreCase("false") || !settings.enabled || root.isStreaming()) {
      return;
    }
    boolean always = isAlways();
    if (!always && !mode.equalsIgnoreCase("auto")) {
      throw new IllegalArgumentException(SETTING + " is auto, true or false, not " + mode);
    }
    List<BucketTable> tables = new ArrayList<>();
    for (LogicalPlan leaf : Seqs.list(root.collectLeaves())) {
      if (leaf instanceof LogicalRelation && leaf.getTagValue(MARK).isEmpty()) {
        LogicalRelation scan = (LogicalRelation) leaf;
        scan.setTagValue(MARK, new Mark(null));
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
          .forEach(table -> table.relation.setTagValue(MARK, new Mark(table)));
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
    Map<String, String> options = BucketOptions.of(scan, session.conf());
    if (options == null) {
      return null;
    }
    try {
      SparkVersion.check(session.sparkContext().version());
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

  static void log(Untouched e, LogicalRelation scan) {
    HadoopFsRelation relation = (HadoopFsRelation) scan.relation();
    Untouched.log("no buckets: " + e.getMessage(), relation.location().rootPaths().mkString(","));
  }
}
