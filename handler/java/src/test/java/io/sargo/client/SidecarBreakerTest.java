package io.sargo.client;

import static io.sargo.client.Calls.LONG_PAUSE;
import static io.sargo.client.Calls.NO_PAUSE;
import static io.sargo.client.Calls.OTHER_LIST;
import static io.sargo.client.Calls.REFUSAL;
import static io.sargo.client.Calls.REQUEST;
import static io.sargo.client.Calls.RIGHT;
import static io.sargo.client.Calls.outcome;
import static io.sargo.client.Calls.outcomes;
import static io.sargo.client.Calls.unusedPort;
import static io.sargo.client.FakeSidecar.answering;
import static io.sargo.client.FakeSidecar.answeringInTurn;
import static io.sargo.client.FakeSidecar.closing;
import static io.sargo.client.FakeSidecar.hanging;
import static io.sargo.client.ReplyBytes.answer;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sargo.client.FakeSidecar.Behavior;
import io.sargo.client.KeepAll.Reason;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The circuit breaker of a sidecar's address. */
@Timeout(120)
class SidecarBreakerTest {
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
