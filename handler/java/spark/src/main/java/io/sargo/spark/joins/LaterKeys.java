package io.sargo.spark.joins;

import io.sargo.spark.plans.Joins;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.LeftSemi$;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.JoinHint;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import scala.Option;

/**
 * The keys that each row of a plan must have, or a join further up in the query loses it.
 *
 * <p>In a snowflake schema the table that is joined with the facts often has no condition of its
 * own: {@code facts JOIN stores JOIN cities WHERE cities.name = 'Rome'}. Only the stores in Rome
 * can be in the result, so that only their keys narrow the facts. Spark joins the cities last.
 */
final class LaterKeys {
  static final LaterKeys NONE = new LaterKeys(Collections.emptyList());

  /** What says which rows of a side count must stay a small plan. */
  private static final int MAX_LEAVES = 16;

  private final List<Key> keys;

  private LaterKeys(List<Key> keys) {
    this.keys = keys;
  }

  /** Those of a child of a node that these are for. */
  LaterKeys below(LogicalPlan node, LogicalPlan child) {
    List<Key> found = new ArrayList<>();
    if (node instanceof Join) {
      Join join = (Join) node;
      if (isDeterministic(join)) {
        found.addAll(through(join, child));
        found.addAll(of(join, child));
      }
    } else {
      for (Key one : keys) {
        Expression key = KeysAtScan.keyBelow(node, one.key);
        if (key != null && KeyRows.canFilter(key)) {
          found.add(new Key(key, one.other, one.otherKey));
        }
      }
    }
    return found.isEmpty() ? NONE : new LaterKeys(found);
  }

  /** Those that go on to a side of a join. */
  private List<Key> through(Join join, LogicalPlan child) {
    boolean goesOn = child == join.left() ? Joins.keepsLeft(join) : Joins.keepsRight(join);
    return goesOn
        ? keys.stream()
            .filter(one -> one.key.references().subsetOf(child.outputSet()))
            .collect(Collectors.toList())
        : new ArrayList<>();
  }

  /** The keys of the join itself that the rows of a side must have. */
  private List<Key> of(Join join, LogicalPlan child) {
    List<Key> found = new ArrayList<>();
    for (JoinSide side : JoinSide.of(join)) {
      if (side.narrowed != child) {
        continue;
      }
      LogicalPlan other = selected(join, side.other);
      if (!SelectiveSide.isSelective(other)) {
        continue;
      }
      for (int i = 0; i < side.narrowedKeys.size(); i++) {
        if (side.isUsable(i)
            && KeyRows.canFilter(side.narrowedKeys.get(i))
            && KeyRows.canFilter(side.otherKeys.get(i))) {
          found.add(new Key(side.narrowedKeys.get(i), other, side.otherKeys.get(i)));
        }
      }
    }
    return found;
  }

  /**
   * The rows of a join's side that can be in the result, as far as smaller sides of joins further
   * up tell; the side itself if they tell nothing.
   *
   * <p>Of an inner join alone: another shows rows, filled with NULL, that have no partner.
   */
  LogicalPlan selected(Join join, LogicalPlan side) {
    if (!Joins.type(join).equals("INNER") || !isDeterministic(join)) {
      return side;
    }
    Map<LogicalPlan, Expression> conditions = new IdentityHashMap<>();
    List<LogicalPlan> others = new ArrayList<>();
    for (Key one : through(join, side)) {
      if (!conditions.containsKey(one.other)) {
        others.add(one.other);
      }
      conditions.merge(one.other, new EqualTo(one.key, one.otherKey), And::new);
    }
    others.sort(Comparator.comparingLong(KeySource::bytesOfScans));
    long bytes = KeySource.bytesOfScans(side);
    LogicalPlan rows = side;
    for (LogicalPlan other : others) {
      Option<Expression> isKey = Option.apply(conditions.get(other));
      LogicalPlan fewer = new Join(rows, other, LeftSemi$.MODULE$, isKey, JoinHint.NONE());
      if (KeySource.bytesOfScans(other) <= bytes && fewer.collectLeaves().size() <= MAX_LEAVES) {
        rows = fewer;
      }
    }
    return rows;
  }

  private static boolean isDeterministic(Join join) {
    return join.condition().isEmpty() || join.condition().get().deterministic();
  }

  /** A row is lost unless its key equals {@code otherKey} of a row of {@code other}. */
  private static final class Key {
    final Expression key;
    final LogicalPlan other;
    final Expression otherKey;

    Key(Expression key, LogicalPlan other, Expression otherKey) {
      this.key = key;
      this.other = other;
      this.otherKey = otherKey;
    }
  }
}
