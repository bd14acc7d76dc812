package io.sargo.client;

import io.sargo.client.Wire.Reply;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HexFormat;
import java.util.Properties;
import org.apache.thrift.TException;
import org.apache.thrift.transport.TIOStreamTransport;

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

  /** A reply to the first call of a connection, as the client reads it. */
  static Reply read(byte[] frame) throws TException, KeepAll {
    return Reply.read(
        Wire.protocol(Wire.framed(new TIOStreamTransport(new ByteArrayInputStream(frame)))), 1);
  }
}
