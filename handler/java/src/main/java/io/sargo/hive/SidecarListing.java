package io.sargo.hive;

import io.sargo.client.KeepAll;
import io.sargo.client.Printable;
import io.sargo.client.Sidecars;
import io.sargo.hive.SliceStatuses.HudiFormat;
import java.io.IOException;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of a scan: by Hudi and then {@link Pruner}, or by one question to the sidecar.
 *
 * <pre>
 *   sargo.listing   files are listed by                     and skipped by
 *   sidecar         the sidecar                             the same answer
 *                   Hudi, if there is no certain answer     Pruner
 *   hudi            Hudi                                    Pruner
 *   shadow          Hudi; the sidecar's list is compared    Pruner
 * </pre>
 *
 * <p>Every failure lets Hudi list the files, adds one to a counter and writes one line to the log.
 */
final class SidecarListing {
  private static final Logger LOG = LoggerFactory.getLogger(SidecarListing.class);

  /** Tables of which an answer had a wrong length. This process asks for no other list of them. */
  private static final Set<String> TURNED_OFF = ConcurrentHashMap.newKeySet();

  private SidecarListing() {}

  /** The files to read. {@code merged}: whether log files are read too. */
  static FileStatus[] list(JobConf job, boolean merged, HudiFormat hudi) throws IOException {
    ListingSettings settings = settingsOf(job);
    KeepAll unanswered = null;
    if (settings != null && settings.listing.equals("sidecar")) {
      try {
        return listOrThrow(job, merged, hudi, settings);
      } catch (ByHudi e) {
        recordByHudi(job, e);
      } catch (KeepAll e) {
        recordByHudi(job, new ByHudi(e));
        unanswered = isSilence(e.reason) ? e : null;
      } catch (Exception | LinkageError | StackOverflowError e) {
        // Another version of Hive or Hudi may lack a method. Hudi lists by itself.
        recordByHudi(job, new ByHudi(ByHudi.Reason.FAILURE, e.toString()));
      }
    }
    FileStatus[] listed =
        settings != null && settings.listing.equals("shadow")
            ? ShadowListing.list(job, merged, hudi, settings)
            : hudi.listAll(job);
    return unanswered == null ? Pruner.prune(job, listed) : Pruner.keepAll(job, listed, unanswered);
  }

  /** Whether nobody answered. The scan has waited its time, and asks nothing more. */
  private static boolean isSilence(KeepAll.Reason reason) {
    return reason == KeepAll.Reason.SIDECAR_DOWN
        || reason == KeepAll.Reason.SIDECAR_SLOW
        || reason == KeepAll.Reason.BREAKER_OPEN;
  }

  /** The settings, or null if no sidecar is to be asked. */
  private static ListingSettings settingsOf(JobConf job) {
    try {
      ListingSettings settings = new ListingSettings(job);
      return settings.enabled && settings.hasAddress() ? settings : null;
    } catch (Exception e) {
      return null; // Pruner meets the same failure, and records it
    }
  }

  private static FileStatus[] listOrThrow(
      JobConf job, boolean merged, HudiFormat hudi, ListingSettings settings) throws Exception {
    long start = System.nanoTime();
    ByHudi.when(
        FilterScope.isReadByBuckets(job),
        ByHudi.Reason.BUCKETED_JOIN,
        "a join takes the table's files for buckets and counts them, or may do so");
    ScannedTable table = new ScannedTable(job);
    String name = table.base.toUri().toString();
    ByHudi.when(
        TURNED_OFF.contains(name),
        ByHudi.Reason.TURNED_OFF,
        "an earlier answer had a wrong length");
    PlanRequest request = table.open().request(job, merged, settings);
    KeepAll noFilter = null;
    try {
      request.filter = FilterScope.filterOf(job);
      request.filterText = FilterScope.textOf(job, request.filter);
    } catch (KeepAll e) {
      noFilter = e; // every file is asked for
    }
    PlanReply reply = Sidecars.ask(request, settings);
    UnknownFolders.verify(table, reply.unknown, job);
    FileStatus[] files;
    try (Lengths lengths = new Lengths(table, reply.slices, settings.verify, job)) {
      files = new SliceStatuses(table, hudi).of(reply.slices, reply.instant);
      lengths.verify();
    } catch (Lengths.Mismatch e) {
      TURNED_OFF.add(name);
      Counters.INSTANCE.add("listing_turned_off", 1);
      LOG.warn(
          "sargo: the sidecar lists no more files of a table in this process, table={} why={}",
          Printable.text(name),
          Printable.text(e.getMessage()));
      throw new ByHudi(ByHudi.Reason.WRONG_LENGTH, e.getMessage());
    }
    record(job, name, reply, noFilter, TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
    return files;
  }

  private static void record(
      JobConf job, String table, PlanReply reply, KeepAll noFilter, long ms) {
    int listed = reply.slices.count() + reply.skipped();
    Counters.INSTANCE.add("listed_by_sidecar", 1);
    Counters.INSTANCE.add("files_listed", listed);
    if (noFilter == null) {
      Counters.INSTANCE.add("files_skipped", reply.skipped());
      LOG.info(
          "sargo: asked, listed={} skipped={} ms={} listing=sidecar files={} instant={} table={}"
              + " report={} query={} notes={}",
          listed,
          reply.skipped(),
          ms,
          reply.slices.names.length,
          reply.instant,
          Printable.text(table),
          Printable.text(reply.reportId),
          Printable.text(job.get("hive.query.id")),
          Printable.text(reply.reasons));
    } else {
      String reason = "kept_all." + noFilter.reason.name().toLowerCase(Locale.ROOT);
      LOG.info(
          "sargo: kept all, listed={} reason={} times={} ms={} listing=sidecar files={} instant={}"
              + " table={} query={} why={}",
          listed,
          noFilter.reason,
          Counters.INSTANCE.add(reason, 1),
          ms,
          reply.slices.names.length,
          reply.instant,
          Printable.text(table),
          Printable.text(job.get("hive.query.id")),
          Printable.text(noFilter.getMessage()));
    }
  }

  private static void recordByHudi(JobConf job, ByHudi why) {
    Path[] inputs = FileInputFormat.getInputPaths(job);
    LOG.info(
        "sargo: listed by Hudi, reason={} times={} where={} query={} why={}",
        why.reason.toUpperCase(Locale.ROOT),
        Counters.INSTANCE.add("listed_by_hudi." + why.reason, 1),
        Printable.text(inputs.length == 0 ? null : inputs[0]),
        Printable.text(job.get("hive.query.id")),
        Printable.text(why.getMessage()));
  }
}
