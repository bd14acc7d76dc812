package io.sargo.hive;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sargo.client.KeepAll;
import io.sargo.client.KeepAll.Reason;
import java.util.List;
import java.util.stream.Stream;
import org.apache.hadoop.hive.ql.CompilationOpContext;
import org.apache.hadoop.hive.ql.exec.CommonMergeJoinOperator;
import org.apache.hadoop.hive.ql.exec.DummyStoreOperator;
import org.apache.hadoop.hive.ql.exec.FilterOperator;
import org.apache.hadoop.hive.ql.exec.MapJoinOperator;
import org.apache.hadoop.hive.ql.exec.Operator;
import org.apache.hadoop.hive.ql.plan.MapJoinDesc;
import org.apache.hadoop.hive.ql.plan.MapWork;
import org.apache.hadoop.mapred.FileInputFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Joins that take files for buckets. */
class BucketedJoinTest extends PlannedJob {
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
}
