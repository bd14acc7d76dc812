package io.sargo.spark.buckets;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;

/** Rows of a logical plan that are still in the buckets of a table, and columns with its key. */
final class Placement {
  final BucketTable table;
  final List<Attribute> key;

  Placement(BucketTable table, List<Attribute> key) {
    this.table = table;
    this.key = key;
  }

  /** The placement among the columns of a projection, or null. */
  Placement through(List<? extends NamedExpression> columns) {
    List<Attribute> renamed = new ArrayList<>();
    for (Attribute one : key) {
      Attribute found = null;
      for (NamedExpression column : columns) {
        Expression value = column instanceof Alias ? ((Alias) column).child() : (Expression) column;
        if (found == null && value.semanticEquals(one)) {
          found = column.toAttribute();
        }
      }
      if (found == null) {
        return null;
      }
      renamed.add(found);
    }
    return new Placement(table, renamed);
  }

  /** Whether equal values of these expressions are in one bucket. */
  boolean isWithin(List<? extends Expression> expressions) {
    return key.stream().allMatch(one -> indexIn(expressions, one) >= 0);
  }

  /** The keys of the join's other side by which it finds the rows of this one, or null. */
  List<Attribute> partners(List<Expression> mine, List<Expression> others) {
    if (!isWithin(mine)) {
      return null;
    }
    List<Attribute> partners =
        key.stream()
            .map(one -> others.get(indexIn(mine, one)))
            .filter(Attribute.class::isInstance)
            .map(Attribute.class::cast)
            .collect(Collectors.toList());
    return partners.size() == key.size() ? partners : null;
  }

  boolean isBy(List<Attribute> columns) {
    boolean isEqual = key.size() == columns.size();
    for (int i = 0; isEqual && i < key.size(); i++) {
      isEqual = key.get(i).semanticEquals(columns.get(i));
    }
    return isEqual;
  }

  private static int indexIn(List<? extends Expression> expressions, Attribute one) {
    for (int i = 0; i < expressions.size(); i++) {
      if (expressions.get(i).semanticEquals(one)) {
        return i;
      }
    }
    return -1;
  }
}
