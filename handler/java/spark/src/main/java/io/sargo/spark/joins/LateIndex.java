package io.sargo.spark.joins;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.scans.NarrowedIndex;
import io.sargo.spark.shims.ListIndex;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.StructType;

/**
 * The index of one scan of one run, which learns conditions after it has been planned, and lists
 * its files after that.
 */
final class LateIndex extends ListIndex {
  private final NarrowedIndex planned;
  private final Map<Expression, UselessKeys> conditions = new LinkedHashMap<>();
  private final Set<String> by = new TreeSet<>();
  private volatile NarrowedIndex index;
  private volatile int listed = -1;

  LateIndex(NarrowedIndex index) {
    planned = index;
    this.index = index;
  }

  /**
   * From now on only slices that may hold a row of {@code condition}, too, are listed.
   *
   * @param useless what counts whether the condition skips something
   * @param what keys or values, for people
   */
  void narrow(Expression condition, UselessKeys useless, String what) {
    by.add(what);
    conditions.put(Conditions.byName(condition), useless);
  }

  @Override
  public List<Path> roots() {
    return index.roots();
  }

  @Override
  public List<PartitionDirectory> list(
      List<Expression> partitionFilters, List<Expression> dataFilters) {
    NarrowedIndex by = planned;
    for (Map.Entry<Expression, UselessKeys> one : conditions.entrySet()) {
      if (one.getValue().asks()
          && one.getValue()
              .narrow(
                  by, one.getKey(), any -> any.narrowing(partitionFilters, dataFilters), true)) {
        by = by.narrowedBy(Collections.singletonList(one.getKey()));
      }
    }
    index = by;
    List<PartitionDirectory> directories = by.list(partitionFilters, dataFilters);
    listed = directories.stream().mapToInt(directory -> directory.files().size()).sum();
    return directories;
  }

  /**
   * How many slices are left, as one phrase; null before they are listed, and without conditions.
   */
  String summary() {
    return listed < 0 || by.isEmpty() ? null : listed + " by " + String.join(" and ", by);
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
