package io.sargo.spark.buckets;

import io.sargo.spark.hashing.BucketKey;
import io.sargo.spark.hashing.KeyHash;
import org.apache.spark.rdd.InputFileBlockHolder;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;

/**
 * Checks that the key of each row of a task belongs to the task's bucket. A row of another bucket
 * would be lost by a join, so it fails the query.
 */
final class RowPlaces {
  private final BucketKey key;
  private final int buckets;
  private final int bucket;
  private final String table;

  RowPlaces(BucketKey key, int buckets, int bucket, String table) {
    this.key = key;
    this.buckets = buckets;
    this.bucket = bucket;
    this.table = table;
  }

  void check(SpecializedGetters row) {
    int belongs = KeyHash.bucket(key.hash(row), buckets);
    if (belongs != bucket) {
      throw misplaced(belongs);
    }
  }

  private IllegalStateException misplaced(int belongs) {
    return new IllegalStateException(
        "sargo: a row in bucket "
            + bucket
            + " of "
            + buckets
            + " has a key ("
            + key
            + ") that belongs to bucket "
            + belongs
            + ": the table is not bucketed as its options say, and a join without an exchange would"
            + " lose the row. SET spark.sargo.buckets=false reads the table with an exchange."
            + " table="
            + table
            + " file="
            + InputFileBlockHolder.getInputFilePath());
  }
}
