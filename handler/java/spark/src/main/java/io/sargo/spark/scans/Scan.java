package io.sargo.spark.scans;

import io.sargo.client.KeepAll;
import io.sargo.client.Printable;
import io.sargo.client.Wire.Reply;
import io.sargo.client.Wire.Request;
import io.sargo.spark.hudi.HudiTable;
import io.sargo.spark.question.FilterDocument;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.spark.sql.execution.datasources.FileIndex;
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
    Reply reply = query.ask(request);
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

  private Request request(FilterDocument filter, ListedSlices slices)
      throws IOException, ReflectiveOperationException {
    Request request = query.request(filter, slices.names, slices.nameCount);
    request.table = table.location();
    request.queryType = table.queryType(instant);
    request.instant = instant;
    request.mergesRows = !"read_optimized".equals(request.queryType); // by ReadOptions
    return request;
  }

  /**
   * What footers answer of listed slices on whose rows all conditions of the filter hold; null if
   * they answer none.
   */
  FooterAnswer byFooters(
      FilterDocument filter,
      List<PartitionDirectory> listed,
      FileIndex hudi,
      List<String> aggregates) {
    try {
      long start = System.nanoTime();
      ListedSlices slices = new ListedSlices(table, listed);
      Request request = request(filter, slices);
      AggregateQuestion.Answer answer = query.ask(new AggregateQuestion(request, aggregates));
      Narrowing rest = slices.without(answer.answered);
      LOG.info(
          "sargo: aggregates, listed={} answered={} ms={} table={} query={} notes={}",
          rest.listed,
          rest.listed - rest.kept,
          TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start),
          Printable.text(request.table),
          Printable.text(request.queryId),
          Printable.text(answer.reasons));
      return answer.answered.isEmpty()
          ? null
          : new FooterAnswer(answer.values, answer.types, hudi, rest);
    } catch (KeepAll e) {
      record(e.reason, e.getMessage());
    } catch (Exception | LinkageError | StackOverflowError e) {
      record(KeepAll.Reason.FAILURE, e.toString());
    }
    return null;
  }

  private String record(KeepAll.Reason reason, String why) {
    LOG.info(
        "sargo: kept all, reason={} table={} query={} why={}",
        reason,
        Printable.text(table.location()),
        Printable.text(query.id()),
        Printable.text(why));
    return reason.name().toLowerCase(Locale.ROOT).replace('_', ' ');
  }
}
