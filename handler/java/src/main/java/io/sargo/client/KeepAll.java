package io.sargo.client;

/**
 * The decision to skip no file. It carries a {@link Reason}, which is counted, and a message for
 * the log.
 */
public final class KeepAll extends Exception {
  private static final long serialVersionUID = 1;

  /** The reasons that the counters tell apart. */
  public enum Reason {
    DISABLED,
    NO_ADDRESS,
    NO_FILES,
    NO_FILTER,
    FOREIGN_FILTER,
    BUCKETED_JOIN,
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

  public final Reason reason;

  /** Whether another sidecar may answer the same question. */
  public final boolean mayAskAnother;

  public KeepAll(Reason reason, String why) {
    this(reason, why, false);
  }

  public KeepAll(Reason reason, String why, boolean mayAskAnother) {
    super(why, null, false, false);
    this.reason = reason;
    this.mayAskAnother = mayAskAnother;
  }

  /** Throws KeepAll if the condition holds. */
  public static void when(boolean condition, Reason reason, String why) throws KeepAll {
    if (condition) {
      throw new KeepAll(reason, why);
    }
  }
}
