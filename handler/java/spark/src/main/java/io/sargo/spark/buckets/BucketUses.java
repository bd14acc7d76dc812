package io.sargo.spark.buckets;

import io.sargo.spark.plans.Joins;
import io.sargo.spark.shims.Seqs;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Generate;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Sample;
import org.apache.spark.sql.catalyst.plans.logical.Window;
import org.apache.spark.sql.catalyst.plans.logical.WindowGroupLimit;
import org.apache.spark.sql.execution.datasources.LogicalRelation;

/**
 * Which scans of tables with buckets spare an exchange in a plan, if their tasks are the buckets.
 *
 * <pre>
 *   node                                       spares an exchange        rows stay in their buckets
 *   -----------------------------------------  ------------------------  --------------------------
 *   Filter, Sample, LocalLimit, Generate       -                         yes
 *   Project                                    -                         if it has the key
 *   Aggregate, Window over the whole key       yes                       if it has the key
 *   Join on the whole keys of both sides       of both sides             of the sides that are kept
 *   Join on the whole key of one side          of that side, if it is    of the sides that are kept
 *                                              the larger one
 *   Join by a broadcast                        no                        of the other side
 *   all others                                 no                        no
 * </pre>
 */
final class BucketUses {
  /** As much of a smaller side goes to each task at most. */
  private static final long MAX_BYTES_OF_OTHER_SIDE = 256L << 20;

  /** Buckets with fewer bytes are read by one task together. */
  private static final BigInteger TASK_BYTES = BigInteger.valueOf(64L << 20);

  private final Map<LogicalPlan, BucketTable> tables = new IdentityHashMap<>();
  private final boolean always;

  /** {@code always}: whatever the sizes are. */
  BucketUses(Collection<BucketTable> tables, boolean always) {
    tables.forEach(table -> this.tables.put(table.relation, table));
    this.always = always;
  }

  /** Sets {@code isUseful} and {@code tasks} of the tables. {@code parallel}: tasks at a time. */
  void find(LogicalPlan plan, int parallel) {
    placements(plan);
    Map<BucketTable, Integer> shared = new IdentityHashMap<>();
    Map<BucketTable, BigInteger> bytes = new IdentityHashMap<>();
    for (BucketTable table : tables.values()) {
      shared.merge(table.first(), table.buckets, BucketUses::greatestDivisor);
      bytes.merge(table.first(), PlannedJoin.bytes(table.relation), BigInteger::max);
    }
    for (BucketTable table : tables.values()) {
      int divisor = shared.get(table.first());
      boolean isShared = always || isEnough(divisor, parallel);
      table.tasks = isShared ? divisor : table.buckets;
      table.isUseful &= always || isEnough(table.tasks, parallel);
      if (isShared && !always) {
        table.tasks = fewer(divisor, parallel, bytes.get(table.first()));
      }
    }
  }

  /** The least divisor that is as many tasks as run at a time, none with too many bytes. */
  private static int fewer(int buckets, int parallel, BigInteger bytes) {
    for (int tasks = Math.max(1, parallel); tasks < buckets; tasks++) {
      boolean isSmall = bytes.divide(BigInteger.valueOf(tasks)).compareTo(TASK_BYTES) <= 0;
      if (buckets % tasks == 0 && isSmall) {
        return tasks;
      }
    }
    return buckets;
  }

  /** A shuffle reads, writes, reads again: half of its parallelism takes no longer. */
  private static boolean isEnough(int tasks, int parallel) {
    return 2L * tasks >= parallel;
  }

  private static int greatestDivisor(int one, int other) {
    return BigInteger.valueOf(one).gcd(BigInteger.valueOf(other)).intValue();
  }

  private List<Placement> placements(LogicalPlan plan) {
    List<LogicalPlan> children = Seqs.list(plan.children());
    if (plan instanceof LogicalRelation) {
      BucketTable table = tables.get(plan);
      return table == null
          ? Collections.<Placement>emptyList()
          : Collections.singletonList(new Placement(table, table.key));
    }
    if (plan instanceof Join) {
      return ofJoin((Join) plan);
    }
    List<List<Placement>> below =
        children.stream().map(this::placements).collect(Collectors.toList());
    if (plan instanceof Project) {
      return through(below.get(0), Seqs.list(((Project) plan).projectList()));
    }
    if (plan instanceof Aggregate) {
      Aggregate aggregate = (Aggregate) plan;
      List<Placement> kept = within(below.get(0), Seqs.list(aggregate.groupingExpressions()));
      return through(kept, Seqs.list(aggregate.aggregateExpressions()));
    }
    if (plan instanceof Window) {
      return within(below.get(0), Seqs.list(((Window) plan).partitionSpec()));
    }
    boolean passes =
        plan instanceof Filter
            || plan instanceof Sample
            || plan instanceof LocalLimit
            || plan instanceof Generate
            || plan instanceof WindowGroupLimit;
    return passes ? below.get(0) : Collections.<Placement>emptyList();
  }

  private static List<Placement> through(
      List<Placement> placements, List<NamedExpression> columns) {
    return placements.stream()
        .map(one -> one.through(columns))
        .filter(Objects::nonNull)
        .collect(Collectors.toList());
  }

  /** The placements whose key is among the expressions by which rows are brought together. */
  private static List<Placement> within(List<Placement> placements, List<Expression> clustered) {
    List<Placement> kept =
        placements.stream().filter(one -> one.isWithin(clustered)).collect(Collectors.toList());
    kept.forEach(one -> one.table.isUseful = true);
    return kept;
  }

  private List<Placement> ofJoin(Join join) {
    List<Placement> left = placements(join.left());
    List<Placement> right = placements(join.right());
    PlannedJoin sides = new PlannedJoin(join);
    if (sides.broadcasts()) {
      return sides.ofKept(
          sides.broadcastsLeft() ? null : left, sides.broadcastsLeft() ? right : null);
    }
    List<Expression> leftKeys = new ArrayList<>();
    List<Expression> rightKeys = new ArrayList<>();
    Joins.keys(join, leftKeys, rightKeys);
    List<Placement> kept = new ArrayList<>();
    for (Placement one : left) {
      List<Attribute> partners = one.partners(leftKeys, rightKeys);
      if (partners != null) {
        boolean isPaired = false;
        for (Placement other : right) {
          if (other.isBy(partners)) {
            one.table.isUseful = true;
            other.table.isUseful = true;
            one.table.join(other.table);
            isPaired = true;
          }
        }
        if (isPaired || spares(one, join.left(), join.right())) {
          kept.addAll(sides.ofPair(one, new Placement(one.table, partners)));
        }
      }
    }
    for (Placement one : right) {
      List<Attribute> partners = one.partners(rightKeys, leftKeys);
      if (partners != null
          && kept.stream().noneMatch(other -> other.table.first() == one.table.first())
          && spares(one, join.right(), join.left())) {
        kept.addAll(sides.ofPair(new Placement(one.table, partners), one));
      }
    }
    return kept;
  }

  /** Whether this side need not be exchanged, if the other one is shuffled to its buckets. */
  private boolean spares(Placement one, LogicalPlan side, LogicalPlan other) {
    BigInteger size = PlannedJoin.bytes(side);
    BigInteger ofOther = PlannedJoin.bytes(other);
    boolean pays =
        always
            || ofOther.compareTo(size) <= 0
                && ofOther
                        .divide(BigInteger.valueOf(one.table.buckets))
                        .compareTo(BigInteger.valueOf(MAX_BYTES_OF_OTHER_SIDE))
                    <= 0;
    one.table.isUseful |= pays;
    return pays;
  }
}
