/**
 * Hudi's hash of a record key, for a row that is read and as a partitioning by which Spark shuffles
 * the other side of a join. Uses {@code plans}.
 */
package io.sargo.spark.hashing;
