/**
 * How the files of slices are read: by Hudi's own format, of a table with log files in batches,
 * too. Uses {@code hudi}.
 */
package io.sargo.spark.formats;
