package io.sargo.hive;

import io.sargo.client.KeepAll;
import java.io.IOException;
import java.util.Properties;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.ArrayWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hive.common.util.HiveVersionInfo;
import org.apache.hudi.hadoop.HoodieParquetInputFormat;
import org.apache.hudi.hadoop.realtime.RealtimeSplit;

/**
 * The input format of tables STORED BY {@link HudiStorageHandler}. It reads the files of a
 * COPY_ON_WRITE table and the merged view of a MERGE_ON_READ table, or its read-optimised view with
 * the table property {@code sargo.view = read_optimized}.
 *
 * <p>The class is not a {@code HoodieParquetInputFormat}, so Hive does not vectorise it. Hive 3.1.3
 * returns wrong rows for a vectorised table with a storage handler: {@code count(*) where k < 150}
 * returned 200.
 *
 * <p>Facts: docs/facts/hive-storage-handlers.md#the-interfaces
 */
public class HudiInputFormat extends PruningRealtimeInputFormat {

  @Override
  public InputSplit[] getSplits(JobConf job, int n) throws IOException {
    Path[] inputs = FileInputFormat.getInputPaths(job);
    Properties table = new Properties();
    try {
      Listing.findBase(job, inputs[0], table);
    } catch (KeepAll e) {
      throw new IOException(inputs[0] + " is not the base path of a Hudi table", e);
    }
    boolean mergeOnRead = Listing.isMergeOnRead(table),
        merged = mergeOnRead && !"read_optimized".equals(job.get("sargo.view"));
    refuseIf(
        "true".equals(table.getProperty("hoodie.datasource.write.drop.partition.columns")),
        "the files of "
            + inputs[0]
            + " do not hold the partition columns (hoodie.datasource.write.drop.partition.columns): register it as Hudi's Hive sync does");
    refuseIf(
        Listing.isIncremental(job, table),
        "incremental reading (hoodie."
            + table.getProperty("hoodie.table.name")
            + ".consume.mode): Hudi lists nothing by a base path: use the table that Hudi's Hive sync registered");
    refuseIf(
        merged && HiveVersionInfo.getShortVersion().startsWith("3"),
        "on Hive 3 Hudi's reader leaves out log files of a table "
            + "STORED BY: use the table that Hudi's Hive sync registered, or the table property 'sargo.view' = 'read_optimized'");
    refuseIf(
        mergeOnRead && FilterScope.isReadOtherwise(job, inputs[0]),
        "two views of "
            + inputs[0]
            + " in one MapReduce job: Hive would "
            + "read both as one of them: use Tez, or two queries");
    if (merged) {
      return super.getSplits(job, n);
    }
    HoodieParquetInputFormat format = new PruningInputFormat();
    format.setConf(job);
    return format.getSplits(job, n);
  }

  private static void refuseIf(boolean condition, String why) throws IOException {
    if (condition) {
      throw new IOException(why);
    }
  }

  @Override
  public RecordReader<NullWritable, ArrayWritable> getRecordReader(
      InputSplit split, JobConf job, Reporter reporter) throws IOException {
    return split instanceof RealtimeSplit
        ? super.getRecordReader(split, job, reporter)
        : rowReader(new PruningInputFormat(), split, job, reporter);
  }
}
