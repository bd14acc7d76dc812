package io.sargo.hive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.io.parquet.read.ParquetFilterPredicateConverter;
import org.apache.hadoop.hive.ql.io.sarg.ConvertAstToSearchArg;
import org.apache.hadoop.hive.ql.plan.ExprNodeConstantDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc;
import org.apache.hadoop.hive.ql.plan.MapWork;
import org.apache.hadoop.hive.ql.plan.TableScanDesc;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDF;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFIn;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPAnd;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPNot;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPOr;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoFactory;
import org.apache.hadoop.mapred.FileSplit;
import org.apache.hadoop.mapred.JobConf;
import org.apache.parquet.filter2.predicate.FilterPredicate;
import org.apache.parquet.filter2.predicate.LogicalInverseRewriter;
import org.apache.parquet.hadoop.ParquetInputFormat;
import org.apache.parquet.schema.MessageTypeParser;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The filter by which the reader of a split filters rows. */
class ReaderFilterTest extends PlannedJob {
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
}
