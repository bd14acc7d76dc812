package io.sargo.spark.hudi;

import io.sargo.spark.plans.Untouched;
import io.sargo.spark.shims.Reflection;
import io.sargo.spark.shims.Seqs;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.sources.BaseRelation;
import scala.Option;

/**
 * The table that an index of Hudi lists: read by the names of Hudi's methods, because no class of
 * Hudi is named when this is compiled.
 */
public final class HudiTable {
  /** Hudi's index of snapshots. Those of incremental and CDC queries are subclasses of it. */
  static final String INDEX = "org.apache.hudi.HoodieFileIndex";

  /** What lists its own files, and plans them. Hudi 0.15.0 reads snapshots of merged tables so. */
  private static final String OWN_RELATION = "org.apache.hudi.MergeOnReadSnapshotRelation";

  private static final String BY_INDEX =
      "hoodie.datasource.read.use.new.parquet.file.format=true makes it read by an index of files";

  /** Versions of Hudi whose index, slices and names the tests have run with. */
  private static final Set<String> TESTED =
      new HashSet<>(Arrays.asList("0.15.0", "1.0.1", "1.0.2", "1.1.1", "1.2.0"));

  private final Path base;

  /** Whether the slices are listed with their log files. */
  private final boolean withLogs;

  private final boolean isMergeOnRead;

  HudiTable(Path base, boolean isMergeOnRead, boolean withLogs) {
    this.base = base;
    this.isMergeOnRead = isMergeOnRead;
    this.withLogs = withLogs;
  }

  public static boolean isIndex(FileIndex index) {
    return index.getClass().getName().equals(INDEX);
  }

  /** The relation of a scan of a snapshot by Hudi, or null. */
  public static HadoopFsRelation relation(LogicalPlan node) {
    if (node instanceof LogicalRelation
        && !node.isStreaming()
        && ((LogicalRelation) node).relation() instanceof HadoopFsRelation) {
      HadoopFsRelation relation = (HadoopFsRelation) ((LogicalRelation) node).relation();
      return isIndex(relation.location()) ? relation : null;
    }
    return null;
  }

  /** Writes to the log why a scan is left as it is that Hudi reads without an index of files. */
  public static void logOwnRelation(LogicalPlan node) {
    BaseRelation relation =
        node instanceof LogicalRelation ? ((LogicalRelation) node).relation() : null;
    if (relation == null || !relation.getClass().getName().equals(OWN_RELATION)) {
      return;
    }
    String version = relation.getClass().getPackage().getImplementationVersion();
    String why = "Hudi " + version + " reads it by a relation of its own";
    Untouched.log("0.15.0".equals(version) ? why + "; " + BY_INDEX : why, tableOf(relation));
  }

  private static String tableOf(BaseRelation relation) {
    try {
      return Reflection.call(Reflection.call(relation, "metaClient"), "getBasePath").toString();
    } catch (ReflectiveOperationException | NullPointerException e) {
      return "unknown";
    }
  }

  /** Throws Untouched for a table, or a version of Hudi, whose slices are not known to be named. */
  public static HudiTable of(FileIndex index) throws Untouched {
    String version = index.getClass().getPackage().getImplementationVersion();
    Untouched.when(!TESTED.contains(version), "Hudi " + version + " has not been tested");
    try {
      Object client = Reflection.call(index, "metaClient");
      Path base = new Path(Reflection.call(client, "getBasePath").toString());
      List<Path> roots = Seqs.list(index.rootPaths());
      Untouched.when(
          roots.size() != 1 || !pathOf(roots.get(0)).equals(pathOf(base)),
          "other folders than the table's base path are read");
      Untouched.when(pathOf(base).contains("/.hoodie/"), "a table of Hudi's own is read");
      Object bootstrapped =
          Reflection.call(Reflection.call(client, "getTableConfig"), "getBootstrapBasePath");
      Untouched.when(
          (Boolean) Reflection.call(bootstrapped, "isPresent"), "the table is bootstrapped");
      boolean isMergeOnRead =
          "MERGE_ON_READ".equals(Reflection.call(client, "getTableType").toString());
      return new HudiTable(
          roots.get(0), isMergeOnRead, (Boolean) Reflection.call(index, "includeLogFiles"));
    } catch (ReflectiveOperationException | ClassCastException | NullPointerException e) {
      throw new Untouched("Hudi's index is not as expected: " + e);
    }
  }

  /** The table's base path, as the sidecar is asked about it. */
  public String location() {
    return base.toUri().toString();
  }

  /** What the paths of the table's own files begin with. */
  public String prefix() {
    return pathOf(base) + "/";
  }

  /** What is listed: {@code as_of}, {@code read_optimized} or {@code snapshot}. */
  public String queryType(String instant) {
    return instant != null ? "as_of" : isMergeOnRead && !withLogs ? "read_optimized" : "snapshot";
  }

  /**
   * The slice of a file group with log files, from the partition values of its directory; null for
   * one without.
   */
  public static Object sliceOf(Object values, String fileId) throws ReflectiveOperationException {
    if (!Reflection.has(values, "getSlice", String.class)) {
      return null; // plain partition values: no slice of this directory has log files
    }
    Option<?> slice =
        (Option<?>) Reflection.call(values, "getSlice", new Class<?>[] {String.class}, fileId);
    return slice.isDefined() ? slice.get() : null;
  }

  public static String pathOf(Path path) {
    return path.toUri().getPath();
  }

  /** The id of a file group: what a name begins with, after the dot of a log file. */
  public static String fileId(String name) {
    int from = name.startsWith(".") ? 1 : 0;
    int to = name.indexOf('_', from);
    return name.substring(from, to < 0 ? name.length() : to);
  }
}
