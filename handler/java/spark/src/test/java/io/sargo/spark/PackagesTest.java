package io.sargo.spark;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The packages use each other as {@code package-info.java} draws it. */
class PackagesTest {
  private static final String ROOT = "io/sargo/spark";

  /** Package: those whose classes it uses, of this package itself "". */
  private static final Map<String, Set<String>> USES =
      Map.ofEntries(
          Map.entry("", Set.of("aggregates", "buckets", "joins", "scans")),
          Map.entry("aggregates", Set.of("plans", "scans", "shims")),
          Map.entry("buckets", Set.of("hashing", "hudi", "plans", "question", "scans", "shims")),
          Map.entry("joins", Set.of("plans", "question", "scans", "shims")),
          Map.entry("scans", Set.of("formats", "hudi", "plans", "question", "shims")),
          Map.entry("formats", Set.of("hudi", "plans", "shims")),
          Map.entry("hashing", Set.of("plans", "shims")),
          Map.entry("hudi", Set.of("plans", "shims")),
          Map.entry("question", Set.of("plans", "shims")),
          Map.entry("plans", Set.of("shims")),
          Map.entry("shims", Set.of()));

  private static final Pattern IMPORT =
      Pattern.compile("(?m)^import (?:static )?io\\.sargo\\.spark\\.(?:([a-z]+)\\.)?[A-Z]");

  @Test
  void aPackageUsesThoseBelowIt() throws IOException {
    Set<String> seen = new TreeSet<>();
    for (String source : List.of("src/main/java", "src/scala-2.12/java", "src/scala-2.13/java")) {
      Path root = Path.of(source, ROOT);
      for (Path file : sources(root)) {
        String own = root.relativize(file.getParent()).toString();
        seen.add(own);
        Matcher imported = IMPORT.matcher(Files.readString(file));
        while (imported.find()) {
          String used = imported.group(1) == null ? "" : imported.group(1);
          assertTrue(USES.get(own).contains(used), () -> file + " uses \"" + used + "\"");
        }
      }
    }
    assertEquals(new TreeSet<>(USES.keySet()), seen);
  }

  private static List<Path> sources(Path root) throws IOException {
    try (Stream<Path> files = Files.walk(root)) {
      return files.filter(file -> file.toString().endsWith(".java")).collect(Collectors.toList());
    }
  }
}
