package io.sargo.hive;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Callable;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RemoteIterator;
import org.apache.hadoop.mapred.JobConf;

/**
 * Folders that a scan reads and that are no partitions of the table in its metadata table, such as
 * one that {@code ALTER TABLE ... ADD PARTITION} added before anything was written there.
 *
 * <p>Hudi 1.0.2 reads nothing of such a folder (HoodieBackedTableMetadata's
 * getPartitionPathWithPathPrefixes picks among the metadata table's partitions). The sidecar's list
 * is taken only if the file system agrees:
 *
 * <pre>
 *   the folder                        the scan is listed by
 *   is not there                      the sidecar
 *   is empty                          the sidecar
 *   holds .hoodie_partition_metadata  the sidecar
 *   holds anything else               Hudi
 * </pre>
 */
final class UnknownFolders {
  /** As in the IDL. */
  static final int MAX_COUNT = 32;

  private static final String MARKER = ".hoodie_partition_metadata";

  private UnknownFolders() {}

  /** Throws ByHudi unless none of the folders holds a file. Each costs one request. */
  static void verify(ScannedTable table, Collection<String> folders, JobConf job)
      throws IOException, ByHudi {
    if (folders.isEmpty()) {
      return;
    }
    FileSystem fs = table.base.getFileSystem(job);
    List<Callable<String>> questions = new ArrayList<>();
    for (String folder : folders) {
      Path path = new Path(SliceStatuses.path(table, folder).toUri());
      questions.add(() -> firstEntry(path, fs));
    }
    for (String found : SideBySide.all(questions)) {
      ByHudi.when(
          found != null,
          ByHudi.Reason.UNKNOWN_PARTITION,
          found + " is in a folder that the metadata table does not have as a partition");
    }
  }

  /** A file or folder in this one, or null. */
  private static String firstEntry(Path folder, FileSystem fs) throws IOException {
    try {
      RemoteIterator<FileStatus> entries = fs.listStatusIterator(folder);
      while (entries.hasNext()) {
        FileStatus entry = entries.next();
        if (entry.isDirectory() || !entry.getPath().getName().startsWith(MARKER)) {
          return entry.getPath().toString();
        }
      }
      return null;
    } catch (FileNotFoundException e) {
      return null;
    }
  }
}
