package io.sargo.spark;

import io.sargo.client.Deflated;
import io.sargo.client.KeepAll;
import io.sargo.client.Printable;
import io.sargo.client.Sidecars;
import io.sargo.client.Wire.Reply;
import io.sargo.client.Wire.Request;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One scan of a table: asks which of its slices may be skipped. No other class skips one.
 *
 * <p>Every failure lets Hudi list the slices by its own rules, and writes one line to the log.
 */
final class Scan {
  private static final Logger LOG = LoggerFactory.getLogger(Scan.class);

  private final Query query;
  private final HudiTable table;

  /** The instant of a time travel, or null. */
  private final String instant;

  Scan(Query query, HudiTable table, String instant) {
    this.query = query;
    this.table = table;
    this.instant = instant;
  }

  /** {@code all}: every slice. {@code byHudi}: the slices that Hudi keeps by its own rules. */
  Narrowing narrow(
      FilterDocument filter,
      Supplier<List<PartitionDirectory>> all,
      Supplier<List<PartitionDirectory>> byHudi) {
    String reason;
    try {
      return narrowOrThrow(filter, all.get());
    } catch (KeepAll e) {
      reason = record(e.reason, e.getMessage());
    } catch (Exception | LinkageError | StackOverflowError e) {
      reason = record(KeepAll.Reason.FAILURE, e.toString());
    }
    return Narrowing.byHudi(byHudi.get(), reason);
  }

  private Narrowing narrowOrThrow(FilterDocument filter, List<PartitionDirectory> listed)
      throws KeepAll, IOException, ReflectiveOperationException {
    long start = System.nanoTime();
    ListedSlices slices = new ListedSlices(table, listed);
    Request request = request(filter, slices);
    List<Object> key = keyOf(request);
    Reply reply = query.replies.get(key);
    if (reply == null) {
      reply = Sidecars.ask(request, query.settings);
      query.replies.put(key, reply);
    }
    Narrowing narrowing = slices.without(reply.skip);
    LOG.info(
        "sargo: asked, listed={} skipped={} ms={} table={} report={} query={} notes={}",
        narrowing.listed,
        narrowing.listed - narrowing.kept,
        TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start),
        Printable.text(request.table),
        Printable.text(reply.reportId),
        Printable.text(request.queryId),
        Printable.text(reply.reasons));
    return narrowing;
  }

  private Request request(FilterDocument filter, ListedSlices slices) throws IOException {
    Request request = new Request();
    request.table = table.base.toUri().toString();
    request.filter = filter.json();
    request.filterText = filter.text();
    request.engine = query.settings.engine;
    request.engineVersion = query.engineVersion;
    request.timeZone = query.settings.timeZone;
    request.queryType = table.queryType(instant);
    request.instant = instant;
    request.mergesRows = !"read_optimized".equals(request.queryType); // by ReadOptions
    request.queryId = query.id();
    request.user = query.user;
    request.compressed = slices.names.length >= query.settings.compressFrom;
    request.names = request.compressed ? Deflated.stream(slices.names) : slices.names;
    request.nameCount = slices.nameCount;
    return request;
  }

  /** What two questions of a plan must have in common to have the same answer. */
  private static List<Object> keyOf(Request request) {
    return Arrays.asList(
        request.table,
        request.queryType,
        request.instant,
        request.filter,
        ByteBuffer.wrap(request.names));
  }

  private String record(KeepAll.Reason reason, String why) {
    LOG.info(
        "sargo: kept all, reason={} table={} query={} why={}",
        reason,
        Printable.text(table.base),
        Printable.text(query.id()),
        Printable.text(why));
    return reason.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
