package io.sargo.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An address of {@code sargo.sidecar.address}, and the order in which the addresses are asked about
 * a table.
 *
 * <p><b>Order.</b> Rendezvous hashing: the addresses by {@code SHA-256(address LF path)}, the
 * greatest first. Every client that has the same list, in any order, prefers the same sidecar for a
 * table, so one sidecar has the table open. An address that is added takes over its own tables
 * only, and one that is removed leaves its tables to the others. The path is the decoded path of
 * the table's location without scheme and authority, so that hdfs://host:8020/t and hdfs:///t
 * agree. {@code handler/sidecar/client/addresses.py} does the same; {@code addresses.properties}
 * has the examples that both are tested with.
 */
public final class Address {
  static final int MAX_ADDRESSES = 64;
  private static final Pattern HOST_AND_PORT =
      Pattern.compile("\\[?([^\\[\\];\\s]+)\\]?:([1-9]\\d{0,4})");
  private static final Pattern LOOPBACK =
      Pattern.compile("localhost\\.?|127(\\.\\d{1,3}){1,3}|(0*:)*:0*1", Pattern.CASE_INSENSITIVE);

  /** As it stands in the setting. */
  final String text;

  final String host;
  final int port;

  private Address(String text) throws IOException {
    Matcher parts = HOST_AND_PORT.matcher(text);
    this.text = text;
    host = parts.matches() ? parts.group(1) : null;
    port = host == null ? 0 : Integer.parseInt(parts.group(2));
    if (host == null || port > 65535) {
      throw new IOException("sargo.sidecar.address is not host:port, or a list of them");
    }
  }

  /** The addresses of a list that is joined by commas, each once. */
  static List<Address> list(String texts) throws IOException {
    Map<String, Address> addresses = new LinkedHashMap<>();
    for (String part : texts.split(",")) {
      String text = part.trim();
      if (!text.isEmpty()) {
        addresses.put(text, new Address(text));
      }
    }
    if (addresses.size() > MAX_ADDRESSES) {
      throw new IOException("sargo.sidecar.address has more than " + MAX_ADDRESSES + " addresses");
    }
    return new ArrayList<>(addresses.values());
  }

  /** The addresses in the order in which they are asked about a table. */
  static List<Address> inOrder(List<Address> addresses, String table) {
    if (addresses.size() < 2) {
      return addresses;
    }
    String path = path(table);
    Map<Address, String> weights = new LinkedHashMap<>();
    for (Address address : addresses) {
      weights.put(address, weight(address.text + "\n" + path));
    }
    List<Address> order = new ArrayList<>(addresses);
    order.sort(
        Comparator.comparing((Address address) -> weights.get(address))
            .reversed()
            .thenComparing(address -> address.text));
    return order;
  }

  /** The path of a location, decoded, without repeated slashes and without one at its end. */
  static String path(String table) {
    String path = table;
    if (!table.startsWith("/")) {
      try {
        String decoded = new java.net.URI(table).getPath();
        path = decoded == null ? table : decoded;
      } catch (java.net.URISyntaxException e) {
        path = table;
      }
    }
    path = path.replaceAll("/+", "/");
    return path.length() > 1 && path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
  }

  private static String weight(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      StringBuilder hex = new StringBuilder();
      for (byte b : digest) {
        hex.append(String.format("%02x", b));
      }
      return hex.toString();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every Java has SHA-256
    }
  }

  /** Whether each machine reaches itself by this address. */
  boolean isLoopback() {
    return LOOPBACK.matcher(host).matches();
  }

  @Override
  public String toString() {
    return text;
  }
}
