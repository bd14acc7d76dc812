package io.sargo.spark.scans;

import io.sargo.spark.plans.Nodes;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.catalog.BucketSpec;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Map;

/**
 * A relation over an index that lists fewer slices than Hudi's. Its text, which Spark takes into
 * the name of the scan's node, says how many are left: {@code Scan HudiFileGroup, Sargo: 3 of 14
 * file slices}.
 */
final class NarrowedRelation extends HadoopFsRelation {
  private static final long serialVersionUID = 1;

  /** What the relation is called without the extension. */
  private final String name;

  /** One phrase, or null. */
  private final String summary;

  private NarrowedRelation(
      HadoopFsRelation relation, FileIndex index, FileFormat format, String name, String summary) {
    super(
        index,
        relation.partitionSchema(),
        relation.dataSchema(),
        relation.bucketSpec(),
        format,
        relation.options(),
        relation.sparkSession());
    this.name = name;
    this.summary = summary;
  }

  /** A copy of a scan over another index than its own. {@code summary}: one phrase, or null. */
  static LogicalPlan scan(LogicalRelation scan, FileIndex index, String summary) {
    return scan(scan, index, ((HadoopFsRelation) scan.relation()).fileFormat(), summary);
  }

  static LogicalPlan scan(
      LogicalRelation scan, FileIndex index, FileFormat format, String summary) {
    HadoopFsRelation relation = (HadoopFsRelation) scan.relation();
    String name =
        relation instanceof NarrowedRelation
            ? ((NarrowedRelation) relation).name
            : relation.toString();
    LogicalPlan copy =
        Nodes.withPart(
            scan, relation, new NarrowedRelation(relation, index, format, name, summary));
    copy.copyTagsFrom(scan);
    return copy;
  }

  /**
   * Spark copies the relation of a query that reads some fields of a struct: with fewer columns,
   * and the same index.
   */
  @Override
  public HadoopFsRelation copy(
      FileIndex index,
      StructType partitionSchema,
      StructType dataSchema,
      Option<BucketSpec> buckets,
      FileFormat format,
      Map<String, String> options,
      SparkSession session) {
    HadoopFsRelation copy =
        super.copy(index, partitionSchema, dataSchema, buckets, format, options, session);
    return index == location() ? new NarrowedRelation(copy, index, format, name, summary) : copy;
  }

  @Override
  public String toString() {
    return summary == null ? name : name + ", " + summary;
  }
}
