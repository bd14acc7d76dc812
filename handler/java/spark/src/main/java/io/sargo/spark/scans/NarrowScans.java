package io.sargo.spark.scans;

import io.sargo.spark.formats.BatchedFormat;
import io.sargo.spark.hudi.HudiTable;
import io.sargo.spark.hudi.ReadOptions;
import io.sargo.spark.plans.Conditions;
import io.sargo.spark.plans.Rewrite;
import io.sargo.spark.plans.SparkVersion;
import io.sargo.spark.plans.Untouched;
import io.sargo.spark.question.SessionSettings;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.collection.JavaConverters;

/**
 * Puts a {@link NarrowedIndex} in the place of Hudi's index of every scan. Where a filter stands on
 * the scan it asks at once, so that the sizes by which Spark chooses its joins are of what is left.
 *
 * <p>Filters have been pushed down to the scans when this rule runs. It runs once for each query.
 */
public final class NarrowScans extends Rule<LogicalPlan> {
  private static final Logger LOG = LoggerFactory.getLogger(NarrowScans.class);

  /** Whether slices of MERGE_ON_READ tables are read in batches. */
  private static final String BATCHES = "spark.sargo.batches";

  private final SparkSession session;

  public NarrowScans(SparkSession session) {
    this.session = session;
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    try {
      SessionSettings settings = SessionSettings.of(session);
      if (!settings.enabled || plan.isStreaming()) {
        return plan;
      }
      if (!settings.hasAddress()) {
        Untouched.log("spark.sargo.sidecar.address is not set", "any");
        return plan;
      }
      Query query = Query.of(settings, session.sparkContext());
      List<LogicalPlan> left = new ArrayList<>(); // looked at, and left as they are
      return plan.transform(Rewrite.by(node -> narrowed(node, query, left)));
    } catch (Exception | LinkageError | StackOverflowError e) {
      // Another version of Spark may lack a method. No query fails for want of narrowing.
      LOG.warn("sargo: untouched, because of {}", e.toString(), e);
      return plan;
    }
  }

  /** A narrowed scan, with the filter on it; null for any other node, and one of {@code left}. */
  private LogicalPlan narrowed(LogicalPlan node, Query query, List<LogicalPlan> left) {
    Filter filter = node instanceof Filter ? (Filter) node : null;
    LogicalPlan scan = filter == null ? node : filter.child();
    HudiTable.logOwnRelation(scan);
    if (HudiTable.relation(scan) == null || left.stream().anyMatch(one -> one == scan)) {
      return null;
    }
    try {
      LogicalPlan narrowed = narrowed((LogicalRelation) scan, filter, query);
      return filter == null ? narrowed : new Filter(filter.condition(), narrowed);
    } catch (Untouched e) {
      Untouched.log(e.getMessage(), HudiTable.relation(scan).location().rootPaths().mkString(","));
      left.add(scan);
      return null;
    }
  }

  private LogicalPlan narrowed(LogicalRelation scan, Filter filter, Query query) throws Untouched {
    HadoopFsRelation relation = HudiTable.relation(scan);
    SparkVersion.check(session.sparkContext().version());
    java.util.Map<String, String> options =
        JavaConverters.mapAsJavaMapConverter(relation.options()).asJava();
    ReadOptions.check(options, SessionSettings.conf(session));
    HudiTable table = HudiTable.of(relation.location());
    Scan asked = new Scan(query, table, ReadOptions.instant(options));
    NarrowedIndex index = new NarrowedIndex(relation.location(), asked);
    if (filter != null) {
      List<Expression> conditions =
          Conditions.namedAs(scan, Conditions.conjuncts(filter.condition()));
      index = index.under(conditions);
      index.foresee(conditions);
    }
    return index.scannedBy(scan, format(relation, table));
  }

  private FileFormat format(HadoopFsRelation relation, HudiTable table) {
    FileFormat hudi = relation.fileFormat();
    try {
      return SessionSettings.conf(session).apply(BATCHES, "true").trim().equals("false")
          ? hudi
          : BatchedFormat.of(hudi);
    } catch (Untouched e) {
      Untouched.log(e.getMessage(), table.location());
      return hudi;
    }
  }
}
