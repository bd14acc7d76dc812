package io.sargo.spark.joins;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.scans.NarrowedIndex;
import io.sargo.spark.scans.Narrowing;
import io.sargo.spark.shims.ListIndex;
import java.util.Collections;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.StructType;

/**
 * The index of one scan of one run, which learns a condition after it has been planned, and lists
 * its files after that.
 */
final class LateIndex extends ListIndex {
  private final NarrowedIndex planned;
  private volatile NarrowedIndex index;
  private volatile UselessKeys useless;

  LateIndex(NarrowedIndex index) {
    planned = index;
    this.index = index;
  }

  /** From now on only slices that may hold a row of {@code condition}, too, are listed. */
  void narrow(Expression condition, Expression key) {
    useless = UselessKeys.of(planned, key);
    index = planned.narrowedBy(Collections.singletonList(Conditions.byName(condition)));
  }

  @Override
  public List<Path> roots() {
    return index.roots();
  }

  @Override
  public List<PartitionDirectory> list(
      List<Expression> partitionFilters, List<Expression> dataFilters) {
    Narrowing left = useless == null ? null : index.narrowing(partitionFilters, dataFilters);
    if (left != null) {
      useless.record(left.isAnswer() && left.isLessThan(planned.foreseen()));
    }
    return index.list(partitionFilters, dataFilters);
  }

  @Override
  public String[] inputFiles() {
    return index.inputFiles();
  }

  @Override
  public void refresh() {
    index.refresh();
  }

  @Override
  public long sizeInBytes() {
    return index.sizeInBytes();
  }

  @Override
  public StructType partitionSchema() {
    return index.partitionSchema();
  }
}
