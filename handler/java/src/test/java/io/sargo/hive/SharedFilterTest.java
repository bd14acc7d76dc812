package io.sargo.hive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sargo.client.KeepAll;
import io.sargo.client.KeepAll.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.CompilationOpContext;
import org.apache.hadoop.hive.ql.exec.FilterOperator;
import org.apache.hadoop.hive.ql.exec.Operator;
import org.apache.hadoop.hive.ql.exec.SelectOperator;
import org.apache.hadoop.hive.ql.plan.ExprNodeDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc;
import org.apache.hadoop.hive.ql.plan.FetchWork;
import org.apache.hadoop.hive.ql.plan.FilterDesc;
import org.apache.hadoop.hive.ql.plan.MapWork;
import org.apache.hadoop.hive.ql.plan.MapredLocalWork;
import org.apache.hadoop.hive.ql.plan.TableDesc;
import org.apache.hadoop.hive.ql.plan.TableScanDesc;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPOr;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Several scans in one job of MapReduce, and several inserts from one scan: Hive delivers none of
 * their filters.
 */
class SharedFilterTest extends PlannedJob {
  static Stream<Arguments> shared() {
    ExprNodeGenericFuncDesc either = function(new GenericUDFOPOr(), A_1, A_2);
    return Stream.of(
        arguments(
            "a join of two tables",
            A_1,
            List.of(new Scan("t", A_1, "/t"), new Scan("u", A_2, "/u"))),
        arguments(
            "the other table has no filter",
            A_1,
            List.of(new Scan("t", A_1, "/t"), new Scan("u", null, "/u"))),
        arguments(
            "a self join", either, List.of(new Scan("a", A_1, "/t"), new Scan("b", A_2, "/t"))),
        arguments(
            "a self join with one filter twice",
            A_1,
            List.of(new Scan("a", A_1, "/t"), new Scan("b", A_1, "/t"))),
        arguments(
            "another table's name begins with this one's",
            A_1,
            List.of(new Scan("a", A_1, "/t"), new Scan("b", null, "/t2"))),
        arguments(
            "a scan of a folder below",
            either,
            List.of(new Scan("a", A_1, "/t"), new Scan("b", A_2, "/t/dt=1"))),
        arguments(
            "one scan of the table has no filter",
            null,
            List.of(new Scan("a", A_1, "/t"), new Scan("b", null, "/t"))),
        arguments(
            "this table has no filter",
            null,
            List.of(new Scan("a", null, "/t"), new Scan("b", A_1, "/u"))),
        arguments(
            "no scan reads it", null, List.of(new Scan("a", A_1, "/s"), new Scan("b", A_1, "/u"))));
  }

  /** The filter that another scan left in the configuration plays no part. */
  @ParameterizedTest(name = "{0}")
  @MethodSource("shared")
  void underMapReduceTheFilterOfSeveralScansIsThatOfThePlan(
      String name, ExprNodeGenericFuncDesc filter, List<Scan> scans) throws KeepAll {
    for (ExprNodeGenericFuncDesc left : new ExprNodeGenericFuncDesc[] {null, A_1, A_2}) {
      job = new JobConf(false);
      if (left != null) {
        filterOfTheJob(left);
      }
      job.set("hive.execution.engine", "mr");
      described(plan(scans.toArray(new Scan[0])), "k");
      FileInputFormat.setInputPaths(job, "/t");
      if (filter == null) {
        whyNot();
      } else {
        String used = FilterScope.filterOf(job);
        assertEquals(text(filter), used);
        assertEquals(filter.getExprString(), FilterScope.textOf(job, used));
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"tez, k, false", "mr, other, false", "mr, k, true"})
  void scansOfOneFolderShareAFilterOnlyAsOneTableUnderMapReduce(
      String engine, String columns, boolean used) throws KeepAll {
    job.set("hive.execution.engine", engine);
    MapWork work = plan(new Scan("a", A_1, "/t"), new Scan("b", A_1, "/t"));
    described(work, "k");
    work.getAliasToPartnInfo()
        .get("b")
        .getTableDesc()
        .getProperties()
        .setProperty("columns", columns);
    FileInputFormat.setInputPaths(job, "/t");
    if (used) {
      assertEquals(text(A_1), FilterScope.filterOf(job));
    } else {
      whyNot();
    }
  }

  /** A sort-merge join of a table with itself: a task of the job reads the small side by itself. */
  @ParameterizedTest
  @CsvSource({"true", "false"})
  void aScanOfLocalWorkCounts(boolean partitioned) throws KeepAll {
    job.set("hive.execution.engine", "mr");
    MapWork work = plan(new Scan("big", A_1, "/t"));
    described(work, "k");
    TableDesc table = work.getAliasToPartnInfo().get("big").getTableDesc();
    MapredLocalWork local = new MapredLocalWork();
    local.getAliasToWork().put("small", new Scan("small", A_2).operator());
    Path folder = new Path("file:/t");
    local
        .getAliasToFetchWork()
        .put(
            "small",
            partitioned
                ? new FetchWork(new ArrayList<>(List.of(folder)), new ArrayList<>(), table)
                : new FetchWork(folder, table));
    local.getAliasToFetchWork().put("staged", null);
    work.setMapRedLocalWork(local);
    FileInputFormat.setInputPaths(job, "/t/000");
    assertEquals(text(function(new GenericUDFOPOr(), A_1, A_2)), FilterScope.filterOf(job));
    JobConf reading = FilterScope.forReading(split(), job, false);
    assertNull(reading.get(TableScanDesc.FILTER_EXPR_CONF_STR));
    assertNull(scan(work, "big").getFilterExpr());
  }

  private static FilterOperator branch(ExprNodeDesc condition) {
    FilterOperator operator = new FilterOperator(new CompilationOpContext());
    operator.setConf(new FilterDesc(condition, false));
    return operator;
  }

  static Stream<Arguments> branches() {
    Operator<?> select = new SelectOperator(new CompilationOpContext());
    ExprNodeGenericFuncDesc either = function(new GenericUDFOPOr(), A_1, A_2);
    return Stream.of(
        arguments("two conditions", List.of(branch(A_1), branch(A_2)), either),
        arguments("one condition twice", List.of(branch(A_1), branch(A_1)), A_1),
        arguments("a branch without a condition", List.of(branch(A_1), select), null),
        arguments("a condition that is a column", List.of(branch(A_1), branch(column("b"))), null),
        arguments("one branch: Hive could have pushed its condition", List.of(branch(A_1)), null));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("branches")
  void aScanThatFeedsSeveralInsertsHasTheOrOfTheirConditions(
      String name, List<Operator<?>> branches, ExprNodeGenericFuncDesc filter) throws KeepAll {
    for (String engine : List.of("tez", "mr")) {
      job = new JobConf(false);
      job.set("hive.execution.engine", engine);
      MapWork work = plan(new Scan("t", null, "/t"));
      work.getAliasToWork().get("t").setChildOperators(new ArrayList<>(branches));
      FileInputFormat.setInputPaths(job, "/t");
      assertEquals(Reason.NO_FILTER, whyNot()); // nothing is pushed down to a native table
      job.setBoolean("hive.optimize.index.filter", true);
      if (filter == null) {
        assertEquals(Reason.NO_FILTER, whyNot());
        continue;
      }
      String used = FilterScope.filterOf(job);
      assertEquals(text(filter), used);
      assertEquals(filter.getExprString(), FilterScope.textOf(job, used));
      filterOfTheJob(A_2); // that of another scan
      assertEquals(Reason.FOREIGN_FILTER, whyNot());
      job.unset(TableScanDesc.FILTER_EXPR_CONF_STR);
      job.setBoolean("hive.optimize.ppd", false);
      assertEquals(Reason.NO_FILTER, whyNot());
    }
  }

  @Test
  void conditionsOfBranchesArePushedToAStorageHandlerByItsOwnSetting() throws KeepAll {
    MapWork work = plan(new Scan("t", null, "/t"));
    described(work, "k");
    work.getAliasToPartnInfo()
        .get("t")
        .getTableDesc()
        .getProperties()
        .setProperty("storage_handler", "io.sargo.hive.HudiStorageHandler");
    work.getAliasToWork()
        .get("t")
        .setChildOperators(new ArrayList<>(List.of(branch(A_1), branch(A_1))));
    FileInputFormat.setInputPaths(job, "/t");
    assertEquals(text(A_1), FilterScope.filterOf(job));
    job.setBoolean("hive.optimize.ppd.storage", false);
    assertEquals(Reason.NO_FILTER, whyNot());
  }
}
