package io.sargo.spark.hudi;

import io.sargo.spark.plans.Untouched;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.BinaryOperator;
import java.util.regex.Pattern;

/**
 * The options of Hudi's relation, and the settings of the session that it takes for options: which
 * of them leave a scan as it is.
 *
 * <pre>
 *   option                                              what is done
 *   as.of.instant                                       the question is about that instant
 *   hoodie.datasource.query.type                        snapshot and read_optimized are asked about
 *   those that change speed or memory alone             nothing
 *   those that give other rows, with another value      the scan is not touched
 *   options of a reader that are not known              the scan is not touched
 * </pre>
 *
 * <p>{@code handler/spark/pruning/read_options.py} has the same list, with what each does.
 */
public final class ReadOptions {
  private static final String AS_OF = "as.of.instant";
  private static final Pattern SECONDS = Pattern.compile("\\d{14}");

  /** Option: the values, joined by a bar, with which it gives the rows of the table. */
  private static final Map<String, String> SAME_ROWS_WITH = new HashMap<>();

  /** Those of them that Hudi also takes from the session. */
  private static final String[] FROM_SESSION = {
    "hoodie.datasource.query.type",
    "hoodie.schema.on.read.enable",
    "hoodie.datasource.merge.type",
    "hoodie.datasource.write.record.merger.impls",
    "hoodie.write.record.merge.custom.implementation.classes",
    "hoodie.datasource.read.extract.partition.values.from.path",
    "hoodie.datasource.read.partition.value.extractor.enabled"
  };

  private static final Set<String> SAME_ROWS =
      new HashSet<>(
          Arrays.asList(
              AS_OF,
              "hoodie.query.as.ro.table",
              "hoodie.datasource.read.use.new.parquet.file.format"));

  private static final String[] SAME_ROWS_FAMILIES = {"hoodie.datasource.read.file.index."};
  private static final String[] READ_FAMILIES = {
    "hoodie.datasource.read.",
    "hoodie.datasource.query.",
    "hoodie.datasource.view.",
    "hoodie.datasource.merge.",
    "hoodie.datasource.streaming.",
    "hoodie.query.",
    "hoodie.read."
  };

  static {
    String[][] rows = {
      {"hoodie.datasource.query.type", "snapshot|read_optimized"},
      {"hoodie.schema.on.read.enable", "false"},
      {"hoodie.datasource.read.begin.instanttime", ""},
      {"hoodie.datasource.read.end.instanttime", ""},
      {"hoodie.datasource.read.start.timestamp", ""},
      {"hoodie.datasource.read.end.timestamp", ""},
      {"hoodie.datasource.query.incremental.format", "latest_state"},
      {"hoodie.datasource.read.schema.use.end.instanttime", "false"},
      {"hoodie.datasource.read.incr.fallback.fulltablescan.enable", "false"},
      {"hoodie.datasource.read.incr.filters", ""},
      {"hoodie.datasource.read.incr.path.glob", ""},
      {"hoodie.datasource.read.incr.skip_cluster", "false"},
      {"hoodie.datasource.read.incr.skip_compact", "false"},
      {"hoodie.read.timeline.holes.resolution.policy", "fail"},
      {"hoodie.datasource.merge.type", "payload_combine"},
      {"hoodie.datasource.write.record.merger.impls", ""},
      {"hoodie.write.record.merge.custom.implementation.classes", ""},
      {"hoodie.datasource.read.paths", ""},
      {"glob.paths", ""},
      {"hoodie.datasource.read.create.filesystem.relation", "false"},
      {"hoodie.datasource.read.table.valued.function.filesystem.relation.subpath", ""},
      {"hoodie.datasource.read.table.valued.function.timeline.relation", "false"},
      {"hoodie.datasource.read.table.valued.function.timeline.relation.archived", "false"},
      {"hoodie.datasource.read.extract.partition.values.from.path", "false"},
      {"hoodie.datasource.read.partition.value.extractor.enabled", "false"},
      {"hoodie.datasource.view.type", "realtime"},
      {"timestampasof", ""},
      {"versionasof", ""}
    };
    for (String[] row : rows) {
      SAME_ROWS_WITH.put(row[0], row[1]);
    }
  }

  private ReadOptions() {}

  /**
   * {@code session} gives the value of a setting, or the default in its second argument. Throws
   * Untouched for an option with which rows may be others than those of the table.
   */
  public static void check(Map<String, String> options, BinaryOperator<String> session)
      throws Untouched {
    Set<String> given = new HashSet<>();
    for (Map.Entry<String, String> option : options.entrySet()) {
      String name = option.getKey().toLowerCase(Locale.ROOT);
      given.add(name);
      Untouched.when(
          !keepsRows(name, option.getValue()), "the option " + name + " may give other rows");
    }
    for (String name : FROM_SESSION) {
      for (String key : new String[] {name, "spark." + name}) {
        String value = given.contains(name) ? null : session.apply(key, null);
        Untouched.when(
            value != null && !keepsRows(name, value),
            "the setting " + key + " may give other rows");
      }
    }
  }

  /** The instant of a time travel as the sidecar takes it, or null. */
  public static String instant(Map<String, String> options) {
    for (Map.Entry<String, String> option : options.entrySet()) {
      if (option.getKey().equalsIgnoreCase(AS_OF) && option.getValue() != null) {
        String instant = option.getValue();
        // Hudi compares digits as text: 14 of them are before the instants of that second.
        return SECONDS.matcher(instant).matches() ? instant + "0" : instant;
      }
    }
    return null;
  }

  static boolean keepsRows(String name, String value) {
    String allowed = SAME_ROWS_WITH.get(name);
    if (allowed != null) {
      return value != null
          && Arrays.asList(allowed.split("\\|")).contains(value.toLowerCase(Locale.ROOT));
    }
    return SAME_ROWS.contains(name)
        || startsWithAny(name, SAME_ROWS_FAMILIES)
        || !startsWithAny(name, READ_FAMILIES);
  }

  private static boolean startsWithAny(String name, String[] prefixes) {
    return Arrays.stream(prefixes).anyMatch(name::startsWith);
  }
}
