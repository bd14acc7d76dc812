package io.sargo.client;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TBinaryProtocol;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TList;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TProtocolException;
import org.apache.thrift.protocol.TProtocolUtil;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.transport.TTransport;
import org.apache.thrift.transport.layered.TFramedTransport;

/**
 * The messages of {@code prune}, and of {@code version} to show the secret, in {@code
 * handler/sargo.thrift}, in Thrift's binary protocol. Those of {@code plan} are in Hive's jar,
 * those of {@code layout} and {@code aggregate} in Spark's.
 *
 * <p>They are written by hand, because a build would otherwise need the Thrift compiler, which
 * Maven Central does not have. Field numbers are those of the IDL. {@code
 * src/test/resources/io/sargo/client/messages.properties} holds the same messages as an independent
 * implementation writes them.
 */
public final class Wire {
  public static final int PROTOCOL_VERSION = 1;
  private static final int MAX_LIST_LENGTH = 10_000;

  /** Codes of refusals that are about the sidecar. The others are about the request. */
  private static final Set<String> REFUSED_BY_ONE =
      new HashSet<>(Arrays.asList("busy", "stopping", "secret"));

  private Wire() {}

  /** Messages on a byte stream, each in a frame of at most {@link Settings#MAX_FRAME_BYTES}. */
  public static TTransport framed(TTransport stream) throws TException {
    return new TFramedTransport(stream, Settings.MAX_FRAME_BYTES);
  }

  /**
   * The binary protocol on framed messages. It rejects longer strings and lists than a reply has.
   */
  public static TProtocol protocol(TTransport framed) {
    return new TBinaryProtocol(framed, Settings.MAX_FRAME_BYTES, MAX_LIST_LENGTH, true, true);
  }

  /**
   * Shows the secret on a new connection. Without it the sidecar reads short requests only. An
   * older sidecar ignores the secret and answers.
   *
   * <p>Throws KeepAll if the sidecar refused, and TException if the answer is no reply.
   */
  static void showSecret(TProtocol protocol, String secret) throws TException, KeepAll {
    protocol.writeMessageBegin(new TMessage("version", TMessageType.CALL, 0));
    writeBytes(protocol, 1, secret.getBytes(StandardCharsets.UTF_8));
    protocol.writeFieldStop();
    protocol.writeMessageEnd();
    protocol.getTransport().flush();
    readResult(protocol, "version", 0);
  }

  private static void writeBytes(TProtocol out, int id, byte[] bytes) throws TException {
    out.writeFieldBegin(new TField("", TType.STRING, (short) id));
    out.writeBinary(ByteBuffer.wrap(bytes));
  }

  /**
   * The fields of the struct that a call returns. Throws KeepAll if the sidecar refused, and
   * TException if the message is no reply to this call.
   */
  public static Map<?, ?> readReply(TProtocol in, String method, int sequence)
      throws TException, KeepAll {
    Map<Integer, Object> result = readResult(in, method, sequence);
    if (!(result.get(0) instanceof Map)) {
      throw new TProtocolException("the reply has no answer");
    }
    return (Map<?, ?>) result.get(0);
  }

  /** The result of a call. Throws KeepAll if the sidecar refused. */
  private static Map<Integer, Object> readResult(TProtocol in, String method, int sequence)
      throws TException, KeepAll {
    TMessage message = in.readMessageBegin();
    if (message.type == TMessageType.EXCEPTION) {
      throw TApplicationException.readFrom(in);
    }
    if (message.type != TMessageType.REPLY
        || message.seqid != sequence
        || !method.equals(message.name)) {
      throw new TProtocolException("no reply to this call");
    }
    Map<Integer, Object> result = readStruct(in);
    if (result.get(1) instanceof Map) {
      Map<?, ?> refused = (Map<?, ?>) result.get(1);
      String code = text(refused.get(2));
      throw new KeepAll(
          "version".equals(code) ? KeepAll.Reason.WRONG_VERSION : KeepAll.Reason.REFUSED,
          code + ": " + text(refused.get(1)),
          REFUSED_BY_ONE.contains(code));
    }
    return result;
  }

  /**
   * Writes a call whose one argument is a struct: field i is fields[i], and is left out if null.
   */
  public static void writeCall(TProtocol out, String method, int sequence, Object[] fields)
      throws TException {
    out.writeMessageBegin(new TMessage(method, TMessageType.CALL, sequence));
    out.writeFieldBegin(new TField("", TType.STRUCT, (short) 1));
    for (short id = 1; id < fields.length; id++) {
      if (fields[id] instanceof Integer) {
        out.writeFieldBegin(new TField("", TType.I32, id));
        out.writeI32((Integer) fields[id]);
      } else if (fields[id] instanceof Boolean) {
        out.writeFieldBegin(new TField("", TType.BOOL, id));
        out.writeBool((Boolean) fields[id]);
      } else if (fields[id] != null) {
        byte[] bytes =
            fields[id] instanceof byte[]
                ? (byte[]) fields[id]
                : ((String) fields[id]).getBytes(StandardCharsets.UTF_8);
        writeBytes(out, id, bytes);
      }
    }
    out.writeFieldStop(); // of the request
    out.writeFieldStop(); // of the arguments
    out.writeMessageEnd();
    out.getTransport().flush();
  }

  /** A PruneRequest. A field that is null is not sent. */
  public static final class Request implements Question<Reply> {
    public String table;
    public String filter;
    public String filterText;
    public String engine;
    public String engineVersion;
    public String timeZone;
    public String queryType;
    public String instant;
    public String queryId;
    public String user;
    public byte[] names;
    public boolean compressed;
    public int nameCount;

    /** Whether merged rows alone are shown of slices with log files. */
    public boolean mergesRows;

    @Override
    public String table() {
      return table;
    }

    @Override
    public Reply read(TProtocol in, int sequence) throws TException, KeepAll {
      return Reply.read(in, sequence);
    }

    @Override
    public void check(Reply reply) throws KeepAll {
      reply.check(this);
    }

    @Override
    public void write(TProtocol out, int sequence, String secret) throws TException {
      writeCall(out, "prune", sequence, fields(secret));
    }

    /** The fields by their numbers, as {@link #writeCall} takes them. */
    public Object[] fields(String secret) {
      return new Object[] {
        null,
        PROTOCOL_VERSION,
        table,
        filter,
        filterText,
        engine,
        engineVersion,
        timeZone,
        queryType,
        instant,
        names,
        compressed,
        nameCount,
        queryId,
        secret,
        user,
        mergesRows ? (Object) true : null
      };
    }

    /** What {@code names} has as its CRC32. */
    public long digest() {
      CRC32 crc = new CRC32();
      crc.update(names, 0, names.length);
      return crc.getValue();
    }
  }

  /** A PruneReply. A reply without its required fields is rejected. */
  public static final class Reply {
    /** Bit i is set if name i of the request may be skipped. */
    public final BitSet skip;

    public final String instant, reportId;
    public final Object reasons;
    private final Map<?, ?> fields;
    private final int skipBytes;

    private Reply(Map<?, ?> fields) throws TException {
      this.fields = fields;
      if (!(fields.get(2) instanceof byte[])) {
        throw new TProtocolException("the reply has no answer");
      }
      skipBytes = ((byte[]) fields.get(2)).length;
      skip = BitSet.valueOf((byte[]) fields.get(2));
      instant = text(fields.get(4));
      reportId = text(fields.get(8));
      reasons = fields.get(9);
    }

    /**
     * Throws KeepAll if the sidecar refused, and TException if the message is no reply to this
     * call.
     */
    static Reply read(TProtocol in, int sequence) throws TException, KeepAll {
      return new Reply(readReply(in, "prune", sequence));
    }

    /**
     * Throws KeepAll unless the reply answers this request: same version, same names, consistent
     * bits.
     */
    void check(Request request) throws KeepAll {
      if (!Integer.valueOf(PROTOCOL_VERSION).equals(fields.get(1))) {
        throw new KeepAll(
            KeepAll.Reason.WRONG_VERSION, "the sidecar speaks protocol " + fields.get(1));
      }
      String mismatch = mismatch(request);
      if (mismatch != null) {
        throw new KeepAll(
            KeepAll.Reason.WRONG_ANSWER, mismatch + ", asked about " + request.nameCount, true);
      }
    }

    /** The first difference between the request and what the reply repeats of it, or null. */
    private String mismatch(Request request) {
      if (!Integer.valueOf(request.nameCount).equals(fields.get(3))) {
        return "it counts " + fields.get(3) + " names";
      }
      if (!Long.valueOf(request.digest()).equals(fields.get(10))) {
        return "it is for another list of names";
      }
      if (skipBytes != 0 && skipBytes != (request.nameCount + 7) / 8) {
        return "it has " + skipBytes + " bytes of bits";
      }
      if (skip.length() > request.nameCount) {
        return "it has bits beyond the last name";
      }
      if (!Integer.valueOf(skip.cardinality()).equals(fields.get(6))) {
        return "it counts " + fields.get(6) + " bits of " + skip.cardinality();
      }
      return null;
    }
  }

  /** The fields of a struct by number. */
  private static Map<Integer, Object> readStruct(TProtocol in) throws TException {
    Map<Integer, Object> fields = new HashMap<>();
    for (TField field = in.readFieldBegin();
        field.type != TType.STOP;
        field = in.readFieldBegin()) {
      fields.put((int) field.id, readValue(in, field.type));
    }
    return fields;
  }

  /**
   * An Integer, Long, byte[] (text or bytes), List of text, Map (struct), or null for other types.
   */
  private static Object readValue(TProtocol in, byte type) throws TException {
    switch (type) {
      case TType.I32:
        return in.readI32();
      case TType.I64:
        return in.readI64();
      case TType.STRING:
        ByteBuffer buffer = in.readBinary();
        byte[] bytes = new byte[buffer.remaining()];
        buffer.get(bytes);
        return bytes;
      case TType.LIST:
        TList list = in.readListBegin();
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < list.size; i++) {
          texts.add(text(readValue(in, list.elemType)));
        }
        return texts;
      case TType.STRUCT:
        return readStruct(in);
      default:
        TProtocolUtil.skip(in, type);
        return null;
    }
  }

  /** A field's bytes as text, or null if it has none. */
  public static String text(Object bytes) {
    return bytes instanceof byte[] ? new String((byte[]) bytes, StandardCharsets.UTF_8) : null;
  }
}
