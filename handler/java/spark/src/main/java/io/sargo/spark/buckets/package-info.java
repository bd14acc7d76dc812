/**
 * Tables with a bucket index whose scans spare an exchange: the sidecar says how rows are spread,
 * the plan says which joins, aggregates and windows gain by it, and a scan has one task for each
 * bucket and checks the place of each row. Uses {@code hashing}, and {@code scans} for the index
 * below.
 */
package io.sargo.spark.buckets;
