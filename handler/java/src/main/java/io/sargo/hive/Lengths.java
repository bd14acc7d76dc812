package io.sargo.hive;

import java.io.FileNotFoundException;
import java.io.IOException;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;

/** Compares lengths of a plan with those of the file system, for files spread over the plan. */
final class Lengths {
  /** A file has another length than the plan says. */
  static final class Mismatch extends Exception {
    private static final long serialVersionUID = 1;

    Mismatch(String why) {
      super(why, null, false, false);
    }
  }

  private Lengths() {}

  /**
   * Throws Mismatch if a file has another length, and ByHudi if a file is gone: cleaning may have
   * deleted it after the sidecar read its list.
   *
   * <p>A base file is written once and has one length. A log file of a table of Hudi 0.x may be
   * appended to. The metadata table has its length at the commit, which Hudi's own listing takes
   * too, and readers leave out blocks of later commits. So a log file may be longer than the plan
   * says. It is never shorter.
   */
  static void verify(ScannedTable table, PlannedSlices plan, int most, JobConf job)
      throws IOException, Mismatch, ByHudi {
    for (int file : sample(plan.names.length, most)) {
      Path path = new Path(SliceStatuses.path(table, plan.names[file]).toUri());
      long length;
      try {
        length = path.getFileSystem(job).getFileStatus(path).getLen();
      } catch (FileNotFoundException e) {
        throw new ByHudi(ByHudi.Reason.FILE_GONE, path + " is not there");
      }
      long said = plan.lengths[file];
      if (length < said || length > said && !PlannedSlices.isLogFile(plan.names[file])) {
        throw new Mismatch(path + " has " + length + " bytes, not " + said);
      }
    }
  }

  /** At most {@code most} of the numbers below n, evenly spread, with the first and the last. */
  static int[] sample(int n, int most) {
    int[] sample = new int[Math.min(n, most)];
    for (int i = 0; i < sample.length; i++) {
      sample[i] = sample.length == 1 ? 0 : (int) ((long) i * (n - 1) / (sample.length - 1));
    }
    return sample;
  }
}
