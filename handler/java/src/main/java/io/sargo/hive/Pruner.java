package io.sargo.hive;

import io.sargo.hive.Wire.Reply;
import io.sargo.hive.Wire.Request;
import java.io.IOException;
import java.time.ZoneId;
import java.util.zip.Deflater;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.hive.ql.plan.TableScanDesc;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hive.common.util.HiveVersionInfo;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one place where files are skipped: takes what Hudi listed for a scan and removes what the sidecar names. Every doubt keeps every
 * file, is counted ({@link Counters}) and said in one line of the log.
 */
final class Pruner {
  private static final Logger LOG = LoggerFactory.getLogger(Pruner.class);
  private static final int COMPRESS_FROM = 1 << 20;

  private Pruner() {}

  static FileStatus[] prune(JobConf job, FileStatus[] listed) {
    try {
      return pruneOrSayWhy(job, listed);
    } catch (KeepAll e) {
      keptAll(job, listed, e.reason, e.getMessage());
    } catch (Exception | LinkageError | StackOverflowError e) { // another Hive or Hudi may lack a method: never fail the query
      keptAll(job, listed, KeepAll.Reason.FAILURE, e.toString());
    }
    return listed;
  }

  private static FileStatus[] pruneOrSayWhy(JobConf job, FileStatus[] listed) throws Exception {
    Settings settings = new Settings(job);
    if (!settings.enabled) {
      throw new KeepAll(KeepAll.Reason.DISABLED, "sargo.enabled is false");
    }
    String filter = Ownership.filterOf(job);
    if (settings.address.isEmpty()) {
      throw new KeepAll(KeepAll.Reason.NO_ADDRESS, "sargo.sidecar.address is not set");
    }
    Listing listing = new Listing(job, listed);
    Request request = request(job, listing, filter, settings.secret());
    Reply reply = Sidecar.at(settings).ask(request, listing.instant, settings);
    if (reply.skip.length == 0) {
      report(job, listing, listed.length, reply);
      return listed;
    }
    if (listing.instant != null && !listing.instant.equals(reply.instant)) {
      throw new KeepAll(KeepAll.Reason.WRONG_ANSWER, "listed at " + listing.instant + ", answered for " + reply.instant);
    }
    FileStatus[] kept = listing.without(reply.skip);
    report(job, listing, kept.length, reply);
    return kept;
  }

  private static Request request(JobConf job, Listing listing, String filter, String secret) throws IOException {
    Request request = new Request();
    request.table = listing.base.toUri().toString();
    request.filter = filter;
    request.filterText = job.get(TableScanDesc.FILTER_TEXT_CONF_STR);
    request.engineVersion = HiveVersionInfo.getShortVersion();
    request.engine = request.engineVersion.startsWith("3") ? "hive3" : "hive4";
    request.timeZone = zone(job.getTrimmed("hive.local.time.zone", "LOCAL"));
    String asOf = Listing.consume(job, listing.table, "commit");
    if (listing.incremental || Listing.isIncremental(job, listing.table)) {
      request.queryType = "incremental";
      request.instant = Listing.consume(job, listing.table, "start.timestamp");
    } else if (asOf != null) {
      request.queryType = "as_of";
      request.instant = asOf;
    } else {
      request.queryType = listing.instant == null && Listing.isMergeOnRead(listing.table) ? "read_optimized" : "snapshot";
    }
    request.compressed = listing.names.length > COMPRESS_FROM;
    request.names = request.compressed ? deflated(listing.names) : listing.names;
    request.nameCount = listing.nameCount;
    request.queryId = job.get("hive.query.id");
    request.user = UserGroupInformation.getCurrentUser().getShortUserName();
    request.secret = secret;
    return request;
  }

  /** The session's zone as an IANA name; null when it has none. */
  private static String zone(String setting) {
    ZoneId zone = "LOCAL".equalsIgnoreCase(setting) ? ZoneId.systemDefault() : ZoneId.of(setting);
    return ZoneId.getAvailableZoneIds().contains(zone.getId()) ? zone.getId() : null;
  }

  private static byte[] deflated(byte[] bytes) {
    Deflater deflater = new Deflater(Deflater.BEST_SPEED);
    deflater.setInput(bytes);
    deflater.finish();
    byte[] out = new byte[bytes.length + bytes.length / 1000 + 64];
    int n = deflater.deflate(out);
    deflater.end();
    return java.util.Arrays.copyOf(out, n);
  }

  private static void report(JobConf job, Listing listing, int kept, Reply reply) {
    int n = listing.files.length;
    Counters.INSTANCE.pruned(n, n - kept);
    LOG.info("sargo: asked, listed={} skipped={} table={} report={} query={} notes={}", n, n - kept, listing.base, reply.reportId,
        job.get("hive.query.id"), reply.reasons);
  }

  private static void keptAll(JobConf job, FileStatus[] listed, KeepAll.Reason reason, String why) {
    long times = Counters.INSTANCE.keptAll(reason, listed.length);
    Object where = listed.length == 0 ? null : listed[0].getPath().getParent();
    LOG.info("sargo: kept all, listed={} reason={} times={} where={} query={} why={}", listed.length, reason, times, where,
        job.get("hive.query.id"), why);
  }
}
