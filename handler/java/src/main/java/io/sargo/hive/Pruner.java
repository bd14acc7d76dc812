package io.sargo.hive;

import io.sargo.client.Deflated;
import io.sargo.client.KeepAll;
import io.sargo.client.Printable;
import io.sargo.client.Settings;
import io.sargo.client.Sidecars;
import io.sargo.client.Wire.Reply;
import io.sargo.client.Wire.Request;
import java.io.IOException;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.mapred.JobConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Skips files: takes the listing of a scan and removes the files that the sidecar names. No other
 * class removes a file.
 *
 * <p>Every failure keeps every file, adds one to a counter ({@link Counters}) and writes one line
 * to the log.
 */
final class Pruner {
  private static final Logger LOG = LoggerFactory.getLogger(Pruner.class);

  private Pruner() {}

  static FileStatus[] prune(JobConf job, FileStatus[] listed) {
    try {
      return pruneOrThrow(job, listed);
    } catch (KeepAll e) {
      recordKeptAll(job, listed, e.reason, e.getMessage());
    } catch (Exception | LinkageError | StackOverflowError e) {
      // Another version of Hive or Hudi may lack a method. Pruning never fails the query.
      recordKeptAll(job, listed, KeepAll.Reason.FAILURE, e.toString());
    }
    return listed;
  }

  /** All of the files, because an earlier question of this scan ended so. */
  static FileStatus[] keepAll(JobConf job, FileStatus[] listed, KeepAll because) {
    recordKeptAll(job, listed, because.reason, because.getMessage());
    return listed;
  }

  private static FileStatus[] pruneOrThrow(JobConf job, FileStatus[] listed) throws Exception {
    long start = System.nanoTime();
    Settings settings = new Settings(job);
    KeepAll.when(!settings.enabled, KeepAll.Reason.DISABLED, "sargo.enabled is false");
    String filter = FilterScope.filterOf(job);
    KeepAll.when(
        !settings.hasAddress(), KeepAll.Reason.NO_ADDRESS, "sargo.sidecar.address is not set");
    Listing listing = new Listing(job, listed);
    Reply reply = Sidecars.ask(request(job, listing, filter, settings), settings);
    FileStatus[] kept = listed;
    if (!reply.skip.isEmpty()) {
      KeepAll.when(
          listing.instant != null && !listing.instant.equals(reply.instant),
          KeepAll.Reason.WRONG_ANSWER,
          "listed at " + listing.instant + ", answered for " + reply.instant);
      kept = listing.without(reply.skip);
    }
    int skipped = listed.length - kept.length;
    Counters.INSTANCE.add("files_listed", listed.length);
    Counters.INSTANCE.add("files_skipped", skipped);
    LOG.info(
        "sargo: asked, listed={} skipped={} ms={} table={} report={} query={} notes={}",
        listed.length,
        skipped,
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start),
        Printable.text(listing.base),
        Printable.text(reply.reportId),
        Printable.text(job.get("hive.query.id")),
        Printable.text(reply.reasons));
    return kept;
  }

  private static Request request(JobConf job, Listing listing, String filter, Settings settings)
      throws IOException {
    Session session = new Session(job);
    Request request = new Request();
    request.table = listing.base.toUri().toString();
    request.filter = filter;
    request.filterText = FilterScope.textOf(job, filter);
    request.engineVersion = session.engineVersion;
    request.engine = session.engine;
    request.timeZone = session.timeZone;
    request.queryId = session.queryId;
    request.user = session.user;
    String asOf = Listing.consumeSetting(job, listing.table, "commit");
    if (listing.isIncremental(job)) {
      request.queryType = "incremental";
      request.instant = Listing.consumeSetting(job, listing.table, "start.timestamp");
    } else if (asOf != null && listing.instant == null) { // a realtime listing carries its instant
      request.queryType = "as_of";
      request.instant = asOf;
    } else {
      request.queryType =
          listing.instant == null && Listing.isMergeOnRead(listing.table)
              ? "read_optimized"
              : "snapshot";
    }
    request.mergesRows =
        listing.instant != null
            && asOf == null // the list may hold later log files, which the reader leaves out
            && "snapshot".equals(request.queryType)
            && MergeSettings.areDefaults(job);
    request.compressed = listing.names.length >= settings.compressFrom;
    request.names = request.compressed ? Deflated.stream(listing.names) : listing.names;
    request.nameCount = listing.nameCount;
    return request;
  }

  private static void recordKeptAll(
      JobConf job, FileStatus[] listed, KeepAll.Reason reason, String why) {
    Counters.INSTANCE.add("files_listed", listed.length);
    long times = Counters.INSTANCE.add("kept_all." + reason.name().toLowerCase(Locale.ROOT), 1);
    Object where = listed.length == 0 ? null : listed[0].getPath().getParent();
    LOG.info(
        "sargo: kept all, listed={} reason={} times={} where={} query={} why={}",
        listed.length,
        reason,
        times,
        Printable.text(where),
        Printable.text(job.get("hive.query.id")),
        Printable.text(why));
  }
}
