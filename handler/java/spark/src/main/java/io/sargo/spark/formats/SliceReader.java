package io.sargo.spark.formats;

import io.sargo.spark.hudi.HudiTable;
import java.io.Closeable;
import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.Function1;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/** Reads one slice in batches, in a task: {@link BatchedFormat}. */
final class SliceReader extends AbstractFunction1<PartitionedFile, Iterator<InternalRow>>
    implements Serializable {
  private static final long serialVersionUID = 1;

  private final Function1<PartitionedFile, Iterator<InternalRow>> batches;
  private final Function1<PartitionedFile, Iterator<InternalRow>> rows;
  private final StructType columns;
  private final int batchSize;
  private final boolean isOffHeap;

  SliceReader(
      Function1<PartitionedFile, Iterator<InternalRow>> batches,
      Function1<PartitionedFile, Iterator<InternalRow>> rows,
      StructType columns,
      int batchSize,
      boolean isOffHeap) {
    this.batches = batches;
    this.rows = rows;
    this.columns = columns;
    this.batchSize = batchSize;
    this.isOffHeap = isOffHeap;
  }

  @Override
  @SuppressWarnings({"unchecked", "rawtypes"})
  public Iterator<InternalRow> apply(PartitionedFile file) {
    String id = HudiTable.fileId(file.toPath().getName());
    try {
      if (HudiTable.sliceOf(file.partitionValues(), id) == null) {
        Iterator<InternalRow> found = checked(batches.apply(file));
        if (found != null) {
          return found;
        }
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("sargo: the slices of a directory are not known: " + e, e);
    }
    return (Iterator) new RowBatches(rows.apply(file), columns, batchSize, isOffHeap);
  }

  /**
   * Batches of a file, or null where Hudi returns rows, or a column has another type than the
   * scan's: Hudi bulk-inserts a TINYINT as a Parquet INT_8 and calls it an INT in the table's
   * schema, and its batches have bytes then, which a query would read as integers.
   */
  @SuppressWarnings({"unchecked", "rawtypes"})
  private Iterator<InternalRow> checked(Iterator<InternalRow> found) {
    if (!found.hasNext()) {
      return found;
    }
    Object first = found.next();
    if (first instanceof ColumnarBatch && hasTypes((ColumnarBatch) first)) {
      return (Iterator) new BegunBatches((ColumnarBatch) first, (Iterator) found);
    }
    close(found);
    return null;
  }

  private boolean hasTypes(ColumnarBatch batch) {
    for (int i = 0; i < Math.min(columns.length(), batch.numCols()); i++) {
      DataType of = batch.column(i).dataType();
      if (!of.asNullable().equals(columns.apply(i).dataType().asNullable())) {
        return false;
      }
    }
    return true;
  }

  /** Close what a reader returned, where that can be closed. */
  static void close(Iterator<?> found) {
    if (found instanceof Closeable) {
      try {
        ((Closeable) found).close();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
