package io.sargo.spark.buckets;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import scala.collection.AbstractIterator;
import scala.collection.Iterator;

/**
 * What a scan's reader returns, rows or batches of rows, each row counted and checked. Rows are
 * UnsafeRows, as Spark's operators expect them.
 */
final class CheckedRows<T> extends AbstractIterator<T> {
  private final Iterator<T> rows;
  private final RowPlaces places;
  private final StructType schema;
  private final SQLMetric count;
  private UnsafeProjection projection;

  CheckedRows(Iterator<T> rows, RowPlaces places, StructType schema, SQLMetric count) {
    this.rows = rows;
    this.places = places;
    this.schema = schema;
    this.count = count;
  }

  @Override
  public boolean hasNext() {
    return rows.hasNext();
  }

  @Override
  public T next() {
    T next = rows.next();
    if ((Object) next instanceof ColumnarBatch) {
      ColumnarBatch batch = (ColumnarBatch) (Object) next;
      for (int i = 0; i < batch.numRows(); i++) {
        places.check(batch.getRow(i));
      }
      count.add(batch.numRows());
      return next;
    }
    InternalRow row = (InternalRow) next;
    places.check(row);
    count.add(1);
    return row instanceof UnsafeRow ? next : toUnsafe(row);
  }

  private T toUnsafe(InternalRow row) {
    if (projection == null) {
      projection = UnsafeProjection.create(schema);
    }
    @SuppressWarnings("unchecked")
    T unsafe = (T) projection.apply(row);
    return unsafe;
  }
}
