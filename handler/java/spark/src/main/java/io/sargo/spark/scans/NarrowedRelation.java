package io.sargo.spark.scans;

import io.sargo.spark.plans.Nodes;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/**
 * A relation over an index that lists fewer slices than Hudi's. Its text, which Spark takes into
 * the name of the scan's node, says how many are left: {@code Scan HudiFileGroup, Sargo: 3 of 14
 * file slices}.
 */
final class NarrowedRelation extends HadoopFsRelation {
  private static final long serialVersionUID = 1;
  private final String text;

  private NarrowedRelation(
      HadoopFsRelation relation, FileIndex index, FileFormat format, String summary) {
    super(
        index,
        relation.partitionSchema(),
        relation.dataSchema(),
        relation.bucketSpec(),
        format,
        relation.options(),
        relation.sparkSession());
    text = summary == null ? relation.toString() : relation.toString() + ", " + summary;
  }

  /** A copy of a scan over another index than its own. {@code summary}: one phrase, or null. */
  static LogicalPlan scan(LogicalRelation scan, FileIndex index, String summary) {
    return scan(scan, index, ((HadoopFsRelation) scan.relation()).fileFormat(), summary);
  }

  static LogicalPlan scan(
      LogicalRelation scan, FileIndex index, FileFormat format, String summary) {
    HadoopFsRelation relation = (HadoopFsRelation) scan.relation();
    LogicalPlan copy =
        Nodes.withPart(scan, relation, new NarrowedRelation(relation, index, format, summary));
    copy.copyTagsFrom(scan);
    return copy;
  }

  @Override
  public String toString() {
    return text;
  }
}
