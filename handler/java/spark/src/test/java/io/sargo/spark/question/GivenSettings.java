package io.sargo.spark.question;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;

/** The settings of a session in UTC that sets these keys, without a session. */
public final class GivenSettings {
  private GivenSettings() {}

  public static SessionSettings of(Map<String, String> set) throws IOException {
    Map<String, String> conf = new HashMap<>(set);
    conf.putIfAbsent("spark.sql.ansi.enabled", "false");
    conf.putIfAbsent("spark.sql.session.timeZone", "UTC");
    return SessionSettings.of(conf::getOrDefault);
  }
}
