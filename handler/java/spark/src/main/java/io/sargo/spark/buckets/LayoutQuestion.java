package io.sargo.spark.buckets;

import io.sargo.client.KeepAll;
import io.sargo.client.Question;
import io.sargo.client.Wire;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TProtocol;

/** The question how a table spreads its rows over buckets: the IDL's call {@code layout}. */
final class LayoutQuestion implements Question<LayoutQuestion.Layout> {
  private static final int MAX_BUCKETS = 4_000_000;

  private final String table;
  private final Map<String, String> options;

  /** {@code options}: those of the catalog or the session about the table's index. */
  LayoutQuestion(String table, Map<String, String> options) {
    this.table = table;
    this.options = options;
  }

  /** An answer: a number of buckets and the hashed columns, or why there are none. */
  static final class Layout {
    /** Of every partition; 0 without a layout. */
    final int buckets;

    /** In the order in which they are hashed. */
    final List<String> columns;

    final String why;

    private final Object version;

    private Layout(Map<?, ?> fields) {
      version = fields.get(1);
      buckets = fields.get(2) instanceof Integer ? (Integer) fields.get(2) : 0;
      columns = new ArrayList<>();
      if (fields.get(3) instanceof List) {
        ((List<?>) fields.get(3)).forEach(name -> columns.add(String.valueOf(name)));
      }
      why = Wire.text(fields.get(4));
    }
  }

  @Override
  public String table() {
    return table;
  }

  @Override
  public void write(TProtocol out, int sequence, String secret) throws TException {
    StringBuilder lines = new StringBuilder();
    options.forEach((name, value) -> lines.append(name).append('=').append(value).append('\n'));
    Object[] fields = {
      null, Wire.PROTOCOL_VERSION, table, lines.toString().getBytes(StandardCharsets.UTF_8), secret
    };
    Wire.writeCall(out, "layout", sequence, fields);
  }

  @Override
  public Layout read(TProtocol in, int sequence) throws TException, KeepAll {
    return new Layout(Wire.readReply(in, "layout", sequence));
  }

  @Override
  public void check(Layout layout) throws KeepAll {
    if (!Integer.valueOf(Wire.PROTOCOL_VERSION).equals(layout.version)) {
      throw new KeepAll(
          KeepAll.Reason.WRONG_VERSION, "the sidecar speaks protocol " + layout.version);
    }
    boolean hasLayout = layout.buckets > 0 && !layout.columns.isEmpty();
    KeepAll.when(
        layout.buckets < 0
            || layout.buckets > MAX_BUCKETS
            || !hasLayout && (layout.buckets != 0 || layout.why == null),
        KeepAll.Reason.WRONG_ANSWER,
        "the answer is no layout");
  }
}
