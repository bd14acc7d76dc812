package io.sargo.client;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.Properties;

/** The frames of {@code messages.properties}, which the Python side writes from the Thrift IDL. */
public final class Messages {
  private static final Properties FRAMES = new Properties();

  static {
    try (InputStream in = Messages.class.getResourceAsStream("messages.properties")) {
      FRAMES.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private Messages() {}

  public static byte[] frame(String name) {
    String hex = FRAMES.getProperty(name);
    if (hex == null) {
      throw new IllegalArgumentException("messages.properties has no " + name);
    }
    return HexFormat.of().parseHex(hex);
  }
}
