package io.sargo.hive;

/** What JMX shows. */
public interface CountersMXBean {
  java.util.Map<String, Long> getCounts();
}
