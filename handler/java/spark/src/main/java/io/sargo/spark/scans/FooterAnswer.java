package io.sargo.spark.scans;

import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.FileIndex;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/**
 * What the footers of some slices of a scan say of aggregates, and the slices that are still to be
 * read: those of one listing, whatever is committed meanwhile.
 */
public final class FooterAnswer {
  /**
   * By aggregate: "" is NULL, "=" and a number or a text otherwise, as {@code handler/sargo.thrift}
   * has it.
   */
  public final List<?> values;

  /** By aggregate, in Spark's SQL. */
  public final List<?> types;

  private final FileIndex hudi;
  private final Narrowing rest;

  FooterAnswer(List<?> values, List<?> types, FileIndex hudi, Narrowing rest) {
    this.values = values;
    this.types = types;
    this.hudi = hudi;
    this.rest = rest;
  }

  /** Whether no slice is to be read. */
  public boolean isWhole() {
    return rest.kept == 0;
  }

  /** A copy of the scan that reads the rest. */
  public LogicalPlan rest(LogicalRelation scan) {
    int answered = rest.listed - rest.kept;
    return NarrowedRelation.scan(
        scan, new Rest(hudi, rest), rest.summary() + ", " + answered + " by footers");
  }

  /** Lists the rest. Filters of partitions were those of the listing, too. */
  private static final class Rest extends FixedListing {
    private final Narrowing left;

    Rest(FileIndex hudi, Narrowing left) {
      super(hudi);
      this.left = left;
    }

    @Override
    Narrowing left() {
      return left;
    }
  }
}
