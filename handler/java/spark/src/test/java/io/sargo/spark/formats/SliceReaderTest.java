package io.sargo.spark.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.sargo.spark.shims.Seqs;
import java.io.Closeable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.paths.SparkPath;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.execution.datasources.PartitionedFile;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.junit.jupiter.api.Test;
import scala.Function1;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

class SliceReaderTest {
  private static final StructType COLUMNS = new StructType().add("i", DataTypes.IntegerType);

  private static Function1<PartitionedFile, Iterator<InternalRow>> giving(Iterator<?> found) {
    return new AbstractFunction1<PartitionedFile, Iterator<InternalRow>>() {
      @Override
      @SuppressWarnings("unchecked")
      public Iterator<InternalRow> apply(PartitionedFile file) {
        return (Iterator<InternalRow>) found;
      }
    };
  }

  private static Iterator<?> read(Iterator<?> batches) {
    Iterator<InternalRow> rows =
        Seqs.of(List.<InternalRow>of(new GenericInternalRow(new Object[] {-1}))).iterator();
    scala.collection.immutable.Map<String, Object> none =
        scala.collection.immutable.Map$.MODULE$.empty();
    PartitionedFile file =
        new PartitionedFile(
            InternalRow.empty(),
            SparkPath.fromPathString("file:/t/id_0_1.parquet"),
            0,
            1,
            new String[0],
            0,
            1,
            none);
    return new SliceReader(giving(batches), giving(rows), COLUMNS, 10, false).apply(file);
  }

  private static List<Integer> values(Iterator<?> found) {
    List<Integer> values = new ArrayList<>();
    while (found.hasNext()) {
      ColumnarBatch batch = (ColumnarBatch) found.next();
      for (int i = 0; i < batch.numRows(); i++) {
        values.add(batch.getRow(i).getInt(0));
      }
    }
    return values;
  }

  @Test
  void batchesOfTheTypesOfTheScanAreReturnedOneByOne() throws Exception {
    RefilledBatches batches = new RefilledBatches(DataTypes.IntegerType, 3);
    Iterator<?> found = read(batches);
    assertEquals(List.of(1, 2, 3), values(found));
    assertFalse(batches.isClosed);
    ((Closeable) found).close();
    assertTrue(batches.isClosed);
  }

  @Test
  void aFileOfAnotherTypeIsReadByRows() {
    RefilledBatches batches = new RefilledBatches(DataTypes.ByteType, 3);
    assertEquals(List.of(-1), values(read(batches)));
    assertTrue(batches.isClosed);
  }

  @Test
  void rowsInsteadOfBatchesAreLeftForThoseOfTheOtherReader() {
    List<InternalRow> rows = List.of(new GenericInternalRow(new Object[] {7}));
    assertEquals(List.of(-1), values(read(Seqs.of(rows).iterator())));
  }

  @Test
  void aFileWithoutRowsHasNoBatch() {
    assertEquals(List.of(), values(read(new RefilledBatches(DataTypes.IntegerType, 0))));
  }
}
