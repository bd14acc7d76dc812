package io.sargo.spark.formats;

import io.sargo.spark.plans.Untouched;
import io.sargo.spark.shims.ListFormat;
import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.FileFormat;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.sources.Filter;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import scala.Function1;
import scala.collection.Iterator;
import scala.collection.immutable.Map;

/**
 * Hudi's format of a MERGE_ON_READ table, which returns batches. Hudi's own returns rows of every
 * slice, because it merges rows.
 *
 * <pre>
 *   slice              read by                                 returned
 *   -----------------  --------------------------------------  --------------------------
 *   without log files  Hudi, as in a COPY_ON_WRITE table       its batches
 *   with log files     Hudi, its base file decoded by columns  its rows, put into batches
 * </pre>
 */
public final class BatchedFormat extends ListFormat {
  private static final long serialVersionUID = 1;

  /** What FileFormat.OPTION_RETURNING_BATCH is in Spark 3.5 and 4. */
  private static final String RETURNING_BATCH = "returning_batch";

  private final ParquetFileFormat hudi;
  private final ParquetFileFormat withoutLogs;

  private BatchedFormat(ParquetFileFormat hudi, ParquetFileFormat withoutLogs) {
    this.hudi = hudi;
    this.withoutLogs = withoutLogs;
  }

  /** The format by which a scan reads: this one for a table with log files, else the given one. */
  public static FileFormat of(FileFormat format) throws Untouched {
    return HudiFormat.mergesLogs(format)
        ? new BatchedFormat((ParquetFileFormat) format, HudiFormat.withoutLogs(format))
        : format;
  }

  @Override
  public boolean supportBatch(SparkSession session, StructType schema) {
    return withoutLogs.supportBatch(session, schema);
  }

  /** A slice with log files is read as a whole. */
  @Override
  public boolean isSplitable(SparkSession session, Map<String, String> options, Path path) {
    return hudi.isSplitable(session, options, path);
  }

  /** Of a column that is constant in a file without log files no class is said. */
  @Override
  protected Optional<List<String>> vectors(
      StructType required, StructType partition, SQLConf conf) {
    scala.Option<? extends scala.collection.Seq<String>> types =
        withoutLogs.vectorTypes(required, partition, conf);
    if (types.isEmpty()) {
      return Optional.empty();
    }
    List<String> all = new ArrayList<>(Seqs.list(types.get()));
    for (int i = required.length(); i < all.size(); i++) {
      all.set(i, ColumnVector.class.getName());
    }
    return Optional.of(all);
  }

  @Override
  protected Function1<PartitionedFile, Iterator<InternalRow>> reader(
      SparkSession session,
      StructType data,
      StructType partition,
      StructType required,
      List<Filter> filters,
      Map<String, String> options,
      Configuration configuration) {
    StructType columns = joined(required, partition);
    BiFunction<
            ParquetFileFormat,
            Map<String, String>,
            Function1<PartitionedFile, Iterator<InternalRow>>>
        readBy =
            (format, given) -> {
              format.supportBatch(session, columns); // Hudi's remembers the answer, and reads by it
              return format.buildReaderWithPartitionValues(
                  session, data, partition, required, Seqs.of(filters), given, configuration);
            };
    boolean inBatches =
        options.get(RETURNING_BATCH).isDefined()
            && Boolean.parseBoolean(options.get(RETURNING_BATCH).get());
    if (!inBatches) {
      return readBy.apply(hudi, options);
    }
    @SuppressWarnings({"unchecked", "cast"}) // Scala 2.13 says less of the type than 2.12
    Map<String, String> returningRows =
        (Map<String, String>) options.updated(RETURNING_BATCH, "false");
    Function1<PartitionedFile, Iterator<InternalRow>> batches = readBy.apply(withoutLogs, options);
    Function1<PartitionedFile, Iterator<InternalRow>> rows = readBy.apply(hudi, returningRows);
    SQLConf conf = session.sessionState().conf();
    return new SliceReader(
        batches,
        passesOverFiles(conf, options) ? rows : decodingColumns(rows, batches),
        columns,
        conf.parquetVectorizedReaderBatchSize(),
        conf.offHeapColumnVectorEnabled());
  }

  /**
   * A file that is missing or corrupt is passed over by the kind of error that Hudi's reader of
   * rows ends with.
   */
  private static boolean passesOverFiles(SQLConf conf, Map<String, String> options) {
    return conf.ignoreMissingFiles()
        || conf.ignoreCorruptFiles()
        || options.contains("ignoreMissingFiles")
        || options.contains("ignoreCorruptFiles");
  }

  /** The function as it is, where it is not as expected. */
  private static Function1<PartitionedFile, Iterator<InternalRow>> decodingColumns(
      Function1<PartitionedFile, Iterator<InternalRow>> rows,
      Function1<PartitionedFile, Iterator<InternalRow>> batches) {
    try {
      return BaseFileReader.decodingColumns(rows, batches);
    } catch (Untouched | RuntimeException e) {
      Untouched.log("base files under log files are decoded row by row: " + e, "");
      return rows;
    }
  }

  private static StructType joined(StructType first, StructType then) {
    StructType all = first;
    for (StructField field : then.fields()) {
      all = all.add(field);
    }
    return all;
  }

  @Override
  public String shortName() {
    return hudi.shortName();
  }

  @Override
  public String toString() {
    return hudi.toString();
  }
}
