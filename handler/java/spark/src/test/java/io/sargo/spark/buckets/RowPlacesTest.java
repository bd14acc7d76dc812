package io.sargo.spark.buckets;

import static io.sargo.spark.plans.Columns.column;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.sargo.spark.hashing.BucketKey;
import io.sargo.spark.plans.Untouched;
import java.util.Arrays;
import java.util.Collections;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.unsafe.types.UTF8String;
import org.junit.jupiter.api.Test;

/** Rows and files in and out of their buckets. */
class RowPlacesTest {
  private static final Attribute A = column("a", DataTypes.StringType);
  private static final Attribute N = column("n", DataTypes.IntegerType);

  @Test
  void aRowOfAnotherBucketFails() throws Untouched {
    BucketKey key = BucketKey.of(Collections.singletonList("a"), Arrays.asList(N, A));
    GenericInternalRow row = new GenericInternalRow(new Object[] {7, UTF8String.fromString("1")});
    new RowPlaces(key, 19, 4, "t").check(row);
    RowPlaces wrong = new RowPlaces(key, 19, 5, "t");
    Exception e = assertThrows(IllegalStateException.class, () -> wrong.check(row));
    assertTrue(e.getMessage().contains("belongs to bucket 4"), e.getMessage());
    assertTrue(e.getMessage().contains("spark.sargo.buckets=false"), e.getMessage());
  }

  @Test
  void aFileNamesItsBucket() {
    String id = "-0011-4a3b-8c4d-0123456789ab";
    assertEquals(7, BucketFiles.bucketOf("00000007" + id + "-0_0-1-2_20250101000000000.parquet"));
    assertEquals(7, BucketFiles.bucketOf(".00000007" + id + "-0_20250101000000000.log.1_0-1-2"));
    assertEquals(7, BucketFiles.bucketOf("00000007" + id + "_0-1-2_20250101000000000.parquet"));
    assertEquals(-1, BucketFiles.bucketOf("0000007" + id + "-0_0-1-2_20250101000000000.parquet"));
    assertEquals(-1, BucketFiles.bucketOf("fd8f15fa" + id + "-0_0-1-2_2025.parquet"));
  }
}
