package io.sargo.client;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns when a container of YARN is to reach the sidecar by a loopback address.
 *
 * <p>A container runs on any node. Where only one node has a sidecar, the containers of the others
 * read every file, and no query fails. Each address is warned of once in a process.
 */
final class Loopback {
  private static final Logger LOG = LoggerFactory.getLogger(Loopback.class);
  private static final Set<String> WARNED = ConcurrentHashMap.newKeySet();

  private Loopback() {}

  static void warn(List<Address> addresses) {
    String text = warning(addresses, System.getenv("CONTAINER_ID"), WARNED);
    if (text != null) {
      LOG.warn(text);
    }
  }

  /** The warning, or null. {@code container}: YARN's id of it, or null outside of one. */
  static String warning(List<Address> addresses, String container, Set<String> warned) {
    if (container == null) {
      return null;
    }
    for (Address address : addresses) {
      if (address.isLoopback() && warned.add(address.text)) {
        return "sargo: "
            + address
            + " is the loopback of each node, and this is container "
            + Printable.text(container)
            + ": a node without a sidecar of its own reads every file. Set sargo.sidecar.address to"
            + " an address that all nodes reach";
      }
    }
    return null;
  }
}
