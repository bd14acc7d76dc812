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
 * The threads end with the call, and act for the user of the calling thread.
 */
final class SideBySide {
  private static final int MAX_THREADS = 16;

  private SideBySide() {}

  /** The results in the order of the requests. Throws what the first one that fails throws. */
  static <T> List<T> all(List<Callable<T>> requests) throws IOException {
    List<T> results = new ArrayList<>();
    if (requests.isEmpty()) {
      return results;
    }
    ExecutorService threads = Executors.newFixedThreadPool(Math.min(requests.size(), MAX_THREADS));
    try {
      for (Future<T> answer : threads.invokeAll(requests)) {
        results.add(answer.get());
      }
      return results;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(e);
    } catch (ExecutionException e) {
      throw new IOException(e.getCause());
    } finally {
      threads.shutdownNow();
    }
  }
}
