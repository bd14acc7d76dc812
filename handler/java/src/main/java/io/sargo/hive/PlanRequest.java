package io.sargo.hive;

import io.sargo.client.Deflated;
import io.sargo.client.KeepAll;
import io.sargo.client.Question;
import io.sargo.client.Wire;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.Collections;
import java.util.HashSet;
import java.util.Set;
import java.util.zip.CRC32;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TProtocol;

/** A PlanRequest: which files there are to read. A field that is null is not sent. */
final class PlanRequest implements Question<PlanReply> {
  String table;
  String filter;
  String filterText;
  String engine;
  String engineVersion;
  String timeZone;
  String queryType;
  String instant;
  String queryId;
  String user;
  int instantCount;

  /** Whether a slice may have log files, or none but log files. */
  boolean merged;

  /** Whether merged rows alone are shown of slices with log files. */
  boolean mergesRows;

  private Set<String> partitions;
  private byte[] partitionBytes;
  private boolean compressed;

  /**
   * Asks for these folders alone, relative to the base path. Without them every one is asked for.
   */
  void setPartitions(Collection<String> folders, int compressFrom) throws IOException {
    partitions = new HashSet<>(folders);
    byte[] joined = String.join("\n", folders).getBytes(StandardCharsets.UTF_8);
    compressed = joined.length >= Math.max(1, compressFrom);
    partitionBytes = compressed ? Deflated.stream(joined) : joined;
  }

  /** The folders, or null if every one is asked for. */
  Set<String> partitions() {
    return partitions == null ? null : Collections.unmodifiableSet(partitions);
  }

  /** CRC32 of the folders as they are sent, 0 without them. */
  long digest() {
    CRC32 crc = new CRC32();
    if (partitionBytes != null) {
      crc.update(partitionBytes, 0, partitionBytes.length);
    }
    return crc.getValue();
  }

  @Override
  public String table() {
    return table;
  }

  @Override
  public PlanReply read(TProtocol in, int sequence) throws TException, KeepAll {
    return PlanReply.read(in, sequence);
  }

  @Override
  public void check(PlanReply reply) throws KeepAll {
    reply.check(this);
  }

  @Override
  public void write(TProtocol out, int sequence, String secret) throws TException {
    Object[] fields = {
      null,
      Wire.PROTOCOL_VERSION,
      table,
      filter,
      filterText,
      engine,
      engineVersion,
      timeZone,
      queryType,
      instant,
      instantCount,
      partitionBytes,
      partitionBytes == null ? null : (Object) compressed,
      partitions == null ? null : (Object) partitions.size(),
      queryId,
      secret,
      user,
      partitions == null ? null : (Object) true, // accepts_unknown
      mergesRows ? (Object) true : null
    };
    Wire.writeCall(out, "plan", sequence, fields);
  }
}
