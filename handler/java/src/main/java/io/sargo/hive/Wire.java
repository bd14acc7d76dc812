package io.sargo.hive;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TList;
import org.apache.thrift.protocol.TMessage;
import org.apache.thrift.protocol.TMessageType;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TProtocolException;
import org.apache.thrift.protocol.TProtocolUtil;
import org.apache.thrift.protocol.TType;

/**
 * {@code prune} of handler/sargo.thrift in Thrift's binary protocol, written by hand: it is one
 * call, and so a build needs no Thrift compiler, which no Maven repository has. Field numbers are
 * those of the IDL.
 */
final class Wire {
  static final int PROTOCOL_VERSION = 1;

  private Wire() {}

  /** PruneRequest. */
  static final class Request {
    String table,
        filter,
        filterText,
        engine,
        engineVersion,
        timeZone,
        queryType,
        instant,
        queryId,
        secret,
        user;
    byte[] names;
    boolean compressed;
    int nameCount;

    void write(TProtocol out, int sequence) throws TException {
      Object[] fields = {
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
        user
      };
      out.writeMessageBegin(new TMessage("prune", TMessageType.CALL, sequence));
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
          out.writeFieldBegin(new TField("", TType.STRING, id));
          out.writeBinary(ByteBuffer.wrap(bytes));
        }
      }
      out.writeFieldStop(); // of the request
      out.writeFieldStop(); // of the arguments
      out.writeMessageEnd();
      out.getTransport().flush();
    }
  }

  /** PruneReply. A required field that is not there makes it wrong. */
  static final class Reply {
    /** The names that may be skipped, by their place in the request. */
    final BitSet skip;

    final String instant, reportId;
    final Object reasons;
    private final Map<?, ?> fields;
    private final int bytes;

    private Reply(Map<?, ?> fields) throws TException {
      this.fields = fields;
      if (!(fields.get(2) instanceof byte[])) {
        throw new TProtocolException("the reply has no answer");
      }
      bytes = ((byte[]) fields.get(2)).length;
      skip = BitSet.valueOf((byte[]) fields.get(2));
      instant = text(fields.get(4));
      reportId = text(fields.get(8));
      reasons = fields.get(9);
    }

    /**
     * Raises KeepAll when the sidecar refused, and TException when this is no answer to that call.
     */
    static Reply read(TProtocol in, int sequence) throws TException, KeepAll {
      TMessage message = in.readMessageBegin();
      if (message.type == TMessageType.EXCEPTION) {
        throw TApplicationException.readFrom(in);
      }
      if (message.type != TMessageType.REPLY
          || message.seqid != sequence
          || !"prune".equals(message.name)) {
        throw new TProtocolException("no reply to this call");
      }
      Map<Integer, Object> result = struct(in);
      if (result.get(1) instanceof Map) {
        Map<?, ?> refused = (Map<?, ?>) result.get(1);
        String code = text(refused.get(2));
        throw new KeepAll(
            "version".equals(code) ? KeepAll.Reason.WRONG_VERSION : KeepAll.Reason.REFUSED,
            code + ": " + text(refused.get(1)));
      }
      if (!(result.get(0) instanceof Map)) {
        throw new TProtocolException("the reply has no answer");
      }
      return new Reply((Map<?, ?>) result.get(0));
    }

    /** Every sign that this answers another question. */
    void check(Request request) throws KeepAll {
      if (!Integer.valueOf(PROTOCOL_VERSION).equals(fields.get(1))) {
        throw new KeepAll(
            KeepAll.Reason.WRONG_VERSION, "the sidecar speaks protocol " + fields.get(1));
      }
      CRC32 crc = new CRC32();
      crc.update(request.names, 0, request.names.length);
      String wrong =
          !Integer.valueOf(request.nameCount).equals(fields.get(3))
              ? "it counts " + fields.get(3) + " names"
              : !Long.valueOf(crc.getValue()).equals(fields.get(10))
                  ? "it is for another list of names"
                  : bytes != 0 && bytes != (request.nameCount + 7) / 8
                      ? "it has " + bytes + " bytes of bits"
                      : skip.length() > request.nameCount
                          ? "it has bits beyond the last name"
                          : !Integer.valueOf(skip.cardinality()).equals(fields.get(6))
                              ? "it counts " + fields.get(6) + " bits of " + skip.cardinality()
                              : null;
      if (wrong != null) {
        throw new KeepAll(
            KeepAll.Reason.WRONG_ANSWER, wrong + ", asked about " + request.nameCount);
      }
    }
  }

  /** The fields of a struct by number. */
  private static Map<Integer, Object> struct(TProtocol in) throws TException {
    Map<Integer, Object> fields = new HashMap<>();
    for (TField field = in.readFieldBegin();
        field.type != TType.STOP;
        field = in.readFieldBegin()) {
      fields.put((int) field.id, value(in, field.type));
    }
    return fields;
  }

  /**
   * Integer, Long, byte[] for text and bytes, List of text, Map for a struct; null for what a reply
   * has no use for.
   */
  private static Object value(TProtocol in, byte type) throws TException {
    switch (type) {
      case TType.I32:
        return in.readI32();
      case TType.I64:
        return in.readI64();
      case TType.STRING:
        ByteBuffer read = in.readBinary();
        byte[] bytes = new byte[read.remaining()];
        read.get(bytes);
        return bytes;
      case TType.LIST:
        TList list = in.readListBegin();
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < list.size; i++) {
          texts.add(text(value(in, list.elemType)));
        }
        return texts;
      case TType.STRUCT:
        return struct(in);
      default:
        TProtocolUtil.skip(in, type);
        return null;
    }
  }

  private static String text(Object bytes) {
    return bytes instanceof byte[] ? new String((byte[]) bytes, StandardCharsets.UTF_8) : null;
  }
}
