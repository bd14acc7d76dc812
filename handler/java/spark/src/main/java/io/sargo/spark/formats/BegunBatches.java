package io.sargo.spark.formats;

import java.io.Closeable;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Batches of which the first one was taken. The reader fills one batch again and again: it is not
 * asked for more before the first one is used.
 */
final class BegunBatches extends AbstractIterator<ColumnarBatch> implements Closeable {
  private final Iterator<ColumnarBatch> rest;
  private ColumnarBatch first;

  BegunBatches(ColumnarBatch first, Iterator<ColumnarBatch> rest) {
    this.first = first;
    this.rest = rest;
  }

  @Override
  public boolean hasNext() {
    return first != null || rest.hasNext();
  }

  @Override
  public ColumnarBatch next() {
    if (first == null) {
      return rest.next();
    }
    ColumnarBatch taken = first;
    first = null;
    return taken;
  }

  @Override
  public void close() {
    SliceReader.close(rest);
  }
}
