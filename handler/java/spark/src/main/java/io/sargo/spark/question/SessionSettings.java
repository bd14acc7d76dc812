package io.sargo.spark.question;

import io.sargo.client.Address;
import io.sargo.client.Settings;
import java.io.IOException;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.function.BinaryOperator;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.util.DateTimeUtils;

/**
 * The settings of a session when a query is planned: {@code spark.sargo.*}, which are the keys
 * {@code sargo.*} of {@link Settings}, and what a condition depends on.
 */
public final class SessionSettings extends Settings {
  private static final String[] KEYS = {
    "sargo.enabled",
    "sargo.sidecar.address",
    "sargo.sidecar.timeout.ms",
    "sargo.sidecar.breaker.ms",
    "sargo.secret.file",
    "sargo.tls.ca.file",
    "sargo.names.compress.from"
  };

  /**
   * Whose rules the conditions follow: {@code spark-ansi}, {@code spark-try} where its errors of
   * rows may be hidden by skipped files, or {@code spark-legacy}.
   */
  public final String engine;

  /** The session's time zone: UTC, an offset such as +08:00, or the name of a region. */
  public final String timeZone;

  private final String secret;

  private SessionSettings(BinaryOperator<String> conf, Configuration keys) throws IOException {
    super(keys);
    secret = conf.apply("spark.sargo.secret", "");
    String ansi = isTrue(conf, "spark.sargo.hide.errors", "false") ? "spark-try" : "spark-ansi";
    engine = isTrue(conf, "spark.sql.ansi.enabled", null) ? ansi : "spark-legacy";
    timeZone = zoneName(DateTimeUtils.getZoneId(conf.apply("spark.sql.session.timeZone", null)));
  }

  /**
   * {@code conf} gives the value of a key, or the default in its second argument. Throws
   * IOException for a list of addresses that is none.
   */
  static SessionSettings of(BinaryOperator<String> conf) throws IOException {
    Configuration keys = new Configuration(false);
    for (String key : KEYS) {
      String value = conf.apply("spark." + key, "");
      if (!value.isEmpty()) {
        keys.set(key, value);
      }
    }
    return new SessionSettings(conf, keys);
  }

  private static boolean isTrue(BinaryOperator<String> conf, String key, String otherwise) {
    return "true".equalsIgnoreCase(conf.apply(key, otherwise));
  }

  public static SessionSettings of(SparkSession session) throws IOException {
    return of(conf(session));
  }

  /**
   * What a session sets, by key and default. Settings of Spark's own have a default, which null
   * asks for.
   */
  public static BinaryOperator<String> conf(SparkSession session) {
    return (key, otherwise) ->
        otherwise == null && key.startsWith("spark.sql.")
            ? session.conf().get(key)
            : session.conf().get(key, otherwise);
  }

  /** The value of {@code spark.sargo.secret} for every address, or the line of the file. */
  @Override
  public String secret(Address address) throws IOException {
    return secret.isEmpty() ? super.secret(address) : secret;
  }

  static String zoneName(ZoneId zone) {
    ZoneId plain = zone.normalized();
    return plain.equals(ZoneOffset.UTC) ? "UTC" : plain.getId();
  }
}
