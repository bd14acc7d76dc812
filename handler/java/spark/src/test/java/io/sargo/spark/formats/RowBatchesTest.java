package io.sargo.spark.formats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.sargo.spark.shims.Seqs;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RowBatchesTest {
  private static final StructType COLUMNS =
      new StructType()
          .add("id", DataTypes.LongType, false)
          .add("i", DataTypes.IntegerType)
          .add("b", DataTypes.BooleanType)
          .add("d", DataTypes.DoubleType)
          .add("s", DataTypes.StringType)
          .add("small", DataTypes.createDecimalType(9, 2))
          .add("large", DataTypes.createDecimalType(30, 3))
          .add("day", DataTypes.DateType)
          .add("t", DataTypes.TimestampType)
          .add("raw", DataTypes.BinaryType);

  private static InternalRow row(int i) {
    Object[] values = {
      (long) i,
      i,
      i % 2 == 0,
      i / 4.0,
      UTF8String.fromString("text " + i),
      Decimal.apply(i * 100L + 7, 9, 2),
      Decimal.apply(
          new scala.math.BigDecimal(new java.math.BigDecimal("12345678901234567890.125"))),
      18_000 + i,
      1_700_000_000_000_000L + i,
      new byte[] {(byte) i, 2}
    };
    for (int column = 0; column < values.length; column++) {
      if ((i + column) % 5 == 4) {
        values[column] = null; // of id, too: a file that is older than a schema's NOT NULL
      }
    }
    return new GenericInternalRow(values);
  }

  private static List<InternalRow> rows(int count) {
    List<InternalRow> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      rows.add(row(i));
    }
    return rows;
  }

  /** The values of a row as texts, those of bytes by their content. */
  private static List<String> texts(InternalRow row) {
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < COLUMNS.length(); i++) {
      Object value = row.isNullAt(i) ? null : row.get(i, COLUMNS.apply(i).dataType());
      texts.add(value instanceof byte[] ? Arrays.toString((byte[]) value) : String.valueOf(value));
    }
    return texts;
  }

  /** The rows of all batches, and the number in each. */
  private static List<List<String>> unpacked(RowBatches batches, List<Integer> sizes) {
    List<List<String>> found = new ArrayList<>();
    while (batches.hasNext()) {
      ColumnarBatch batch = batches.next();
      sizes.add(batch.numRows());
      for (int i = 0; i < batch.numRows(); i++) {
        found.add(texts(batch.getRow(i)));
      }
    }
    return found;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theRowsOfAllBatchesAreThoseGiven(boolean isOffHeap) throws Exception {
    List<List<String>> expected = new ArrayList<>();
    rows(25).forEach(row -> expected.add(texts(row)));
    List<Integer> sizes = new ArrayList<>();
    RowBatches batches = new RowBatches(Seqs.of(rows(25)).iterator(), COLUMNS, 10, isOffHeap);
    assertEquals(expected, unpacked(batches, sizes));
    assertEquals(List.of(10, 10, 5), sizes);
    batches.close();
    batches.close(); // Spark and the end of the task both close it
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 3})
  void rowsWithoutColumnsAreCounted(int count) {
    List<InternalRow> empty = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      empty.add(new GenericInternalRow(new Object[0]));
    }
    RowBatches batches = new RowBatches(Seqs.of(empty).iterator(), new StructType(), 10, false);
    assertEquals(count > 0, batches.hasNext());
    if (count > 0) {
      assertEquals(count, batches.next().numRows());
    }
    assertFalse(batches.hasNext());
  }
}
