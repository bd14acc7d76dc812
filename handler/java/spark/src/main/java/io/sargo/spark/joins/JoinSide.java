package io.sargo.spark.joins;

import io.sargo.spark.plans.Joins;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.IntegralType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;

/**
 * The side of a join that may lose rows, and the side whose keys say which.
 *
 * <pre>
 *   join                       rows without a partner are lost, or change nothing, on the
 *   -------------------------  ----------------------------------------------------------
 *   inner, left semi           left and the right
 *   left outer, existence      right
 *   left anti                  right
 *   right outer                left
 *   full outer, cross          (neither)
 * </pre>
 *
 * <p>A row of that side is in the result only if {@code narrowedKeys[i]} equals {@code
 * otherKeys[i]} of a row of the other side, for each i; a NULL equals nothing. Spark has cast both
 * to the same type. A NOT IN, whose NULLs count, has no such equality in its condition.
 */
final class JoinSide {
  final LogicalPlan narrowed;
  final LogicalPlan other;
  final List<Expression> narrowedKeys;
  final List<Expression> otherKeys;

  private JoinSide(
      LogicalPlan narrowed,
      LogicalPlan other,
      List<Expression> narrowedKeys,
      List<Expression> otherKeys) {
    this.narrowed = narrowed;
    this.other = other;
    this.narrowedKeys = narrowedKeys;
    this.otherKeys = otherKeys;
  }

  /** The sides of a join that may lose rows: none, one or both, the left one first. */
  static List<JoinSide> of(Join join) {
    List<JoinSide> sides = new ArrayList<>();
    List<Expression> left = new ArrayList<>();
    List<Expression> right = new ArrayList<>();
    Joins.keys(join, left, right);
    if (left.isEmpty()) {
      return sides;
    }
    if (mayLoseLeft(join)) {
      sides.add(new JoinSide(join.left(), join.right(), left, right));
    }
    if (mayLoseRight(join)) {
      sides.add(new JoinSide(join.right(), join.left(), right, left));
    }
    return sides;
  }

  /** The same side beside a plan with the same columns as the other side. */
  JoinSide beside(LogicalPlan plan) {
    return new JoinSide(narrowed, plan, narrowedKeys, otherKeys);
  }

  private static boolean mayLoseLeft(Join join) {
    String type = Joins.type(join);
    return type.equals("INNER") || type.equals("LEFT SEMI") || type.equals("RIGHT OUTER");
  }

  private static boolean mayLoseRight(Join join) {
    String type = Joins.type(join);
    return type.equals("INNER")
        || type.equals("LEFT SEMI")
        || type.equals("LEFT ANTI")
        || type.equals("LEFT OUTER")
        || type.equals(Joins.EXISTENCE);
  }

  /** Whether a join has keys. */
  static boolean hasKeys(Join join) {
    List<Expression> left = new ArrayList<>();
    Joins.keys(join, left, new ArrayList<>());
    return !left.isEmpty();
  }

  /** Whether Spark can broadcast this side of a join. */
  static boolean canBroadcast(Join join, LogicalPlan side) {
    String type = Joins.type(join);
    return side == join.right()
        ? !type.equals("RIGHT OUTER") && !type.equals("FULL OUTER")
        : type.equals("INNER") || type.equals("CROSS") || type.equals("RIGHT OUTER");
  }

  /**
   * Whether equal keys of this type have equal values in a list, and the list can be written.
   *
   * <p>Not of floating-point numbers, whose zeros and NaNs Spark's joins take for equal, nor of
   * texts with a collation.
   */
  static boolean isExact(DataType type) {
    return type instanceof IntegralType
        || type instanceof DecimalType
        || type instanceof DateType
        || type instanceof TimestampType
        || type instanceof TimestampNTZType
        || type instanceof BooleanType
        || type.equals(DataTypes.StringType);
  }

  /** Whether a key of the narrowed side has a column, and can be the condition of a scan. */
  boolean isUsable(int i) {
    Expression key = narrowedKeys.get(i);
    return isExact(key.dataType())
        && key.dataType().equals(otherKeys.get(i).dataType())
        && key.references().nonEmpty()
        && Repeatable.isExpression(key)
        && Repeatable.isExpression(otherKeys.get(i));
  }
}
