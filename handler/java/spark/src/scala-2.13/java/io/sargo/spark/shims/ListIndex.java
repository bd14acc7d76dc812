package io.sargo.spark.shims;

import java.util.List;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.PartitionDirectory;
import scala.collection.immutable.Seq;

/** A file index whose methods take and return Java's lists. */
public abstract class ListIndex implements FileIndex {
  public abstract List<Path> roots();

  public abstract List<PartitionDirectory> list(
      List<Expression> partitionFilters, List<Expression> dataFilters);

  @Override
  public final Seq<Path> rootPaths() {
    return Seqs.of(roots());
  }

  @Override
  public final Seq<PartitionDirectory> listFiles(
      Seq<Expression> partitionFilters, Seq<Expression> dataFilters) {
    return Seqs.of(list(Seqs.list(partitionFilters), Seqs.list(dataFilters)));
  }
}
