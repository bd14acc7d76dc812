package io.sargo.hive;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;

/** Compares lengths of a plan with those of the file system, for files spread over the plan. */
final class Lengths implements AutoCloseable {
  private static final long GONE = -1;

  /** A file has another length than the plan says. */
  static final class Mismatch extends Exception {
    private static final long serialVersionUID = 1;

    Mismatch(String why) {
      super(why, null, false, false);
    }
  }

  private final PlannedSlices plan;
  private final int[] files;
  private final Path[] paths;
  private final SideBySide<Long> asked;

  /**
   * Asks for the lengths, and waits for none. The threads end with {@link #close}.
   *
   * @param most how many files are asked for at most
   */
  Lengths(ScannedTable table, PlannedSlices plan, int most, JobConf job) throws IOException {
    this.plan = plan;
    files = sample(plan.names.length, most);
    paths = new Path[files.length];
    FileSystem fs = table.base.getFileSystem(job);
    List<Callable<Long>> questions = new ArrayList<>();
    for (int i = 0; i < files.length; i++) {
      Path path = new Path(SliceStatuses.path(table, plan.names[files[i]]).toUri());
      paths[i] = path;
      questions.add(() -> lengthOf(path, fs));
    }
    asked = new SideBySide<>(questions);
  }

  /**
   * Throws Mismatch if a file has another length, and ByHudi if a file is gone: cleaning may have
   * deleted it after the sidecar read its list.
   *
   * <p>A base file is written once and has one length. A log file of a table of Hudi 0.x may be
   * appended to. The metadata table has its length at the commit, which Hudi's own listing takes
   * too, and readers leave out blocks of later commits. So a log file may be longer than the plan
   * says. It is never shorter.
   */
  void verify() throws IOException, Mismatch, ByHudi {
    List<Long> lengths = asked.results();
    for (int i = 0; i < files.length; i++) {
      long length = lengths.get(i);
      ByHudi.when(length == GONE, ByHudi.Reason.FILE_GONE, paths[i] + " is not there");
      long said = plan.lengths[files[i]];
      boolean mayBeLonger = PlannedSlices.isLogFile(plan.names[files[i]]);
      if (length < said || length > said && !mayBeLonger) {
        throw new Mismatch(paths[i] + " has " + length + " bytes, not " + said);
      }
    }
  }

  @Override
  public void close() {
    asked.close();
  }

  private static long lengthOf(Path path, FileSystem fs) throws IOException {
    try {
      return fs.getFileStatus(path).getLen();
    } catch (FileNotFoundException e) {
      return GONE;
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
