package io.sargo.client;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

/** Bytes as a zlib stream, as a request carries long lists of names. */
public final class Deflated {
  private Deflated() {}

  public static byte[] stream(byte[] bytes) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    Deflater deflater = new Deflater(Deflater.BEST_SPEED);
    try (DeflaterOutputStream stream = new DeflaterOutputStream(out, deflater)) {
      stream.write(bytes);
    }
    deflater.end();
    return out.toByteArray();
  }
}
