package io.sargo.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.List;
import org.apache.hadoop.conf.Configuration;

/** What a client is told of the sidecars: the keys {@code sargo.*} of a configuration. */
public class Settings {
  public static final String PREFIX = "sargo.";
  public static final int MAX_NAMES = 4_000_000;
  static final int MAX_FRAME_BYTES = 64 << 20;

  /** Whether files are skipped. {@code false} reads every file that Hudi lists. */
  public final boolean enabled;

  /**
   * Addresses of the sidecars as host:port, joined by commas. Without one every file is read. Each
   * table has a preferred address; the others are asked when that one is down or slow.
   */
  final List<Address> addresses;

  /** Milliseconds within which an answer must arrive, whichever sidecar gives it. */
  public final int timeoutMs;

  /** Milliseconds during which an address that failed twice in a row is not asked again. */
  final int breakerMs;

  /** Bytes of names from which a request's list of files or folders is sent compressed. */
  public final int compressFrom;

  /** PEM file of the authorities that signed the sidecar's certificate. It turns TLS on. */
  final String tlsCa;

  /** File of shared secrets, each line "host:port secret". The line of the address is sent. */
  private final String secretFile;

  public Settings(Configuration conf) throws IOException {
    enabled = conf.getBoolean("sargo.enabled", true);
    addresses = Address.list(conf.get("sargo.sidecar.address", ""));
    timeoutMs = Math.max(1, conf.getInt("sargo.sidecar.timeout.ms", 2000));
    breakerMs = Math.max(0, conf.getInt("sargo.sidecar.breaker.ms", 30_000));
    compressFrom = Math.max(0, conf.getInt("sargo.names.compress.from", 1 << 20));
    tlsCa = conf.getTrimmed("sargo.tls.ca.file", "");
    secretFile = conf.getTrimmed("sargo.secret.file", "");
  }

  /** Whether a sidecar is named. */
  public final boolean hasAddress() {
    return !addresses.isEmpty();
  }

  /**
   * The secret for an address, or null if no file is set. Each line of the file is "host:port
   * secret", so a session or table property that sets another address does not send this secret to
   * it.
   */
  public String secret(Address address) throws IOException {
    if (secretFile.isEmpty()) {
      return null;
    }
    for (String line : Files.readAllLines(Paths.get(secretFile), StandardCharsets.UTF_8)) {
      String[] parts = line.trim().split("\\s+", 2);
      if (parts.length == 2 && parts[0].equals(address.text)) {
        return parts[1];
      }
    }
    throw new IOException("sargo.secret.file has no line for " + address);
  }
}
