package io.sargo.hive;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * Counts, for this process, the files that were listed and skipped, and each reason for skipping
 * nothing. JMX shows the counts as {@code io.sargo.hive:type=Counters}.
 */
public final class Counters implements CountersMXBean {
  static final Counters INSTANCE = new Counters();
  private final Map<String, Long> counts = new ConcurrentHashMap<>();

  private Counters() {
    try {
      ManagementFactory.getPlatformMBeanServer()
          .registerMBean(this, new ObjectName("io.sargo.hive:type=Counters"));
    } catch (JMException | SecurityException e) {
      // Another class loader registered its copy first. The log lines still carry the counts.
    }
  }

  /** Adds {@code n} to a counter and returns its new value. */
  long add(String name, long n) {
    return counts.merge(name, n, Long::sum);
  }

  @Override
  public Map<String, Long> getCounts() {
    return new TreeMap<>(counts);
  }
}
