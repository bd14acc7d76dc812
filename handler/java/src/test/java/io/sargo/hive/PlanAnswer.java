package io.sargo.hive;

import io.sargo.client.ReplyBytes;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.CRC32;
import java.util.zip.DeflaterOutputStream;

/** An answer to {@code plan}, each part of which may be wrong. What is null is derived. */
final class PlanAnswer {
  static final String INSTANT = "20250102000000000";

  final List<String> names = new ArrayList<>();
  final List<Long> lengths = new ArrayList<>();
  final List<Integer> slices = new ArrayList<>();
  final List<String> unknown = new ArrayList<>();

  int version = 1;
  String instant = INSTANT;
  byte[] partitions = {};
  int skipped;
  Integer fileCount, sliceCount;
  byte[] nameStream, lengthStream, sliceStream;
  Long digest, checksum;
  int without;

  /** Adds a file to slice {@code slice}. */
  PlanAnswer file(int slice, long length, String name) {
    names.add(name);
    lengths.add(length);
    slices.add(slice);
    return this;
  }

  static byte[] zlib(byte[] bytes) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (DeflaterOutputStream stream = new DeflaterOutputStream(out)) {
      stream.write(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return out.toByteArray();
  }

  byte[] names() {
    return nameStream != null
        ? nameStream
        : zlib(String.join("\n", names).getBytes(StandardCharsets.UTF_8));
  }

  byte[] lengths() {
    ByteBuffer plain = ByteBuffer.allocate(8 * lengths.size()).order(ByteOrder.LITTLE_ENDIAN);
    lengths.forEach(plain::putLong);
    return lengthStream != null ? lengthStream : zlib(plain.array());
  }

  byte[] slices() {
    ByteBuffer plain = ByteBuffer.allocate(4 * slices.size()).order(ByteOrder.LITTLE_ENDIAN);
    slices.forEach(plain::putInt);
    return sliceStream != null ? sliceStream : zlib(plain.array());
  }

  private static long crc(byte[]... parts) {
    CRC32 crc = new CRC32();
    for (byte[] part : parts) {
      crc.update(part);
    }
    return crc.getValue();
  }

  /** The whole message in its frame. */
  byte[] frame() {
    int last = slices.isEmpty() ? -1 : slices.get(slices.size() - 1);
    ReplyBytes reply = ReplyBytes.message(ReplyBytes.REPLY, "plan", 1).field(ReplyBytes.STRUCT, 0);
    for (int id = 1; id <= 14; id++) {
      if (id != without) {
        switch (id) {
          case 1 -> reply.i32(1, version);
          case 2 -> reply.field(ReplyBytes.STRING, 2).text(instant);
          case 3 -> reply.i32(3, fileCount == null ? names.size() : fileCount);
          case 4 -> reply.bytes(4, names());
          case 5 -> reply.bytes(5, lengths());
          case 6 -> reply.bytes(6, slices());
          case 7 -> reply.i32(7, sliceCount == null ? last + 1 : sliceCount);
          case 8 -> reply.i32(8, skipped);
          case 9 -> reply.i32(9, 0);
          case 10 -> reply.field(ReplyBytes.STRING, 10).text("r-1");
          case 12 -> reply.i64(12, digest == null ? crc(partitions) : digest);
          case 13 -> reply.i64(13, checksum == null ? crc(names(), lengths(), slices()) : checksum);
          case 14 -> {
            if (!unknown.isEmpty()) {
              reply.field(ReplyBytes.LIST, 14).raw(out -> out.writeByte(ReplyBytes.STRING));
              reply.raw(out -> out.writeInt(unknown.size()));
              unknown.forEach(reply::text);
            }
          }
          default -> {}
        }
      }
    }
    return reply.stop().stop().frame();
  }
}
