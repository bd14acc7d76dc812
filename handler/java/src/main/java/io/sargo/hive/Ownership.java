package io.sargo.hive;

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
 * Whether the filter in a job's configuration belongs to the scan that the listed files are for.
 *
 * <p>Under MapReduce one configuration serves all scans of a job. In a UNION of table U with a
 * filter and table T without one, T's files are listed while U's filter is still there: skipping by
 * it lost 2,000 of 2,200 rows on Hive 4.0.1. So with a plan (MapReduce, Tez) every input path must
 * be read by exactly one alias, the same one, whose own filter serializes to the very text in the
 * configuration. Without a plan a FetchTask asks, which has one scan.
 */
final class Ownership {
  private static final String PLAN = "hive.exec.plan";

  private Ownership() {}

  /** The filter of this listing's only reader, as the sidecar may see it. */
  static String filterOf(JobConf job) throws KeepAll {
    String filter = job.get(TableScanDesc.FILTER_EXPR_CONF_STR);
    KeepAll.when(
        filter == null || filter.isEmpty(),
        KeepAll.Reason.NO_FILTER,
        "Hive gave this scan no filter");
    if (job.get(PLAN) != null) {
      checkPlan(Utilities.getMapWork(job), FileInputFormat.getInputPaths(job), filter);
    }
    return withoutCatalogColumns(filter);
  }

  private static void checkPlan(MapWork work, Path[] inputs, String filter) throws KeepAll {
    keepIf(work == null, "the plan cannot be read");
    Set<String> readers = new TreeSet<>();
    for (Path input : inputs) {
      Set<String> found = readersOf(work, input);
      keepIf(found.size() != 1, found.size() + " scans read " + input.getName());
      readers.addAll(found);
    }
    TableScanDesc reader = readers.size() == 1 ? scanOf(work, readers.iterator().next()) : null;
    keepIf(reader == null, "no table scan, or more than one, reads the listed paths: " + readers);
    ExprNodeGenericFuncDesc own = reader.getFilterExpr();
    keepIf(own == null, "the scan itself has no filter");
    keepIf(
        !SerializationUtilities.serializeExpression(own).equals(filter),
        "the scan's own filter is another one");
  }

  /**
   * A job to read this split with. Parquet's reader takes the filter from the plan once more, and
   * where several scans read a file it forgets that one of them has none, depending on their order:
   * rows are lost, with Hudi's own format too (Hive 3.1.3 and 4.0.1, under MapReduce). Of merged
   * splits it reads the base files by it, and rows are lost that a log file makes match. So these
   * scans' filters are taken off the plan: Hive still filters every row that is read.
   */
  static JobConf forReading(InputSplit split, JobConf job, boolean merged) {
    if (job.get(PLAN) == null) {
      return merged ? unfiltered(job) : job;
    }
    MapWork work = Utilities.getMapWork(job);
    Set<String> readers = readersOf(work, ((FileSplit) split).getPath());
    if (readers.size() < 2 && !merged) {
      return job;
    }
    for (String reader : readers) {
      TableScanDesc scan = scanOf(work, reader);
      if (scan != null) {
        scan.setFilterExpr(null);
      }
    }
    return unfiltered(job);
  }

  /**
   * Whether tables of another format or with another {@code sargo.view} read this very folder in
   * the same job. Under MapReduce Hive keeps one description of a folder, so all of them would be
   * read as one of them is.
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

  /** The aliases of everything that reads this folder or file, or something above or below it. */
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

  /** The same job without what Parquet's reader would drop rows by. */
  private static JobConf unfiltered(JobConf job) {
    JobConf unfiltered = new JobConf(job);
    unfiltered.unset(TableScanDesc.FILTER_EXPR_CONF_STR);
    unfiltered.unset(TableScanDesc.FILTER_TEXT_CONF_STR);
    unfiltered.unset("sarg.pushdown");
    return unfiltered;
  }

  private static void keepIf(boolean doubtful, String why) throws KeepAll {
    KeepAll.when(
        doubtful, KeepAll.Reason.FOREIGN_FILTER, "the filter may belong to another reader: " + why);
  }

  /** Their return types differ between Hive 3.1 and 4: one jar for both can only ask by name. */
  @SuppressWarnings("unchecked")
  private static <T> T call(Object target, String method) {
    try {
      return (T) target.getClass().getMethod(method).invoke(target);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * The filter with the columns renamed whose values Hive does not read from the table's files:
   * partition keys of a native table, which come from the metastore and need not be what Hudi
   * stores under that name, and virtual columns. No table has a column of such a name, so what is
   * said of it stays undecided.
   */
  private static String withoutCatalogColumns(String filter) {
    ExprNodeGenericFuncDesc copy = SerializationUtilities.deserializeExpression(filter);
    return rename(copy) ? SerializationUtilities.serializeExpression(copy) : filter;
  }

  private static boolean rename(ExprNodeDesc node) {
    boolean renamed = false;
    if (node instanceof ExprNodeColumnDesc
        && ((ExprNodeColumnDesc) node).getIsPartitionColOrVirtualCol()) {
      ExprNodeColumnDesc column = (ExprNodeColumnDesc) node;
      column.setColumn("hive:" + column.getColumn());
      renamed = true;
    }
    if (node.getChildren() != null) {
      for (ExprNodeDesc child : node.getChildren()) {
        renamed |= rename(child);
      }
    }
    return renamed;
  }
}
