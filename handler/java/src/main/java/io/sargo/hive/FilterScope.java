package io.sargo.hive;

import io.sargo.client.KeepAll;
import io.sargo.hive.PlannedScans.Scan;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.FetchOperator;
import org.apache.hadoop.hive.ql.exec.SerializationUtilities;
import org.apache.hadoop.hive.ql.exec.Utilities;
import org.apache.hadoop.hive.ql.plan.ExprNodeColumnDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc;
import org.apache.hadoop.hive.ql.plan.MapWork;
import org.apache.hadoop.hive.ql.plan.PartitionDesc;
import org.apache.hadoop.hive.ql.plan.TableScanDesc;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPOr;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoFactory;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.InputSplit;
import org.apache.hadoop.mapred.JobConf;

/**
 * Decides by which filter the files of a scan may be skipped.
 *
 * <p>A job without a plan is a FetchTask. It has one scan, whose filter is in the configuration.
 *
 * <p>A job with a plan (MapReduce, Tez) takes the filter of the scans that read the listed folders,
 * or folders above or below them. A file is skipped if no scan wants a row of it: the filter is the
 * OR of theirs. All of these have to hold, or every file is kept:
 *
 * <ol>
 *   <li>Each listed folder has a reader, all readers are table scans of one table, and each has a
 *       filter of its own, or several branches that begin with a condition each: then the filter is
 *       the OR of these.
 *   <li>No join takes the table's files for buckets.
 *   <li>The filter is exactly the text in the configuration; or several scans share the job under
 *       MapReduce. There Hive gives a native table no filter, and leaves the filter of another scan
 *       in the configuration. Skipping by that one lost 2,000 of 2,200 rows of a UNION on Hive
 *       4.0.1.
 * </ol>
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

  /** The filter by which the files of this listing may be skipped, in the form for the sidecar. */
  static String filterOf(JobConf job) throws KeepAll {
    String filter = job.get(PLAN) == null ? delivered(job) : filterOfPlan(job);
    return withCatalogColumnsRenamed(filter);
  }

  /** The same filter for people, or null. */
  static String textOf(JobConf job, String filter) {
    String delivered = job.get(TableScanDesc.FILTER_TEXT_CONF_STR);
    if (job.get(PLAN) == null || (delivered != null && !PlannedScans.isEngine(job, "mr"))) {
      return delivered;
    }
    return SerializationUtilities.deserializeExpression(filter).getExprString();
  }

  /** Whether a join takes the listed files for buckets, or may do so. */
  static boolean isReadByBuckets(JobConf job) {
    if (job.get(PLAN) == null) {
      return false;
    }
    PlannedScans plan = PlannedScans.ofListing(job);
    if (plan == null) {
      return true;
    }
    return Arrays.stream(FileInputFormat.getInputPaths(job))
        .flatMap(input -> plan.readersOf(input).stream())
        .anyMatch(reader -> reader.desc() != null && reader.isReadByBuckets());
  }

  private static String delivered(JobConf job) throws KeepAll {
    String filter = job.get(TableScanDesc.FILTER_EXPR_CONF_STR);
    noFilterIf(filter == null || filter.isEmpty(), "Hive gave this scan no filter");
    return filter;
  }

  private static String filterOfPlan(JobConf job) throws KeepAll {
    PlannedScans plan = PlannedScans.ofListing(job);
    boolean shared =
        plan != null
            && plan.size() > 1
            && PlannedScans.isEngine(job, "mr")
            && !isListedForFetching();
    String delivered = job.get(TableScanDesc.FILTER_EXPR_CONF_STR, "");
    noFilterIf(
        !shared && delivered.isEmpty() && (plan == null || isListedForFetching()),
        "Hive gave this scan no filter");
    keepAllIf(plan == null, "the plan cannot be read");
    Set<Scan> readers = new LinkedHashSet<>();
    for (Path input : FileInputFormat.getInputPaths(job)) {
      Set<Scan> inputReaders = plan.readersOf(input);
      keepAllIf(inputReaders.isEmpty(), "no scan reads " + input.getName());
      readers.addAll(inputReaders);
    }
    String filter = orOf(readers, job);
    if (!shared) {
      noFilterIf(
          delivered.isEmpty() && readers.stream().anyMatch(reader -> reader.filter() != null),
          "Hive gave this scan no filter");
      keepAllIf(
          !delivered.isEmpty() && !delivered.equals(filter),
          "the scan's own filter is another one");
    }
    return filter;
  }

  /**
   * Whether a FetchTask or a local task lists the files. It has one scan, and a plan in its
   * configuration may be that of another job, of which a filter must not be taken.
   */
  private static boolean isListedForFetching() {
    String fetching = FetchOperator.class.getName();
    return Arrays.stream(Thread.currentThread().getStackTrace())
        .anyMatch(frame -> frame.getClassName().startsWith(fetching));
  }

  /** The OR of the filters of these scans. */
  private static String orOf(Set<Scan> readers, JobConf job) throws KeepAll {
    Map<String, ExprNodeGenericFuncDesc> filters = new LinkedHashMap<>();
    Scan first = readers.isEmpty() ? null : readers.iterator().next();
    for (Scan reader : readers) {
      keepAllIf(reader.desc() == null, "the plan reads the files without a table scan");
      keepAllIf(
          reader != first && !reader.isOfTheSameTable(first),
          readers.size() + " scans of several tables read the files");
      KeepAll.when(
          reader.isReadByBuckets(),
          KeepAll.Reason.BUCKETED_JOIN,
          "a join takes the table's files for buckets and counts them");
      List<ExprNodeGenericFuncDesc> own =
          reader.filter() != null
              ? Collections.singletonList(reader.filter())
              : reader.isPushedTo(job) ? reader.conditionsOfBranches() : Collections.emptyList();
      noFilterIf(
          own.isEmpty(),
          readers.size() == 1
              ? "the scan itself has no filter"
              : "one of the " + readers.size() + " scans of the files has no filter");
      for (ExprNodeGenericFuncDesc filter : own) {
        filters.putIfAbsent(SerializationUtilities.serializeExpression(filter), filter);
      }
    }
    keepAllIf(filters.isEmpty(), "no folder is listed");
    if (filters.size() == 1) {
      return filters.keySet().iterator().next();
    }
    ExprNodeDesc any = null;
    for (ExprNodeDesc filter : filters.values()) {
      any = any == null ? filter : or(any, filter);
    }
    return SerializationUtilities.serializeExpression((ExprNodeGenericFuncDesc) any);
  }

  private static ExprNodeDesc or(ExprNodeDesc left, ExprNodeDesc right) {
    return new ExprNodeGenericFuncDesc(
        TypeInfoFactory.booleanTypeInfo,
        new GenericUDFOPOr(),
        new ArrayList<>(Arrays.asList(left, right)));
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
    Set<Scan> readers = PlannedScans.ofReading(job).readersOf(((FileSplit) split).getPath());
    List<TableScanDesc> scans = new ArrayList<>();
    for (Scan reader : readers) {
      if (reader.desc() != null) {
        scans.add(reader.desc());
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
    Map<Path, List<String>> pathToAliases = PlannedScans.call(work, "getPathToAliases");
    Map<String, PartitionDesc> aliasToTable = PlannedScans.call(work, "getAliasToPartnInfo");
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

  private static void noFilterIf(boolean condition, String why) throws KeepAll {
    KeepAll.when(condition, KeepAll.Reason.NO_FILTER, why);
  }

  private static void keepAllIf(boolean condition, String why) throws KeepAll {
    KeepAll.when(
        condition,
        KeepAll.Reason.FOREIGN_FILTER,
        "the filter may belong to another reader: " + why);
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
