/**
 * Scans that the keys of a join's other side narrow: by a broadcast once it is there, or by a
 * subquery that runs before the scan. The keys become one more condition of an index of {@code
 * scans}.
 */
package io.sargo.spark.joins;
