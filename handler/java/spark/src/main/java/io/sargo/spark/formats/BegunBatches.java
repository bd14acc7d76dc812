package io.sargo.spark.formats;

import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * Batches of a file, of which the first one was looked at. The reader fills one batch again and
 * again: it is not asked for more before the first one is used.
 */
final class BegunBatches extends AbstractIterator<ColumnarBatch> implements Closeable {
  private final Iterator<ColumnarBatch> rest;
  private ColumnarBatch first;

  BegunBatches(ColumnarBatch first, Iterator<ColumnarBatch> rest) {
    this.first = first;
    this.rest = rest;
  }

  /**
   * What a reader of Hudi returned, or null where that is rows, or a column has another type than
   * these: Hudi bulk-inserts a TINYINT as a Parquet INT_8 and calls it an INT in the table's
   * schema, and its batches have bytes then, which a query would read as integers.
   */
  @SuppressWarnings({"unchecked", "rawtypes"})
  static Iterator<ColumnarBatch> of(Iterator<?> found, StructType columns) {
    if (!found.hasNext()) {
      return (Iterator) found;
    }
    Object first = found.next();
    if (first instanceof ColumnarBatch && hasTypes((ColumnarBatch) first, columns)) {
      return new BegunBatches((ColumnarBatch) first, (Iterator) found);
    }
    close(found);
    return null;
  }

  private static boolean hasTypes(ColumnarBatch batch, StructType columns) {
    for (int i = 0; i < Math.min(columns.length(), batch.numCols()); i++) {
      DataType of = batch.column(i).dataType();
      if (!of.asNullable().equals(columns.apply(i).dataType().asNullable())) {
        return false;
      }
    }
    return true;
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
    close(rest);
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
