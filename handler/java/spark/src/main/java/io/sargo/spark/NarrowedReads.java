package io.sargo.spark;

import io.sargo.spark.scans.GivenSlices;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;

/** What {@code handler/spark/reading} calls from Python, on an object of this class. */
public final class NarrowedReads {
  /**
   * A scan of a table by Hudi that reads these slices and no others.
   *
   * @param names the base files and log files of the slices, relative to the table's base path and
   *     joined by line feeds
   * @param slices how many slices they are
   * @throws IllegalArgumentException with the reason, for a plan that is not such a scan, for a
   *     version of Hudi that was not tested, and where Hudi does not list these very slices
   */
  public LogicalPlan ofSlices(LogicalPlan plan, String names, int slices) {
    return GivenSlices.of(plan, names, slices);
  }
}
