package io.sargo.hive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sargo.client.KeepAll;
import io.sargo.client.KeepAll.Reason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.CompilationOpContext;
import org.apache.hadoop.hive.ql.exec.CommonMergeJoinOperator;
import org.apache.hadoop.hive.ql.exec.DummyStoreOperator;
import org.apache.hadoop.hive.ql.exec.FilterOperator;
import org.apache.hadoop.hive.ql.exec.MapJoinOperator;
import org.apache.hadoop.hive.ql.exec.Operator;
import org.apache.hadoop.hive.ql.exec.SelectOperator;
import org.apache.hadoop.hive.ql.exec.SerializationUtilities;
import org.apache.hadoop.hive.ql.exec.TableScanOperator;
import org.apache.hadoop.hive.ql.exec.Utilities;
import org.apache.hadoop.hive.ql.io.parquet.read.ParquetFilterPredicateConverter;
import org.apache.hadoop.hive.ql.io.sarg.ConvertAstToSearchArg;
import org.apache.hadoop.hive.ql.plan.ExprNodeColumnDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeConstantDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc;
import org.apache.hadoop.hive.ql.plan.FetchWork;
import org.apache.hadoop.hive.ql.plan.FilterDesc;
import org.apache.hadoop.hive.ql.plan.MapJoinDesc;
import org.apache.hadoop.hive.ql.plan.MapWork;
import org.apache.hadoop.hive.ql.plan.MapredLocalWork;
import org.apache.hadoop.hive.ql.plan.PartitionDesc;
import org.apache.hadoop.hive.ql.plan.TableDesc;
import org.apache.hadoop.hive.ql.plan.TableScanDesc;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDF;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFIn;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPAnd;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPEqual;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPNot;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPOr;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoFactory;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.mapred.TextInputFormat;
import org.apache.parquet.filter2.predicate.FilterPredicate;
import org.apache.parquet.filter2.predicate.LogicalInverseRewriter;
import org.apache.parquet.hadoop.ParquetInputFormat;
import org.apache.parquet.schema.MessageTypeParser;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Plans as Hive 4 makes them, and whether the filter of the job belongs to the listed paths. */
class FilterScopeTest {
  private static final ExprNodeGenericFuncDesc A_1 = equal(column("a"), 1),
      A_2 = equal(column("a"), 2);

  private JobConf job = new JobConf(false);

  @AfterEach
  void forgetThePlan() {
    Utilities.clearWorkMap(job);
  }

  // ---- expressions and plans

  private static ExprNodeGenericFuncDesc function(GenericUDF function, ExprNodeDesc... arguments) {
    return new ExprNodeGenericFuncDesc(
        TypeInfoFactory.booleanTypeInfo, function, new ArrayList<>(Arrays.asList(arguments)));
  }

  private static ExprNodeGenericFuncDesc equal(ExprNodeDesc column, int value) {
    return function(new GenericUDFOPEqual(), column, new ExprNodeConstantDesc(value));
  }

  private static ExprNodeColumnDesc column(String name) {
    return new ExprNodeColumnDesc(TypeInfoFactory.intTypeInfo, name, "t", false);
  }

  private static ExprNodeColumnDesc partitionColumn(String name) {
    return new ExprNodeColumnDesc(TypeInfoFactory.intTypeInfo, name, "t", true);
  }

  private static String text(ExprNodeGenericFuncDesc filter) {
    return SerializationUtilities.serializeExpression(filter);
  }

  /** A scan of a plan: its alias, what it filters by, and the folders that it reads. */
  record Scan(String alias, ExprNodeGenericFuncDesc filter, String... folders) {
    Operator<?> operator() {
      TableScanOperator operator = new TableScanOperator(new CompilationOpContext());
      TableScanDesc desc = new TableScanDesc();
      desc.setFilterExpr(filter);
      operator.setConf(desc);
      return operator;
    }
  }

  /** Puts a plan with these scans into the job, as Hive's planner does. */
  private MapWork plan(Scan... scans) {
    MapWork work = new MapWork();
    for (Scan scan : scans) {
      work.getAliasToWork().put(scan.alias, scan.operator());
      for (String folder : scan.folders) {
        work.addPathToAlias(new Path("file:" + folder), scan.alias);
      }
    }
    job.set("hive.exec.plan", "file:/plans/1");
    Utilities.setMapWork(job, work);
    return work;
  }

  private void filterOfTheJob(ExprNodeGenericFuncDesc filter) {
    job.set(TableScanDesc.FILTER_EXPR_CONF_STR, text(filter));
    job.set(TableScanDesc.FILTER_TEXT_CONF_STR, filter.getExprString());
    job.set("sarg.pushdown", "a search argument");
  }

  private static TableScanDesc scan(MapWork work, String alias) {
    return (TableScanDesc) work.getAliasToWork().get(alias).getConf();
  }

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

  // ---- several scans in one job of MapReduce: Hive delivers none of their filters

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

  /** Gives every alias the table of its first folder, with these columns. */
  private static void described(MapWork work, String columns) {
    work.getPathToAliases()
        .forEach(
            (path, aliases) ->
                aliases.forEach(
                    alias -> {
                      PartitionDesc table = table("HudiInputFormat", "snapshot");
                      table.getTableDesc().getProperties().setProperty("columns", columns);
                      work.getAliasToPartnInfo().put(alias, table);
                    }));
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

  // ---- joins that take files for buckets

  static Stream<Arguments> buckets() {
    MapJoinOperator mapJoin = new MapJoinOperator(new CompilationOpContext());
    mapJoin.setConf(new MapJoinDesc());
    MapJoinOperator bucketJoin = new MapJoinOperator(new CompilationOpContext());
    MapJoinDesc desc = new MapJoinDesc();
    desc.setBucketMapJoin(true);
    bucketJoin.setConf(desc);
    Operator<?> side = new DummyStoreOperator(new CompilationOpContext());
    Operator<?> merge = new CommonMergeJoinOperator(new CompilationOpContext());
    return Stream.of(
        arguments("8", bucketJoin, true),
        arguments("8", side, true),
        arguments("8", merge, true),
        arguments("8", mapJoin, false),
        arguments("0", bucketJoin, false),
        arguments("-1", bucketJoin, false),
        arguments(null, bucketJoin, false));
  }

  @ParameterizedTest
  @MethodSource("buckets")
  void aJoinThatCountsFilesKeepsThem(String count, Operator<?> join, boolean counts)
      throws KeepAll {
    filterOfTheJob(A_1);
    MapWork work = plan(new Scan("t", A_1, "/t"));
    described(work, "k");
    if (count != null) {
      work.getAliasToPartnInfo()
          .get("t")
          .getTableDesc()
          .getProperties()
          .setProperty("bucket_count", count);
    }
    FilterOperator filter = new FilterOperator(new CompilationOpContext());
    filter.setChildOperators(List.of(join));
    work.getAliasToWork().get("t").setChildOperators(List.of(filter));
    FileInputFormat.setInputPaths(job, "/t");
    assertEquals(counts, FilterScope.isReadByBuckets(job));
    if (counts) {
      assertEquals(Reason.BUCKETED_JOIN, whyNot());
    } else {
      assertEquals(text(A_1), FilterScope.filterOf(job));
    }
  }

  @Test
  void filesMayBeCountedIfThePlanCannotBeRead() {
    assertFalse(FilterScope.isReadByBuckets(job));
    job.set("hive.exec.plan", "file:/no/such/plan");
    assertTrue(FilterScope.isReadByBuckets(job));
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

  // ---- several inserts from one scan

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

  /** The configuration has the scan's own filter only when Hive delivers it. */
  @Test
  void aFilterThatHiveDidNotDeliverIsNotUsed() {
    plan(new Scan("t", A_1, "/t"));
    FileInputFormat.setInputPaths(job, "/t");
    assertEquals(Reason.NO_FILTER, whyNot());
  }

  private Reason whyNot() {
    return assertThrows(KeepAll.class, () -> FilterScope.filterOf(job)).reason;
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

  private static ExprNodeGenericFuncDesc and(ExprNodeDesc left, ExprNodeDesc right) {
    return function(new GenericUDFOPAnd(), left, right);
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

  // ---- reading

  @ParameterizedTest
  @CsvSource({
    // plan, scans of the file, merged split -> filtered by the reader
    "false, 1, false, true",
    "false, 1, true, false",
    "true, 1, false, true",
    "true, 1, true, false",
    "true, 2, false, false",
    "true, 2, true, false",
  })
  void theReaderFiltersOnlyUnmergedSplitsOfOneScan(
      boolean withPlan, int scans, boolean merged, boolean filtered) {
    filterOfTheJob(A_1);
    MapWork work = null;
    if (withPlan) {
      Scan second = new Scan("s", A_2, scans == 2 ? "/t/dt=1" : "/s");
      work = plan(new Scan("t", A_1, "/t"), second, new Scan("u", A_2, "/u"));
    }
    FileSplit split = new FileSplit(new Path("file:/t/dt=1/a.parquet"), 0, 1, new String[0]);
    JobConf reading = FilterScope.forReading(split, job, merged);
    if (filtered) {
      assertSame(job, reading);
    }
    assertEquals(filtered ? text(A_1) : null, reading.get(TableScanDesc.FILTER_EXPR_CONF_STR));
    assertEquals(filtered, reading.get(TableScanDesc.FILTER_TEXT_CONF_STR) != null);
    assertEquals(filtered, reading.get("sarg.pushdown") != null);
    assertEquals(text(A_1), job.get(TableScanDesc.FILTER_EXPR_CONF_STR), "the job itself");
    if (work != null) {
      assertEquals(filtered, scan(work, "t").getFilterExpr() != null);
      assertEquals(scans == 1, scan(work, "s").getFilterExpr() != null);
      assertSame(A_2, scan(work, "u").getFilterExpr(), "the filter of another folder's scan");
    }
  }

  // ---- filters that are too long for Parquet's reader

  private static final int MOST = FilterScope.MAX_READER_TERMS;

  static Stream<Arguments> longFilters() {
    return Stream.of(
        arguments("IN, as long as it may be", inList(MOST - 1), true),
        arguments("IN, one more", inList(MOST), false),
        arguments("IN, 20,000", inList(20_000), false),
        arguments("NOT IN", function(new GenericUDFOPNot(), inList(MOST)), false),
        arguments("OR in one list", function(new GenericUDFOPOr(), equals(MOST)), false),
        arguments("AND in one list", function(new GenericUDFOPAnd(), equals(MOST)), false),
        arguments("OR, nested", nested(new GenericUDFOPOr(), 20_000), false),
        arguments("short lists together", and(inList(MOST / 2), inList(MOST / 2)), false),
        arguments("a short list below", and(A_1, inList(MOST / 2)), true));
  }

  private static ExprNodeGenericFuncDesc inList(int members) {
    List<ExprNodeDesc> arguments = new ArrayList<>(List.of(column("a")));
    for (int i = 0; i < members; i++) {
      arguments.add(new ExprNodeConstantDesc(i));
    }
    return new ExprNodeGenericFuncDesc(
        TypeInfoFactory.booleanTypeInfo, new GenericUDFIn(), arguments);
  }

  private static ExprNodeDesc[] equals(int conditions) {
    return IntStream.range(0, conditions)
        .mapToObj(i -> equal(column("a"), i))
        .toArray(ExprNodeDesc[]::new);
  }

  private static ExprNodeGenericFuncDesc nested(GenericUDF function, int depth) {
    ExprNodeGenericFuncDesc filter = A_1;
    for (int i = 0; i < depth; i++) {
      filter = function(function, filter, A_2);
    }
    return filter;
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("longFilters")
  void aLongFilterDoesNotReachTheReaderOfAPlan(
      String name, ExprNodeGenericFuncDesc filter, boolean filtered) {
    filterOfTheJob(A_1);
    MapWork work = plan(new Scan("t", filter, "/t"), new Scan("u", A_2, "/u"));
    JobConf reading = FilterScope.forReading(split(), job, false);
    assertEquals(filtered, reading.get(TableScanDesc.FILTER_EXPR_CONF_STR) != null);
    assertSame(filtered ? filter : null, scan(work, "t").getFilterExpr());
    assertSame(A_2, scan(work, "u").getFilterExpr(), "the filter of another folder's scan");
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("longFilters")
  void aLongFilterDoesNotReachTheReaderOfAFetchTask(
      String name, ExprNodeGenericFuncDesc filter, boolean filtered) throws Exception {
    filterOfTheJob(A_1);
    AtomicReference<JobConf> reading = new AtomicReference<>();
    inAThread(
        256 << 20, // Kryo writes nested expressions recursively
        () -> {
          job.set(TableScanDesc.FILTER_EXPR_CONF_STR, text(filter));
          reading.set(FilterScope.forReading(split(), job, false));
        });
    assertEquals(filtered, reading.get().get(TableScanDesc.FILTER_EXPR_CONF_STR) != null);
    assertEquals(filtered, reading.get().get("sarg.pushdown") != null);
  }

  static Stream<Arguments> longestFilters() {
    int half = MOST / 2 - 1;
    ExprNodeGenericFuncDesc[] pairs =
        IntStream.range(0, 8)
            .mapToObj(i -> and(equal(column("a"), i), equal(column("b"), i)))
            .toArray(ExprNodeGenericFuncDesc[]::new);
    ExprNodeDesc[] withList = Arrays.copyOf(pairs, 9, ExprNodeDesc[].class);
    withList[8] = inList(MOST - 33);
    return Stream.of(
        arguments("IN", inList(MOST - 1)),
        arguments("NOT IN", function(new GenericUDFOPNot(), inList(MOST - 1))),
        arguments("OR", function(new GenericUDFOPOr(), equals(MOST / 2))),
        arguments("AND", function(new GenericUDFOPAnd(), equals(MOST / 2))),
        arguments("two lists", and(inList(half), inList(half))),
        arguments("256 clauses with a list in each", function(new GenericUDFOPOr(), withList)));
  }

  /** A stack of half the usual size, and what the reader does with a filter. */
  @ParameterizedTest(name = "{0}")
  @MethodSource("longestFilters")
  void parquetBearsTheLongestFilterThatReachesIt(String name, ExprNodeGenericFuncDesc filter)
      throws Exception {
    filterOfTheJob(filter);
    assertSame(job, FilterScope.forReading(split(), job, false));
    inAThread(
        512 << 10,
        () -> {
          FilterPredicate predicate =
              ParquetFilterPredicateConverter.toFilterPredicate(
                  ConvertAstToSearchArg.create(job, filter),
                  MessageTypeParser.parseMessageType(
                      "message t { optional int32 a; optional int32 b; }"),
                  Map.of("a", TypeInfoFactory.intTypeInfo, "b", TypeInfoFactory.intTypeInfo));
          ParquetInputFormat.setFilterPredicate(job, LogicalInverseRewriter.rewrite(predicate));
          assertTrue(predicate.toString().length() > MOST);
        });
  }

  private static FileSplit split() {
    return new FileSplit(new Path("file:/t/dt=1/a.parquet"), 0, 1, new String[0]);
  }

  private static void inAThread(long stackBytes, Runnable work) throws Exception {
    AtomicReference<Throwable> failure = new AtomicReference<>();
    Thread thread = new Thread(null, work, "deep", stackBytes);
    thread.setUncaughtExceptionHandler((ignored, error) -> failure.set(error));
    thread.start();
    thread.join();
    if (failure.get() != null) {
      throw new AssertionError(failure.get());
    }
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

  private static PartitionDesc table(String format, String view) {
    PartitionDesc table = new PartitionDesc();
    table.setInputFileFormatClass(
        format.equals("TextInputFormat") ? TextInputFormat.class : HudiInputFormat.class);
    TableDesc desc = new TableDesc();
    desc.setProperties(new java.util.Properties());
    desc.getProperties().setProperty("sargo.view", view);
    table.setTableDesc(desc);
    return table;
  }

  @Test
  void aJobWithoutAPlanReadsAFolderOnce() {
    assertEquals(false, FilterScope.isReadOtherwise(job, new Path("file:/t")));
    assertNull(job.get("hive.exec.plan"));
  }
}
