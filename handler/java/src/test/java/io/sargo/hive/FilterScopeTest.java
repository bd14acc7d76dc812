package io.sargo.hive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sargo.client.KeepAll;
import io.sargo.client.KeepAll.Reason;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.CompilationOpContext;
import org.apache.hadoop.hive.ql.exec.FilterOperator;
import org.apache.hadoop.hive.ql.exec.SerializationUtilities;
import org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc;
import org.apache.hadoop.hive.ql.plan.MapWork;
import org.apache.hadoop.hive.ql.plan.TableScanDesc;
import org.apache.hadoop.mapred.FileInputFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Whether the filter of the job belongs to the listed paths. */
class FilterScopeTest extends PlannedJob {
  // ---- whose filter it is

  static Stream<Arguments> own() {
    return Stream.of(
        arguments("the only scan", "/t", List.of(new Scan("t", A_1, "/t"))),
        arguments(
            "a scan of partitions",
            "/t/dt=1,/t/dt=2",
            List.of(new Scan("t", A_1, "/t/dt=1", "/t/dt=2"))),
        arguments(
            "the path is below the folder of the scan",
            "/t/dt=1",
            List.of(new Scan("t", A_1, "/t"))),
        arguments(
            "the path is above the folder of the scan",
            "/t",
            List.of(new Scan("t", A_1, "/t/dt=1"))),
        arguments(
            "another scan reads another folder",
            "/t",
            List.of(new Scan("t", A_1, "/t"), new Scan("u", A_2, "/u"))),
        arguments(
            "this folder's name begins with another one's",
            "/t2",
            List.of(new Scan("t", A_1, "/t2"), new Scan("u", null, "/t"))),
        arguments(
            "another folder's name begins with this one's",
            "/t",
            List.of(new Scan("t", A_1, "/t"), new Scan("u", null, "/t2"))));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("own")
  void theScansOwnFilterIsUsed(String name, String inputs, List<Scan> scans) throws KeepAll {
    filterOfTheJob(A_1);
    plan(scans.toArray(new Scan[0]));
    FileInputFormat.setInputPaths(job, inputs);
    assertEquals(text(A_1), FilterScope.filterOf(job));
  }

  static Stream<Arguments> foreign() {
    return Stream.of(
        arguments(
            "the listed scan has another one",
            "/t",
            List.of(new Scan("t", A_2, "/t"), new Scan("u", A_1, "/u"))),
        arguments(
            "two scans read the folder",
            "/t",
            List.of(new Scan("t", A_1, "/t"), new Scan("s", A_1, "/t"))),
        arguments(
            "another scan reads a folder above",
            "/t/dt=1",
            List.of(new Scan("t", A_1, "/t/dt=1"), new Scan("s", A_1, "/t"))),
        arguments(
            "another scan reads a folder below",
            "/t",
            List.of(new Scan("t", A_1, "/t"), new Scan("s", A_1, "/t/dt=1"))),
        arguments(
            "two scans read a path each",
            "/t,/u",
            List.of(new Scan("t", A_1, "/t"), new Scan("u", A_1, "/u"))),
        arguments("a second path has no scan", "/t,/u", List.of(new Scan("t", A_1, "/t"))),
        arguments("no scan reads the path", "/u", List.of(new Scan("t", A_1, "/t"))),
        arguments("the plan has no scan", "/t", List.of()));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("foreign")
  void aFilterThatMayBelongToAnotherScanIsNotUsed(String name, String inputs, List<Scan> scans) {
    filterOfTheJob(A_1);
    plan(scans.toArray(new Scan[0]));
    FileInputFormat.setInputPaths(job, inputs);
    assertEquals(Reason.FOREIGN_FILTER, whyNot());
  }

  @Test
  void theFilterOfAnOperatorThatIsNoTableScanIsNotUsed() {
    filterOfTheJob(A_1);
    MapWork work = plan(new Scan("t", A_1, "/t"));
    work.getAliasToWork().put("t", new FilterOperator(new CompilationOpContext()));
    FileInputFormat.setInputPaths(job, "/t");
    assertEquals(Reason.FOREIGN_FILTER, whyNot());
  }

  @Test
  void aPlanThatCannotBeReadKeepsEveryFile() {
    filterOfTheJob(A_1);
    job.set("hive.exec.plan", "file:/no/such/plan");
    FileInputFormat.setInputPaths(job, "/t");
    assertEquals(Reason.FOREIGN_FILTER, whyNot());
  }

  @Test
  void aJobWithoutAPlanHasOneScan() throws KeepAll {
    filterOfTheJob(A_1);
    FileInputFormat.setInputPaths(job, "/t");
    assertEquals(text(A_1), FilterScope.filterOf(job));
  }

  @Test
  void aUnionWhoseListedScanHasNoFilterKeepsEveryFile() {
    filterOfTheJob(A_1);
    plan(new Scan("t", null, "/t"), new Scan("u", A_1, "/u"));
    FileInputFormat.setInputPaths(job, "/t");
    assertEquals(Reason.NO_FILTER, whyNot());
  }

  @ParameterizedTest
  @CsvSource(
      value = {"null", "''"},
      nullValues = "null")
  void aScanWithoutAFilterKeepsEveryFile(String filter) {
    if (filter != null) {
      job.set(TableScanDesc.FILTER_EXPR_CONF_STR, filter);
    }
    assertEquals(Reason.NO_FILTER, whyNot());
  }

  /** The configuration has the scan's own filter only when Hive delivers it. */
  @Test
  void aFilterThatHiveDidNotDeliverIsNotUsed() {
    plan(new Scan("t", A_1, "/t"));
    FileInputFormat.setInputPaths(job, "/t");
    assertEquals(Reason.NO_FILTER, whyNot());
  }

  // ---- columns that are not in the files

  static Stream<Arguments> columns() {
    ExprNodeGenericFuncDesc a = equal(column("a"), 1), b = equal(column("b"), 2);
    ExprNodeGenericFuncDesc dt = equal(partitionColumn("dt"), 1);
    ExprNodeGenericFuncDesc hour = equal(partitionColumn("hour"), 1);
    return Stream.of(
        arguments("((a = 1) and (b = 2))", and(a, b)),
        arguments("(hive:dt = 1)", dt),
        arguments("((a = 1) and (hive:dt = 1))", and(a, dt)),
        arguments("((hive:dt = 1) and ((b = 2) and (hive:hour = 1)))", and(dt, and(b, hour))));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("columns")
  void columnsWhoseValuesAreNotInTheFilesAreRenamed(String sent, ExprNodeGenericFuncDesc filter)
      throws KeepAll {
    filterOfTheJob(filter);
    String bytes = FilterScope.filterOf(job);
    assertEquals(sent, SerializationUtilities.deserializeExpression(bytes).getExprString());
    assertEquals(sent.contains("hive:"), !bytes.equals(text(filter)));
  }

  // ---- one folder as two tables

  @ParameterizedTest
  @CsvSource({
    // folder, input format and view of the second scan -> read otherwise
    "/t, HudiInputFormat, snapshot, false",
    "/t, HudiInputFormat, read_optimized, true",
    "/t, TextInputFormat, snapshot, true",
    "/u, TextInputFormat, read_optimized, false",
  })
  void aFolderIsReadOtherwiseByAnotherFormatOrView(
      String folder, String format, String view, boolean otherwise) {
    MapWork work = plan(new Scan("t", A_1, "/t"), new Scan("s", A_2, folder));
    work.getAliasToPartnInfo().put("t", table("HudiInputFormat", "snapshot"));
    work.getAliasToPartnInfo().put("s", table(format, view));
    assertEquals(otherwise, FilterScope.isReadOtherwise(job, new Path("file:/t")));
  }

  @Test
  void aJobWithoutAPlanReadsAFolderOnce() {
    assertEquals(false, FilterScope.isReadOtherwise(job, new Path("file:/t")));
    assertNull(job.get("hive.exec.plan"));
  }
}
