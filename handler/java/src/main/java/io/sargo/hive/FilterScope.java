package io.sargo.hive;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.Operator;
import org.apache.hadoop.hive.ql.exec.SerializationUtilities;
import org.apache.hadoop.hive.ql.exec.TableScanOperator;
import org.apache.hadoop.hive.ql.exec.Utilities;
import org.apache.hadoop.hive.ql.plan.ExprNodeColumnDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc;
import org.apache.hadoop.hive.ql.plan.MapWork;
import org.apache.hadoop.hive.ql.plan.PartitionDesc;
import org.apache.hadoop.hive.ql.plan.TableScanDesc;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;

/**
 * Decides whether the filter in a job's configuration applies to the scan that the files are listed
 * for.
 *
 * <p>Under MapReduce one configuration serves all scans of a job. In a UNION of table U with a
 * filter and table T without one, Hive lists T's files while U's filter is in the configuration.
 * Skipping T's files by it lost 2,000 of 2,200 rows on Hive 4.0.1.
 *
 * <p>A job with a plan (MapReduce, Tez) therefore passes these checks, or keeps every file:
 *
 * <ol>
 *   <li>One alias reads each input path, or a path above or below it. It is the same alias for all
 *       of them.
 *   <li>The alias is a table scan with a filter of its own.
 *   <li>That filter serialises to exactly the text in the configuration.
 * </ol>
 *
 * <p>A job without a plan is a FetchTask, which has one scan.
 *
 * <p>Facts: docs/facts/hive-storage-handlers.md#the-filter-of-another-scan
 */
final class FilterScope {
  /**
   * The columns and constants of the longest filter that Parquet's reader gets.
   *
   * <p>The reader makes one nested expression of an IN list or an OR, a level for each member, and
   * visits it recursively. A list of 1,000 members overflowed a stack of 1 MiB, one of 600 did not.
   * Hive adds up to 256 levels when it brings a filter into conjunctive normal form.
   */
  static final int MAX_READER_TERMS = 200;

  private static final String PLAN = "hive.exec.plan";

  /** Characters of the shortest text of a filter with so many terms. A shorter one is not read. */
  private static final int MIN_LENGTH_OF_LONG = 4 * MAX_READER_TERMS;

  private FilterScope() {}

  /** The filter of the only scan of this listing, in the form for the sidecar. */
  static String filterOf(JobConf job) throws KeepAll {
    String filter = job.get(TableScanDesc.FILTER_EXPR_CONF_STR);
    KeepAll.when(
        filter == null || filter.isEmpty(),
        KeepAll.Reason.NO_FILTER,
        "Hive gave this scan no filter");
    if (job.get(PLAN) != null) {
      checkPlan(Utilities.getMapWork(job), FileInputFormat.getInputPaths(job), filter);
    }
    return withCatalogColumnsRenamed(filter);
  }

  private static void checkPlan(MapWork work, Path[] inputs, String filter) throws KeepAll {
    keepAllIf(work == null, "the plan cannot be read");
    Set<String> readers = new TreeSet<>();
    for (Path input : inputs) {
      Set<String> inputReaders = readersOf(work, input);
      keepAllIf(inputReaders.size() != 1, inputReaders.size() + " scans read " + input.getName());
      readers.addAll(inputReaders);
    }
    TableScanDesc reader = readers.size() == 1 ? scanOf(work, readers.iterator().next()) : null;
    keepAllIf(
        reader == null, "no table scan, or more than one, reads the listed paths: " + readers);
    ExprNodeGenericFuncDesc own = reader.getFilterExpr();
    keepAllIf(own == null, "the scan itself has no filter");
    keepAllIf(
        !SerializationUtilities.serializeExpression(own).equals(filter),
        "the scan's own filter is another one");
  }

  /**
   * The job to read this split with: without a filter if Parquet's reader would lose rows or fail
   * by it.
   *
   * <p>Parquet's reader takes the filter from the plan a second time. Three cases go wrong, with
   * Hudi's own formats too:
   *
   * <ul>
   *   <li>Several scans read the file. Depending on their order the reader ignores that one of them
   *       has no filter (Hive 3.1.3 and 4.0.1 under MapReduce).
   *   <li>The split is merged. The reader filters rows of the base file before a log file changes
   *       them so that they match.
   *   <li>The filter has more than {@link #MAX_READER_TERMS} terms. The reader ends the query with
   *       a StackOverflowError.
   * </ul>
   *
   * <p>In these cases the scans' filters are removed from the plan too. Hive still filters every
   * row that is read. The listing was pruned by the whole filter before.
   */
  static JobConf forReading(InputSplit split, JobConf job, boolean merged) {
    if (job.get(PLAN) == null) {
      return merged || isTooLong(job.get(TableScanDesc.FILTER_EXPR_CONF_STR))
          ? unfiltered(job)
          : job;
    }
    MapWork work = Utilities.getMapWork(job);
    Set<String> readers = readersOf(work, ((FileSplit) split).getPath());
    List<TableScanDesc> scans = new ArrayList<>();
    for (String reader : readers) {
      TableScanDesc scan = scanOf(work, reader);
      if (scan != null) {
        scans.add(scan);
      }
    }
    boolean tooLong =
        scans.stream().anyMatch(scan -> isTooLong(scan.getFilterExpr()))
            || isTooLong(job.get(TableScanDesc.FILTER_EXPR_CONF_STR));
    if (readers.size() < 2 && !merged && !tooLong) {
      return job;
    }
    scans.forEach(scan -> scan.setFilterExpr(null));
    return unfiltered(job);
  }

  private static boolean isTooLong(String serialised) {
    if (serialised == null || serialised.length() < MIN_LENGTH_OF_LONG) {
      return false;
    }
    try {
      return isTooLong(SerializationUtilities.deserializeExpression(serialised));
    } catch (RuntimeException | StackOverflowError e) {
      return true; // Parquet's reader would fail by it too
    }
  }

  /** Whether a filter has more than {@link #MAX_READER_TERMS} columns and constants. */
  private static boolean isTooLong(ExprNodeDesc filter) {
    Deque<ExprNodeDesc> left = new ArrayDeque<>();
    if (filter != null) {
      left.push(filter);
    }
    int terms = 0;
    while (!left.isEmpty() && terms <= MAX_READER_TERMS) {
      List<ExprNodeDesc> children = left.pop().getChildren();
      if (children == null || children.isEmpty()) {
        terms++;
      } else {
        children.forEach(left::push);
      }
    }
    return terms > MAX_READER_TERMS;
  }

  /**
   * Whether tables with another input format or another {@code sargo.view} read this folder in the
   * same job. Under MapReduce Hive keeps one description of a folder and would read all these
   * tables by it.
   */
  static boolean isReadOtherwise(JobConf job, Path input) {
    if (job.get(PLAN) == null) {
      return false;
    }
    MapWork work = Utilities.getMapWork(job);
    Map<Path, List<String>> pathToAliases = call(work, "getPathToAliases");
    Map<String, PartitionDesc> aliasToTable = call(work, "getAliasToPartnInfo");
    return pathToAliases.entrySet().stream()
            .filter(entry -> entry.getKey().toUri().getPath().equals(input.toUri().getPath()))
            .flatMap(entry -> entry.getValue().stream())
            .map(aliasToTable::get)
            .map(
                table ->
                    table.getInputFileFormatClassName()
                        + table.getTableDesc().getProperties().getProperty("sargo.view"))
            .distinct()
            .count()
        > 1;
  }

  /** The aliases that read this folder or file, or a folder or file above or below it. */
  private static Set<String> readersOf(MapWork work, Path input) {
    Set<String> readers = new TreeSet<>();
    String one = input.toUri().getPath() + "/";
    Map<Path, List<String>> pathToAliases = call(work, "getPathToAliases");
    pathToAliases.forEach(
        (path, aliases) -> {
          String other = path.toUri().getPath() + "/";
          if (one.startsWith(other) || other.startsWith(one)) {
            readers.addAll(aliases);
          }
        });
    return readers;
  }

  private static TableScanDesc scanOf(MapWork work, String alias) {
    Map<String, Operator<?>> aliasToWork = call(work, "getAliasToWork");
    Operator<?> reader = aliasToWork.get(alias);
    return reader instanceof TableScanOperator ? ((TableScanOperator) reader).getConf() : null;
  }

  /** A copy of the job without the settings by which Parquet's reader filters rows. */
  private static JobConf unfiltered(JobConf job) {
    JobConf unfiltered = new JobConf(job);
    unfiltered.unset(TableScanDesc.FILTER_EXPR_CONF_STR);
    unfiltered.unset(TableScanDesc.FILTER_TEXT_CONF_STR);
    unfiltered.unset("sarg.pushdown");
    unfiltered.unset("parquet.private.read.filter.predicate");
    unfiltered.unset("parquet.private.read.filter.predicate.human.readable");
    return unfiltered;
  }

  private static void keepAllIf(boolean condition, String why) throws KeepAll {
    KeepAll.when(
        condition,
        KeepAll.Reason.FOREIGN_FILTER,
        "the filter may belong to another reader: " + why);
  }

  /**
   * Calls a getter by name: its return type differs between Hive 3.1 and 4, and one jar serves
   * both.
   */
  @SuppressWarnings("unchecked")
  private static <T> T call(Object target, String method) {
    try {
      return (T) target.getClass().getMethod(method).invoke(target);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * The filter with partition keys of a native table and virtual columns renamed to {@code
   * hive:<name>}.
   *
   * <p>Hive does not read their values from the table's files. Partition values come from the
   * metastore and may differ from the column that Hudi stores under that name. No table has a
   * column of the new name, so conditions on it stay undecided.
   */
  private static String withCatalogColumnsRenamed(String filter) {
    ExprNodeGenericFuncDesc copy = SerializationUtilities.deserializeExpression(filter);
    return renameCatalogColumns(copy) ? SerializationUtilities.serializeExpression(copy) : filter;
  }

  private static boolean renameCatalogColumns(ExprNodeDesc node) {
    boolean renamed = false;
    if (node instanceof ExprNodeColumnDesc
        && ((ExprNodeColumnDesc) node).getIsPartitionColOrVirtualCol()) {
      ExprNodeColumnDesc column = (ExprNodeColumnDesc) node;
      column.setColumn("hive:" + column.getColumn());
      renamed = true;
    }
    if (node.getChildren() != null) {
      for (ExprNodeDesc child : node.getChildren()) {
        renamed |= renameCatalogColumns(child);
      }
    }
    return renamed;
  }
}
