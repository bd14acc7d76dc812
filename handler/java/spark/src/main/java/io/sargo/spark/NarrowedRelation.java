package io.sargo.spark;

import org.apache.spark.sql.execution.datasources.HadoopFsRelation;

/**
 * A relation over a {@link NarrowedIndex}. Its text, which Spark takes into the name of the scan's
 * node, says how many file slices are left: {@code Scan HudiFileGroup, Sargo: 3 of 14 file slices}.
 */
final class NarrowedRelation extends HadoopFsRelation {
  private static final long serialVersionUID = 1;
  private final String text;

  NarrowedRelation(HadoopFsRelation relation, NarrowedIndex index) {
    super(
        index,
        relation.partitionSchema(),
        relation.dataSchema(),
        relation.bucketSpec(),
        relation.fileFormat(),
        relation.options(),
        relation.sparkSession());
    String summary = index.summary();
    text = summary == null ? relation.toString() : relation.toString() + ", " + summary;
  }

  @Override
  public String toString() {
    return text;
  }
}
