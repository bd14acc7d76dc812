package io.sargo.client;

import static io.sargo.client.Calls.LONG_PAUSE;
import static io.sargo.client.Calls.NO_PAUSE;
import static io.sargo.client.Calls.OTHER_LIST;
import static io.sargo.client.Calls.REFUSAL;
import static io.sargo.client.Calls.REQUEST;
import static io.sargo.client.Calls.RIGHT;
import static io.sargo.client.Calls.outcome;
import static io.sargo.client.Calls.unusedPort;
import static io.sargo.client.FakeSidecar.answering;
import static io.sargo.client.FakeSidecar.answeringInTurn;
import static io.sargo.client.FakeSidecar.answeringOnce;
import static io.sargo.client.FakeSidecar.closing;
import static io.sargo.client.ReplyBytes.STRUCT;
import static io.sargo.client.ReplyBytes.answer;
import static io.sargo.client.ReplyBytes.reply;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sargo.client.FakeSidecar.Behavior;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** One call to a real TCP server: the answer, and the connection that it takes. */
@Timeout(120)
class SidecarTest {
  // ---- answers

  static Stream<Arguments> answers() {
    ReplyBytes nested = reply();
    for (int depth = 0; depth < 1_000_000; depth++) {
      nested.field(STRUCT, 1);
    }
    return Stream.of(
        arguments("{0, 2}", "a right answer", answering(RIGHT)),
        arguments("{}", "nothing to skip", answering(Messages.frame("reply.nothing_skipped"))),
        arguments("WRONG_ANSWER", "an answer for another list", answering(OTHER_LIST)),
        arguments(
            "WRONG_ANSWER", "too few bits", answering(answer(1, REQUEST.names, 3, 2).frame())),
        arguments(
            "WRONG_ANSWER",
            "too many bits",
            answering(answer(1, REQUEST.names, 3, 2, 5, 0).frame())),
        arguments("WRONG_ANSWER", "another call's id", answering(Messages.frame("other.sequence"))),
        arguments("WRONG_ANSWER", "another method", answering(Messages.frame("other.method"))),
        arguments(
            "WRONG_ANSWER", "an exception", answering(Messages.frame("exception.of_the_call"))),
        arguments(
            "WRONG_ANSWER",
            "no Thrift",
            answering("HTTP/1.1 200 OK\r\n\r\n".getBytes(StandardCharsets.UTF_8))),
        arguments("WRONG_ANSWER", "an oversized frame", answering(new byte[] {4, 0, 0, 1, 0})),
        arguments("WRONG_ANSWER", "half an answer", answeringOnce(Arrays.copyOf(RIGHT, 30))),
        arguments("WRONG_ANSWER", "a million structs in each other", answering(nested.frame())),
        arguments("WRONG_ANSWER", "no answer", closing()),
        arguments(
            "WRONG_VERSION",
            "another protocol",
            answering(answer(2, REQUEST.names, 3, 2, 5).frame())),
        arguments(
            "WRONG_VERSION",
            "a refusal of the version",
            answering(Messages.frame("refused.version"))),
        arguments("REFUSED", "a refusal", answering(REFUSAL)));
  }

  @ParameterizedTest(name = "{1}: {0}")
  @MethodSource("answers")
  void onlyARightAnswerSkips(String expected, String name, Behavior behavior) throws IOException {
    try (FakeSidecar sidecar = new FakeSidecar(behavior)) {
      assertEquals(expected, outcome(sidecar.settings()));
    }
  }

  @Test
  void aSidecarThatDoesNotListenIsDown() throws IOException {
    assertEquals("SIDECAR_DOWN", outcome(FakeSidecar.settings(unusedPort())));
  }

  @Test
  void aSidecarThatStopsIsDown() throws IOException {
    try (FakeSidecar sidecar = new FakeSidecar(answering(RIGHT))) {
      assertEquals("{0, 2}", outcome(sidecar.settings()));
      sidecar.stop();
      assertEquals("SIDECAR_DOWN", outcome(sidecar.settings()));
    }
  }

  // ---- connections

  static Stream<Arguments> connections() {
    byte[] wrong = Messages.frame("other.sequence");
    return Stream.of(
        arguments("used again after an answer", 1, answering(RIGHT), "{0, 2}"),
        arguments(
            "used again after a wrong digest", 1, answeringInTurn(OTHER_LIST, RIGHT), "{0, 2}"),
        arguments(
            "not used again after bytes that are no reply",
            2,
            answeringInTurn(wrong, RIGHT),
            "{0, 2}"),
        arguments("not used again after a refusal", 2, answeringInTurn(REFUSAL, RIGHT), "{0, 2}"),
        arguments("replaced when the sidecar closed it", 2, answeringOnce(RIGHT), "{0, 2}"),
        arguments("replaced once, then the call fails", 2, closing(), "WRONG_ANSWER"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("connections")
  void aConnectionIs(String name, int connections, Behavior behavior, String second)
      throws IOException {
    try (FakeSidecar sidecar = new FakeSidecar(behavior)) {
      outcome(sidecar.settings());
      assertEquals(second, outcome(sidecar.settings()));
      assertEquals(connections, sidecar.connections.get());
    }
  }

  /** Answers {@code version} with one frame, and every other call with another. */
  private static Behavior guarded(byte[] version, byte[] prune) {
    return connection -> {
      while (true) {
        connection.readCall();
        boolean isVersion = connection.lastMethod().equals("version");
        connection.write(isVersion ? version : prune);
      }
    };
  }

  private static Settings settingsWithSecret(FakeSidecar sidecar, String pause) throws IOException {
    Path secrets = Files.createTempFile("secrets", "");
    secrets.toFile().deleteOnExit();
    Files.writeString(secrets, sidecar.address() + " open sesame\n");
    return sidecar.settings("secret.file", secrets.toString(), "sidecar.breaker.ms", pause);
  }

  @Test
  void aNewConnectionShowsTheSecretBeforeTheFirstRequestAndOnlyThen() throws IOException {
    Behavior behavior = guarded(Messages.frame("version.reply"), RIGHT);
    try (FakeSidecar sidecar = new FakeSidecar(behavior)) {
      Settings settings = settingsWithSecret(sidecar, NO_PAUSE);
      assertEquals("{0, 2}", outcome(settings));
      assertEquals(2, sidecar.requests.get());
      assertEquals("{0, 2}", outcome(settings));
      assertEquals(3, sidecar.requests.get());
      assertEquals(1, sidecar.connections.get());
    }
  }

  @Test
  void aRequestWithoutASecretShowsNone() throws IOException {
    try (FakeSidecar sidecar = new FakeSidecar(guarded(REFUSAL, RIGHT))) {
      assertEquals("{0, 2}", outcome(sidecar.settings()));
      assertEquals(1, sidecar.requests.get());
    }
  }

  @Test
  void aRefusedSecretIsARefusalAndTheRequestIsNotSent() throws IOException {
    Behavior behavior = guarded(Messages.frame("version.refused"), RIGHT);
    try (FakeSidecar sidecar = new FakeSidecar(behavior)) {
      Settings settings = settingsWithSecret(sidecar, LONG_PAUSE);
      for (int i = 1; i <= 4; i++) {
        assertEquals("REFUSED", outcome(settings));
        assertEquals(i, sidecar.requests.get());
        assertEquals(i, sidecar.connections.get());
      }
    }
  }

  @Test
  void anAnswerThatIsNoReplyToTheSecretIsAWrongAnswer() throws IOException {
    try (FakeSidecar sidecar = new FakeSidecar(guarded(RIGHT, RIGHT))) {
      assertEquals("WRONG_ANSWER", outcome(settingsWithSecret(sidecar, NO_PAUSE)));
      assertEquals(1, sidecar.requests.get());
    }
  }
}
