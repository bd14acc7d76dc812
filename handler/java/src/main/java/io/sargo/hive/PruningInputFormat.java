package io.sargo.hive;

import java.io.IOException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.io.ArrayWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hudi.hadoop.HoodieCopyOnWriteTableInputFormat;
import org.apache.hudi.hadoop.HoodieParquetInputFormat;

/**
 * Replaces {@code HoodieParquetInputFormat}: COPY_ON_WRITE tables, and the read-optimised view of
 * MERGE_ON_READ tables.
 *
 * <p>Hudi's {@code getSplits} and {@code listStatus} are final and call a delegate. The delegate
 * here removes skipped files from its listing.
 */
public class PruningInputFormat extends HoodieParquetInputFormat {

  public PruningInputFormat() {
    super(new Lister());
  }

  @Override
  public RecordReader<NullWritable, ArrayWritable> getRecordReader(
      InputSplit split, JobConf job, Reporter reporter) throws IOException {
    return super.getRecordReader(split, FilterScope.forReading(split, job, false), reporter);
  }

  private static final class Lister extends HoodieCopyOnWriteTableInputFormat {
    @Override
    public FileStatus[] listStatus(JobConf job) throws IOException {
      return Pruner.prune(job, super.listStatus(job));
    }
  }
}
