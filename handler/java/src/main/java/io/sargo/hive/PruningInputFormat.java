package io.sargo.hive;

import io.sargo.hive.SliceStatuses.HudiFormat;
import java.io.IOException;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.io.ArrayWritable;
import org.apache.hadoop.io.NullWritable;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.RecordReader;
import org.apache.hadoop.mapred.Reporter;
import org.apache.hudi.common.model.FileSlice;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.table.timeline.HoodieInstant;
import org.apache.hudi.common.util.Option;
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

  static {
    OwnClasses.load();
  }

  public PruningInputFormat() {
    super(new Lister());
  }

  @Override
  public RecordReader<NullWritable, ArrayWritable> getRecordReader(
      InputSplit split, JobConf job, Reporter reporter) throws IOException {
    return super.getRecordReader(split, FilterScope.forReading(split, job, false), reporter);
  }

  private static final class Lister extends HoodieCopyOnWriteTableInputFormat
      implements HudiFormat {
    @Override
    public FileStatus[] listStatus(JobConf job) throws IOException {
      return SidecarListing.list(job, false, this);
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
