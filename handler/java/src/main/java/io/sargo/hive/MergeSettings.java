package io.sargo.hive;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.hadoop.mapred.JobConf;

/**
 * Whether Hudi's reader merges log files by the table's own settings alone. A job may tell it not
 * to merge (<code>hoodie.realtime.merge.skip</code>), or to merge by another class or column.
 */
final class MergeSettings {
  private static final List<String> TELLING =
      Arrays.asList("merge", "payload", "ordering", "precombine");

  private MergeSettings() {}

  /** False where any setting of Hudi's about merging is set, whatever its value is. */
  static boolean areDefaults(JobConf job) {
    for (Map.Entry<String, String> setting : job) {
      String name = setting.getKey().toLowerCase(Locale.ROOT);
      if (name.startsWith("hoodie.")
          && !name.startsWith("hoodie.memory.") // how much of it is held in memory
          && TELLING.stream().anyMatch(name::contains)) {
        return false;
      }
    }
    return true;
  }
}
