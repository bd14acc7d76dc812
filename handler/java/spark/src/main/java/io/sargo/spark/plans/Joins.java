package io.sargo.spark.plans;

import io.sargo.spark.shims.Seqs;
import java.util.List;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys$;
import org.apache.spark.sql.catalyst.plans.ExistenceJoin;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import scala.Option;
import scala.Tuple8;

/** The type and the keys of a join in a logical plan. */
public final class Joins {
  public static final String EXISTENCE = "EXISTENCE";

  private Joins() {}

  /** Adds the expressions of both sides whose equality Spark joins by. */
  public static void keys(Join join, List<Expression> left, List<Expression> right) {
    Option<? extends Tuple8<?, ?, ?, ?, ?, ?, ?, ?>> parts =
        ExtractEquiJoinKeys$.MODULE$.unapply(join);
    if (parts.isDefined()) {
      left.addAll(expressions(parts.get()._2()));
      right.addAll(expressions(parts.get()._3()));
    }
  }

  /** The type as SQL has it; an existence join, which is of plans alone, has no SQL. */
  public static String type(Join join) {
    return join.joinType() instanceof ExistenceJoin ? EXISTENCE : join.joinType().sql();
  }

  @SuppressWarnings("unchecked")
  private static List<Expression> expressions(Object keys) {
    return Seqs.list((scala.collection.Seq<Expression>) keys);
  }

  /** Whether each row of a join has a row of its left side, never NULLs in its place. */
  public static boolean keepsLeft(Join join) {
    String type = type(join);
    return !type.equals("RIGHT OUTER") && !type.equals("FULL OUTER");
  }

  /** Whether each row of a join has a row of its right side, never NULLs or nothing. */
  public static boolean keepsRight(Join join) {
    String type = type(join);
    return type.equals("INNER") || type.equals("CROSS") || type.equals("RIGHT OUTER");
  }
}
