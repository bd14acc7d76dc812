package io.sargo.hive;

/** Why nothing is skipped: one of the known reasons (what is counted), and words for the log. */
final class KeepAll extends Exception {
  private static final long serialVersionUID = 1;

  /** What the counters tell apart. */
  enum Reason {
    DISABLED,
    NO_ADDRESS,
    NO_FILES,
    NO_FILTER,
    FOREIGN_FILTER,
    UNKNOWN_TABLE,
    TOO_MANY_FILES,
    SIDECAR_DOWN,
    SIDECAR_SLOW,
    BREAKER_OPEN,
    REFUSED,
    WRONG_ANSWER,
    WRONG_VERSION,
    FAILURE
  }

  final Reason reason;

  KeepAll(Reason reason, String why) {
    super(why, null, false, false);
    this.reason = reason;
  }

  static void when(boolean holds, Reason reason, String why) throws KeepAll {
    if (holds) {
      throw new KeepAll(reason, why);
    }
  }
}
