package io.sargo.spark.joins;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.plans.logical.BROADCAST$;
import org.apache.spark.sql.catalyst.plans.logical.HintInfo;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinStrategyHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.NO_BROADCAST_HASH$;
import scala.Option;

/**
 * Which sides of a join Spark is going to broadcast, as far as hints and sizes tell before it runs.
 */
final class Broadcasts {
  /** Spark broadcasts a side of at most so many bytes; negative: none. */
  private final long below;

  Broadcasts(long below) {
    this.below = below;
  }

  /** Whether both sides of a join by keys are going to be exchanged by their keys. */
  boolean isShuffled(Join join) {
    return JoinSide.hasKeys(join) && !isLikely(join, join.left()) && !isLikely(join, join.right());
  }

  /** Whether a side of a join is going to be broadcast. A hint goes before the size. */
  boolean isLikely(Join join, LogicalPlan side) {
    if (!JoinSide.canBroadcast(join, side)) {
      return false;
    }
    JoinStrategyHint left = strategy(join.hint().leftHint());
    JoinStrategyHint right = strategy(join.hint().rightHint());
    JoinStrategyHint own = side == join.left() ? left : right;
    JoinStrategyHint other = side == join.left() ? right : left;
    List<JoinStrategyHint> harmless =
        Arrays.asList(null, BROADCAST$.MODULE$, NO_BROADCAST_HASH$.MODULE$);
    if (own == BROADCAST$.MODULE$) {
      return true;
    }
    return own == null && harmless.contains(other) && bytes(side) <= below;
  }

  private static JoinStrategyHint strategy(Option<HintInfo> hint) {
    return hint.isDefined() && hint.get().strategy().isDefined()
        ? hint.get().strategy().get()
        : null;
  }

  /** The estimated bytes of a plan. */
  static long bytes(LogicalPlan plan) {
    return plan.stats().sizeInBytes().isValidLong()
        ? plan.stats().sizeInBytes().toLong()
        : Long.MAX_VALUE;
  }
}
