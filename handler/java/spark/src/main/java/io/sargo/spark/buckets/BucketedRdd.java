package io.sargo.spark.buckets;

import io.sargo.spark.hashing.BucketKey;
import io.sargo.spark.shims.ListRdd;
import java.util.List;
import org.apache.spark.Partition;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.apache.spark.sql.execution.datasources.FileScanRDD;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;

/** The rows of Spark's own scan, with one task for each bucket, and a check of each row's place. */
final class BucketedRdd extends ListRdd {
  private static final long serialVersionUID = 1;

  private final FileScanRDD scan;
  private final transient FilePartition[] tasks;
  private final BucketKey key;
  private final int buckets;
  private final String table;
  private final StructType schema;
  private final SQLMetric count;

  BucketedRdd(
      FileScanRDD scan,
      List<FilePartition> tasks,
      BucketKey key,
      String table,
      StructType schema,
      SQLMetric count) {
    super(scan.sparkContext());
    this.scan = scan;
    this.tasks = tasks.toArray(new FilePartition[0]);
    this.key = key;
    this.buckets = tasks.size();
    this.table = table;
    this.schema = schema;
    this.count = count;
  }

  @Override
  public Partition[] getPartitions() {
    return tasks.clone();
  }

  @Override
  protected String[] hosts(Partition task) {
    return ((FilePartition) task).preferredLocations();
  }

  @Override
  public Iterator<InternalRow> compute(Partition task, TaskContext context) {
    RowPlaces places = new RowPlaces(key, buckets, task.index(), table);
    return new CheckedRows<>(scan.compute(task, context), places, schema, count);
  }
}
