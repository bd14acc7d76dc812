package io.sargo.spark.formats;

import java.io.Closeable;
import java.util.Collections;
import java.util.Iterator;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.AbstractIterator;

/**
 * The rows of batches, one by one. A row holds until the next one is taken, as those of Spark's
 * readers of rows: the last one of a batch is a copy, because asking whether there are more rows
 * fills the batch anew.
 */
final class BatchRows extends AbstractIterator<InternalRow> implements Closeable {
  private final scala.collection.Iterator<ColumnarBatch> batches;
  private Iterator<InternalRow> rows = Collections.emptyIterator();

  BatchRows(scala.collection.Iterator<ColumnarBatch> batches) {
    this.batches = batches;
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
    InternalRow row = rows.next();
    return rows.hasNext() ? row : row.copy();
  }

  @Override
  public void close() {
    BegunBatches.close(batches);
  }
}
