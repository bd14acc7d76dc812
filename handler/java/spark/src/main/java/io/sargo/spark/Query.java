package io.sargo.spark;

import io.sargo.client.Wire.Reply;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.spark.SparkContext;

/** What all scans of one plan have in common: who asks, and the answers so far. */
final class Query {
  final SessionSettings settings;
  final String engineVersion;
  final String user;

  /** The answers by what was asked, so that two equal scans of a plan ask once. */
  final Map<List<Object>, Reply> replies = new ConcurrentHashMap<>();

  private final Supplier<String> id;

  Query(SessionSettings settings, String engineVersion, String user, Supplier<String> id) {
    this.settings = settings;
    this.engineVersion = engineVersion;
    this.user = user;
    this.id = id;
  }

  static Query of(SessionSettings settings, SparkContext context) {
    return new Query(settings, context.version(), context.sparkUser(), () -> idOf(context));
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
