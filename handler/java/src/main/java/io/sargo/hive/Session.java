package io.sargo.hive;

import java.io.IOException;
import java.time.ZoneId;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hive.common.util.HiveVersionInfo;

/** What every request says of the engine, the session and the query. */
final class Session {
  final String engineVersion = HiveVersionInfo.getShortVersion();
  final String engine = engineVersion.startsWith("3") ? "hive3" : "hive4";

  /** The session's time zone as an IANA name, or null if it has none. */
  final String timeZone;

  final String queryId;
  final String user;

  Session(JobConf job) throws IOException {
    String setting = job.getTrimmed("hive.local.time.zone", "LOCAL");
    ZoneId zone = "LOCAL".equalsIgnoreCase(setting) ? ZoneId.systemDefault() : ZoneId.of(setting);
    timeZone = ZoneId.getAvailableZoneIds().contains(zone.getId()) ? zone.getId() : null;
    queryId = job.get("hive.query.id");
    user = UserGroupInformation.getCurrentUser().getShortUserName();
  }
}
