package io.sargo.hive;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;

/**
 * What an administrator or a session says, or a table STORED BY the handler, under the keys {@code
 * sargo.*}. The handler puts its tables' properties over the job's configuration; Hive does not do
 * that with those of a native table.
 */
final class Settings {
  static final String PREFIX = "sargo.";
  static final int MOST_NAMES = 4_000_000;
  static final int LARGEST_FRAME = 64 << 20;
  private static final Pattern HOST_AND_PORT =
      Pattern.compile("\\[?([^\\[\\]]+)\\]?:([1-9]\\d{0,4})");

  final boolean enabled;
  final String address, host;

  /** {@code compressFrom}: lists of names of so many bytes are sent compressed. */
  final int port, timeoutMs, breakerMs, compressFrom;

  /** PEM file of the certificates that the sidecar's may be signed with, or empty: no TLS. */
  final String tlsCa;

  private final String secretFile;

  Settings(Configuration conf) throws IOException {
    enabled = conf.getBoolean("sargo.enabled", true);
    address = conf.getTrimmed("sargo.sidecar.address", "");
    timeoutMs = Math.max(1, conf.getInt("sargo.sidecar.timeout.ms", 2000));
    breakerMs = Math.max(0, conf.getInt("sargo.sidecar.breaker.ms", 30_000));
    compressFrom = Math.max(0, conf.getInt("sargo.names.compress.from", 1 << 20));
    tlsCa = conf.getTrimmed("sargo.tls.ca.file", "");
    secretFile = conf.getTrimmed("sargo.secret.file", "");
    Matcher parts = HOST_AND_PORT.matcher(address);
    host = parts.matches() ? parts.group(1) : null;
    port = host == null ? 0 : Integer.parseInt(parts.group(2));
    if (!address.isEmpty() && (host == null || port > 65535)) {
      throw new IOException("sargo.sidecar.address is not host:port");
    }
  }

  /**
   * The secret for this address, or null. Each line of the file is "host:port secret": whoever may
   * set the address in a session or a table property does not get the secret of another one sent
   * there.
   */
  String secret() throws IOException {
    if (secretFile.isEmpty()) {
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
}
