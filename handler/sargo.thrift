/*
 * What the side of an engine (the jar for Hive, the one for Spark) and the sidecar (`sargo serve`) say to each other.
 *
 * Transport: TCP, framed (a 4-byte big-endian length before each message), binary protocol; no frame is longer than 64 MiB.
 * One connection may be used for any number of calls, one after the other.
 *
 * Secret: where the sidecar is configured with one, every prune() and explain() carries it. A frame of more than
 * MAX_FIRST_FRAME_BYTES is read only on a connection on which an earlier call carried it. A client that has a secret calls
 * version(secret) first on every new connection; a sidecar of an earlier version ignores the argument. A client of an earlier
 * version sends no such call: its short requests are answered, its long ones are refused with the code "secret".
 *
 * Bits, not names, travel back: the reply's bit i speaks of the i-th name of the request, so an answer about 100,000 files is
 * 12,500 bytes. A client checks what is echoed (protocol_version, name_count, digest) before it believes a single bit, and skips
 * nothing when a check fails. A server that is not sure answers with no bits and with reasons; it refuses (`Refused`) only what
 * it will never answer. Fields are only ever added, as optional ones; a change of meaning is a new PROTOCOL_VERSION.
 */
namespace java io.sargo.hive.thrift
namespace py sargo_thrift

const i32 PROTOCOL_VERSION = 1

/** The longest frame on a connection that has not shown the secret. */
const i32 MAX_FIRST_FRAME_BYTES = 8192

/** The most partitions of a plan() request that the table need not have. */
const i32 MAX_UNKNOWN_PARTITIONS = 32

struct PruneRequest {
  /** PROTOCOL_VERSION of the client. */
  1: required i32 protocol_version;

  /**
   * The table's base path. A text with a scheme is a URI whose path is percent-encoded, as Java's URI.toString() writes it:
   * file:/warehouse/a%20b, hdfs://host:8020/warehouse/t. It is decoded once, as UTF-8; a query, a fragment and a percent sign
   * that begins no escape are refused. A text that begins with '/' is the path as it stands: in /warehouse/a%20b nothing is
   * decoded.
   */
  2: required string table;

  /**
   * Hive: the Base64 text of hive.io.filter.expr.serialized, as UTF-8 bytes. Spark: a JSON object in UTF-8,
   * {"version": 1, "conditions": [{"nodes": [...], "exact": {"INDEX": value, ...}}, ...]}; all conditions must hold. `nodes` is
   * Catalyst's Expression.toJSON, and `exact` has what it leaves out, by the index of the node (handler/catalyst/document.py).
   */
  3: required binary filter;

  /** The filter as text (hive.io.filter.text): for people who read reports and logs, never for pruning. */
  4: optional string filter_text;

  /**
   * Whose meaning of the filter: "hive3" (3.1) or "hive4" (4.x); of prune() also "spark-ansi" and "spark-legacy", by
   * spark.sql.ansi.enabled of the session, and "spark-try": ANSI mode with errors of rows hidden.
   */
  5: required string engine;

  /** The full version of the engine, such as "3.1.3". */
  6: optional string engine_version;

  /** The session's time zone as an IANA name, such as "Europe/Berlin". Without it no timestamp is compared with a point in time. */
  7: optional string time_zone;

  /** What the engine listed: "snapshot" (the default), "read_optimized", "as_of" or, for Hive, "incremental". */
  8: optional string query_type;

  /** as_of: the instant asked for. incremental: the begin instant. */
  9: optional string instant;

  /**
   * The listed files by name, relative to the base path, '/' between folders, as they stand in the file system (escaped, not
   * decoded): UTF-8, joined by a line feed; a zlib stream of that when names_compressed is true. With "snapshot" on a
   * MERGE_ON_READ table the list names the log files of the splits too, beside the base files.
   */
  10: required binary names;

  /** Whether `names` is a zlib stream. */
  11: optional bool names_compressed;

  /** How many names there are: the client's own count, which the server compares. */
  12: required i32 name_count;

  /**
   * For people who read reports and logs, and what explain() takes beside the id of a report: hive.query.id, or of Spark
   * spark-<application>-<execution>.
   */
  13: optional string query_id;

  /** The shared secret, when the sidecar wants one. Sidecars look at it before they look at anything else. */
  14: optional string secret;

  /** Who asks: for people who read reports and logs. */
  15: optional string user;

  /**
   * Whether the engine shows the rows of a slice as the table's own settings merge them, and none of its files as it stands. Then
   * statistics of merged rows count too, for "snapshot" and "as_of". An earlier sidecar ignores it.
   */
  16: optional bool merges_rows;
}

struct PruneReply {
  /** PROTOCOL_VERSION of the answer; a client skips nothing when it is not its own. */
  1: required i32 protocol_version;

  /**
   * Packed bits over the request's own list: name i has the bit (1 << (i & 7)) of byte (i >> 3); a set bit = may be skipped.
   * ceil(name_count / 8) bytes, the unused bits of the last one being 0; no bytes at all = skip nothing.
   */
  2: required binary skip;

  /** The request's name_count again. */
  3: required i32 name_count;

  /** The instant of the table that the answer was computed for. */
  4: optional string instant;

  /** How many of the names the sidecar knows as files of that instant, or knows enough of to decide. */
  5: optional i32 covered;

  /** How many bits are set. In shadow mode 0, whatever `reasons` say could be skipped. */
  6: required i32 skipped;

  /** How many of the covered names belong to file slices of which every row matches. */
  7: optional i32 fully_matched;

  /** What explain() takes, for as long as the sidecar keeps the report. */
  8: optional string report_id;

  /** Why not more is skipped, in words; for logs. */
  9: optional list<string> reasons;

  /** CRC32 (as in zlib, 0 to 2^32 - 1) of the request's `names` bytes as they were sent: says that this answers that list. */
  10: optional i64 digest;
}

struct PlanRequest {
  /** PROTOCOL_VERSION of the client. */
  1: required i32 protocol_version;

  /** As in PruneRequest. */
  2: required string table;

  /** As in PruneRequest. Absent: every file of the partitions is asked for. */
  3: optional binary filter;

  /** As in PruneRequest. */
  4: optional string filter_text;

  /** As in PruneRequest. */
  5: required string engine;

  /** As in PruneRequest. */
  6: optional string engine_version;

  /** As in PruneRequest. */
  7: optional string time_zone;

  /** "snapshot" (the default) or "read_optimized". Others are refused with the code "listing". */
  8: optional string query_type;

  /** The newest completed instant (its requested time) of the table's commits, delta commits and replace commits that the client sees. */
  9: required string instant;

  /** How many such instants the client sees in the active timeline: two states of a table may have the same newest instant. */
  10: required i32 instant_count;

  /**
   * The folders to list, relative to the base path, '/' between folders, as they stand in the file system (escaped, not decoded);
   * the empty text is the base path itself: UTF-8, joined by a line feed; a zlib stream of that when partitions_compressed is
   * true. Absent: every partition of the table.
   */
  11: optional binary partitions;

  /** Whether `partitions` is a zlib stream. */
  12: optional bool partitions_compressed;

  /** How many partitions there are: the client's own count, which the server compares. */
  13: optional i32 partition_count;

  /** hive.query.id: all questions about a table with the same id are answered for one instant, that of the first of them. */
  14: optional string query_id;

  /** As in PruneRequest. */
  15: optional string secret;

  /** As in PruneRequest. */
  16: optional string user;

  /**
   * Whether the client reads `unknown_partitions` of the reply. Without it a request is refused with the code "listing" when the
   * table does not have one of its partitions. An earlier sidecar ignores it.
   */
  17: optional bool accepts_unknown;

  /** As in PruneRequest. */
  18: optional bool merges_rows;
}

struct PlanReply {
  /** PROTOCOL_VERSION of the answer; a client uses nothing of it when it is not its own. */
  1: required i32 protocol_version;

  /**
   * The instant of the table that was listed: that of the request, or an older one which an earlier question with the same
   * query_id was answered for.
   */
  2: required string instant;

  /** How many files are named. */
  3: required i32 file_count;

  /**
   * The kept files: relative to the base path, as they stand in the file system, UTF-8, joined by a line feed, as a zlib stream.
   * The files of a slice stand together: its base file first, if it has one, then its log files, the oldest first. With
   * "read_optimized" there are only base files.
   */
  4: required binary names;

  /** The file_count lengths in bytes: little-endian i64, as a zlib stream. */
  5: required binary lengths;

  /** The slice of each file, 0 to slice_count - 1 without a gap and in order: little-endian i32, as a zlib stream. */
  6: required binary slices;

  /** How many slices are kept. */
  7: required i32 slice_count;

  /** How many slices the filter skips; they are not among slice_count. */
  8: required i32 skipped;

  /** How many of the kept slices are known to have only matching rows. */
  9: optional i32 fully_matched;

  /** What explain() takes, for as long as the sidecar keeps the report. */
  10: optional string report_id;

  /** Why not more is skipped, in words; for logs. */
  11: optional list<string> reasons;

  /** CRC32 (as in zlib, 0 to 2^32 - 1) of the request's `partitions` bytes as they were sent, 0 without them. */
  12: required i64 digest;

  /** CRC32 of the three streams one after the other, as they were sent: names, lengths, slices. */
  13: required i64 checksum;

  /**
   * The folders of the request that are no partitions of the table in its metadata table, and have none below them; at most
   * MAX_UNKNOWN_PARTITIONS. The sidecar does not know what they hold: the client looks whether they hold nothing, or lists by
   * itself. Only with `accepts_unknown`.
   */
  14: optional list<string> unknown_partitions;
}

struct LayoutRequest {
  /** PROTOCOL_VERSION of the client. */
  1: required i32 protocol_version;

  /** As in PruneRequest. */
  2: required string table;

  /**
   * The options of the table's index that the engine knows from its catalog, from the query or from the session (hoodie.index.* and
   * hoodie.bucket.index.*): lines of NAME=VALUE in UTF-8, each ended by a line feed. They come before those of the sidecar's
   * settings.
   */
  3: required binary options;

  /** As in PruneRequest. */
  4: optional string secret;
}

struct LayoutReply {
  /** PROTOCOL_VERSION of the answer; a client uses nothing of it when it is not its own. */
  1: required i32 protocol_version;

  /** The number of buckets of each partition, whose numbers begin the ids of their files. Absent: no such layout is certain. */
  2: optional i32 buckets;

  /** The columns of the record key that are hashed, in the order in which they are. With `buckets`. */
  3: optional list<string> columns;

  /** Why there are no buckets, in words. Without `buckets`. */
  4: optional string why;

  /** The instant of the table that was looked at. */
  5: optional string instant;
}

struct AggregateRequest {
  /** PROTOCOL_VERSION of the client. */
  1: required i32 protocol_version;

  /** As in PruneRequest, and so are the fields up to 16. */
  2: required string table;
  3: required binary filter;
  4: optional string filter_text;

  /** "spark-ansi" or "spark-legacy". For "spark-try", which hides errors of rows, nothing is answered. */
  5: required string engine;
  6: optional string engine_version;

  /** Required here: without it no answer is certain. */
  7: optional string time_zone;
  8: optional string query_type;
  9: optional string instant;
  10: required binary names;
  11: optional bool names_compressed;
  12: required i32 name_count;
  13: optional string query_id;
  14: optional string secret;
  15: optional string user;
  16: optional bool merges_rows;

  /**
   * What is computed of the rows that satisfy the filter: count(*), or count, min, max or sum of a column of the table, its name in
   * backticks, which are doubled inside of it. UTF-8, joined by a line feed.
   */
  17: required binary aggregates;
}

struct AggregateReply {
  /** PROTOCOL_VERSION of the answer; a client uses nothing of it when it is not its own. */
  1: required i32 protocol_version;

  /**
   * Packed bits over the request's own list, as in PruneReply: a set bit = `values` count the rows of this file, which is not to be
   * read. It is a base file on every row of which the filter holds, and the list has no log file of its slice. No bytes at all =
   * read every file.
   */
  2: required binary answered;

  /** The request's name_count again. */
  3: required i32 name_count;

  /** How many bits are set. */
  4: required i32 answered_count;

  /**
   * The value of each aggregate over the rows of those files: the empty text is NULL; else "=" and a whole number (of a decimal
   * without its point, of a date days and of a timestamp microseconds since 1970, of a boolean 0 or 1) or a text. Absent without
   * bits.
   */
  5: optional list<string> values;

  /** The type of each value in Spark's SQL, such as "decimal(10,2)". With `values`. */
  6: optional list<string> types;

  /** Why not more is answered, in words. */
  7: optional list<string> reasons;

  /** CRC32 of the request's `names` bytes as they were sent. */
  8: required i64 digest;
}

/** The sidecar will not answer this request: a wrong secret, a table outside its roots, a malformed or too large request, too many at once. */
exception Refused {
  /** In words, without data values. */
  1: string why;

  /**
   * For programs: "version", "secret", "table", "request", "limit", "busy", "stopping", "unknown_report"; of plan() also "listing"
   * (the sidecar lists no such table or query type) and "instant" (it sees another timeline than the client).
   */
  2: optional string code;
} (python.immutable = "false")

service Sargo {
  /** Which of the listed files cannot hold a matching row. */
  PruneReply prune(1: PruneRequest request) throws (1: Refused refused);

  /**
   * The files to read: what the table's metadata table lists in these partitions, less what the filter skips. It is refused where
   * that is not certain (no metadata table, a bootstrapped table, another timeline): the client then lists by itself.
   */
  PlanReply plan(1: PlanRequest request) throws (1: Refused refused);

  /**
   * How the table spreads its rows over buckets by a hash of their keys, for an engine that joins without an exchange. The options
   * are checked against the table: the ids of all files, and the first and last key of each slice for which they are known.
   */
  LayoutReply layout(1: LayoutRequest request) throws (1: Refused refused);

  /**
   * Aggregates over listed files of which every row satisfies the filter, from their footers, where these are exact, and sums from
   * an own index. The client reads the others.
   */
  AggregateReply aggregate(1: AggregateRequest request) throws (1: Refused refused);

  /**
   * What was skipped and why not more, as text, for the report id of a reply. For the id of a query: the same, or a list of its
   * reports when it has several.
   */
  string explain(1: string report_id, 2: string secret) throws (1: Refused refused);

  /** A JSON object: {"status": "ok" | "starting" | "stopping", ...}, with counts, and without names. Needs no secret. */
  string health();

  /**
   * A JSON object: {"sargo": version, "protocol": PROTOCOL_VERSION}. Needs no secret. With the right one the connection has shown
   * it, and may send frames of any allowed length; with a wrong one the call is refused.
   */
  string version(1: string secret) throws (1: Refused refused);
}
