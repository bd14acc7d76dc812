package io.sargo.hive;

import io.sargo.client.KeepAll;
import java.util.Locale;

/**
 * The decision to let Hudi list the files of a scan. It carries a reason, which is counted, and a
 * message for the log.
 */
final class ByHudi extends Exception {
  private static final long serialVersionUID = 1;

  /** The reasons that the counters tell apart, beside those of {@link KeepAll}. */
  enum Reason {
    /** The input paths are not the folders of one Hudi table. */
    UNKNOWN_TABLE,
    /** The session reads the table as of an instant, incrementally or with pending commits. */
    CONSUME_SETTING,
    /** The job sets hoodie.metadata.enable=false: its user does not trust the metadata table. */
    METADATA_DISABLED,
    BOOTSTRAPPED,
    NO_METADATA_TABLE,
    NO_COMMIT,
    /** A folder has characters that are not sent. */
    UNUSUAL_FOLDER,
    /** A folder that the metadata table does not have as a partition holds something. */
    UNKNOWN_PARTITION,
    BUCKETED_JOIN,
    /** The answer is for an older instant, which the timeline no longer has. */
    UNKNOWN_INSTANT,
    /** A file of the answer is gone: it was cleaned meanwhile. */
    FILE_GONE,
    /** A file of the answer has another length. */
    WRONG_LENGTH,
    /** An earlier answer about the table had a wrong length. */
    TURNED_OFF,
    FAILURE
  }

  final String reason;

  ByHudi(Reason reason, String why) {
    super(why, null, false, false);
    this.reason = reason.name().toLowerCase(Locale.ROOT);
  }

  /** The sidecar gave no answer. */
  ByHudi(KeepAll e) {
    super(e.getMessage(), null, false, false);
    reason = e.reason.name().toLowerCase(Locale.ROOT);
  }

  /** Throws ByHudi if the condition holds. */
  static void when(boolean condition, Reason reason, String why) throws ByHudi {
    if (condition) {
      throw new ByHudi(reason, why);
    }
  }
}
