package io.sargo.spark;

import io.sargo.client.Deflated;
import io.sargo.client.KeepAll;
import io.sargo.client.Printable;
import io.sargo.client.Sidecars;
import io.sargo.client.Wire.Reply;
import io.sargo.client.Wire.Request;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
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

  private final SparkSession session;
  private final SessionSettings settings;
  private final HudiTable table;

  /** The instant of a time travel, or null. */
  private final String instant;

  Scan(SparkSession session, SessionSettings settings, HudiTable table, String instant) {
    this.session = session;
    this.settings = settings;
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
    Reply reply = Sidecars.ask(request, settings);
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
    request.engine = settings.engine;
    request.engineVersion = session.sparkContext().version();
    request.timeZone = settings.timeZone;
    request.queryType = table.queryType(instant);
    request.instant = instant;
    request.queryId = queryId();
    request.user = session.sparkContext().sparkUser();
    request.compressed = slices.names.length >= settings.compressFrom;
    request.names = request.compressed ? Deflated.stream(slices.names) : slices.names;
    request.nameCount = slices.nameCount;
    return request;
  }

  /** The application, and the number of the query as Spark's pages show it, where there is one. */
  private String queryId() {
    SparkContext context = session.sparkContext();
    String execution = context.getLocalProperty("spark.sql.execution.id");
    return "spark-" + context.applicationId() + (execution == null ? "" : "-" + execution);
  }

  private String record(KeepAll.Reason reason, String why) {
    LOG.info(
        "sargo: kept all, reason={} table={} query={} why={}",
        reason,
        Printable.text(table.base),
        Printable.text(queryId()),
        Printable.text(why));
    return reason.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
