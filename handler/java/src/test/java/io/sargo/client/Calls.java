package io.sargo.client;

import static io.sargo.client.ReplyBytes.answer;

import io.sargo.client.Wire.Request;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ServerSocketFactory;

/** Calls to a sidecar that asks about one list of names, and answers to them. */
final class Calls {
  static final Request REQUEST = Requests.request(request -> {});
  static final byte[] RIGHT = answer(1, REQUEST.names, 3, 2, 5).frame();
  static final byte[] OTHER_LIST =
      answer(1, "another list".getBytes(StandardCharsets.UTF_8), 3, 2, 5).frame();
  static final byte[] REFUSAL = Messages.frame("refused.secret");

  static final String NO_PAUSE = "0", LONG_PAUSE = "600000";

  private Calls() {}

  /** What became of a call: the names to skip, or why none is skipped. */
  static String outcome(Settings settings) {
    try {
      return Sidecars.ask(REQUEST, settings).skip.toString();
    } catch (KeepAll e) {
      return e.reason.name();
    }
  }

  static List<String> outcomes(int n, Settings settings) {
    List<String> outcomes = new ArrayList<>();
    for (int i = 0; i < n; i++) {
      outcomes.add(outcome(settings));
    }
    return outcomes;
  }

  static int unusedPort() throws IOException {
    try (ServerSocket free = FakeSidecar.listen(ServerSocketFactory.getDefault())) {
      return free.getLocalPort();
    }
  }

  static void awaitRequests(FakeSidecar sidecar, int n) throws InterruptedException {
    while (sidecar.requests.get() < n) {
      TimeUnit.MILLISECONDS.sleep(5);
    }
  }
}
