package io.sargo.hive;

/** The attributes of {@link Counters} in JMX. */
public interface CountersMXBean {
  java.util.Map<String, Long> getCounts();
}
