package io.sargo.spark;

import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;

/**
 * A relation over an index that lists fewer slices than Hudi's. Its text, which Spark takes into
 * the name of the scan's node, says how many are left: {@code Scan HudiFileGroup, Sargo: 3 of 14
 * file slices}.
 */
final class NarrowedRelation extends HadoopFsRelation {
  private static final long serialVersionUID = 1;
  private final String text;

  /** {@code summary}: one phrase, or null. */
  NarrowedRelation(HadoopFsRelation relation, FileIndex index, String summary) {
    super(
        index,
        relation.partitionSchema(),
        relation.dataSchema(),
        relation.bucketSpec(),
        relation.fileFormat(),
        relation.options(),
        relation.sparkSession());
    text = summary == null ? relation.toString() : relation.toString() + ", " + summary;
  }

  @Override
  public String toString() {
    return text;
  }
}
