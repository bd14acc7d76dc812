package io.sargo.spark.buckets;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.sargo.client.KeepAll;
import io.sargo.client.Wire;
import io.sargo.spark.buckets.LayoutQuestion.Layout;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.thrift.TException;
import org.apache.thrift.transport.TIOStreamTransport;
import org.apache.thrift.transport.TMemoryBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The messages against bytes that Apache Thrift makes from the IDL. */
class LayoutQuestionTest {
  private static final LayoutQuestion QUESTION =
      new LayoutQuestion(
          "file:/t",
          new TreeMap<>(
              Map.of("hoodie.index.type", "BUCKET", "hoodie.bucket.index.hash.field", "größe")));

  private static byte[] frame(String name) throws IOException {
    Properties frames = new Properties();
    try (InputStream in =
        LayoutQuestionTest.class.getResourceAsStream("layout_messages.properties")) {
      frames.load(in);
    }
    return HexFormat.of().parseHex(frames.getProperty(name));
  }

  private static Layout read(String name) throws IOException, TException, KeepAll {
    InputStream in = new ByteArrayInputStream(frame(name));
    Layout layout = QUESTION.read(Wire.protocol(Wire.framed(new TIOStreamTransport(in))), 1);
    QUESTION.check(layout);
    return layout;
  }

  @Test
  void aRequestIsTheBytesThatTheIdlSays() throws IOException, TException {
    TMemoryBuffer written = new TMemoryBuffer(1024);
    QUESTION.write(Wire.protocol(Wire.framed(written)), 1, "open sesame");
    assertArrayEquals(frame("request"), Arrays.copyOf(written.getArray(), written.length()));
  }

  @Test
  void aReplyHasTheBucketsAndTheColumnsInTheirOrder() throws IOException, TException, KeepAll {
    Layout layout = read("reply.buckets");
    assertEquals(8, layout.buckets);
    assertEquals(Arrays.asList("id", "größe"), layout.columns);
  }

  @Test
  void aReplyWithoutBucketsHasAReason() throws IOException, TException, KeepAll {
    Layout layout = read("reply.why");
    assertEquals(0, layout.buckets);
    assertEquals(Collections.emptyList(), layout.columns);
    assertEquals("consistent hashing", layout.why);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"another_version", "no_version", "no_columns", "negative", "too_many", "nothing"})
  void aReplyThatIsNoneIsNotUsed(String name) {
    assertThrows(KeepAll.class, () -> read("reply." + name));
  }

  @Test
  void aRefusalHasItsReason() {
    KeepAll refused = assertThrows(KeepAll.class, () -> read("refused"));
    assertEquals("table: the table is not below the roots", refused.getMessage());
  }
}
