package io.sargo.hive;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import org.apache.hadoop.conf.Configuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ListingSettingsTest {
  private final Configuration conf = new Configuration(false);

  @Test
  void theDefaultsAreThoseOfTheDocumentation() throws IOException {
    ListingSettings settings = new ListingSettings(conf);
    assertEquals("sidecar", settings.listing);
    assertEquals(16, settings.verify);
  }

  @ParameterizedTest
  @CsvSource({"-5, 0", "0, 0", "1, 1"})
  void noNegativeNumberOfFilesIsVerified(String value, int verify) throws IOException {
    conf.set("sargo.listing.verify", value);
    assertEquals(verify, new ListingSettings(conf).verify);
  }
}
