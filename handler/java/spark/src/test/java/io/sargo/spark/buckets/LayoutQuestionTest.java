package io.sargo.spark.buckets;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.sargo.client.KeepAll;
import io.sargo.spark.Frames;
import io.sargo.spark.buckets.LayoutQuestion.Layout;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.TreeMap;
import org.apache.thrift.TException;
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

  private static final Frames FRAMES =
      new Frames(LayoutQuestionTest.class, "layout_messages.properties");

  private static Layout read(String name) throws TException, KeepAll {
    return FRAMES.read(QUESTION, name);
  }

  @Test
  void aRequestIsTheBytesThatTheIdlSays() throws TException {
    assertArrayEquals(FRAMES.frame("request"), Frames.written(QUESTION, "open sesame"));
  }

  @Test
  void aReplyHasTheBucketsAndTheColumnsInTheirOrder() throws TException, KeepAll {
    Layout layout = read("reply.buckets");
    assertEquals(8, layout.buckets);
    assertEquals(Arrays.asList("id", "größe"), layout.columns);
  }

  @Test
  void aReplyWithoutBucketsHasAReason() throws TException, KeepAll {
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
