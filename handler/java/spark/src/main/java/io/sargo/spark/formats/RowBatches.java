package io.sargo.spark.formats;

import java.io.Closeable;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.RowToColumnConverter;
import org.apache.spark.sql.execution.vectorized.OffHeapColumnVector;
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.util.TaskCompletionListener;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Rows in batches. Each batch holds until the next one is asked for, as those of Spark's readers.
 */
final class RowBatches extends AbstractIterator<ColumnarBatch> implements Closeable {
  private final Iterator<InternalRow> rows;
  private final int size;
  private final WritableColumnVector[] vectors;
  private final RowToColumnConverter converter;
  private final ColumnarBatch batch;
  private boolean isClosed;

  RowBatches(Iterator<InternalRow> rows, StructType columns, int size, boolean isOffHeap) {
    this.rows = rows;
    this.size = size;
    StructType nullable = columns.asNullable(); // a column without NULLs may have them in old files
    vectors =
        isOffHeap
            ? OffHeapColumnVector.allocateColumns(size, nullable)
            : OnHeapColumnVector.allocateColumns(size, nullable);
    converter = new RowToColumnConverter(nullable);
    batch = new ColumnarBatch(vectors);
    if (TaskContext.get() != null) {
      TaskContext.get().addTaskCompletionListener((TaskCompletionListener) context -> free());
    }
  }

  @Override
  public boolean hasNext() {
    return rows.hasNext();
  }

  @Override
  public ColumnarBatch next() {
    for (WritableColumnVector vector : vectors) {
      vector.reset();
    }
    int count = 0;
    while (count < size && rows.hasNext()) {
      converter.convert(rows.next(), vectors);
      count++;
    }
    batch.setNumRows(count);
    return batch;
  }

  @Override
  public void close() {
    BegunBatches.close(rows);
    free();
  }

  private synchronized void free() {
    if (!isClosed) {
      isClosed = true;
      batch.close();
    }
  }
}
