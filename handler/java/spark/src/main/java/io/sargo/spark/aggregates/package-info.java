/**
 * Aggregates of existing queries that Parquet footers answer: only where the session asks for it.
 * Uses {@code scans}.
 */
package io.sargo.spark.aggregates;
