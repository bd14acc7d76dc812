package io.sargo.spark.scans;

import io.sargo.client.KeepAll;
import io.sargo.client.Settings;
import io.sargo.spark.hudi.HudiTable;
import io.sargo.spark.shims.Reflection;
import io.sargo.spark.shims.Seqs;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;

/**
 * The file slices that Hudi lists for a scan, and the names of their files relative to the table's
 * base path.
 *
 * <p>Hudi lists one file of each slice: its base file, or a log file where it has no base file. The
 * other files of a slice with log files are in the partition values of its directory. A slice is
 * skipped only if each of its names may be skipped.
 *
 * <pre>
 *   listed                              names                  skipped if
 *   file:/t/dt=1/a_0_1.parquet          dt=1/a_0_1.parquet     bit 0
 *   file:/t/dt=1/b_0_1.parquet          dt=1/b_0_1.parquet     bits 1 and 2
 *     with the log .b_2.log.1           dt=1/.b_2.log.1
 *   file:/elsewhere/c_0_1.parquet       (none)                 never
 * </pre>
 */
final class ListedSlices {
  /** How many slices are listed. */
  final int count;

  /** The names of all files in order, joined by line feeds. */
  final byte[] names;

  final int nameCount;

  private final List<PartitionDirectory> directories;

  /** Slice i has the names {@code firstName[i]} to {@code firstName[i + 1] - 1}. */
  private final int[] firstName;

  private final long[] bytes;

  /** Throws KeepAll if there are no names, or too many. */
  ListedSlices(HudiTable table, List<PartitionDirectory> directories)
      throws KeepAll, ReflectiveOperationException {
    this.directories = directories;
    String prefix = table.prefix();
    int slices = 0;
    for (PartitionDirectory directory : directories) {
      slices += directory.files().size();
    }
    count = slices;
    firstName = new int[count + 1];
    bytes = new long[count];
    StringBuilder joined = new StringBuilder();
    int n = 0;
    int i = 0;
    for (PartitionDirectory directory : directories) {
      for (FileStatusWithMetadata file : Seqs.list(directory.files())) {
        Files files = new Files(directory, file);
        for (String path : files.pathsBelow(prefix)) {
          joined.append(n == 0 ? "" : "\n").append(path, prefix.length(), path.length());
          n++;
        }
        bytes[i] = files.bytes;
        firstName[++i] = n;
      }
    }
    KeepAll.when(n == 0, KeepAll.Reason.NO_FILES, "none of the table's own files is listed");
    KeepAll.when(n > Settings.MAX_NAMES, KeepAll.Reason.TOO_MANY_FILES, n + " files");
    nameCount = n;
    names = joined.toString().getBytes(StandardCharsets.UTF_8);
  }

  /** The slices of which a name is not to be skipped. */
  Narrowing without(BitSet skip) {
    List<PartitionDirectory> left = new ArrayList<>();
    long size = 0;
    int kept = 0;
    int i = 0;
    for (PartitionDirectory directory : directories) {
      List<FileStatusWithMetadata> files = new ArrayList<>();
      for (FileStatusWithMetadata file : Seqs.list(directory.files())) {
        boolean isNamed = firstName[i] < firstName[i + 1];
        if (!isNamed || skip.nextClearBit(firstName[i]) < firstName[i + 1]) {
          files.add(file);
          size += bytes[i];
        }
        i++;
      }
      kept += files.size();
      if (!files.isEmpty()) {
        left.add(new PartitionDirectory(directory.values(), Seqs.of(files)));
      }
    }
    return new Narrowing(left, count, kept, size);
  }

  /** The files of one slice. */
  private static final class Files {
    private final List<String> paths = new ArrayList<>();
    long bytes;
    private boolean isNamed = true;

    Files(PartitionDirectory directory, FileStatusWithMetadata listed)
        throws ReflectiveOperationException {
      Path path = listed.getPath();
      boolean isLog = path.getName().startsWith(".");
      bytes = listed.getLen();
      Object slice = HudiTable.sliceOf(directory.values(), HudiTable.fileId(path.getName()));
      if (slice == null) {
        paths.add(HudiTable.pathOf(path));
        isNamed = !isLog; // a slice of log files whose other files are not known
        return;
      }
      if (isLog) {
        bytes = 0;
      } else {
        paths.add(HudiTable.pathOf(path));
      }
      String folder = HudiTable.pathOf(path.getParent()) + "/";
      Object[] logs = ((Stream<?>) Reflection.call(slice, "getLogFiles")).toArray();
      for (Object log : logs) {
        paths.add(folder + Reflection.call(log, "getFileName"));
        bytes += Math.max(0, (Long) Reflection.call(log, "getFileSize"));
      }
      Object base = Reflection.call(slice, "getBaseFile");
      isNamed = isLog != (Boolean) Reflection.call(base, "isPresent") && !paths.isEmpty();
    }

    /** The paths, or none if one of them cannot be named. */
    List<String> pathsBelow(String prefix) {
      for (String path : paths) {
        isNamed &= path.startsWith(prefix) && path.indexOf('\n') < 0;
      }
      return isNamed ? paths : Collections.<String>emptyList();
    }
  }
}
