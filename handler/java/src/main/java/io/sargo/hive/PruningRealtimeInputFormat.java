package io.sargo.hive;

import java.io.IOException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.io.ArrayWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapred.InputFormat;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hudi.hadoop.HoodieParquetInputFormat;
import org.apache.hudi.hadoop.realtime.HoodieMergeOnReadTableInputFormat;
import org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat;
import org.apache.hudi.hadoop.realtime.RealtimeSplit;

/**
 * In place of HoodieParquetRealtimeInputFormat: the merged view of MERGE_ON_READ tables, base files
 * with their log files.
 *
 * <p>It holds Hudi's format instead of being one. That looks vectorizable to Hive because it is a
 * subclass of the Parquet format, but merges rows: vectorized queries fail on it (Hive 4.0.1).
 */
public class PruningRealtimeInputFormat implements InputFormat<NullWritable, ArrayWritable> {

  @Override
  public InputSplit[] getSplits(JobConf job, int n) throws IOException {
    Lister lister = new Lister();
    lister.setConf(job);
    return lister.getSplits(job, n);
  }

  @Override
  public RecordReader<NullWritable, ArrayWritable> getRecordReader(
      InputSplit split, JobConf job, Reporter reporter) throws IOException {
    return rows(new HoodieParquetRealtimeInputFormat(), split, job, reporter);
  }

  /**
   * Rows, whether or not the rest of the query is vectorized: in that mode Parquet's reader would
   * hand out batches.
   */
  static RecordReader<NullWritable, ArrayWritable> rows(
      HoodieParquetInputFormat format, InputSplit split, JobConf job, Reporter reporter)
      throws IOException {
    JobConf copy = new JobConf(Ownership.forReading(split, job, split instanceof RealtimeSplit));
    copy.setBoolean("VECTOR_MODE", false);
    format.setConf(copy);
    return format.getRecordReader(split, copy, reporter);
  }

  private static final class Lister extends HoodieMergeOnReadTableInputFormat {
    @Override
    public FileStatus[] listStatus(JobConf job) throws IOException {
      return Pruner.prune(job, super.listStatus(job));
    }
  }
}
