package org.apache.hudi;

import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;

/**
 * Stands in for Hudi's index on Spark 4, for which no bundle of Hudi could be run: an index of
 * Parquet files under Hudi's class name, with the methods that the extension calls.
 */
public final class HoodieFileIndex implements FileIndex {
  private final FileIndex files;

  private HoodieFileIndex(FileIndex files) {
    this.files = files;
  }

  /** The plan of a table of Parquet files, with this index. */
  public static LogicalPlan over(LogicalPlan plan) {
    LogicalRelation scan = (LogicalRelation) plan;
    HadoopFsRelation relation = (HadoopFsRelation) scan.relation();
    HadoopFsRelation other =
        relation.copy(
            new HoodieFileIndex(relation.location()),
            relation.partitionSchema(),
            relation.dataSchema(),
            relation.bucketSpec(),
            relation.fileFormat(),
            relation.options(),
            relation.sparkSession());
    Object[] parts = new Object[scan.productArity()];
    for (int i = 0; i < parts.length; i++) {
      parts[i] = scan.productElement(i) == relation ? other : scan.productElement(i);
    }
    return (LogicalPlan) scan.makeCopy(parts);
  }

  public HoodieFileIndex metaClient() {
    return this;
  }

  public HoodieFileIndex getTableConfig() {
    return this;
  }

  public HoodieFileIndex getBootstrapBasePath() {
    return this;
  }

  public boolean isPresent() {
    return false;
  }

  public Path getBasePath() {
    return files.rootPaths().head();
  }

  public String getTableType() {
    return "COPY_ON_WRITE";
  }

  public boolean includeLogFiles() {
    return false;
  }

  @Override
  public Seq<Path> rootPaths() {
    return files.rootPaths();
  }

  @Override
  public Seq<PartitionDirectory> listFiles(
      Seq<Expression> partitionFilters, Seq<Expression> dataFilters) {
    return files.listFiles(partitionFilters, dataFilters);
  }

  @Override
  public String[] inputFiles() {
    return files.inputFiles();
  }

  @Override
  public void refresh() {
    files.refresh();
  }

  @Override
  public long sizeInBytes() {
    return files.sizeInBytes();
  }

  @Override
  public StructType partitionSchema() {
    return files.partitionSchema();
  }
}
