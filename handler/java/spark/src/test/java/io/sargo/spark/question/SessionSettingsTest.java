package io.sargo.spark.question;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SessionSettingsTest {
  private final Map<String, String> conf = new HashMap<>();

  private SessionSettings settings() throws IOException {
    return GivenSettings.of(conf);
  }

  @Test
  void theDefaultsAreThoseOfHivesJar() throws IOException {
    SessionSettings settings = settings();
    assertTrue(settings.enabled);
    assertFalse(settings.hasAddress());
    assertEquals(2000, settings.timeoutMs);
    assertEquals(1 << 20, settings.compressFrom);
  }

  @Test
  void eachKeyIsThatOfSparkWithoutItsFirstWord() throws IOException {
    conf.put("spark.sargo.enabled", "false");
    conf.put("spark.sargo.sidecar.address", "a:1,b:2");
    conf.put("spark.sargo.sidecar.timeout.ms", "7");
    conf.put("spark.sargo.names.compress.from", "8");
    SessionSettings settings = settings();
    assertFalse(settings.enabled);
    assertTrue(settings.hasAddress());
    assertEquals(7, settings.timeoutMs);
    assertEquals(8, settings.compressFrom);
  }

  @Test
  void whatIsNoAddressIsAnError() {
    conf.put("spark.sargo.sidecar.address", "nowhere");
    assertThrows(IOException.class, this::settings);
  }

  @Test
  void aSecretIsSentToTheAddressThatIsSet() throws IOException {
    conf.put("spark.sargo.sidecar.address", "127.0.0.1:1");
    conf.put("spark.sargo.secret", "word");
    assertEquals("word", settings().secret(null));
  }

  @ParameterizedTest
  @CsvSource({
    "true, false, spark-ansi",
    "TRUE, no, spark-ansi",
    "true, true, spark-try",
    "false, false, spark-legacy",
    "false, true, spark-legacy"
  })
  void theEngineIsTheModeOfTheSession(String ansi, String hidden, String engine)
      throws IOException {
    conf.put("spark.sql.ansi.enabled", ansi);
    conf.put("spark.sargo.hide.errors", hidden);
    assertEquals(engine, settings().engine);
  }

  /** The same as {@code handler/spark/catalyst/sessions.py} makes of them. */
  @ParameterizedTest
  @CsvSource({
    "Europe/Berlin, Europe/Berlin",
    "UTC, UTC",
    "Z, UTC",
    "GMT, UTC",
    "UTC+0, UTC",
    "+00:00, UTC",
    "+8, +08:00",
    "+08:00, +08:00",
    "GMT+08:00, +08:00",
    "UTC-3, -03:00",
    "+01:02:03, +01:02:03",
    "PST, America/Los_Angeles",
    "IST, Asia/Kolkata",
    "EST, -05:00",
  })
  void zonesAreNamedAsTheSidecarNamesThem(String setting, String name) throws IOException {
    conf.put("spark.sql.session.timeZone", setting);
    assertEquals(name, settings().timeZone);
  }
}
