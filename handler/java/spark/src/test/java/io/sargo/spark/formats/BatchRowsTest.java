package io.sargo.spark.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.junit.jupiter.api.Test;

class BatchRowsTest {
  private static final StructType COLUMNS = new StructType().add("i", DataTypes.IntegerType);

  @Test
  void aRowHoldsUntilTheNextOneIsTaken() {
    RefilledBatches batches = new RefilledBatches(DataTypes.IntegerType, 3);
    BatchRows rows = new BatchRows(batches, COLUMNS);
    for (int i = 1; i <= 3; i++) {
      InternalRow row = rows.next();
      assertEquals(i < 3, rows.hasNext()); // which fills the batch with the next row
      assertEquals(i, row.getInt(0));
    }
    assertThrows(NoSuchElementException.class, rows::next);
    rows.close();
    assertTrue(batches.isClosed);
  }

  @Test
  void noBatchesHaveNoRows() {
    assertFalse(new BatchRows(new RefilledBatches(DataTypes.IntegerType, 0), COLUMNS).hasNext());
  }
}
