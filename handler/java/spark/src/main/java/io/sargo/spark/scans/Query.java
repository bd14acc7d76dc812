package io.sargo.spark.scans;

import io.sargo.client.Deflated;
import io.sargo.client.KeepAll;
import io.sargo.client.Sidecars;
import io.sargo.client.Wire.Reply;
import io.sargo.client.Wire.Request;
import io.sargo.spark.question.FilterDocument;
import io.sargo.spark.question.SessionSettings;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;

/** What all scans of one plan have in common: who asks, and the answers so far. */
final class Query {
  private final SessionSettings settings;
  private final String engineVersion;
  private final String user;
  private final Supplier<String> id;

  /** The answers by what was asked, so that two equal scans of a plan ask once. */
  private final Map<List<Object>, Reply> replies = new ConcurrentHashMap<>();

  Query(SessionSettings settings, String engineVersion, String user, Supplier<String> id) {
    this.settings = settings;
    this.engineVersion = engineVersion;
    this.user = user;
    this.id = id;
  }

  static Query of(SessionSettings settings, SparkContext context) {
    return new Query(settings, context.version(), context.sparkUser(), () -> idOf(context));
  }

  /** A request with this filter and these names, for a table that is still to be set. */
  Request request(FilterDocument filter, byte[] names, int nameCount) throws IOException {
    Request request = new Request();
    request.filter = filter.json();
    request.filterText = filter.text();
    request.engine = settings.engine;
    request.engineVersion = engineVersion;
    request.timeZone = settings.timeZone;
    request.queryId = id();
    request.user = user;
    request.compressed = names.length >= settings.compressFrom;
    request.names = request.compressed ? Deflated.stream(names) : names;
    request.nameCount = nameCount;
    return request;
  }

  /** The sidecar's answer. Throws KeepAll if there is none that can be used. */
  Reply ask(Request request) throws KeepAll {
    List<Object> key = keyOf(request);
    Reply reply = replies.get(key);
    if (reply == null) {
      reply = Sidecars.ask(request, settings);
      replies.put(key, reply);
    }
    return reply;
  }

  AggregateQuestion.Answer ask(AggregateQuestion question) throws KeepAll {
    return Sidecars.ask(question, settings);
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

  /** The application, and the number of the query as Spark's pages show it, where there is one. */
  String id() {
    return id.get();
  }

  private static String idOf(SparkContext context) {
    String execution = context.getLocalProperty("spark.sql.execution.id");
    return "spark-" + context.applicationId() + (execution == null ? "" : "-" + execution);
  }
}
