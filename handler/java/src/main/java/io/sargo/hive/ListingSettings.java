package io.sargo.hive;

import io.sargo.client.Settings;
import java.io.IOException;
import org.apache.hadoop.conf.Configuration;

/**
 * The settings of the jar: the keys {@code sargo.*} of the job's configuration. Properties of a
 * table STORED BY the handler override them, because {@link HudiStorageHandler} copies them into
 * the job. Properties of a native table do not reach the job.
 */
final class ListingSettings extends Settings {
  /**
   * Who lists the files of a scan: {@code sidecar}, which lists and skips in one answer (Hudi lists
   * where the sidecar cannot), or {@code hudi}. {@code shadow} lists by Hudi, and compares what the
   * sidecar would have listed.
   */
  final String listing;

  /** How many files of the sidecar's listing have their length compared with the file system's. */
  final int verify;

  ListingSettings(Configuration conf) throws IOException {
    super(conf);
    listing = conf.getTrimmed("sargo.listing", "sidecar");
    verify = Math.max(0, conf.getInt("sargo.listing.verify", 16));
  }
}
