package io.sargo.hive;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.apache.hadoop.conf.Configuration;

/**
 * What an administrator, a session or a table says, under the keys {@code sargo.*}. Hive puts table properties over the job's
 * configuration before it lists a table, so all three come from one place.
 */
final class Settings {
  static final String PREFIX = "sargo.";
  static final int MOST_NAMES = 4_000_000;
  static final int LARGEST_FRAME = 64 << 20;

  final boolean enabled;
  final String address, host;
  final int port, timeoutMs, breakerMs;
  /** PEM file of the certificates that the sidecar's may be signed with, or null: no TLS. */
  final String tlsCa;
  private final String secretFile;

  Settings(Configuration conf) throws IOException {
    enabled = conf.getBoolean("sargo.enabled", true);
    address = conf.getTrimmed("sargo.sidecar.address", "");
    timeoutMs = Math.max(1, conf.getInt("sargo.sidecar.timeout.ms", 2000));
    breakerMs = Math.max(0, conf.getInt("sargo.sidecar.breaker.ms", 30_000));
    tlsCa = blankToNull(conf.getTrimmed("sargo.tls.ca.file"));
    secretFile = blankToNull(conf.getTrimmed("sargo.secret.file"));
    int colon = address.lastIndexOf(':');
    if (address.isEmpty()) {
      host = null;
      port = 0;
      return;
    }
    try {
      host = address.substring(0, Math.max(colon, 0)).replaceAll("[\\[\\]]", "");
      port = Integer.parseInt(address.substring(colon + 1));
    } catch (NumberFormatException e) {
      throw new IOException("sargo.sidecar.address is not host:port", e);
    }
    if (host.isEmpty() || port < 1 || port > 65535) {
      throw new IOException("sargo.sidecar.address is not host:port");
    }
  }

  /**
   * The secret for this address, or null. Each line of the file is "host:port secret": whoever may set the address in a session or
   * a table property does not get the secret of another one sent there.
   */
  String secret() throws IOException {
    if (secretFile == null) {
      return null;
    }
    for (String line : Files.readAllLines(Paths.get(secretFile), StandardCharsets.UTF_8)) {
      String[] parts = line.trim().split("\\s+", 2);
      if (parts.length == 2 && parts[0].equals(address)) {
        return parts[1];
      }
    }
    throw new IOException("sargo.secret.file has no line for this address");
  }

  private static String blankToNull(String text) {
    return text == null || text.isEmpty() ? null : text;
  }
}
