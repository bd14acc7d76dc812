package io.sargo.client;

import static io.sargo.client.FakeSidecar.answering;
import static io.sargo.client.FakeSidecar.answeringInTurn;
import static io.sargo.client.FakeSidecar.answeringOnce;
import static io.sargo.client.FakeSidecar.closing;
import static io.sargo.client.FakeSidecar.dripping;
import static io.sargo.client.FakeSidecar.hanging;
import static io.sargo.client.ReplyBytes.STRUCT;
import static io.sargo.client.ReplyBytes.answer;
import static io.sargo.client.ReplyBytes.reply;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sargo.client.FakeSidecar.Behavior;
import io.sargo.client.KeepAll.Reason;
import io.sargo.client.Wire.Request;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import javax.net.ServerSocketFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** One call to a real TCP server: the answer, the deadline, the connections and the breaker. */
@Timeout(120)
class SidecarTest {
  private static final Request REQUEST = WireTest.request(request -> {});
  private static final byte[] RIGHT = answer(1, REQUEST.names, 3, 2, 5).frame();
  private static final byte[] OTHER_LIST =
      answer(1, "another list".getBytes(StandardCharsets.UTF_8), 3, 2, 5).frame();
  private static final byte[] REFUSAL = Messages.frame("refused.secret");

  private static final String NO_PAUSE = "0", LONG_PAUSE = "600000";

  /** What became of a call: the names to skip, or why none is skipped. */
  static String outcome(Settings settings) {
    try {
      return Sidecars.ask(REQUEST, settings).skip.toString();
    } catch (KeepAll e) {
      return e.reason.name();
    }
  }

  private static List<String> outcomes(int n, Settings settings) {
    List<String> outcomes = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      outcomes.add(outcome(settings));
    }
    return outcomes;
  }

  private static int unusedPort() throws IOException {
    try (ServerSocket free = FakeSidecar.listen(ServerSocketFactory.getDefault())) {
      return free.getLocalPort();
    }
  }

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

  // ---- deadline

  static Stream<Arguments> slow() {
    return Stream.of(
        arguments("says nothing", hanging()), arguments("sends a byte at a time", dripping()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("slow")
  void aSlowSidecarIsGivenUpAtTheDeadline(String name, Behavior behavior) throws Exception {
    try (FakeSidecar sidecar = new FakeSidecar(behavior)) {
      Settings settings = sidecar.settings("sidecar.timeout.ms", "300");
      long start = System.nanoTime();
      assertEquals("SIDECAR_SLOW", outcome(settings));
      long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      assertTrue(ms >= 300 && ms < 10_000, ms + " ms");
      assertTrue(sidecar.closedByClient.await(30, TimeUnit.SECONDS), "the connection stays open");
    }
  }

  @Test
  void theDeadlineHoldsForASecondTryOnANewConnection() throws Exception {
    Behavior restarting =
        connection -> {
          if (connection.readRequest() == 1) {
            connection.write(RIGHT);
          } else {
            connection.awaitClose();
          }
        };
    try (FakeSidecar sidecar = new FakeSidecar(restarting)) {
      assertEquals("{0, 2}", outcome(sidecar.settings()));
      assertEquals("SIDECAR_SLOW", outcome(sidecar.settings("sidecar.timeout.ms", "300")));
      assertTrue(sidecar.closedByClient.await(30, TimeUnit.SECONDS), "the connection stays open");
    }
  }

  @Test
  void afterTheDeadlineNoSecondTryIsMade() throws Exception {
    Behavior hangsAfterOneAnswer =
        connection -> {
          connection.readRequest();
          connection.write(RIGHT);
          connection.readRequest();
          connection.awaitClose();
        };
    try (FakeSidecar sidecar = new FakeSidecar(hangsAfterOneAnswer)) {
      assertEquals("{0, 2}", outcome(sidecar.settings()));
      assertEquals("SIDECAR_SLOW", outcome(sidecar.settings("sidecar.timeout.ms", "300")));
      assertTrue(sidecar.closedByClient.await(30, TimeUnit.SECONDS), "the connection stays open");
      TimeUnit.MILLISECONDS.sleep(300);
      assertEquals(1, sidecar.connections.get());
    }
  }

  @Test
  void anAnswerAfterTheDeadlineIsNotReadByTheNextCall() throws Exception {
    CountDownLatch late = new CountDownLatch(1);
    byte[] nothing = Messages.frame("reply.nothing_skipped");
    Behavior firstIsLate =
        connection -> {
          if (connection.readRequest() == 1) {
            late.await();
            connection.write(RIGHT);
          }
          connection.write(nothing);
        };
    try (FakeSidecar sidecar = new FakeSidecar(firstIsLate)) {
      assertEquals("SIDECAR_SLOW", outcome(sidecar.settings("sidecar.timeout.ms", "300")));
      late.countDown();
      assertEquals("{}", outcome(sidecar.settings()));
      assertEquals(2, sidecar.connections.get());
    }
  }

  @Test
  void anInterruptedQueryStaysInterruptedAndClosesItsConnection() throws Exception {
    ExecutorService caller = Executors.newSingleThreadExecutor();
    try (FakeSidecar sidecar = new FakeSidecar(hanging())) {
      Settings settings = sidecar.settings("sidecar.timeout.ms", "600000");
      Future<String> call = caller.submit(() -> outcome(settings) + " " + Thread.interrupted());
      awaitRequests(sidecar, 1);
      caller.shutdownNow();
      assertEquals("FAILURE true", call.get());
      assertTrue(sidecar.closedByClient.await(60, TimeUnit.SECONDS), "the connection stays open");
    } finally {
      caller.shutdownNow();
    }
  }

  private static void awaitRequests(FakeSidecar sidecar, int n) throws InterruptedException {
    while (sidecar.requests.get() < n) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }

  @Test
  void noMoreThan64CallsRunAtOnce() throws Exception {
    ExecutorService callers = Executors.newCachedThreadPool();
    CountDownLatch end = new CountDownLatch(1);
    Behavior waiting =
        connection -> {
          connection.readRequest();
          end.await();
        };
    try (FakeSidecar sidecar = new FakeSidecar(waiting)) {
      Settings settings = sidecar.settings();
      List<Future<String>> calls = new ArrayList<>();
      for (int i = 0; i < 64; i++) {
        calls.add(callers.submit(() -> outcome(settings)));
      }
      awaitRequests(sidecar, 64);
      assertEquals("SIDECAR_SLOW", outcome(settings));
      assertEquals(64, sidecar.requests.get());
      end.countDown();
      for (Future<String> call : calls) {
        assertEquals("WRONG_ANSWER", call.get());
      }
    } finally {
      callers.shutdownNow();
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

  // ---- circuit breaker

  static Stream<Arguments> failures() {
    return Stream.of(
        arguments("no answer", closing(), "20000", "WRONG_ANSWER"),
        arguments("an answer for another list", answering(OTHER_LIST), "20000", "WRONG_ANSWER"),
        arguments(
            "another protocol",
            answering(answer(2, REQUEST.names, 3, 2, 5).frame()),
            "20000",
            "WRONG_VERSION"),
        arguments("a slow sidecar", hanging(), "200", "SIDECAR_SLOW"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("failures")
  void theBreakerOpensAfterTwoFailures(
      String name, Behavior behavior, String timeoutMs, String reason) throws IOException {
    try (FakeSidecar sidecar = new FakeSidecar(behavior)) {
      Settings settings =
          sidecar.settings("sidecar.timeout.ms", timeoutMs, "sidecar.breaker.ms", LONG_PAUSE);
      assertEquals(List.of(reason, reason, "BREAKER_OPEN", "BREAKER_OPEN"), outcomes(4, settings));
      assertEquals(2, sidecar.requests.get());
    }
  }

  @Test
  void theBreakerOpensForASidecarThatDoesNotListen() throws IOException {
    Settings settings = FakeSidecar.settings(unusedPort(), "sidecar.breaker.ms", LONG_PAUSE);
    assertEquals(List.of("SIDECAR_DOWN", "SIDECAR_DOWN", "BREAKER_OPEN"), outcomes(3, settings));
  }

  @Test
  void refusalsDoNotOpenTheBreaker() throws IOException {
    try (FakeSidecar sidecar = new FakeSidecar(answering(REFUSAL))) {
      Settings settings = sidecar.settings("sidecar.breaker.ms", LONG_PAUSE);
      assertEquals(List.of("REFUSED", "REFUSED", "REFUSED", "REFUSED"), outcomes(4, settings));
    }
  }

  static Stream<Arguments> resets() {
    return Stream.of(
        arguments("an answer", RIGHT, "{0, 2}"), arguments("a refusal", REFUSAL, "REFUSED"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("resets")
  void failuresCountOnlyInARow(String name, byte[] between, String outcome) throws IOException {
    Behavior behavior = answeringInTurn(OTHER_LIST, between, OTHER_LIST, RIGHT);
    try (FakeSidecar sidecar = new FakeSidecar(behavior)) {
      Settings settings = sidecar.settings("sidecar.breaker.ms", LONG_PAUSE);
      assertEquals(
          List.of("WRONG_ANSWER", outcome, "WRONG_ANSWER", "{0, 2}"), outcomes(4, settings));
    }
  }

  @Test
  void theBreakerStaysOpenForThePause() throws Exception {
    try (FakeSidecar sidecar = new FakeSidecar(answeringInTurn(OTHER_LIST, OTHER_LIST, RIGHT))) {
      Settings settings = sidecar.settings("sidecar.breaker.ms", "400");
      outcome(settings);
      long start = System.nanoTime();
      outcome(settings);
      String outcome = "BREAKER_OPEN";
      while (outcome.equals("BREAKER_OPEN")) {
        TimeUnit.MILLISECONDS.sleep(10);
        outcome = outcome(settings);
      }
      long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      assertEquals("{0, 2}", outcome);
      assertTrue(ms >= 400, "asked again after " + ms + " ms");
    }
  }

  @Test
  void anAnswerAfterThePauseClosesTheBreaker() throws IOException {
    Behavior behavior = answeringInTurn(OTHER_LIST, OTHER_LIST, RIGHT, OTHER_LIST, RIGHT);
    try (FakeSidecar sidecar = new FakeSidecar(behavior)) {
      outcomes(2, sidecar.settings("sidecar.breaker.ms", NO_PAUSE));
      Settings settings = sidecar.settings("sidecar.breaker.ms", LONG_PAUSE);
      assertEquals(List.of("{0, 2}", "WRONG_ANSWER", "{0, 2}"), outcomes(3, settings));
    }
  }

  @Test
  void oneFailureAfterThePauseOpensTheBreakerAgain() throws IOException {
    try (FakeSidecar sidecar = new FakeSidecar(answering(OTHER_LIST))) {
      outcomes(2, sidecar.settings("sidecar.breaker.ms", NO_PAUSE));
      Settings settings = sidecar.settings("sidecar.breaker.ms", LONG_PAUSE);
      assertEquals(List.of("WRONG_ANSWER", "BREAKER_OPEN"), outcomes(2, settings));
      assertEquals(3, sidecar.requests.get());
    }
  }

  @Test
  void afterThePauseOneCallPassesAtATime() throws Exception {
    CountDownLatch asked = new CountDownLatch(1), answer = new CountDownLatch(1);
    Behavior behavior =
        connection -> {
          while (true) {
            int request = connection.readRequest();
            if (request == 3) {
              asked.countDown();
              answer.await();
            }
            connection.write(request <= 2 ? OTHER_LIST : RIGHT);
          }
        };
    ExecutorService callers = Executors.newSingleThreadExecutor();
    try (FakeSidecar sidecar = new FakeSidecar(behavior)) {
      outcomes(2, sidecar.settings("sidecar.breaker.ms", NO_PAUSE));
      Settings settings = sidecar.settings("sidecar.breaker.ms", LONG_PAUSE);
      Future<String> first = callers.submit(() -> outcome(settings));
      asked.await();
      assertEquals("BREAKER_OPEN", outcome(settings));
      answer.countDown();
      assertEquals("{0, 2}", first.get());
      assertEquals("{0, 2}", outcome(settings));
    } finally {
      callers.shutdownNow();
    }
  }

  @Test
  void eachAddressHasABreakerOfItsOwn() throws IOException {
    try (FakeSidecar failing = new FakeSidecar(closing());
        FakeSidecar working = new FakeSidecar(answering(RIGHT))) {
      assertEquals(
          List.of("WRONG_ANSWER", "WRONG_ANSWER", "BREAKER_OPEN"),
          outcomes(3, failing.settings("sidecar.breaker.ms", LONG_PAUSE)));
      assertEquals("{0, 2}", outcome(working.settings()));
    }
  }

  @Test
  void aRejectedCallSaysHowOftenTheSidecarFailed() throws IOException {
    try (FakeSidecar sidecar = new FakeSidecar(closing())) {
      Settings settings = sidecar.settings("sidecar.breaker.ms", LONG_PAUSE);
      outcomes(2, settings);
      KeepAll keepAll = assertThrows(KeepAll.class, () -> Sidecars.ask(REQUEST, settings));
      assertEquals(Reason.BREAKER_OPEN, keepAll.reason);
      assertTrue(keepAll.getMessage().contains("failed 2 times"), keepAll.getMessage());
    }
  }
}
