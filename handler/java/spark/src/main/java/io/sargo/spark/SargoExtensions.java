package io.sargo.spark;

import io.sargo.spark.aggregates.AggregatesByFooters;
import io.sargo.spark.buckets.BucketStrategy;
import io.sargo.spark.joins.DynamicKeys;
import io.sargo.spark.joins.DynamicScanStrategy;
import io.sargo.spark.joins.NarrowByBroadcasts;
import io.sargo.spark.joins.UnsharedKeys;
import io.sargo.spark.scans.NarrowScans;
import org.apache.spark.sql.SparkSessionExtensions;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * Makes scans of Hudi tables read only the file slices that may hold a matching row: {@code
 * spark.sql.extensions=io.sargo.spark.SargoExtensions}. In a session that runs already: {@code new
 * SargoExtensions().apply(session.extensions())}. Applied twice it does the same as once.
 */
public final class SargoExtensions extends AbstractFunction1<SparkSessionExtensions, BoxedUnit> {
  @Override
  public BoxedUnit apply(SparkSessionExtensions extensions) {
    extensions.injectPreCBORule(session -> new NarrowScans(session));
    extensions.injectPreCBORule(session -> new AggregatesByFooters(session));
    extensions.injectPlannerStrategy(session -> new BucketStrategy(session));
    extensions.injectPreCBORule(session -> new DynamicKeys(session));
    extensions.injectPlannerStrategy(session -> new DynamicScanStrategy(session));
    extensions.injectQueryStagePrepRule(session -> new UnsharedKeys());
    extensions.injectRuntimeOptimizerRule(session -> new NarrowByBroadcasts(session));
    return BoxedUnit.UNIT;
  }
}
