package io.sargo.hive;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * Requests to a file system that are sent side by side: a store answers sixteen in the time of one.
 * The threads end with {@link #close}, and act for the user of the thread that starts them.
 */
final class SideBySide<T> implements AutoCloseable {
  private static final int MAX_THREADS = 16;

  private final ExecutorService threads;
  private final List<Future<T>> answers = new ArrayList<>();

  /** Sends the requests, and waits for none. */
  SideBySide(List<Callable<T>> requests) {
    threads =
        requests.isEmpty()
            ? null
            : Executors.newFixedThreadPool(Math.min(requests.size(), MAX_THREADS));
    requests.forEach(request -> answers.add(threads.submit(request)));
  }

  /** The results in the order of the requests. Throws what the first one that fails throws. */
  static <T> List<T> all(List<Callable<T>> requests) throws IOException {
    try (SideBySide<T> sent = new SideBySide<>(requests)) {
      return sent.results();
    }
  }

  /** As {@link #all}. */
  List<T> results() throws IOException {
    List<T> results = new ArrayList<>();
    try {
      for (Future<T> answer : answers) {
        results.add(answer.get());
      }
      return results;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    }
  }

  @Override
  public void close() {
    if (threads != null) {
      threads.shutdownNow();
    }
  }
}
