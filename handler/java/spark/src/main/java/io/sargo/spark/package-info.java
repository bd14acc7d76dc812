/**
 * What Spark loads: {@link io.sargo.spark.SargoExtensions} by its name in the configuration, {@link
 * io.sargo.spark.NarrowedReads} from Python. Every other class is in a package below, which uses
 * those below it and no others; a test holds the imports to it.
 *
 * <pre>
 *   joins       buckets                 scans that the keys of a join narrow, joins without an exchange
 *     |           |    \                 (aggregates, by footers: as joins)
 *     |           |     hashing         Hudi's hash of a record key
 *     |           |       |
 *     +-- scans --+       |             Hudi's listing, of which slices are left
 *        /     \          |
 *       |    formats      |             how the files of slices are read
 *       |       |         |
 *   question   hudi       |             conditions as the sidecar reads them; what Hudi says of a table
 *        \     /          |
 *         plans ----------+             Spark's plans and conditions
 *           |
 *         shims                         what differs between Spark 3.5 and Spark 4
 * </pre>
 */
package io.sargo.spark;
