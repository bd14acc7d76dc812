package io.sargo.spark.question;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.plans.Rewrite;
import io.sargo.spark.shims.Seqs;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Conditions that must all hold, as the sidecar reads them: Catalyst's own JSON of each, and the
 * values that this JSON leaves out.
 *
 * <pre>
 *   {"version": 1, "conditions": [{"nodes": [...], "exact": {"2": 1577836800000000}}, ...]}
 * </pre>
 *
 * <p>A condition that cannot be written exactly is left out: the others skip less than all would.
 */
public final class FilterDocument {
  private static final Logger LOG = LoggerFactory.getLogger(FilterDocument.class);

  /** The sidecar's default limit of a filter. */
  private static final int MAX_BYTES = 1 << 20;

  private static final int MAX_TEXT = 2000;

  /** Members of a list in the text for people. */
  private static final int MAX_MEMBERS = 100;

  private final List<String> conditions = new ArrayList<>();
  private final StringBuilder text = new StringBuilder();
  private int bytes = 100;

  private FilterDocument() {}

  public static FilterDocument of(List<Expression> conditions) {
    FilterDocument document = new FilterDocument();
    for (Expression condition : conditions) {
      try {
        if (Conditions.isUsable(condition)) {
          document.add(Conditions.byName(condition));
        }
      } catch (ExactValues.Inexact | RuntimeException | LinkageError | StackOverflowError e) {
        LOG.debug("sargo: a condition is not sent, because of {}", e.toString());
      }
    }
    return document;
  }

  private void add(Expression condition) throws ExactValues.Inexact {
    Map<Integer, String> exact = new TreeMap<>();
    ExactValues.collect(condition, exact);
    StringBuilder json = new StringBuilder("{\"nodes\":").append(condition.toJSON());
    json.append(",\"exact\":{");
    String comma = "";
    for (Map.Entry<Integer, String> one : exact.entrySet()) {
      json.append(comma).append('"').append(one.getKey()).append("\":").append(one.getValue());
      comma = ",";
    }
    String whole = json.append("}}").toString();
    int length = whole.getBytes(StandardCharsets.UTF_8).length + 1;
    if (bytes + length > MAX_BYTES) {
      return;
    }
    if (text.length() < MAX_TEXT) {
      text.append(text.length() == 0 ? "" : " AND ").append(textOf(condition));
    }
    bytes += length;
    conditions.add(whole);
  }

  private static String textOf(Expression condition) {
    try {
      return condition.transform(Rewrite.by(FilterDocument::shortened)).sql();
    } catch (RuntimeException | LinkageError e) {
      return condition.getClass().getSimpleName(); // it is for people
    }
  }

  /** A long list by the number of its members, which Spark would sort and write; null for else. */
  private static Expression shortened(Expression one) {
    int count = one instanceof InSet ? ((InSet) one).hset().size() : 0;
    if (count <= MAX_MEMBERS) {
      return null;
    }
    UTF8String text = UTF8String.fromString(count + " values");
    Expression values = new Literal(text, DataTypes.StringType);
    return new In(((InSet) one).child(), Seqs.of(Collections.singletonList(values)));
  }

  public boolean isEmpty() {
    return conditions.isEmpty();
  }

  /** The conditions, each as its part of the document. */
  public List<String> conditions() {
    return Collections.unmodifiableList(conditions);
  }

  public String json() {
    return "{\"version\":1,\"conditions\":[" + String.join(",", conditions) + "]}";
  }

  /** For people who read reports and logs, never for pruning. */
  public String text() {
    return text.length() <= MAX_TEXT ? text.toString() : text.substring(0, MAX_TEXT) + "...";
  }
}
