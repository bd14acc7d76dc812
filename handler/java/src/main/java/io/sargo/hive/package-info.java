/**
 * The jar that Hive loads. It removes files that hold no matching row from the listing of a scan.
 *
 * <p>The jar holds no pruning rule. Hudi's input format lists the files, the sidecar ({@code sargo
 * serve}) names the files to skip, and Hive filters every row that it reads, as without the jar.
 *
 * <p><b>The one rule: whatever goes wrong keeps every file.</b> The filter may belong to another
 * scan, the sidecar may be down or slow, an answer may fail a check, another version of Hive may
 * lack a method. Each case is a {@link io.sargo.hive.KeepAll.Reason}, a count in JMX and a line in
 * the log. Pruning never fails a query.
 *
 * <p>Classes that Hive's configuration and tables name; they keep their names:
 *
 * <ul>
 *   <li>{@link io.sargo.hive.HudiStorageHandler}: STORED BY. It pushes the filter down and refuses
 *       writes, with {@link io.sargo.hive.ReadOnlyOutputFormat}.
 *   <li>{@link io.sargo.hive.HudiInputFormat}: the format of its tables. It chooses the view.
 *   <li>{@link io.sargo.hive.PruningInputFormat}: replaces {@code HoodieParquetInputFormat}.
 *   <li>{@link io.sargo.hive.PruningRealtimeInputFormat}: replaces {@code
 *       HoodieParquetRealtimeInputFormat}.
 * </ul>
 *
 * <p>The steps of pruning, in their order:
 *
 * <ol>
 *   <li>{@link io.sargo.hive.Pruner} receives the listing from an input format and takes the other
 *       steps. No other class removes a file.
 *   <li>{@link io.sargo.hive.Settings} reads the keys {@code sargo.*}.
 *   <li>{@link io.sargo.hive.FilterScope} checks that the filter of the job belongs to this scan.
 *   <li>{@link io.sargo.hive.Listing} names the files relative to the table's base path.
 *   <li>{@link io.sargo.hive.Sidecar} makes one call within one deadline, behind a circuit breaker.
 *   <li>{@link io.sargo.hive.Wire} writes the request, reads the reply and checks that the reply
 *       answers this request.
 *   <li>{@link io.sargo.hive.Counters} counts what was skipped, or why nothing was.
 * </ol>
 */
package io.sargo.hive;
