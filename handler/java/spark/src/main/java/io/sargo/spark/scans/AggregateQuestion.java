package io.sargo.spark.scans;

import io.sargo.client.KeepAll;
import io.sargo.client.Question;
import io.sargo.client.Wire;
import io.sargo.client.Wire.Request;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TProtocol;

/** The question what footers answer of listed files: the IDL's call {@code aggregate}. */
final class AggregateQuestion implements Question<AggregateQuestion.Answer> {
  private static final int AGGREGATES = 17;

  private final Request request;
  private final List<String> aggregates;

  /** {@code aggregates}: such as {@code count(*)} and {@code max(`ts`)}. */
  AggregateQuestion(Request request, List<String> aggregates) {
    this.request = request;
    this.aggregates = aggregates;
  }

  /** The files that are not to be read, and the values over their rows. */
  static final class Answer {
    /** Bit i is set if name i of the request is not to be read. */
    final BitSet answered;

    /** By aggregate, as the IDL writes them. */
    final List<?> values;

    /** By aggregate, in Spark's SQL. */
    final List<?> types;

    final Object reasons;
    private final Map<?, ?> fields;
    private final int bytes;

    private Answer(Map<?, ?> fields) {
      this.fields = fields;
      byte[] bits = fields.get(2) instanceof byte[] ? (byte[]) fields.get(2) : new byte[0];
      bytes = bits.length;
      answered = BitSet.valueOf(bits);
      values = fields.get(5) instanceof List ? (List<?>) fields.get(5) : Arrays.asList();
      types = fields.get(6) instanceof List ? (List<?>) fields.get(6) : Arrays.asList();
      reasons = fields.get(7);
    }
  }

  @Override
  public String table() {
    return request.table;
  }

  @Override
  public void write(TProtocol out, int sequence, String secret) throws TException {
    Object[] fields = Arrays.copyOf(request.fields(secret), AGGREGATES + 1);
    fields[AGGREGATES] = String.join("\n", aggregates).getBytes(StandardCharsets.UTF_8);
    Wire.writeCall(out, "aggregate", sequence, fields);
  }

  @Override
  public Answer read(TProtocol in, int sequence) throws TException, KeepAll {
    return new Answer(Wire.readReply(in, "aggregate", sequence));
  }

  /** The same version, the same names, consistent bits, and a value for each aggregate. */
  @Override
  public void check(Answer answer) throws KeepAll {
    if (!Integer.valueOf(Wire.PROTOCOL_VERSION).equals(answer.fields.get(1))) {
      throw new KeepAll(
          KeepAll.Reason.WRONG_VERSION, "the sidecar speaks protocol " + answer.fields.get(1));
    }
    int count = answer.answered.cardinality();
    int values = count == 0 ? 0 : aggregates.size();
    boolean isConsistent =
        Integer.valueOf(request.nameCount).equals(answer.fields.get(3))
            && Long.valueOf(request.digest()).equals(answer.fields.get(8))
            && (answer.bytes == 0 || answer.bytes == (request.nameCount + 7) / 8)
            && answer.answered.length() <= request.nameCount
            && Integer.valueOf(count).equals(answer.fields.get(4))
            && answer.values.size() == values
            && answer.types.size() == values;
    if (!isConsistent) {
      throw new KeepAll(
          KeepAll.Reason.WRONG_ANSWER, "the answer is not about these files and aggregates", true);
    }
  }
}
