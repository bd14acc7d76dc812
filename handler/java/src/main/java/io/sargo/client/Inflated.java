package io.sargo.client;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/** Whole zlib streams of a bounded length, as little-endian buffers. */
public final class Inflated {
  private static final int FIRST_BYTES = 1 << 16;

  private Inflated() {}

  /** A stream of exactly {@code length} bytes. */
  public static ByteBuffer exactly(byte[] stream, int length, String what)
      throws DataFormatException {
    ByteBuffer bytes = upTo(stream, length, what);
    if (bytes.remaining() != length) {
      throw new DataFormatException(
          "its " + what + " have " + bytes.remaining() + " bytes, not " + length);
    }
    return bytes;
  }

  /**
   * A stream of at most {@code limit} bytes. Memory grows with what is unpacked, not with the
   * limit. A stream that is longer, or cut off, or followed by something, is refused.
   */
  public static ByteBuffer upTo(byte[] stream, int limit, String what) throws DataFormatException {
    Inflater inflater = new Inflater();
    try {
      inflater.setInput(stream);
      byte[] out = new byte[Math.min(limit, FIRST_BYTES)];
      int length = 0;
      while (!inflater.finished()) {
        if (length == out.length && length < limit) {
          out = Arrays.copyOf(out, (int) Math.min(limit, 2L * length));
        }
        // One byte more than the limit tells the end of the stream from a longer stream.
        byte[] into = length < limit ? out : new byte[1];
        int from = length < limit ? length : 0;
        int n = inflater.inflate(into, from, into.length - from);
        if (into != out && n > 0) {
          throw new DataFormatException("its " + what + " have more than " + limit + " bytes");
        }
        if (n == 0 && !inflater.finished()) {
          throw new DataFormatException("its " + what + " are cut off");
        }
        length += n;
      }
      if (inflater.getRemaining() > 0) {
        throw new DataFormatException("something follows its " + what);
      }
      return ByteBuffer.wrap(out, 0, length).slice().order(ByteOrder.LITTLE_ENDIAN);
    } finally {
      inflater.end();
    }
  }
}
