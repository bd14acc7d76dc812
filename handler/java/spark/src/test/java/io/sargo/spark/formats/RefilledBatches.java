package io.sargo.spark.formats;

import java.io.Closeable;
import org.apache.spark.sql.execution.vectorized.OnHeapColumnVector;
import org.apache.spark.sql.execution.vectorized.WritableColumnVector;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.AbstractIterator;

/**
 * Batches as Spark's readers give them: one batch, which {@code hasNext} fills with the next rows.
 */
final class RefilledBatches extends AbstractIterator<ColumnarBatch> implements Closeable {
  private final WritableColumnVector vector;
  private final ColumnarBatch batch;
  private final int count;
  private int filled;
  private boolean isFilled;
  boolean isClosed;

  RefilledBatches(DataType of, int count) {
    this.count = count;
    vector = new OnHeapColumnVector(1, of);
    batch = new ColumnarBatch(new WritableColumnVector[] {vector}, 1);
  }

  @Override
  public boolean hasNext() {
    if (!isFilled && filled < count) {
      filled++;
      isFilled = true;
      if (vector.dataType() instanceof org.apache.spark.sql.types.ByteType) {
        vector.putByte(0, (byte) filled);
      } else {
        vector.putInt(0, filled);
      }
    }
    return isFilled;
  }

  @Override
  public ColumnarBatch next() {
    hasNext();
    isFilled = false;
    return batch;
  }

  @Override
  public void close() {
    isClosed = true;
  }
}
