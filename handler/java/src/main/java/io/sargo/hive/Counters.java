package io.sargo.hive;

import java.lang.management.ManagementFactory;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import javax.management.JMException;
import javax.management.ObjectName;

/** What this process listed, skipped and kept for which reason, in JMX as {@code io.sargo.hive:type=Counters}. */
public final class Counters implements CountersMXBean {
  static final Counters INSTANCE = new Counters();
  private final Map<String, Long> counts = new ConcurrentHashMap<>();

  private Counters() {
    try {
      ManagementFactory.getPlatformMBeanServer().registerMBean(this, new ObjectName("io.sargo.hive:type=Counters"));
    } catch (JMException | SecurityException e) {
      // another class loader's copy is there already: the log has the counts all the same
    }
  }

  void pruned(int listed, int skipped) {
    counts.merge("files_listed", (long) listed, Long::sum);
    counts.merge("files_skipped", (long) skipped, Long::sum);
  }

  /** How often that reason kept all files so far. */
  long keptAll(KeepAll.Reason reason, int listed) {
    pruned(listed, 0);
    return counts.merge("kept_all." + reason.name().toLowerCase(Locale.ROOT), 1L, Long::sum);
  }

  @Override
  public Map<String, Long> getCounts() {
    return new TreeMap<>(counts);
  }
}
