package io.sargo.spark.joins;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.scans.NarrowedIndex;
import io.sargo.spark.scans.Narrowing;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.expressions.Expression;

/**
 * How often the keys of joins have skipped nothing of a table by one of its columns.
 *
 * <p>Statistics of a column whose values are spread over all files skip nothing for many keys.
 * After three such answers in a row only every sixteenth scan by that column is asked about.
 */
final class UselessKeys {
  private static final int MAX_IN_A_ROW = 3;
  private static final int ONE_IN = 16;
  private static final int MAX_COLUMNS = 10_000;

  /** By table and key, the latest used last. */
  private static final Map<String, UselessKeys> ALL =
      new LinkedHashMap<String, UselessKeys>(16, 0.75f, true) {
        private static final long serialVersionUID = 1;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, UselessKeys> eldest) {
          return size() > MAX_COLUMNS;
        }
      };

  private int inARow;
  private int left;

  private UselessKeys() {}

  static UselessKeys of(NarrowedIndex index, Expression key) {
    String where = index.roots() + " " + Conditions.byName(key).sql();
    synchronized (ALL) {
      return ALL.computeIfAbsent(where, absent -> new UselessKeys());
    }
  }

  /** Whether a scan by this key may be asked about. Counts the scans that may not. */
  synchronized boolean mayAsk() {
    if (inARow < MAX_IN_A_ROW) {
      return true;
    }
    left = (left + 1) % ONE_IN;
    return left == 0;
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

  private synchronized void record(boolean isUseful) {
    inARow = isUseful ? 0 : inARow + 1;
  }
}
