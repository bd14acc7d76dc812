package io.sargo.client;

import static io.sargo.client.FakeSidecar.answering;
import static io.sargo.client.FakeSidecar.closing;
import static io.sargo.client.FakeSidecar.dripping;
import static io.sargo.client.FakeSidecar.hanging;
import static io.sargo.client.ReplyBytes.answer;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sargo.client.FakeSidecar.Behavior;
import io.sargo.client.KeepAll.Reason;
import io.sargo.client.Wire.Reply;
import io.sargo.client.Wire.Request;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A question to several sidecars: which one is asked, and who answers instead of it. */
@Timeout(120)
class SidecarsTest {
  private static final byte[] NAMES = Requests.NAMES;
  private static final byte[] RIGHT = answer(1, NAMES, 3, 2, 5).frame();
  private static final byte[] NOTHING = Messages.frame("reply.nothing_skipped");
  private static final byte[] OTHER_LIST =
      answer(1, "another list".getBytes(StandardCharsets.UTF_8), 3, 2, 5).frame();
  private static final String LONG_PAUSE = "600000";

  private @TempDir Path folder;

  private static Settings settings(List<FakeSidecar> sidecars, String... more) throws IOException {
    String addresses = sidecars.stream().map(FakeSidecar::address).collect(Collectors.joining(","));
    return FakeSidecar.settingsFor(addresses, more);
  }

  /** A question about a table that prefers this sidecar among those of the settings. */
  private static Request preferring(FakeSidecar preferred, Settings settings) {
    for (int i = 0; ; i++) {
      String table = "file:/warehouse/t" + i;
      if (Address.inOrder(settings.addresses, table).get(0).text.equals(preferred.address())) {
        return Requests.request(request -> request.table = table);
      }
    }
  }

  private static String outcome(Request request, Settings settings) {
    try {
      Reply reply = Sidecars.ask(request, settings);
      return reply.skip.toString();
    } catch (KeepAll e) {
      return e.reason.name();
    }
  }

  @Test
  void aTableIsAskedOfItsOwnSidecarOnly() throws IOException {
    try (FakeSidecar one = new FakeSidecar(answering(RIGHT));
        FakeSidecar two = new FakeSidecar(answering(RIGHT));
        FakeSidecar three = new FakeSidecar(answering(RIGHT))) {
      List<FakeSidecar> all = List.of(one, two, three);
      Settings settings = settings(all);
      for (FakeSidecar preferred : all) {
        Request request = preferring(preferred, settings);
        for (int i = 0; i < 5; i++) {
          assertEquals("{0, 2}", outcome(request, settings));
        }
      }
      for (FakeSidecar sidecar : all) {
        assertEquals(5, sidecar.requests.get());
        assertEquals(1, sidecar.connections.get());
      }
    }
  }

  static Stream<Arguments> failing() {
    return Stream.of(
        arguments("closes the connection", closing()),
        arguments("says nothing", hanging()),
        arguments("sends a byte at a time", dripping()),
        arguments("answers for another list", answering(OTHER_LIST)),
        arguments("answers another call", answering(Messages.frame("other.sequence"))),
        arguments("is busy", answering(Messages.frame("refused.busy"))),
        arguments("is stopping", answering(Messages.frame("refused.stopping"))),
        arguments("has another secret", answering(Messages.frame("refused.secret"))));
  }

  @ParameterizedTest(name = "that {0}")
  @MethodSource("failing")
  void theNextOneAnswersForASidecar(String name, Behavior behavior) throws IOException {
    try (FakeSidecar bad = new FakeSidecar(behavior);
        FakeSidecar good = new FakeSidecar(answering(RIGHT))) {
      Settings settings = settings(List.of(bad, good), "sidecar.timeout.ms", "2000");
      assertEquals("{0, 2}", outcome(preferring(bad, settings), settings));
      assertEquals(1, good.requests.get());
      assertTrue(bad.requests.get() > 0);
    }
  }

  @Test
  void theNextOneAnswersForASidecarThatDoesNotListen() throws IOException {
    try (FakeSidecar down = new FakeSidecar(closing());
        FakeSidecar good = new FakeSidecar(answering(RIGHT))) {
      down.stop();
      Settings settings = settings(List.of(down, good));
      assertEquals("{0, 2}", outcome(preferring(down, settings), settings));
    }
  }

  static Stream<Arguments> refusals() {
    return Stream.of(
        arguments("another version", "refused.version", "WRONG_VERSION"),
        arguments("a table outside of the roots", "refused.table", "REFUSED"),
        arguments("a malformed request", "refused.request", "REFUSED"),
        arguments("too many names", "refused.limit", "REFUSED"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("refusals")
  void aRefusalThatIsAboutTheRequestIsFinal(String name, String frame, String reason)
      throws IOException {
    try (FakeSidecar refusing = new FakeSidecar(answering(Messages.frame(frame)));
        FakeSidecar good = new FakeSidecar(answering(RIGHT))) {
      Settings settings = settings(List.of(refusing, good));
      assertEquals(reason, outcome(preferring(refusing, settings), settings));
      assertEquals(0, good.requests.get());
    }
  }

  @Test
  void theDeadlineIsForTheWholeQuestion() throws Exception {
    try (FakeSidecar one = new FakeSidecar(hanging());
        FakeSidecar two = new FakeSidecar(hanging());
        FakeSidecar three = new FakeSidecar(dripping())) {
      List<FakeSidecar> all = List.of(one, two, three);
      Settings settings = settings(all, "sidecar.timeout.ms", "600");
      long start = System.nanoTime();
      KeepAll keepAll =
          assertThrows(KeepAll.class, () -> Sidecars.ask(preferring(one, settings), settings));
      long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      assertEquals(Reason.SIDECAR_SLOW, keepAll.reason);
      assertTrue(ms >= 600 && ms < 10_000, ms + " ms");
      for (FakeSidecar sidecar : all) {
        assertEquals(1, sidecar.requests.get());
        assertTrue(sidecar.closedByClient.await(30, TimeUnit.SECONDS), "a connection stays open");
        assertTrue(keepAll.getMessage().contains(sidecar.address()), keepAll.getMessage());
      }
    }
  }

  @Test
  void theFirstReasonIsTheReason() throws IOException {
    try (FakeSidecar lying = new FakeSidecar(answering(OTHER_LIST));
        FakeSidecar down = new FakeSidecar(closing())) {
      down.stop();
      Settings settings = settings(List.of(lying, down));
      Request request = preferring(lying, settings);
      KeepAll keepAll = assertThrows(KeepAll.class, () -> Sidecars.ask(request, settings));
      assertEquals(Reason.WRONG_ANSWER, keepAll.reason);
      assertTrue(keepAll.getMessage().contains(down.address() + ": "), keepAll.getMessage());
    }
  }

  // ---- slow

  /** Answers after the latch. */
  private static Behavior answeringAfter(CountDownLatch latch, byte[] bytes) {
    return connection -> {
      while (true) {
        connection.readRequest();
        latch.await();
        connection.write(bytes);
      }
    };
  }

  @Test
  void aSlowAnswerIsUsedWhenTheOtherSidecarIsSlowerStill() throws Exception {
    CountDownLatch late = new CountDownLatch(1);
    ExecutorService caller = Executors.newSingleThreadExecutor();
    try (FakeSidecar slow = new FakeSidecar(answeringAfter(late, RIGHT));
        FakeSidecar slower = new FakeSidecar(hanging())) {
      Settings settings = settings(List.of(slow, slower), "sidecar.timeout.ms", "4000");
      Request request = preferring(slow, settings);
      Future<String> call = caller.submit(() -> outcome(request, settings));
      while (slower.requests.get() == 0) {
        TimeUnit.MILLISECONDS.sleep(5);
      }
      late.countDown();
      assertEquals("{0, 2}", call.get());
      assertTrue(slower.closedByClient.await(30, TimeUnit.SECONDS), "a connection stays open");
    } finally {
      caller.shutdownNow();
    }
  }

  @Test
  void aSidecarThatHangsIsNotWaitedForAThirdTime() throws IOException {
    try (FakeSidecar hung = new FakeSidecar(hanging());
        FakeSidecar good = new FakeSidecar(answering(RIGHT))) {
      Settings settings =
          settings(
              List.of(hung, good), "sidecar.timeout.ms", "1000", "sidecar.breaker.ms", LONG_PAUSE);
      Request request = preferring(hung, settings);
      for (int i = 0; i < 10; i++) {
        assertEquals("{0, 2}", outcome(request, settings));
      }
      assertEquals(2, hung.requests.get());
      assertEquals(10, good.requests.get());
    }
  }

  @Test
  void theSidecarThatWasAskedBesideASlowOneHasNotFailed() throws Exception {
    try (FakeSidecar good = new FakeSidecar(answering(RIGHT));
        FakeSidecar slower = new FakeSidecar(answeringAfter(new CountDownLatch(1), RIGHT))) {
      CountDownLatch late = new CountDownLatch(1);
      try (FakeSidecar slow = new FakeSidecar(answeringAfter(late, RIGHT))) {
        Settings settings =
            settings(
                List.of(slow, slower),
                "sidecar.timeout.ms",
                "4000",
                "sidecar.breaker.ms",
                LONG_PAUSE);
        Request request = preferring(slow, settings);
        ExecutorService caller = Executors.newSingleThreadExecutor();
        for (int i = 0; i < 2; i++) {
          Future<String> call = caller.submit(() -> outcome(request, settings));
          if (i == 0) {
            while (slower.requests.get() == 0) {
              TimeUnit.MILLISECONDS.sleep(5);
            }
            late.countDown();
          }
          assertEquals("{0, 2}", call.get());
        }
        caller.shutdownNow();
      }
      // slow is down now: the question goes to slower, whose breaker is closed.
      Settings both = settings(List.of(slower, good), "sidecar.timeout.ms", "400");
      outcome(preferring(slower, both), both);
      assertEquals(2, slower.requests.get());
    }
  }

  // ---- breakers

  @Test
  void afterThePauseTheTableGoesBackToItsOwnSidecar() throws Exception {
    Behavior twoFailures = FakeSidecar.answeringInTurn(OTHER_LIST, OTHER_LIST, RIGHT);
    try (FakeSidecar own = new FakeSidecar(twoFailures);
        FakeSidecar other = new FakeSidecar(answering(NOTHING))) {
      Settings settings = settings(List.of(own, other), "sidecar.breaker.ms", "300");
      Request request = preferring(own, settings);
      assertEquals("{}", outcome(request, settings));
      long start = System.nanoTime();
      String outcome = outcome(request, settings);
      while (outcome.equals("{}")) {
        outcome = outcome(request, settings);
      }
      long ms = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      assertEquals("{0, 2}", outcome);
      assertTrue(ms >= 300, "asked again after " + ms + " ms");
      assertEquals(3, own.requests.get());
    }
  }

  @Test
  void allBreakersOpenIsSaidAndNobodyIsAsked() throws IOException {
    try (FakeSidecar one = new FakeSidecar(closing());
        FakeSidecar two = new FakeSidecar(closing())) {
      Settings settings = settings(List.of(one, two), "sidecar.breaker.ms", LONG_PAUSE);
      Request request = preferring(one, settings);
      assertEquals("WRONG_ANSWER", outcome(request, settings));
      assertEquals("WRONG_ANSWER", outcome(request, settings));
      int asked = one.requests.get() + two.requests.get();
      assertEquals("BREAKER_OPEN", outcome(request, settings));
      assertEquals(asked, one.requests.get() + two.requests.get());
    }
  }

  // ---- secrets

  @Test
  void eachAddressIsShownItsOwnSecretOnly() throws IOException {
    try (FakeSidecar one = new FakeSidecar(closing());
        FakeSidecar two = new FakeSidecar(answering(RIGHT));
        FakeSidecar stranger = new FakeSidecar(answering(RIGHT))) {
      Path secrets = folder.resolve("secrets");
      Files.writeString(
          secrets, one.address() + " first-secret\n" + two.address() + " second-secret\n");
      Settings settings = settings(List.of(one, two, stranger), "secret.file", secrets.toString());
      assertEquals("{0, 2}", outcome(preferring(one, settings), settings));
      assertTrue(text(one.lastRequest).contains("first-secret"));
      assertFalse(text(one.lastRequest).contains("second-secret"));
      assertEquals("{0, 2}", outcome(preferring(stranger, settings), settings));
      assertEquals(0, stranger.requests.get());
      assertTrue(text(two.lastRequest).contains("second-secret"));
      assertFalse(text(two.lastRequest).contains("first-secret"));
    }
  }

  private static String text(byte[] message) {
    return new String(message, StandardCharsets.ISO_8859_1);
  }
}
