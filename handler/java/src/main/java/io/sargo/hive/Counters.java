package io.sargo.hive;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * What this process listed, skipped and kept for which reason, in JMX as {@code
 * io.sargo.hive:type=Counters}.
 */
public final class Counters implements CountersMXBean {
  static final Counters INSTANCE = new Counters();
  private final Map<String, Long> counts = new ConcurrentHashMap<>();

  private Counters() {
    try {
      ManagementFactory.getPlatformMBeanServer()
          .registerMBean(this, new ObjectName("io.sargo.hive:type=Counters"));
    } catch (JMException | SecurityException e) {
      // another class loader's copy is there already: the log has the counts all the same
    }
  }

  /** The count after this. */
  long add(String name, long n) {
    return counts.merge(name, n, Long::sum);
  }

  @Override
  public Map<String, Long> getCounts() {
    return new TreeMap<>(counts);
  }
}
