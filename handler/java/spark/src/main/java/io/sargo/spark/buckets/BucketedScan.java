package io.sargo.spark.buckets;

import io.sargo.spark.hashing.BucketKey;
import io.sargo.spark.hashing.BucketPartitioning;
import io.sargo.spark.shims.ListPlan;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.physical.Partitioning;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.datasources.FilePartition;
import org.apache.spark.sql.execution.datasources.FileScanRDD;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.immutable.Map;

/**
 * Spark's own scan of a table with buckets, whose tasks are the buckets: joins, aggregates and
 * windows over the bucket's key need no exchange of its rows.
 *
 * <p>It is a leaf, because Spark plans no exchange below it. Task i reads the buckets b with {@code
 * b % tasks == i}, which is the bucket of a row among {@code tasks} buckets, too, because their
 * number divides the table's. A task without files is empty.
 */
public final class BucketedScan extends ListPlan {
  private static final long serialVersionUID = 1;

  private final FileSourceScanExec scan;
  private final BucketKey key;
  private final Integer tasks;
  private transient RDD<InternalRow> rows;

  public BucketedScan(FileSourceScanExec scan, BucketKey key, Integer tasks) {
    this.scan = scan;
    this.key = key;
    this.tasks = tasks;
  }

  @Override
  public Partitioning outputPartitioning() {
    List<Expression> hashed = new ArrayList<>();
    for (int place : key.places()) {
      hashed.add((Expression) attributes().get(place));
    }
    return new BucketPartitioning(hashed, tasks);
  }

  private synchronized RDD<InternalRow> rows() {
    if (rows == null) {
      FileScanRDD files = (FileScanRDD) scan.inputRDD();
      SQLMetric count = scan.metrics().apply("numOutputRows");
      rows = new BucketedRdd(files, tasksOf(files), key, table(), scan.schema(), count);
    }
    return rows;
  }

  private List<FilePartition> tasksOf(FileScanRDD files) {
    List<List<PartitionedFile>> placed = new ArrayList<>();
    for (int i = 0; i < tasks; i++) {
      placed.add(new ArrayList<>());
    }
    for (FilePartition partition : Seqs.list(files.filePartitions())) {
      for (PartitionedFile file : partition.files()) {
        int bucket = BucketFiles.bucketOf(file.toPath().getName());
        if (bucket < 0) {
          throw new IllegalStateException(
              "sargo: "
                  + file.filePath()
                  + " is of no bucket. SET spark.sargo.buckets=false reads the table without them.");
        }
        placed.get(bucket % tasks).add(file);
      }
    }
    List<FilePartition> partitions = new ArrayList<>();
    for (int i = 0; i < tasks; i++) {
      partitions.add(new FilePartition(i, placed.get(i).toArray(new PartitionedFile[0])));
    }
    return partitions;
  }

  private String table() {
    return scan.relation().location().rootPaths().mkString(",");
  }

  @Override
  public RDD<InternalRow> doExecute() {
    return rows();
  }

  @Override
  @SuppressWarnings({"unchecked", "rawtypes"})
  public RDD<ColumnarBatch> doExecuteColumnar() {
    return (RDD) rows(); // the elements of a scan are batches if it supports them
  }

  @Override
  public boolean supportsColumnar() {
    return scan.supportsColumnar();
  }

  @Override
  public Map<String, SQLMetric> metrics() {
    return scan.metrics();
  }

  @Override
  protected List<Attribute> attributes() {
    return Seqs.list(scan.output());
  }

  @Override
  protected List<SparkPlan> childPlans() {
    return Collections.emptyList();
  }

  @Override
  protected SparkPlan over(List<SparkPlan> children) {
    return this;
  }

  @Override
  public SparkPlan doCanonicalize() {
    return new BucketedScan((FileSourceScanExec) scan.canonicalized(), key, tasks);
  }

  @Override
  public String nodeName() {
    return scan.nodeName().trim() + ", " + tasks + " buckets of " + key;
  }

  @Override
  public String simpleString(int maxFields) {
    return "BucketedScan " + tasks + " buckets of " + key + ", " + scan.simpleString(maxFields);
  }

  @Override
  public String verboseStringWithOperatorId() {
    String text = scan.verboseStringWithOperatorId().trim(); // its first line is its own name
    int line = text.indexOf('\n');
    return "\n" + formattedNodeName() + (line < 0 ? "" : text.substring(line)) + "\n";
  }

  @Override
  public int productArity() {
    return 3;
  }

  @Override
  public Object productElement(int n) {
    return n == 0 ? scan : n == 1 ? key : tasks;
  }

  @Override
  public boolean canEqual(Object other) {
    return other instanceof BucketedScan;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof BucketedScan
        && scan.equals(((BucketedScan) other).scan)
        && key.equals(((BucketedScan) other).key)
        && tasks.equals(((BucketedScan) other).tasks);
  }

  @Override
  public int hashCode() {
    return Objects.hash(scan, key, tasks);
  }
}
