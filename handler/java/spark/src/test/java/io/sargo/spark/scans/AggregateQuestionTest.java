package io.sargo.spark.scans;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.sargo.client.KeepAll;
import io.sargo.client.Wire.Request;
import io.sargo.spark.Frames;
import io.sargo.spark.scans.AggregateQuestion.Answer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.BitSet;
import org.apache.thrift.TException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The messages against bytes that Apache Thrift makes from the IDL. */
class AggregateQuestionTest {
  private static final AggregateQuestion QUESTION =
      new AggregateQuestion(request(), Arrays.asList("count(*)", "max(`größe`)"));
  private static final Frames FRAMES =
      new Frames(AggregateQuestionTest.class, "aggregate_messages.properties");

  private static Request request() {
    Request request = new Request();
    request.table = "file:/t";
    request.filter = "{\"version\":1,\"conditions\":[]}";
    request.filterText = "";
    request.engine = "spark-legacy";
    request.engineVersion = "3.5.5";
    request.timeZone = "UTC";
    request.queryType = "snapshot";
    request.names = "a\nb\nc".getBytes(StandardCharsets.UTF_8);
    request.nameCount = 3;
    request.queryId = "spark-app-1-7";
    request.user = "anna";
    request.mergesRows = true;
    return request;
  }

  @Test
  void aRequestIsTheBytesThatTheIdlSays() throws TException {
    assertArrayEquals(FRAMES.frame("request"), Frames.written(QUESTION, "open sesame"));
  }

  @Test
  void aReplyHasTheFilesAndTheValues() throws TException, KeepAll {
    Answer answer = FRAMES.read(QUESTION, "reply.two");
    assertEquals(BitSet.valueOf(new long[] {5}), answer.answered);
    assertEquals(Arrays.asList("=7", ""), answer.values);
    assertEquals(Arrays.asList("bigint", "decimal(10,2)"), answer.types);
  }

  @Test
  void aReplyMayAnswerNothing() throws TException, KeepAll {
    assertTrue(FRAMES.read(QUESTION, "reply.nothing").answered.isEmpty());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "another_version",
        "another_list",
        "no_digest",
        "another_count",
        "miscounted",
        "too_many_bits",
        "too_many_bytes",
        "a_value_too_few",
        "no_types",
        "values_without_files"
      })
  void aReplyThatIsNotAboutTheQuestionIsNotUsed(String name) {
    assertThrows(KeepAll.class, () -> FRAMES.read(QUESTION, "reply." + name));
  }

  @Test
  void aRefusalHasItsReason() {
    KeepAll refused = assertThrows(KeepAll.class, () -> FRAMES.read(QUESTION, "refused"));
    assertEquals("table: the table is not below the roots", refused.getMessage());
  }
}
