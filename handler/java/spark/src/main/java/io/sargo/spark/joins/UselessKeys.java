package io.sargo.spark.joins;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.scans.NarrowedIndex;
import io.sargo.spark.scans.Narrowing;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.metric.SQLMetric;

/**
 * How often the keys of joins have skipped nothing of a table by one of its columns.
 *
 * <p>Statistics of a column whose values are spread over all files skip nothing for many keys.
 * After three such answers in a row about a side of joins ({@link SideName}) only every sixteenth
 * scan by that column and that side is asked about: the keys of another side may be few. Where a
 * scan loses rows without a key, too, keys by which it lost half of its rows are taken for the
 * next, which loses rows and asks about no file.
 */
final class UselessKeys {
  private static final int MAX_IN_A_ROW = 3;
  private static final int ONE_IN = 16;
  private static final int MAX_KEPT = 10_000;

  /** A frame of thousands of files has a longer one. */
  private static final int MAX_NAME = 1000;

  /** By table, key and side. */
  private static final Map<String, UselessKeys> ALL = new LatestUsed<>();

  /**
   * By the identity of a subquery, which its plan keeps. Without adaptive execution Spark gives a
   * new one to a subquery that is no broadcast: its keys count for all sides.
   */
  private static final Map<ExprId, UselessKeys> BY_SUBQUERY = new LatestUsed<>();

  private int inARow;
  private int left;

  /** The rows of the last scan that lost some by these keys; null if there is none. */
  private SQLMetric seen;

  private SQLMetric kept;

  private UselessKeys() {}

  /** Of a side of joins with keys of this one. */
  static UselessKeys of(NarrowedIndex index, Expression key, LogicalPlan side) {
    return of(index, key, SideName.of(side));
  }

  /** Of values, and of keys of which no side is known. */
  static UselessKeys of(NarrowedIndex index, Expression key) {
    return of(index, key, "");
  }

  private static UselessKeys of(NarrowedIndex index, Expression key, String side) {
    String where = index.roots() + " " + Conditions.byName(key).sql() + " " + side;
    String name = where.length() <= MAX_NAME ? where : String.valueOf(where.hashCode());
    synchronized (ALL) {
      return ALL.computeIfAbsent(name, absent -> new UselessKeys());
    }
  }

  /** Those that this was called for with a subquery, or else those of which no side is known. */
  static UselessKeys of(NarrowedIndex index, Expression key, ExprId subquery) {
    synchronized (BY_SUBQUERY) {
      UselessKeys known = BY_SUBQUERY.get(subquery);
      return known == null ? of(index, key) : known;
    }
  }

  /** The keys will be those of a subquery. */
  void comeFrom(ExprId subquery) {
    synchronized (BY_SUBQUERY) {
      BY_SUBQUERY.put(subquery, this);
    }
  }

  /** Whether a scan by this key may be asked about. Counts the scans that may not. */
  synchronized boolean mayAsk() {
    if (inARow >= MAX_IN_A_ROW) {
      left = (left + 1) % ONE_IN;
    }
    return asks();
  }

  /** What {@link #mayAsk} said of the scan that was planned last. */
  synchronized boolean asks() {
    return inARow < MAX_IN_A_ROW || left == 0;
  }

  /** Whether the last scan that lost rows by these keys lost half of them. */
  synchronized boolean haveLostRows() {
    return seen != null && seen.value() > 0 && kept.value() <= seen.value() / 2;
  }

  /**
   * Whether a condition by this key leaves fewer slices than an index does without it. Records
   * whether it does so alone: where other keys have skipped the same slices, it is not useless.
   *
   * @param left what an index leaves of the scan; null for all
   * @param isRecorded false if the same keys have been recorded before
   */
  boolean narrow(
      NarrowedIndex index,
      Expression condition,
      Function<NarrowedIndex, Narrowing> left,
      boolean isRecorded) {
    boolean isLess = isLess(index, condition, left);
    if (isRecorded) {
      NarrowedIndex plain = index.withoutMore();
      record(isLess || plain != index && isLess(plain, condition, left));
    }
    return isLess;
  }

  private static boolean isLess(
      NarrowedIndex index, Expression condition, Function<NarrowedIndex, Narrowing> left) {
    Narrowing with = left.apply(index.narrowedBy(Collections.singletonList(condition)));
    return with != null && with.isAnswer() && with.isLessThan(left.apply(index));
  }

  /**
   * Rows are lost by these keys.
   *
   * @param seen the rows before them, counted while the query runs
   * @param kept the rows that are left
   */
  synchronized void losesRows(SQLMetric seen, SQLMetric kept) {
    this.seen = seen;
    this.kept = kept;
  }

  /** The keys were too many to be taken: they have skipped nothing. */
  void wereTooMany() {
    record(false);
  }

  private synchronized void record(boolean isUseful) {
    inARow = isUseful ? 0 : inARow + 1;
  }

  private static final class LatestUsed<K> extends LinkedHashMap<K, UselessKeys> {
    private static final long serialVersionUID = 1;

    LatestUsed() {
      super(16, 0.75f, true);
    }

    @Override
    protected boolean removeEldestEntry(Map.Entry<K, UselessKeys> eldest) {
      return size() > MAX_KEPT;
    }
  }
}
