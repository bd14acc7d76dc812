package io.sargo.spark.joins;

import io.sargo.spark.plans.Conditions;
import io.sargo.spark.scans.NarrowedIndex;
import java.util.LinkedHashMap;
import java.util.Map;
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

  /** Records an answer: whether the keys skip slices that are kept without them. */
  synchronized void record(boolean isUseful) {
    inARow = isUseful ? 0 : inARow + 1;
  }
}
