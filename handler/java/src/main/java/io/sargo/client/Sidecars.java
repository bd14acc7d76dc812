package io.sargo.client;

import io.sargo.client.Sidecar.Call;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks one of several sidecars, within one deadline.
 *
 * <pre>
 *   the preferred sidecar of the table ...   the next one ({@link Address#inOrder}) is asked
 *   --------------------------------------   --------------------------------------------------
 *   answers, or refuses the request          not at all
 *   is down, answers wrongly, refuses        at once
 *   because it is busy or stopping
 *   has failed twice in a row                at once, until breakerMs have passed
 *   says nothing for its share of the time   beside it; the answer that comes first is used
 * </pre>
 *
 * <p>The share is the time that is left, divided by the number of sidecars that are left, and at
 * least a quarter of the whole. A sidecar that was overtaken by one that was asked later has
 * failed.
 */
public final class Sidecars<R> {
  private static final Logger LOG = LoggerFactory.getLogger(Sidecars.class);
  private static final int MIN_SHARE = 4;

  private final Question<R> question;
  private final Settings settings;
  private final Deque<Address> waiting;
  private final boolean isSingle;

  /** The calls under way, in the order in which they began, and those that have ended. */
  private final List<Call<R>> running = new ArrayList<>();

  private final LinkedBlockingQueue<Call<R>> ended = new LinkedBlockingQueue<>();
  private final List<String> failures = new ArrayList<>();
  private KeepAll.Reason reason;

  private Sidecars(Question<R> question, Settings settings) {
    this.question = question;
    this.settings = settings;
    waiting = new ArrayDeque<>(Address.inOrder(settings.addresses, question.table()));
    isSingle = waiting.size() == 1;
  }

  /** The reply to a question, after its checks. Throws KeepAll with the reason if there is none. */
  public static <R> R ask(Question<R> question, Settings settings) throws KeepAll {
    Loopback.warn(settings.addresses);
    Sidecars<R> sidecars = new Sidecars<>(question, settings);
    try {
      return sidecars.answer();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KeepAll(KeepAll.Reason.FAILURE, "the query was interrupted");
    } finally {
      sidecars.running.forEach(Call::abandon);
    }
  }

  private R answer() throws KeepAll, InterruptedException {
    long whole = TimeUnit.MILLISECONDS.toNanos(settings.timeoutMs);
    long end = System.nanoTime() + whole;
    beginNext();
    while (true) {
      if (running.isEmpty()) {
        throw new KeepAll(reason, String.join("; ", failures));
      }
      long left = end - System.nanoTime();
      long share = Math.max(left / (waiting.size() + 1), whole / MIN_SHARE);
      boolean isLast = waiting.isEmpty() || share >= left;
      Call<R> call = ended.poll(isLast ? left : share, TimeUnit.NANOSECONDS);
      if (call != null) {
        int place = running.indexOf(call);
        running.remove(call);
        try {
          R reply = call.result();
          recordOvertaken(place);
          if (!failures.isEmpty()) {
            LOG.info(
                "sargo: {} answered, because {}",
                call.address(),
                Printable.text(String.join("; ", failures)));
          }
          return reply;
        } catch (KeepAll e) {
          if (!e.mayAskAnother) {
            recordOvertaken(place);
            throw e;
          }
          recordFailure(call.address(), e);
          if (place == running.size()) { // it was the latest
            beginNext();
          }
        }
      } else if (isLast) {
        running.forEach(slow -> slow.sidecar.recordResult(false, settings));
        throw tooSlow();
      } else {
        beginNext();
      }
    }
  }

  /** Begins a call to the first of the sidecars that are left whose breaker lets it pass. */
  private void beginNext() throws KeepAll {
    while (!waiting.isEmpty()) {
      Address address = waiting.removeFirst();
      try {
        running.add(Sidecar.at(address, settings).begin(question, settings, ended));
        return;
      } catch (KeepAll e) {
        recordFailure(address, e);
      } catch (RejectedExecutionException e) {
        if (running.isEmpty()) {
          throw new KeepAll(
              KeepAll.Reason.SIDECAR_SLOW, Sidecar.MAX_CALLS + " calls are under way");
        }
        waiting.clear(); // those that run may still answer
      }
    }
  }

  /** The calls that began before this one had their share of the time, and said nothing. */
  private void recordOvertaken(int place) {
    for (Call<R> slow : running.subList(0, place)) {
      slow.sidecar.recordResult(false, settings);
      failures.add(slow.address() + " was slower");
    }
  }

  private void recordFailure(Address address, KeepAll failure) {
    if (reason == null || reason == KeepAll.Reason.BREAKER_OPEN) {
      reason = failure.reason;
    }
    failures.add(isSingle ? failure.getMessage() : address + ": " + failure.getMessage());
  }

  private KeepAll tooSlow() {
    String why = "no answer in " + settings.timeoutMs + " ms";
    for (Call<R> slow : running) {
      failures.add(isSingle ? why : slow.address() + ": " + why);
    }
    return new KeepAll(KeepAll.Reason.SIDECAR_SLOW, String.join("; ", failures));
  }
}
