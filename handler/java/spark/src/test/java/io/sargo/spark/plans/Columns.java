package io.sargo.spark.plans;

import io.sargo.spark.shims.Seqs;
import java.util.Arrays;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Metadata;

/** Columns of a table as the analyser gives them. */
public final class Columns {
  private Columns() {}

  public static Attribute column(String name, DataType type) {
    return new AttributeReference(
        name,
        type,
        true,
        Metadata.empty(),
        NamedExpression.newExprId(),
        Seqs.of(Arrays.asList("spark_catalog", "t")));
  }
}
