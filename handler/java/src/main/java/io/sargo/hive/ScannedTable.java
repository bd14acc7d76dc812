package io.sargo.hive;

import io.sargo.client.Settings;
import java.io.IOException;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.table.timeline.HoodieInstant;
import org.apache.hudi.common.table.timeline.HoodieTimeline;
import org.apache.hudi.common.util.Option;

/**
 * The table of a scan that the sidecar may list, the folders that the scan reads, and the state of
 * the table that Hudi would list now.
 *
 * <p>What Hudi 1.0.2 lists by a path (BaseHoodieTableFileIndex), and what the sidecar is asked for:
 *
 * <pre>
 *   table             path         Hudi lists                          folders of the request
 *   partitioned       base path    every partition                     none: every one
 *   partitioned       base/dt=1    the partition dt=1, those below it  dt=1 (refused if it is none)
 *   not partitioned   base path    the base path alone                 the empty text
 * </pre>
 */
final class ScannedTable {
  final Path base;
  final Properties properties;

  /** The folders that the scan reads, relative to the base path, or null for every partition. */
  private Set<String> folders = new LinkedHashSet<>();

  private final HoodieTableMetaClient client;
  private HoodieTimeline commits;

  /**
   * The table that Hudi finds for the input paths. Throws ByHudi if they are not folders of one
   * table, or if Hudi lists it in a way that the sidecar does not.
   */
  ScannedTable(JobConf job) throws IOException, ByHudi {
    Path[] inputs = FileInputFormat.getInputPaths(job);
    ByHudi.when(inputs.length == 0, ByHudi.Reason.UNKNOWN_TABLE, "the job has no input path");
    ByHudi.when(
        "false".equalsIgnoreCase(job.getTrimmed("hoodie.metadata.enable")),
        ByHudi.Reason.METADATA_DISABLED,
        "the job sets hoodie.metadata.enable=false");
    client = TableClient.of(job, inputs[0]);
    client.getTableConfig().getTableVersion(); // throws for a version that this Hudi cannot read
    properties = client.getTableConfig().getProps();
    base = aboveOrAt(inputs[0], client.getBasePath().toUri().getPath());
    for (Path input : inputs) {
      addFolder(input);
    }
    ByHudi.when(
        Listing.hasConsumeSetting(job, properties),
        ByHudi.Reason.CONSUME_SETTING,
        "the job has settings hoodie.<table>.consume");
    ByHudi.when(
        !properties.getProperty("hoodie.bootstrap.base.path", "").isEmpty(),
        ByHudi.Reason.BOOTSTRAPPED,
        "the table is bootstrapped");
    String indexes = properties.getProperty("hoodie.table.metadata.partitions", "");
    ByHudi.when(
        Arrays.stream(indexes.split(",")).noneMatch(name -> name.trim().equals("files")),
        ByHudi.Reason.NO_METADATA_TABLE,
        "the table has no metadata table with its files");
  }

  /**
   * The folder with this path, as the job spells it: scheme and authority are those of the input.
   */
  private static Path aboveOrAt(Path input, String path) throws ByHudi {
    for (Path at = input; at != null; at = at.getParent()) {
      if (at.toUri().getPath().equals(path)) {
        return at;
      }
    }
    throw new ByHudi(
        ByHudi.Reason.UNKNOWN_TABLE, "Hudi takes " + path + " for the base path of " + input);
  }

  private void addFolder(Path input) throws ByHudi {
    String prefix = base.toUri().getPath().equals("/") ? "/" : base.toUri().getPath() + "/";
    String path = input.toUri().getPath() + "/";
    ByHudi.when(
        !Objects.equals(input.toUri().getScheme(), base.toUri().getScheme())
            || !Objects.equals(input.toUri().getAuthority(), base.toUri().getAuthority())
            || !path.startsWith(prefix),
        ByHudi.Reason.UNKNOWN_TABLE,
        input + " is not below " + base);
    String folder =
        path.length() == prefix.length() ? "" : path.substring(prefix.length(), path.length() - 1);
    ByHudi.when(
        !folder.isEmpty() && !PlannedSlices.isRelative(folder),
        ByHudi.Reason.UNUSUAL_FOLDER,
        "a folder has unusual characters");
    folders.add(folder);
  }

  /** Reads the timeline. Throws ByHudi if nothing is committed. */
  ScannedTable open() throws ByHudi {
    boolean isPartitioned =
        client.getTableConfig().getPartitionFields().map(fields -> fields.length > 0).orElse(false);
    ByHudi.when(
        !isPartitioned && !folders.equals(Collections.singleton("")),
        ByHudi.Reason.UNKNOWN_TABLE,
        "folders of a table that is not partitioned are read");
    if (isPartitioned && folders.contains("")) {
      folders = null;
    }
    // The last of these is the query's instant in Hudi's own listing (getLatestCompletedInstant):
    // the actions that its timeline has beside these are of no completed instant.
    commits = client.getCommitsTimeline().filterCompletedInstants();
    ByHudi.when(commits.empty(), ByHudi.Reason.NO_COMMIT, "nothing is committed");
    return this;
  }

  /** A request for the files of the scan, without what it says of the filter. */
  PlanRequest request(JobConf job, boolean merged, Settings settings) throws IOException {
    Session session = new Session(job);
    PlanRequest request = new PlanRequest();
    request.table = base.toUri().toString();
    request.engine = session.engine;
    request.engineVersion = session.engineVersion;
    request.timeZone = session.timeZone;
    request.queryId = session.queryId;
    request.user = session.user;
    request.merged = merged;
    request.queryType =
        !merged && Listing.isMergeOnRead(properties) ? "read_optimized" : "snapshot";
    request.mergesRows = merged && MergeSettings.areDefaults(job);
    request.instant = commits.lastInstant().get().requestedTime();
    request.instantCount = commits.countInstants();
    if (folders != null) {
      request.setPartitions(folders, settings.compressFrom);
    }
    return request;
  }

  HoodieTableMetaClient client() {
    return client;
  }

  /** The completed instant of an answer. Throws ByHudi if the timeline has none with that time. */
  HoodieInstant instant(String requestedTime) throws ByHudi {
    Option<HoodieInstant> found =
        Option.fromJavaOptional(
            commits
                .getInstantsAsStream()
                .filter(instant -> instant.requestedTime().equals(requestedTime))
                .findFirst());
    ByHudi.when(
        !found.isPresent(),
        ByHudi.Reason.UNKNOWN_INSTANT,
        "the timeline has no completed instant " + requestedTime);
    return found.get();
  }
}
