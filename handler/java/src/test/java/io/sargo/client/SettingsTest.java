package io.sargo.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SettingsTest {
  private final Configuration conf = new Configuration(false);
  private @TempDir Path folder;

  private Settings settings(String key, String value) throws IOException {
    conf.set(key, value);
    return new Settings(conf);
  }

  @Test
  void theDefaultsAreThoseOfTheDocumentation() throws IOException {
    Settings settings = new Settings(conf);
    assertTrue(settings.enabled);
    assertEquals(List.of(), settings.addresses);
    assertEquals(2000, settings.timeoutMs);
    assertEquals(30_000, settings.breakerMs);
    assertEquals(1 << 20, settings.compressFrom);
    assertEquals("", settings.tlsCa);
    assertNull(settings.secret(Address.list("localhost:10950").get(0)));
  }

  @ParameterizedTest
  @CsvSource({"-5, 1, 0", "0, 1, 0", "1, 1, 1", "70000, 70000, 70000"})
  void timesAreNotNegativeAndADeadlineIsNotZero(String ms, int timeout, int breaker)
      throws IOException {
    assertEquals(timeout, settings("sargo.sidecar.timeout.ms", ms).timeoutMs);
    assertEquals(breaker, settings("sargo.sidecar.breaker.ms", ms).breakerMs);
  }

  @ParameterizedTest
  @CsvSource({
    "a:1, one",
    "b:2, two words",
    "c:3, three",
  })
  void aSecretIsThatOfTheAddress(String address, String secret) throws IOException {
    Path file = folder.resolve("secrets");
    Files.writeString(file, "\na:1 one\n  b:2   two words \nno-secret:4\nc:3\tthree\na:1 later\n");
    conf.set("sargo.secret.file", file.toString());
    assertEquals(
        secret, settings("sargo.sidecar.address", address).secret(Address.list(address).get(0)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"d:4", "no-secret:4", "a:11"})
  void anotherAddressGetsNoSecret(String address) throws IOException {
    Path file = folder.resolve("secrets");
    Files.writeString(file, "a:1 one\nno-secret:4\n");
    conf.set("sargo.secret.file", file.toString());
    Settings settings = settings("sargo.sidecar.address", address + ", a:1");
    Address stranger = Address.list(address).get(0);
    assertThrows(IOException.class, () -> settings.secret(stranger));
  }
}
