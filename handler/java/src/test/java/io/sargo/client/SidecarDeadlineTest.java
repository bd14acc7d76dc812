package io.sargo.client;

import static io.sargo.client.Calls.RIGHT;
import static io.sargo.client.Calls.awaitRequests;
import static io.sargo.client.Calls.outcome;
import static io.sargo.client.FakeSidecar.dripping;
import static io.sargo.client.FakeSidecar.hanging;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sargo.client.FakeSidecar.Behavior;
import java.util.ArrayList;
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

/** Calls that take too long, are interrupted, or are too many. */
@Timeout(120)
class SidecarDeadlineTest {
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
}
