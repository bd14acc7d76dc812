package io.sargo.spark.formats;

import java.io.Closeable;
import java.util.Collections;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.AbstractIterator;

/**
 * The rows of batches, one by one, as Spark's readers of rows return them: an UnsafeRow, which
 * holds until the next one is taken. It has its own bytes, so that a batch may be filled anew
 * before.
 */
final class BatchRows extends AbstractIterator<InternalRow> implements Closeable {
  private final scala.collection.Iterator<ColumnarBatch> batches;
  private final UnsafeProjection projection;
  private Iterator<InternalRow> rows = Collections.emptyIterator();

  BatchRows(scala.collection.Iterator<ColumnarBatch> batches, StructType columns) {
    this.batches = batches;
    projection = UnsafeProjection.create(columns);
  }

  @Override
  public boolean hasNext() {
    while (!rows.hasNext() && batches.hasNext()) {
      rows = batches.next().rowIterator();
    }
    return rows.hasNext();
  }

  @Override
  public InternalRow next() {
    hasNext();
    return projection.apply(rows.next());
  }

  @Override
  public void close() {
    BegunBatches.close(batches);
  }
}
