package io.sargo.spark.scans;

import io.sargo.spark.shims.ListIndex;
import io.sargo.spark.shims.Seqs;
import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import org.apache.spark.sql.types.StructType;

/** Slices of one listing of Hudi's index. They stay, whatever is committed. */
abstract class FixedListing extends ListIndex {
  final FileIndex hudi;

  FixedListing(FileIndex hudi) {
    this.hudi = hudi;
  }

  abstract Narrowing left();

  @Override
  public final List<Path> roots() {
    return Seqs.list(hudi.rootPaths());
  }

  @Override
  public List<PartitionDirectory> list(
      List<Expression> partitionFilters, List<Expression> dataFilters) {
    return left().directories;
  }

  @Override
  public final String[] inputFiles() {
    return left().paths();
  }

  @Override
  public final void refresh() {}

  @Override
  public final long sizeInBytes() {
    return left().bytes;
  }

  @Override
  public final StructType partitionSchema() {
    return hudi.partitionSchema();
  }
}
