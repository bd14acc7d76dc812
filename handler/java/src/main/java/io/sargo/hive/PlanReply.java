package io.sargo.hive;

import io.sargo.client.Inflated;
import io.sargo.client.KeepAll;
import io.sargo.client.Settings;
import io.sargo.client.Wire;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TProtocolException;

/**
 * A PlanReply: the slices to read. Nothing of it is used before {@link #check}, which unpacks it.
 *
 * <p>What {@code check} demands, in this order. Each count bounds what is unpacked after it.
 *
 * <pre>
 *   protocol_version   that of the request
 *   digest             CRC32 of the request's folders
 *   unknown folders    at most MAX_COUNT of the request's folders, without the base path
 *   instant            that of the request; an older one if the request has a query id
 *   counts             0 &lt;= slice_count &lt;= file_count &lt;= MAX_NAMES; skipped is 0 without a filter
 *   checksum           CRC32 of the three streams as they arrived
 *   streams            lengths of 8 * file_count bytes, slices of 4 * file_count bytes, then names
 *   the slices         {@link PlannedSlices}; none of them in an unknown folder
 * </pre>
 */
final class PlanReply {
  /** Bytes of all names, and of each in the mean, that are unpacked at most. */
  static final int MAX_NAMES_BYTES = 512 << 20, MAX_NAME_BYTES = 4096;

  final String instant, reportId;
  final Object reasons;

  /** The slices that are kept; null before {@link #check}. */
  PlannedSlices slices;

  /** The folders of the request of which the sidecar knows nothing ({@link UnknownFolders}). */
  final Set<String> unknown = new HashSet<>();

  private final Map<?, ?> fields;

  private PlanReply(Map<?, ?> fields) {
    this.fields = fields;
    instant = Wire.text(fields.get(2));
    reportId = Wire.text(fields.get(10));
    reasons = fields.get(11);
    if (fields.get(14) instanceof List) {
      ((List<?>) fields.get(14)).forEach(folder -> unknown.add((String) folder));
    }
  }

  /**
   * Throws KeepAll if the sidecar refused or has no such call, and TException if the message is no
   * reply to this call.
   */
  static PlanReply read(TProtocol in, int sequence) throws TException, KeepAll {
    Map<?, ?> fields;
    try {
      fields = Wire.readReply(in, "plan", sequence);
    } catch (TApplicationException e) {
      if (e.getType() == TApplicationException.UNKNOWN_METHOD) { // an earlier version
        throw new KeepAll(KeepAll.Reason.WRONG_VERSION, "the sidecar lists no files");
      }
      throw e;
    }
    for (int id : new int[] {2, 4, 5, 6}) {
      if (!(fields.get(id) instanceof byte[])) {
        throw new TProtocolException("the reply has no field " + id);
      }
    }
    return new PlanReply(fields);
  }

  /** How many slices the filter skips. */
  int skipped() {
    return (Integer) fields.get(8);
  }

  /** Throws KeepAll unless the reply answers this request, and unpacks the slices. */
  void check(PlanRequest request) throws KeepAll {
    if (!Integer.valueOf(Wire.PROTOCOL_VERSION).equals(fields.get(1))) {
      throw new KeepAll(
          KeepAll.Reason.WRONG_VERSION, "the sidecar speaks protocol " + fields.get(1));
    }
    String mismatch = mismatch(request);
    if (mismatch == null) {
      try {
        slices = unpack(request);
      } catch (DataFormatException | RuntimeException e) {
        mismatch = String.valueOf(e.getMessage());
      }
    }
    if (mismatch != null) {
      throw new KeepAll(KeepAll.Reason.WRONG_ANSWER, mismatch, true);
    }
  }

  /** The first fault of what stands beside the three streams, or null. */
  private String mismatch(PlanRequest request) {
    if (!Long.valueOf(request.digest()).equals(fields.get(12))) {
      return "it is for another list of partitions";
    }
    if (unknown.size() > UnknownFolders.MAX_COUNT
        || unknown.contains("")
        || !unknown.isEmpty()
            && (request.partitions() == null || !request.partitions().containsAll(unknown))) {
      return "it does not know folders that were not asked for, or too many";
    }
    boolean isOlder =
        request.queryId != null
            && instant.matches("[0-9]+")
            && instant.compareTo(request.instant) < 0;
    if (!isOlder && !instant.equals(request.instant)) {
      return "listed at " + request.instant + ", answered for " + instant;
    }
    long files = count(3);
    long kept = count(7);
    long skipped = count(8);
    if (files < 0 || kept < 0 || skipped < 0 || files > Settings.MAX_NAMES || kept > files) {
      return "it counts " + files + " files in " + kept + " slices, " + skipped + " skipped";
    }
    if (request.filter == null && skipped > 0) {
      return "it skips " + skipped + " slices without a filter";
    }
    if (kept + skipped > Settings.MAX_NAMES) {
      return "it counts " + (kept + skipped) + " slices";
    }
    CRC32 crc = new CRC32();
    for (int stream = 4; stream <= 6; stream++) {
      crc.update(bytes(stream), 0, bytes(stream).length);
    }
    return Long.valueOf(crc.getValue()).equals(fields.get(13)) ? null : "its checksum is wrong";
  }

  private PlannedSlices unpack(PlanRequest request) throws DataFormatException {
    int files = (int) count(3);
    int[] sliceOf = new int[files];
    Inflated.exactly(bytes(6), 4 * files, "slices").asIntBuffer().get(sliceOf);
    long[] lengths = new long[files];
    Inflated.exactly(bytes(5), 8 * files, "lengths").asLongBuffer().get(lengths);
    int limit = (int) Math.min(MAX_NAMES_BYTES, (long) files * MAX_NAME_BYTES);
    ByteBuffer names = Inflated.upTo(bytes(4), limit, "names");
    return PlannedSlices.of(names, lengths, sliceOf, (int) count(7), request, instant, unknown);
  }

  /** A required count, or -1 if it is missing. */
  private long count(int id) {
    return fields.get(id) instanceof Integer ? (Integer) fields.get(id) : -1;
  }

  private byte[] bytes(int id) {
    return (byte[]) fields.get(id);
  }
}
