package io.sargo.hive;

import io.sargo.client.KeepAll;
import io.sargo.client.Settings;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hudi.common.model.HoodieLogFile;
import org.apache.hudi.hadoop.FileStatusWithBootstrapBaseFile;
import org.apache.hudi.hadoop.LocatedFileStatusWithBootstrapBaseFile;
import org.apache.hudi.hadoop.RealtimeFileStatus;
import org.apache.hudi.hadoop.realtime.HoodieRealtimePath;

/**
 * The files that Hudi listed for one scan, and their names in the request to the sidecar, relative
 * to the table's base path.
 *
 * <p>A file slice of a realtime listing has several names (its base file and its log files). It is
 * skipped only if the answer skips each of them. A file that cannot be named (outside the base
 * path, or bootstrapped) has no name and is always kept.
 *
 * <pre>
 *   listed                                   names                     skipped if
 *   file:/t/dt=1/a.parquet                   dt=1/a.parquet            bit 0
 *   file:/t/dt=1/b.parquet + .b.log.1        dt=1/b.parquet            bits 1 and 2
 *                                            dt=1/.b.log.1
 *   file:/elsewhere/c.parquet                (none)                    never
 * </pre>
 */
final class Listing {
  final FileStatus[] files;
  final Path base;
  final Properties table;

  /** The names of all files in order, joined by line feeds. */
  final byte[] names;

  final int nameCount;

  /** The instant that every slice was listed for; null unless the listing is realtime. */
  final String instant;

  private boolean incremental;

  /** File i has the names {@code firstName[i]} to {@code firstName[i + 1] - 1}. */
  private final int[] firstName;

  Listing(Configuration conf, FileStatus[] files) throws IOException, KeepAll {
    KeepAll.when(files.length == 0, KeepAll.Reason.NO_FILES, "nothing was listed");
    this.files = files;
    table = new Properties();
    base = findBase(conf, files[0].getPath().getParent(), table);
    firstName = new int[files.length + 1];
    String prefix = base.toUri().getPath() + "/";
    StringBuilder joined = new StringBuilder();
    Set<String> instants = new LinkedHashSet<>();
    int n = 0;
    for (int i = 0; i < files.length; i++) {
      for (String path : pathsOf(files[i], prefix)) {
        joined.append(n == 0 ? "" : "\n").append(path, prefix.length(), path.length());
        n++;
      }
      firstName[i + 1] = n;
      if (files[i] instanceof RealtimeFileStatus) {
        instants.add(((RealtimeFileStatus) files[i]).getMaxCommitTime());
        incremental |=
            files[i].getPath() instanceof HoodieRealtimePath
                && ((HoodieRealtimePath) files[i].getPath()).getBelongsToIncrementalQuery();
      }
    }
    KeepAll.when(n > Settings.MAX_NAMES, KeepAll.Reason.TOO_MANY_FILES, n + " files");
    KeepAll.when(
        n == 0 || instants.size() > 1,
        KeepAll.Reason.UNKNOWN_TABLE,
        n + " of the table's own files are listed, for the instants " + instants);
    nameCount = n;
    names = joined.toString().getBytes(StandardCharsets.UTF_8);
    instant = instants.isEmpty() ? null : instants.iterator().next();
  }

  static boolean isMergeOnRead(Properties table) {
    return "MERGE_ON_READ".equals(table.getProperty("hoodie.table.type"));
  }

  boolean isIncremental(Configuration conf) {
    return incremental || isIncremental(conf, table);
  }

  static boolean isIncremental(Configuration conf, Properties table) {
    return "INCREMENTAL".equalsIgnoreCase(consumeSetting(conf, table, "mode"));
  }

  /** The listed files, less those of which every name is to be skipped. */
  FileStatus[] without(BitSet skip) {
    List<FileStatus> kept = new ArrayList<>();
    for (int i = 0; i < files.length; i++) {
      if (firstName[i] == firstName[i + 1] || skip.nextClearBit(firstName[i]) < firstName[i + 1]) {
        kept.add(files[i]);
      }
    }
    return kept.toArray(new FileStatus[0]);
  }

  /**
   * The paths of a listed file: its base file and its log files. Empty if one of them cannot be
   * named.
   */
  private static Set<String> pathsOf(FileStatus file, String prefix) {
    Set<String> paths = new LinkedHashSet<>();
    boolean unnameable =
        file instanceof FileStatusWithBootstrapBaseFile
            || file instanceof LocatedFileStatusWithBootstrapBaseFile;
    Path path = file.getPath();
    paths.add(path.toUri().getPath());
    if (file instanceof RealtimeFileStatus) {
      unnameable |=
          !(path instanceof HoodieRealtimePath)
              || ((HoodieRealtimePath) path).includeBootstrapFilePath();
      for (HoodieLogFile log : ((RealtimeFileStatus) file).getDeltaLogFiles()) {
        paths.add(log.getPath().toUri().getPath());
      }
    }
    for (String name : paths) {
      unnameable |= !name.startsWith(prefix) || name.indexOf('\n') >= 0;
    }
    if (unnameable) {
      paths.clear();
    }
    return paths;
  }

  /**
   * The nearest folder, from this one upwards, with .hoodie/hoodie.properties. Loads these
   * properties.
   */
  static Path findBase(Configuration conf, Path folder, Properties properties)
      throws IOException, KeepAll {
    FileSystem fs = folder.getFileSystem(conf);
    for (Path at = folder; at != null; at = at.getParent()) {
      Path file = new Path(at, ".hoodie/hoodie.properties");
      if (fs.exists(file)) {
        try (InputStream in = fs.open(file)) {
          properties.load(in);
        }
        return at;
      }
    }
    throw new KeepAll(KeepAll.Reason.UNKNOWN_TABLE, "no Hudi table above the listed files");
  }

  /** Whether the job has any setting {@code hoodie.<table>.consume.<what>}. */
  static boolean hasConsumeSetting(Configuration conf, Properties table) {
    String name = "." + table.getProperty("hoodie.table.name", "") + ".consume.";
    return !conf.getValByRegex("^hoodie\\b.*" + Pattern.quote(name)).isEmpty();
  }

  /** The value of {@code hoodie.<table>.consume.<what>}, with or without a database in the key. */
  static String consumeSetting(Configuration conf, Properties table, String what) {
    String name = "." + table.getProperty("hoodie.table.name", "") + ".consume." + what;
    return conf.getValByRegex("^hoodie\\b.*" + Pattern.quote(name) + "$").values().stream()
        .findFirst()
        .orElse(null);
  }
}
