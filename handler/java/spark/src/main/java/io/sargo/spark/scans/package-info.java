/**
 * Scans of Hudi tables that list fewer slices. A rule of the optimizer puts an index around Hudi's;
 * this index asks the sidecar, and leaves the slices that may hold a matching row. {@code Scan} is
 * the one class that skips. Uses {@code question}, {@code formats} and {@code hudi}.
 */
package io.sargo.spark.scans;
