package io.sargo.spark.shims;

import java.util.List;
import java.util.Optional;
import org.apache.hadoop.conf.Configuration;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructType;
import scala.Function1;
import scala.Option;
import scala.collection.Iterator;
import scala.collection.Seq;
import scala.collection.immutable.Map;

/** A file format whose methods take and return Java's lists. */
public abstract class ListFormat extends ParquetFileFormat {
  private static final long serialVersionUID = 1;

  /**
   * What is read of each file: {@code required} columns of {@code data}, then {@code partition}.
   */
  protected abstract Function1<PartitionedFile, Iterator<InternalRow>> reader(
      SparkSession session,
      StructType data,
      StructType partition,
      StructType required,
      List<Filter> filters,
      Map<String, String> options,
      Configuration configuration);

  /** The class of each column's vectors, if they are known. */
  protected abstract Optional<List<String>> vectors(
      StructType required, StructType partition, SQLConf conf);

  @Override
  public final Function1<PartitionedFile, Iterator<InternalRow>> buildReaderWithPartitionValues(
      SparkSession session,
      StructType data,
      StructType partition,
      StructType required,
      Seq<Filter> filters,
      Map<String, String> options,
      Configuration configuration) {
    return reader(session, data, partition, required, Seqs.list(filters), options, configuration);
  }

  @Override
  public final Option<Seq<String>> vectorTypes(
      StructType required, StructType partition, SQLConf conf) {
    return Option.apply(vectors(required, partition, conf).map(Seqs::of).orElse(null));
  }
}
