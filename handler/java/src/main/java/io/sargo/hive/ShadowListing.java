package io.sargo.hive;

import io.sargo.client.Printable;
import io.sargo.client.Settings;
import io.sargo.client.Sidecars;
import io.sargo.hive.SliceStatuses.HudiFormat;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hudi.common.model.HoodieLogFile;
import org.apache.hudi.hadoop.RealtimeFileStatus;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares the sidecar's list of all files with Hudi's, and writes one line into the log. The scan
 * reads what Hudi lists.
 *
 * <pre>
 *   Hudi                 the sidecar          counted as
 *   a 10 bytes           a 10 bytes           same
 *   a 10 bytes           (none)               only_hudi: the sidecar would have lost rows
 *   (none)               a 10 bytes           only_sidecar
 *   a 10 bytes           a 11 bytes           lengths
 *   a + log 1, b         a, b + log 1         slices
 * </pre>
 */
final class ShadowListing {
  private static final Logger LOG = LoggerFactory.getLogger(ShadowListing.class);
  private static final int MAX_EXAMPLES = 5;

  private ShadowListing() {}

  /** Hudi's listing. Nothing that fails beside it is thrown. */
  static FileStatus[] list(JobConf job, boolean merged, HudiFormat hudi, Settings settings)
      throws IOException {
    JobConf before = new JobConf(job); // Hudi may change the input paths
    ScannedTable first = null;
    Throwable failure = null;
    try {
      first = new ScannedTable(before).open();
    } catch (Exception | LinkageError | StackOverflowError e) {
      failure = e;
    }
    FileStatus[] listed = hudi.listAll(job);
    try {
      if (failure == null) {
        compare(before, merged, hudi, settings, first, listed);
      }
    } catch (Exception | LinkageError | StackOverflowError e) {
      failure = e;
    }
    if (failure != null) {
      Counters.INSTANCE.add("shadow_listing.not_compared", 1);
      LOG.info(
          "sargo: shadow listing, not compared, query={} why={}",
          Printable.text(job.get("hive.query.id")),
          Printable.text(failure));
    }
    return listed;
  }

  private static void compare(
      JobConf job,
      boolean merged,
      HudiFormat hudi,
      Settings settings,
      ScannedTable first,
      FileStatus[] listed)
      throws Exception {
    ScannedTable table = new ScannedTable(job).open();
    PlanRequest request = table.request(job, merged, settings);
    PlanRequest earlier = first.request(job, merged, settings);
    ByHudi.when(
        !request.instant.equals(earlier.instant) || request.instantCount != earlier.instantCount,
        ByHudi.Reason.UNKNOWN_INSTANT,
        "a commit completed meanwhile");
    request.queryId = null; // by which the answer might be for the instant of an earlier scan
    PlanReply reply = Sidecars.ask(request, settings);
    FileStatus[] planned = new SliceStatuses(table, hudi).of(reply.slices, reply.instant);
    Difference difference = new Difference(listed, planned);
    Counters.INSTANCE.add(
        difference.isNone() ? "shadow_listing.same" : "shadow_listing.different", 1);
    LOG.info(
        "sargo: shadow listing, same={} only_hudi={} only_sidecar={} lengths={} slices={} listed={}"
            + " table={} instant={} query={} names={}",
        difference.isNone(),
        difference.onlyFirst,
        difference.onlySecond,
        difference.lengths,
        difference.slices,
        listed.length,
        Printable.text(table.base),
        reply.instant,
        Printable.text(job.get("hive.query.id")),
        Printable.text(difference.examples));
  }

  /** How two listings differ. */
  static final class Difference {
    int onlyFirst, onlySecond, lengths, slices;

    /** At most {@link #MAX_EXAMPLES} paths that differ. */
    final List<String> examples = new ArrayList<>();

    Difference(FileStatus[] first, FileStatus[] second) {
      Map<String, Long> files = filesOf(first);
      Map<String, Long> others = filesOf(second);
      files.forEach(
          (path, length) -> {
            if (!others.containsKey(path)) {
              onlyFirst++;
              example(path);
            } else if (!Objects.equals(length, others.get(path))) {
              lengths++;
              example(path);
            }
          });
      others.keySet().stream()
          .filter(path -> !files.containsKey(path))
          .forEach(
              path -> {
                onlySecond++;
                example(path);
              });
      Set<List<String>> grouped = slicesOf(first);
      for (List<String> slice : slicesOf(second)) {
        if (!grouped.contains(slice) && files.keySet().containsAll(slice)) {
          slices++;
          example(slice.get(0));
        }
      }
    }

    boolean isNone() {
      return onlyFirst + onlySecond + lengths + slices == 0;
    }

    private void example(String path) {
      if (examples.size() < MAX_EXAMPLES) {
        examples.add(path);
      }
    }

    private static Map<String, Long> filesOf(FileStatus[] listed) {
      Map<String, Long> lengths = new HashMap<>();
      for (FileStatus file : listed) {
        lengths.put(file.getPath().toString(), file.getLen());
        if (file instanceof RealtimeFileStatus) {
          for (HoodieLogFile log : ((RealtimeFileStatus) file).getDeltaLogFiles()) {
            lengths.put(log.getPath().toString(), log.getFileSize());
          }
        }
      }
      return lengths;
    }

    private static Set<List<String>> slicesOf(FileStatus[] listed) {
      Set<List<String>> slices = new HashSet<>();
      for (FileStatus file : listed) {
        List<String> paths = new ArrayList<>();
        paths.add(file.getPath().toString());
        if (file instanceof RealtimeFileStatus) {
          ((RealtimeFileStatus) file)
              .getDeltaLogFiles()
              .forEach(log -> paths.add(log.getPath().toString()));
        }
        slices.add(paths);
      }
      return slices;
    }
  }
}
