package io.sargo.hive;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.CommonMergeJoinOperator;
import org.apache.hadoop.hive.ql.exec.DummyStoreOperator;
import org.apache.hadoop.hive.ql.exec.FilterOperator;
import org.apache.hadoop.hive.ql.exec.MapJoinOperator;
import org.apache.hadoop.hive.ql.exec.Operator;
import org.apache.hadoop.hive.ql.exec.SMBMapJoinOperator;
import org.apache.hadoop.hive.ql.exec.TableScanOperator;
import org.apache.hadoop.hive.ql.exec.Utilities;
import org.apache.hadoop.hive.ql.plan.BaseWork;
import org.apache.hadoop.hive.ql.plan.ExprNodeDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc;
import org.apache.hadoop.hive.ql.plan.FetchWork;
import org.apache.hadoop.hive.ql.plan.MapWork;
import org.apache.hadoop.hive.ql.plan.MapredLocalWork;
import org.apache.hadoop.hive.ql.plan.PartitionDesc;
import org.apache.hadoop.hive.ql.plan.TableDesc;
import org.apache.hadoop.hive.ql.plan.TableScanDesc;
import org.apache.hadoop.mapred.JobConf;

/**
 * The scans of a job's plan, and which of them read a folder or file.
 *
 * <p>A plan has scans in three places: the map work, the works that a Tez sort-merge join adds to
 * it, and the local work of a join, whose small tables a task of MapReduce reads by itself.
 *
 * <p>Facts: docs/facts/hive-storage-handlers.md#joins
 */
final class PlannedScans {
  private static final String MERGE_PREFIXES = "hive.tez.merge.file.prefixes";
  private static final List<String> DESCRIPTION =
      Collections.unmodifiableList(Arrays.asList("name", "columns", "columns.types"));

  /** One scan. Its operator is null or another one if the plan reads the folder without a scan. */
  static final class Scan {
    private final Operator<?> operator;
    private final TableDesc table;

    private Scan(Operator<?> operator, TableDesc table) {
      this.operator = operator;
      this.table = table;
    }

    /** Its description, or null if the plan reads the folder in another way. */
    TableScanDesc desc() {
      return operator instanceof TableScanOperator
          ? ((TableScanOperator) operator).getConf()
          : null;
    }

    /** The filter that Hive pushed down to it, or null. */
    ExprNodeGenericFuncDesc filter() {
      TableScanDesc desc = desc();
      return desc == null ? null : desc.getFilterExpr();
    }

    /**
     * The conditions of its branches, if each of several branches begins with one, as in {@code
     * FROM t INSERT INTO a SELECT .. WHERE .. INSERT INTO b SELECT .. WHERE ..}; otherwise an empty
     * list. A row that fulfils none of them goes nowhere. Hive pushes none of them down.
     */
    List<ExprNodeGenericFuncDesc> conditionsOfBranches() {
      List<? extends Operator<?>> branches = operator.getChildOperators();
      List<ExprNodeGenericFuncDesc> conditions = new ArrayList<>();
      for (Operator<?> branch :
          branches == null ? Collections.<Operator<?>>emptyList() : branches) {
        ExprNodeDesc condition =
            branch instanceof FilterOperator
                ? ((FilterOperator) branch).getConf().getPredicate()
                : null;
        if (!(condition instanceof ExprNodeGenericFuncDesc)) {
          return Collections.emptyList();
        }
        conditions.add((ExprNodeGenericFuncDesc) condition);
      }
      return conditions.size() > 1 ? conditions : Collections.emptyList();
    }

    /** Whether Hive's settings let filters be pushed down to this table. */
    boolean isPushedTo(JobConf job) {
      boolean handled =
          table != null
              && table.getProperties() != null
              && table.getProperties().getProperty("storage_handler") != null;
      return job.getBoolean("hive.optimize.ppd", true)
          && (handled
              ? job.getBoolean("hive.optimize.ppd.storage", true)
              : job.getBoolean("hive.optimize.index.filter", false));
    }

    /** Whether both scans read a table of this name with these columns. */
    boolean isOfTheSameTable(Scan other) {
      if (table == null || other.table == null) {
        return false;
      }
      Properties mine = table.getProperties();
      Properties others = other.table.getProperties();
      return mine != null
          && others != null
          && DESCRIPTION.stream()
              .allMatch(key -> Objects.equals(mine.getProperty(key), others.getProperty(key)));
    }

    /**
     * Whether a join takes the table's files for buckets. Hive then numbers the files of a Hudi
     * table in the order of their names, so all of them have to be there.
     */
    boolean isReadByBuckets() {
      String buckets =
          table == null || table.getProperties() == null
              ? null
              : table.getProperties().getProperty("bucket_count");
      if (buckets == null || !buckets.trim().matches("0*[1-9][0-9]*")) {
        return false;
      }
      Set<Operator<?>> seen = Collections.newSetFromMap(new IdentityHashMap<>());
      Deque<Operator<?>> left = new ArrayDeque<>();
      left.push(operator);
      while (!left.isEmpty()) {
        Operator<?> one = left.pop();
        if (one instanceof CommonMergeJoinOperator
            || one instanceof DummyStoreOperator
            || one instanceof SMBMapJoinOperator
            || one instanceof MapJoinOperator
                && ((MapJoinOperator) one).getConf().isBucketMapJoin()) {
          return true;
        }
        if (seen.add(one) && one.getChildOperators() != null) {
          one.getChildOperators().forEach(left::push);
        }
      }
      return false;
    }
  }

  private final Map<Path, Set<Scan>> readers = new LinkedHashMap<>();
  private final Set<Scan> scans = new LinkedHashSet<>();

  private PlannedScans(Iterable<MapWork> works) {
    works.forEach(this::add);
  }

  /** Those of the work that Hive lists files for; null if the plan cannot be read. */
  static PlannedScans ofListing(JobConf job) {
    BaseWork merged = isEngine(job, "tez") ? Utilities.getMergeWork(job) : null;
    BaseWork work = merged == null ? Utilities.getMapWork(job) : merged;
    return work instanceof MapWork ? new PlannedScans(Collections.singleton((MapWork) work)) : null;
  }

  /** Those of all works of the job: Parquet's reader does not know which of them reads a file. */
  static PlannedScans ofReading(JobConf job) {
    Set<MapWork> works = Collections.newSetFromMap(new IdentityHashMap<>());
    List<BaseWork> all = new ArrayList<>();
    all.add(Utilities.getMapWork(job));
    if (isEngine(job, "tez")) {
      all.add(Utilities.getMergeWork(job));
      for (String prefix : job.get(MERGE_PREFIXES, "").split(",")) {
        all.add(Utilities.getMergeWork(job, prefix));
      }
    }
    for (BaseWork work : all) {
      if (work instanceof MapWork) {
        works.add((MapWork) work);
      }
    }
    return new PlannedScans(works);
  }

  static boolean isEngine(JobConf job, String engine) {
    return engine.equals(job.get("hive.execution.engine"));
  }

  private void add(MapWork work) {
    Map<String, Operator<?>> aliasToWork = call(work, "getAliasToWork");
    Map<String, PartitionDesc> aliasToTable = call(work, "getAliasToPartnInfo");
    Map<Path, List<String>> pathToAliases = call(work, "getPathToAliases");
    Map<String, Scan> byAlias = new HashMap<>();
    pathToAliases.forEach(
        (path, aliases) -> {
          for (String alias : aliases) {
            PartitionDesc table = aliasToTable.get(alias);
            add(
                path,
                byAlias.computeIfAbsent(
                    alias,
                    key ->
                        new Scan(
                            aliasToWork.get(key), table == null ? null : table.getTableDesc())));
          }
        });
    MapredLocalWork local = work.getMapRedLocalWork();
    if (local != null && local.getAliasToFetchWork() != null) {
      local
          .getAliasToFetchWork()
          .forEach((alias, fetch) -> addFetch(local.getAliasToWork().get(alias), fetch));
    }
  }

  private void addFetch(Operator<?> operator, FetchWork fetch) {
    if (fetch == null) {
      return; // its rows come from a file of another stage
    }
    Scan scan = new Scan(operator, fetch.getTblDesc());
    if (fetch.getTblDir() != null) {
      add(fetch.getTblDir(), scan);
    }
    if (fetch.getPartDir() != null) {
      fetch.getPartDir().forEach(path -> add(path, scan));
    }
  }

  private void add(Path path, Scan scan) {
    scans.add(scan);
    readers.computeIfAbsent(path, key -> new LinkedHashSet<>()).add(scan);
  }

  int size() {
    return scans.size();
  }

  /** The scans that read this folder or file, or a folder or file above or below it. */
  Set<Scan> readersOf(Path input) {
    Set<Scan> all = new LinkedHashSet<>();
    String one = input.toUri().getPath() + "/";
    readers.forEach(
        (path, of) -> {
          String other = path.toUri().getPath() + "/";
          if (one.startsWith(other) || other.startsWith(one)) {
            all.addAll(of);
          }
        });
    return all;
  }

  /**
   * Calls a getter by name: its return type differs between Hive 3.1 and 4, and one jar serves
   * both.
   */
  @SuppressWarnings("unchecked")
  static <T> T call(Object target, String method) {
    try {
      return (T) target.getClass().getMethod(method).invoke(target);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }
}
