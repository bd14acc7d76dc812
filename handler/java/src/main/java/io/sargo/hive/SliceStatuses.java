package io.sargo.hive;

import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hudi.common.fs.FSUtils;
import org.apache.hudi.common.model.FileSlice;
import org.apache.hudi.common.model.HoodieBaseFile;
import org.apache.hudi.common.model.HoodieFileGroupId;
import org.apache.hudi.common.model.HoodieLogFile;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.table.timeline.HoodieInstant;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.storage.StoragePath;
import org.apache.hudi.storage.StoragePathInfo;

/**
 * The slices of a plan as Hudi's input format lists them: slices are made as Hudi makes them of its
 * metadata table's files (HoodieMetadataPayload.getFileList), and their statuses by the input
 * format itself.
 *
 * <p>No file system is asked. Hudi's own listing, too, gives these files no replication and no time
 * of modification, and the default block size of the folder.
 */
final class SliceStatuses {
  /** Hudi's input format of one view. */
  interface HudiFormat {
    /** Hudi's own listing of the job's input paths. */
    FileStatus[] listAll(JobConf job) throws IOException;

    /** What Hudi's own listing has for a slice. */
    FileStatus statusOf(
        FileSlice slice, Option<HoodieInstant> instant, String base, HoodieTableMetaClient client);
  }

  private final ScannedTable table;
  private final HudiFormat format;
  private final Map<String, Long> blockSizes = new HashMap<>();

  SliceStatuses(ScannedTable table, HudiFormat format) {
    this.table = table;
    this.format = format;
  }

  FileStatus[] of(PlannedSlices slices, String instant) throws ByHudi {
    Option<HoodieInstant> at = Option.of(table.instant(instant));
    String base = table.client().getBasePath().toString();
    FileStatus[] statuses = new FileStatus[slices.count()];
    for (int i = 0; i < statuses.length; i++) {
      statuses[i] = format.statusOf(slice(slices, i), at, base, table.client());
    }
    return statuses;
  }

  private FileSlice slice(PlannedSlices slices, int i) {
    HoodieBaseFile baseFile = null;
    List<HoodieLogFile> logFiles = new ArrayList<>();
    for (int file = slices.firstFile[i]; file < slices.firstFile[i + 1]; file++) {
      StoragePathInfo info = info(slices.names[file], slices.lengths[file]);
      if (PlannedSlices.isLogFile(slices.names[file])) {
        logFiles.add(new HoodieLogFile(info)); // the slice puts them into Hudi's order
      } else {
        baseFile = new HoodieBaseFile(info);
      }
    }
    String first = slices.names[slices.firstFile[i]];
    String file = first.substring(first.lastIndexOf('/') + 1);
    return new FileSlice(
        new HoodieFileGroupId(folderOf(first), FSUtils.getFileIdFromFileName(file)),
        FSUtils.getCommitTime(file),
        baseFile,
        logFiles);
  }

  private StoragePathInfo info(String name, long length) {
    long blockSize = blockSizes.computeIfAbsent(folderOf(name), this::blockSize);
    return new StoragePathInfo(path(table, name), length, false, (short) 0, blockSize, 0);
  }

  private long blockSize(String folder) {
    StoragePath base = table.client().getBasePath();
    return table
        .client()
        .getStorage()
        .getDefaultBlockSize(folder.isEmpty() ? base : path(table, folder));
  }

  /** A path below the base path. A name with a colon is no URI, as it would be to Hadoop's Path. */
  static StoragePath path(ScannedTable table, String name) {
    URI base = table.client().getBasePath().toUri();
    String folder = base.getPath().equals("/") ? "" : base.getPath();
    try {
      return new StoragePath(
          new URI(base.getScheme(), base.getAuthority(), folder + "/" + name, null, null));
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static String folderOf(String name) {
    return name.substring(0, Math.max(0, name.lastIndexOf('/')));
  }
}
