package io.sargo.hive;

import io.sargo.hive.SliceStatuses.HudiFormat;
import java.io.IOException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.io.ArrayWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapred.InputFormat;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hudi.common.model.FileSlice;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.table.timeline.HoodieInstant;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.hadoop.HoodieParquetInputFormat;
import org.apache.hudi.hadoop.realtime.HoodieMergeOnReadTableInputFormat;
import org.apache.hudi.hadoop.realtime.HoodieParquetRealtimeInputFormat;
import org.apache.hudi.hadoop.realtime.RealtimeSplit;

/**
 * Replaces {@code HoodieParquetRealtimeInputFormat}: the merged view of MERGE_ON_READ tables, base
 * files with their log files.
 *
 * <p>The class delegates to Hudi's format and does not extend it. Hive treats every subclass of its
 * Parquet format as vectorisable, but this view merges rows, and vectorised queries fail on it
 * (Hive 4.0.1).
 *
 * <p>Facts: docs/facts/hive-storage-handlers.md#the-interfaces
 */
public class PruningRealtimeInputFormat implements InputFormat<NullWritable, ArrayWritable> {

  static {
    OwnClasses.load();
  }

  @Override
  public InputSplit[] getSplits(JobConf job, int n) throws IOException {
    Lister lister = new Lister();
    lister.setConf(job);
    return lister.getSplits(job, n);
  }

  @Override
  public RecordReader<NullWritable, ArrayWritable> getRecordReader(
      InputSplit split, JobConf job, Reporter reporter) throws IOException {
    return rowReader(new HoodieParquetRealtimeInputFormat(), split, job, reporter);
  }

  /** A reader of single rows. If the query is vectorised, Parquet's reader would return batches. */
  static RecordReader<NullWritable, ArrayWritable> rowReader(
      HoodieParquetInputFormat format, InputSplit split, JobConf job, Reporter reporter)
      throws IOException {
    JobConf copy = new JobConf(FilterScope.forReading(split, job, split instanceof RealtimeSplit));
    copy.setBoolean("VECTOR_MODE", false);
    format.setConf(copy);
    return format.getRecordReader(split, copy, reporter);
  }

  private static final class Lister extends HoodieMergeOnReadTableInputFormat
      implements HudiFormat {
    @Override
    public FileStatus[] listStatus(JobConf job) throws IOException {
      return SidecarListing.list(job, true, this);
    }

    @Override
    public FileStatus[] listAll(JobConf job) throws IOException {
      return super.listStatus(job);
    }

    @Override
    public FileStatus statusOf(
        FileSlice slice, Option<HoodieInstant> instant, String base, HoodieTableMetaClient client) {
      return createFileStatusUnchecked(slice, instant, base, client);
    }
  }
}
