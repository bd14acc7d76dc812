package io.sargo.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The list of addresses, the order in which they are asked, and the warning of a loopback. */
class AddressTest {
  private static final List<String> TABLES =
      IntStream.range(0, 3000).mapToObj(i -> "file:/warehouse/db/table_" + i).toList();

  private static List<String> order(String addresses, String table) throws IOException {
    return Address.inOrder(Address.list(addresses), table).stream().map(a -> a.text).toList();
  }

  private static String first(String addresses, String table) {
    try {
      return order(addresses, table).get(0);
    } catch (IOException e) {
      throw new IllegalArgumentException(e);
    }
  }

  // ---- the list

  @ParameterizedTest
  @CsvSource({
    "localhost:10950, localhost, 10950",
    "' 10.0.0.1:1 ', 10.0.0.1, 1",
    "[::1]:65535, ::1, 65535",
    "sidecar.example.org:10950, sidecar.example.org, 10950",
  })
  void anAddressIsAHostAndAPort(String text, String host, int port) throws IOException {
    Address address = Address.list(text).get(0);
    assertEquals(host, address.host);
    assertEquals(port, address.port);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost",
        "localhost:",
        ":10950",
        "h:0",
        "h:010950",
        "h:65536",
        "h:999999",
        "h:x",
        "a:1;b:2",
        "a:1, b"
      })
  void anythingElseIsNoAddress(String text) {
    assertThrows(IOException.class, () -> Address.list(text));
  }

  @Test
  void aListHoldsEachAddressOnceAndBlanksDoNotCount() throws IOException {
    assertEquals("[a:1, b:2]", Address.list(" a:1 ,, b:2,a:1,\n").toString());
    assertEquals(List.of(), Address.list(" , "));
  }

  @Test
  void aListHasABound() throws IOException {
    String many = IntStream.range(1, 65).mapToObj(i -> "a:" + i).collect(Collectors.joining(","));
    assertEquals(64, Address.list(many).size());
    assertThrows(IOException.class, () -> Address.list(many + ",b:1"));
  }

  // ---- the order

  static Stream<Arguments> examples() throws IOException {
    Properties examples = new Properties();
    try (InputStream in = AddressTest.class.getResourceAsStream("addresses.properties")) {
      examples.load(in);
    }
    String addresses = examples.getProperty("addresses");
    return examples.stringPropertyNames().stream()
        .filter(name -> name.startsWith("table."))
        .map(
            name -> {
              String number = name.substring("table.".length());
              return Arguments.of(
                  addresses,
                  examples.getProperty(name),
                  examples.getProperty("path." + number),
                  examples.getProperty("order." + number));
            });
  }

  @ParameterizedTest(name = "{1}")
  @MethodSource("examples")
  void theOrderIsThatOfThePythonClient(String addresses, String table, String path, String expected)
      throws IOException {
    assertEquals(path, Address.path(table));
    assertEquals(Arrays.asList(expected.split(",")), order(addresses, table));
  }

  @Test
  void theOrderOfTheListDoesNotMatter() throws IOException {
    List<String> shuffled = new ArrayList<>(List.of("a:1", "b:2", "c:3", "d:4"));
    List<String> expected = order("a:1,b:2,c:3,d:4", "file:/t");
    for (int i = 0; i < 10; i++) {
      Collections.shuffle(shuffled);
      assertEquals(expected, order(String.join(",", shuffled), "file:/t"));
    }
  }

  @Test
  void eachAddressGetsItsShareOfTheTables() {
    Map<String, Integer> tables = new HashMap<>();
    TABLES.forEach(table -> tables.merge(first("a:1,b:2,c:3", table), 1, Integer::sum));
    tables.values().forEach(n -> assertTrue(n > 850 && n < 1150, tables.toString()));
  }

  @Test
  void anAddressThatIsRemovedMovesItsOwnTablesOnlyAndToAllOthers() {
    Set<String> heirs = new HashSet<>();
    for (String table : TABLES) {
      String before = first("a:1,b:2,c:3", table), after = first("a:1,c:3", table);
      if (before.equals("b:2")) {
        heirs.add(after);
      } else {
        assertEquals(before, after);
      }
    }
    assertEquals(Set.of("a:1", "c:3"), heirs);
  }

  // ---- the loopback

  @ParameterizedTest
  @ValueSource(strings = {"127.0.0.1:1", "127.1.2.3:1", "localhost:1", "LOCALHOST:1", "[::1]:1"})
  void aContainerIsWarnedOfALoopbackOnce(String text) throws IOException {
    Set<String> warned = new HashSet<>();
    List<Address> addresses = Address.list("sidecar.example.org:1," + text);
    String warning = Loopback.warning(addresses, "container_1", warned);
    assertNotNull(warning);
    assertTrue(warning.contains(text) && warning.contains("container_1"), warning);
    assertNull(Loopback.warning(addresses, "container_1", warned));
  }

  @Test
  void nobodyIsWarnedOutsideOfAContainerOrOfAnotherAddress() throws IOException {
    Set<String> warned = new HashSet<>();
    assertNull(Loopback.warning(Address.list("127.0.0.1:1"), null, warned));
    String others = "10.127.0.1:1,sidecar:1,localhost.example.org:1,[::2]:1,128.0.0.1:1";
    for (Address address : Address.list(others)) {
      assertFalse(address.isLoopback(), address.text);
    }
    assertNull(Loopback.warning(Address.list(others), "container_1", warned));
  }
}
