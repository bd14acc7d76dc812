package io.sargo.spark;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BinaryOperator;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
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
final class NarrowScans extends Rule<LogicalPlan> {
  private static final Logger LOG = LoggerFactory.getLogger(NarrowScans.class);

  private final SparkSession session;

  NarrowScans(SparkSession session) {
    this.session = session;
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    try {
      SessionSettings settings = SessionSettings.of(settingsOf(session));
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

  /**
   * The settings of a session, by key and default. Those of Spark's own have a default, which null
   * asks for.
   */
  static BinaryOperator<String> settingsOf(SparkSession session) {
    return (key, otherwise) ->
        otherwise == null && key.startsWith("spark.sql.")
            ? session.conf().get(key)
            : session.conf().get(key, otherwise);
  }

  /** The relation of a scan of Hudi's snapshot, or null. */
  static HadoopFsRelation hudiRelation(LogicalPlan node) {
    if (node instanceof LogicalRelation
        && !node.isStreaming()
        && ((LogicalRelation) node).relation() instanceof HadoopFsRelation) {
      HadoopFsRelation relation = (HadoopFsRelation) ((LogicalRelation) node).relation();
      return HudiTable.isIndex(relation.location()) ? relation : null;
    }
    return null;
  }

  /** A narrowed scan, with the filter on it; null for any other node, and one of {@code left}. */
  private LogicalPlan narrowed(LogicalPlan node, Query query, List<LogicalPlan> left) {
    Filter filter = node instanceof Filter ? (Filter) node : null;
    LogicalPlan scan = filter == null ? node : filter.child();
    if (hudiRelation(scan) == null || left.stream().anyMatch(one -> one == scan)) {
      return null;
    }
    try {
      LogicalPlan narrowed = narrowed((LogicalRelation) scan, filter, query);
      return filter == null ? narrowed : new Filter(filter.condition(), narrowed);
    } catch (Untouched e) {
      Untouched.log(e.getMessage(), hudiRelation(scan).location().rootPaths().mkString(","));
      left.add(scan);
      return null;
    }
  }

  private LogicalPlan narrowed(LogicalRelation scan, Filter filter, Query query) throws Untouched {
    HadoopFsRelation relation = hudiRelation(scan);
    Untouched.when(
        !query.engineVersion.startsWith(SparkLine.PREFIX),
        "this jar is for Spark " + SparkLine.PREFIX + "x, not " + query.engineVersion);
    java.util.Map<String, String> options =
        JavaConverters.mapAsJavaMapConverter(relation.options()).asJava();
    ReadOptions.check(options, settingsOf(session));
    HudiTable table = HudiTable.of(relation.location());
    Scan asked = new Scan(query, table, ReadOptions.instant(options));
    NarrowedIndex index = new NarrowedIndex(relation.location(), asked);
    if (filter != null) {
      List<Expression> conditions = Conditions.conjuncts(filter.condition());
      index = index.under(conditions);
      index.foresee(conditions);
    }
    return over(scan, relation, new NarrowedRelation(relation, index, index.summary()));
  }

  /** A copy of the scan over another relation. Spark 4 has one part more, so by position. */
  static LogicalPlan over(LogicalRelation scan, HadoopFsRelation relation, HadoopFsRelation other) {
    Object[] parts = new Object[scan.productArity()];
    for (int i = 0; i < parts.length; i++) {
      parts[i] = scan.productElement(i) == relation ? other : scan.productElement(i);
    }
    LogicalPlan copy = scan.makeCopy(parts);
    copy.copyTagsFrom(scan);
    return copy;
  }
}
