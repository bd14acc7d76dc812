package io.sargo.spark.formats;

import io.sargo.spark.hudi.HudiTable;
import java.io.Serializable;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.types.StructType;
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
        Iterator<?> found = BegunBatches.of(batches.apply(file), columns);
        if (found != null) {
          return (Iterator) found;
        }
      }
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("sargo: the slices of a directory are not known: " + e, e);
    }
    return (Iterator) new RowBatches(rows.apply(file), columns, batchSize, isOffHeap);
  }
}
