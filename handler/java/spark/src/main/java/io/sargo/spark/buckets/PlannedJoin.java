package io.sargo.spark.buckets;

import io.sargo.spark.plans.Joins;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.spark.sql.catalyst.plans.logical.BROADCAST$;
import org.apache.spark.sql.catalyst.plans.logical.HintInfo;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.Option;

/** A join as Spark is going to run it: which side it broadcasts, and which rows stay in place. */
final class PlannedJoin {
  private static final Set<String> KEEP_LEFT =
      new HashSet<>(Arrays.asList("LEFT OUTER", "LEFT SEMI", "LEFT ANTI", Joins.EXISTENCE));

  private final Join join;
  private final boolean isInner;
  private final boolean keepsLeft;
  private final boolean keepsRight;

  PlannedJoin(Join join) {
    this.join = join;
    String type = Joins.type(join);
    isInner = type.equals("INNER");
    keepsLeft = KEEP_LEFT.contains(type);
    keepsRight = type.equals("RIGHT OUTER");
  }

  static BigInteger bytes(LogicalPlan plan) {
    return plan.stats().sizeInBytes().bigInteger();
  }

  boolean broadcasts() {
    return broadcastsLeft() || broadcastsRight();
  }

  /** The left side, and not the right one. */
  boolean broadcastsLeft() {
    if (!isInner && !keepsRight || !isSmall(join.left(), join.hint().leftHint())) {
      return false;
    }
    return keepsRight
        || !broadcastsRight()
        || bytes(join.left()).compareTo(bytes(join.right())) < 0;
  }

  private boolean broadcastsRight() {
    return (isInner || keepsLeft) && isSmall(join.right(), join.hint().rightHint());
  }

  private boolean isSmall(LogicalPlan side, Option<HintInfo> hint) {
    if (hint.isDefined() && hint.get().strategy().isDefined()) {
      return hint.get().strategy().get().equals(BROADCAST$.MODULE$);
    }
    long most = join.conf().autoBroadcastJoinThreshold();
    return most >= 0 && bytes(side).compareTo(BigInteger.valueOf(most)) <= 0;
  }

  /** The placements of the sides whose rows stay where they are. */
  List<Placement> ofKept(List<Placement> left, List<Placement> right) {
    if (left != null && (isInner || keepsLeft)) {
      return left;
    }
    return right != null && (isInner || keepsRight) ? right : Collections.<Placement>emptyList();
  }

  /** The placement by columns of the left side and by those of the right: each holds if kept. */
  List<Placement> ofPair(Placement left, Placement right) {
    List<Placement> kept = new ArrayList<>();
    if (isInner || keepsLeft) {
      kept.add(left);
    }
    if (isInner || keepsRight) {
      kept.add(right);
    }
    return kept;
  }
}
