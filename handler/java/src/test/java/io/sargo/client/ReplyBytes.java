package io.sargo.client;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/**
 * A message in Thrift's binary protocol, byte by byte, so that it can be wrong.
 *
 * <pre>
 *   message   80 01 00 type   length name   sequence   struct
 *   struct    (type id value)* 00
 * </pre>
 */
public final class ReplyBytes {
  public static final int CALL = 1, REPLY = 2, EXCEPTION = 3;
  public static final int BOOL = 2, DOUBLE = 4, I32 = 8, I64 = 10, STRING = 11, STRUCT = 12;
  public static final int MAP = 13, LIST = 15;

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final DataOutputStream out = new DataOutputStream(bytes);

  public interface Write {
    void to(DataOutputStream out) throws IOException;
  }

  public ReplyBytes raw(Write write) {
    try {
      write.to(out);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return this;
  }

  public static ReplyBytes message(int type, String method, int sequence) {
    return new ReplyBytes()
        .raw(out -> out.writeInt(0x80010000 | type))
        .text(method)
        .raw(out -> out.writeInt(sequence));
  }

  /** A reply to {@code prune}, up to the fields of its PruneReply. */
  public static ReplyBytes reply() {
    return message(REPLY, "prune", 1).field(STRUCT, 0);
  }

  /** A whole reply to a request with these names: the bytes of bits, and how many bits are set. */
  public static ReplyBytes answer(
      int version, byte[] names, int nameCount, int skipped, int... skip) {
    CRC32 crc = new CRC32();
    crc.update(names);
    return reply()
        .i32(1, version)
        .bytes(2, skip)
        .i32(3, nameCount)
        .i32(6, skipped)
        .i64(10, crc.getValue())
        .stop()
        .stop();
  }

  public ReplyBytes field(int type, int id) {
    return raw(
        out -> {
          out.writeByte(type);
          out.writeShort(id);
        });
  }

  public ReplyBytes i32(int id, int value) {
    return field(I32, id).raw(out -> out.writeInt(value));
  }

  public ReplyBytes i64(int id, long value) {
    return field(I64, id).raw(out -> out.writeLong(value));
  }

  public ReplyBytes bytes(int id, int... values) {
    field(STRING, id).raw(out -> out.writeInt(values.length));
    for (int value : values) {
      raw(out -> out.writeByte(value));
    }
    return this;
  }

  public ReplyBytes bytes(int id, byte[] bytes) {
    return field(STRING, id)
        .raw(
            out -> {
              out.writeInt(bytes.length);
              out.write(bytes);
            });
  }

  public ReplyBytes text(String text) {
    byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
    return raw(
        out -> {
          out.writeInt(utf8.length);
          out.write(utf8);
        });
  }

  public ReplyBytes stop() {
    return raw(out -> out.writeByte(0));
  }

  public byte[] frame() {
    return frame(bytes.size());
  }

  /** The message after a length that may be wrong. */
  public byte[] frame(int length) {
    return ByteBuffer.allocate(4 + bytes.size()).putInt(length).put(bytes.toByteArray()).array();
  }
}
