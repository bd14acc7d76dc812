package io.sargo.spark.shims;

import java.util.Arrays;
import org.apache.spark.Partition;
import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;
import org.apache.spark.sql.catalyst.InternalRow;
import scala.collection.Seq;
import scala.reflect.ClassTag$;

/** Rows that depend on no other RDD. */
public abstract class ListRdd extends RDD<InternalRow> {
  private static final long serialVersionUID = 1;

  protected ListRdd(SparkContext context) {
    super(context, Seqs.empty(), ClassTag$.MODULE$.apply(InternalRow.class));
  }

  /** Where the files of a task are. */
  protected abstract String[] hosts(Partition task);

  @Override
  public final Seq<String> getPreferredLocations(Partition task) {
    return Seqs.of(Arrays.asList(hosts(task)));
  }
}
