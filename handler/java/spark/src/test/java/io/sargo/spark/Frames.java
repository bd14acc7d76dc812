package io.sargo.spark;

import io.sargo.client.KeepAll;
import io.sargo.client.Question;
import io.sargo.client.Wire;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Properties;
import org.apache.thrift.TException;
import org.apache.thrift.transport.TIOStreamTransport;
import org.apache.thrift.transport.TMemoryBuffer;

/** Messages as Apache Thrift writes them from the IDL, beside the class of a test. */
public final class Frames {
  private final Properties frames = new Properties();

  public Frames(Class<?> test, String file) {
    try (InputStream in = test.getResourceAsStream(file)) {
      frames.load(in);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  public byte[] frame(String name) {
    return HexFormat.of().parseHex(frames.getProperty(name));
  }

  /** What a question reads of a message, after its checks. */
  public <R> R read(Question<R> question, String name) throws TException, KeepAll {
    InputStream in = new ByteArrayInputStream(frame(name));
    R reply = question.read(Wire.protocol(Wire.framed(new TIOStreamTransport(in))), 1);
    question.check(reply);
    return reply;
  }

  /** What a question writes. */
  public static byte[] written(Question<?> question, String secret) throws TException {
    TMemoryBuffer written = new TMemoryBuffer(1024);
    question.write(Wire.protocol(Wire.framed(written)), 1, secret);
    return Arrays.copyOf(written.getArray(), written.length());
  }
}
