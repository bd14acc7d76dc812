/**
 * The jar that Hive loads. It removes files that hold no matching row from the listing of a scan.
 * With {@code sargo.listing = sidecar}, the default, the sidecar lists the files, too.
 *
 * <p>The jar holds no pruning rule. Hudi's input format lists the files, the sidecar ({@code sargo
 * serve}) names the files to skip, and Hive filters every row that it reads, as without the jar.
 *
 * <p><b>The one rule: whatever goes wrong keeps every file.</b> The filter may belong to another
 * scan, the sidecar may be down or slow, an answer may fail a check, another version of Hive may
 * lack a method. Each case is a {@link io.sargo.client.KeepAll.Reason}, a count in JMX and a line
 * in the log. Pruning never fails a query.
 *
 * <p>The client of the sidecar, which the jar for Spark has too, is in {@code io.sargo.client}.
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
 *   <li>{@link io.sargo.hive.ListingSettings} reads the keys {@code sargo.*}.
 *   <li>{@link io.sargo.hive.FilterScope} checks that the filter of the job belongs to this scan.
 *   <li>{@link io.sargo.hive.Listing} names the files relative to the table's base path.
 *   <li>{@link io.sargo.client.Sidecar} makes one call within one deadline, behind a circuit
 *       breaker.
 *   <li>{@link io.sargo.client.Wire} writes the request, reads the reply and checks that the reply
 *       answers this request.
 *   <li>{@link io.sargo.hive.Counters} counts what was skipped, or why nothing was.
 * </ol>
 *
 * <p>The steps of a listing by the sidecar, in their order. Each failure is a {@link
 * io.sargo.hive.ByHudi}: Hudi lists the files, and pruning takes its steps.
 *
 * <ol>
 *   <li>{@link io.sargo.hive.SidecarListing} is called by an input format and takes the other
 *       steps.
 *   <li>{@link io.sargo.hive.ScannedTable} finds the table, the folders of the scan and the newest
 *       instant, with Hudi's client that {@link io.sargo.hive.TableClient} makes. {@link
 *       io.sargo.hive.FilterScope} gives the filter; without one every file is asked for.
 *   <li>{@link io.sargo.hive.PlanRequest} is written, {@link io.sargo.hive.PlanReply} is read,
 *       checked and unpacked into {@link io.sargo.hive.PlannedSlices}.
 *   <li>{@link io.sargo.hive.UnknownFolders} looks into folders that the metadata table does not
 *       have as partitions.
 *   <li>{@link io.sargo.hive.SliceStatuses} makes of the slices what Hudi's input format makes of
 *       its own.
 *   <li>{@link io.sargo.hive.Lengths} compares the lengths of some files with the file system's.
 * </ol>
 *
 * <p>With {@code sargo.listing = shadow} {@link io.sargo.hive.ShadowListing} compares the sidecar's
 * listing with Hudi's, and the scan reads what Hudi lists.
 */
package io.sargo.hive;
