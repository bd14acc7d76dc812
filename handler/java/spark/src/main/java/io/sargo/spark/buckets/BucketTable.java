package io.sargo.spark.buckets;

import io.sargo.client.KeepAll;
import io.sargo.client.Sidecars;
import io.sargo.spark.hashing.BucketKey;
import io.sargo.spark.hudi.HudiTable;
import io.sargo.spark.hudi.ReadOptions;
import io.sargo.spark.plans.Untouched;
import io.sargo.spark.question.SessionSettings;
import io.sargo.spark.scans.NarrowedIndex;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.collection.JavaConverters;

/**
 * A scan of a table whose options say that it has a bucket index, and the layout that the sidecar
 * has checked against the table's files.
 */
final class BucketTable {
  final LogicalRelation relation;

  /** The hashed columns. */
  final List<Attribute> key;

  final List<String> names;
  final int buckets;

  /** Whether an exchange is spared by tasks that are buckets, and how many tasks there are. */
  boolean isUseful;

  int tasks;

  /** Tables that are joined by all of their keys have the same number of tasks, if they can. */
  private BucketTable joined;

  private BucketTable(LogicalRelation relation, LayoutQuestion.Layout layout) throws Untouched {
    this.relation = relation;
    names = layout.columns;
    buckets = layout.buckets;
    tasks = buckets;
    List<Attribute> output = new ArrayList<>(Seqs.list(relation.output()));
    key = new ArrayList<>();
    for (int place : BucketKey.of(names, output).places()) {
      key.add(output.get(place));
    }
  }

  /** Throws Untouched for a scan, or a table, whose rows are not known to be in their buckets. */
  static BucketTable of(
      SparkSession session,
      SessionSettings settings,
      LogicalRelation scan,
      Map<String, String> options)
      throws Untouched {
    HadoopFsRelation relation = (HadoopFsRelation) scan.relation();
    Map<String, String> read = JavaConverters.mapAsJavaMapConverter(relation.options()).asJava();
    ReadOptions.check(read, SessionSettings.conf(session));
    Untouched.when(
        ReadOptions.instant(read) != null, "buckets are known of the table's latest instant only");
    HudiTable table = HudiTable.of(NarrowedIndex.hudiIndex(relation.location()));
    try {
      LayoutQuestion.Layout layout =
          Sidecars.ask(new LayoutQuestion(table.location(), options), settings);
      Untouched.when(layout.buckets == 0, layout.why);
      return new BucketTable(scan, layout);
    } catch (KeepAll e) {
      throw new Untouched("buckets: " + e.getMessage());
    }
  }

  /** The first of the tables that are joined with this one. */
  BucketTable first() {
    return joined == null ? this : joined.first();
  }

  void join(BucketTable other) {
    BucketTable first = first();
    if (other.first() != first) {
      other.first().joined = first;
    }
  }
}
