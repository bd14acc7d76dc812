package io.sargo.spark.plans;

import io.sargo.client.Printable;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The decision to leave a scan as Spark and Hudi have planned it, and why. */
public final class Untouched extends Exception {
  private static final long serialVersionUID = 1;
  private static final Logger LOG = LoggerFactory.getLogger(Untouched.class);
  private static final int MAX_REASONS = 1000;
  private static final Set<String> LOGGED = ConcurrentHashMap.newKeySet();

  public Untouched(String why) {
    super(why, null, false, false);
  }

  /** Throws Untouched if the condition holds. */
  public static void when(boolean condition, String why) throws Untouched {
    if (condition) {
      throw new Untouched(why);
    }
  }

  /** Writes one line to the log, the first time that this process has the reason. */
  public static void log(String why, String where) {
    if (LOGGED.size() < MAX_REASONS && LOGGED.add(why)) {
      LOG.info("sargo: untouched, table={} why={}", Printable.text(where), Printable.text(why));
    }
  }
}
