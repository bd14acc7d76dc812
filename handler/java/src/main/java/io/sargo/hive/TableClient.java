package io.sargo.hive;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.hadoop.utils.HoodieInputFormatUtils;
import org.apache.hudi.storage.hadoop.HoodieHadoopStorage;

/**
 * Hudi's client of the table of a path.
 *
 * <p>Hudi 1.0.2 makes it with eight requests, one after another (HoodieInputFormatUtils'
 * getTableMetaClientForBasePathUnchecked, then the timeline). Where the base path can be foreseen
 * they are sent side by side, and Hudi's own classes read what they brought:
 *
 * <pre>
 *   read                                    requests of S3A   Hudi takes of it
 *   PATH/.hoodie_partition_metadata         HEAD, GET         how far up the base path is
 *   BASE/.hoodie/hoodie.properties          HEAD, GET         the table's properties
 *   BASE/.hoodie/.index_defs/index.json     HEAD, GET         definitions of indexes
 *   BASE/.hoodie/timeline                   LIST              the active timeline
 * </pre>
 *
 * <p>A base path is foreseen where an earlier client had one above the path, and where names above
 * are partitions as Hive spells them ({@code base/dt=1/hour=2}). Hudi looks for it by itself unless
 * the partition's own file agrees.
 */
final class TableClient {
  private static final String PROPERTIES = ".hoodie/hoodie.properties";
  private static final String MARKER = ".hoodie_partition_metadata";
  private static final int MAX_BASES = 10_000;

  /** Base paths of clients that this process has made. */
  private static final Set<String> BASES = ConcurrentHashMap.newKeySet();

  private TableClient() {}

  /** Throws what Hudi throws where there is no table. */
  static HoodieTableMetaClient of(JobConf job, Path input) throws IOException {
    HoodieTableMetaClient client = null;
    try {
      client = readAhead(job, input, foreseen(input));
    } catch (LinkageError e) {
      // another version of Hudi may lack a constructor
    }
    if (client == null) {
      client = HoodieInputFormatUtils.getTableMetaClientForBasePathUnchecked(job, input);
      if (BASES.size() >= MAX_BASES) {
        BASES.clear();
      }
      BASES.add(client.getBasePath().toString());
    }
    return client;
  }

  /** Where the table's base path may be. */
  private static Path foreseen(Path input) {
    for (Path at = input; at != null; at = at.getParent()) {
      if (BASES.contains(at.toString())) {
        return at;
      }
    }
    Path at = input;
    while (at.getParent() != null && at.getName().indexOf('=') > 0) {
      at = at.getParent();
    }
    return at;
  }

  /** The client, or null unless the base path is certainly this one. */
  private static HoodieTableMetaClient readAhead(JobConf job, Path input, Path base) {
    ReadAhead fs;
    List<byte[]> read;
    try {
      ReadAhead ahead = new ReadAhead(base.getFileSystem(job), job);
      List<Callable<byte[]>> requests = new ArrayList<>();
      requests.add(() -> ahead.readFile(new Path(base, PROPERTIES)));
      requests.add(() -> ahead.readFile(new Path(input, MARKER)));
      requests.add(() -> ahead.readFile(new Path(base, ".hoodie/.index_defs/index.json")));
      requests.add(
          () -> {
            ahead.list(new Path(base, ".hoodie/timeline"));
            return null;
          });
      read = SideBySide.all(requests);
      fs = ahead;
    } catch (IOException e) {
      return null; // Hudi meets the same failure, and says it
    }
    if (!isBase(input, base, read.get(0), read.get(1))) {
      return null;
    }
    return HoodieTableMetaClient.builder()
        .setStorage(new HoodieHadoopStorage(fs))
        .setBasePath(base.toString())
        .build();
  }

  /**
   * Whether Hudi finds this base path for the input. A partition's file says how many folders lie
   * between them. Without one Hudi takes the nearest folder with {@code .hoodie}.
   */
  private static boolean isBase(Path input, Path base, byte[] properties, byte[] marker) {
    if (properties == null) {
      return false;
    }
    if (marker == null) {
      String inBaseFormat =
          load(properties).getProperty("hoodie.partition.metafile.use.base.format");
      return input.equals(base) && !"true".equalsIgnoreCase(inBaseFormat);
    }
    String depth = load(marker).getProperty("partitionDepth", "");
    return depth.equals(String.valueOf(input.depth() - base.depth()));
  }

  private static Properties load(byte[] bytes) {
    Properties properties = new Properties();
    try {
      properties.load(new ByteArrayInputStream(bytes));
    } catch (IOException | IllegalArgumentException e) {
      properties.clear(); // Hudi reads it by itself
    }
    return properties;
  }
}
