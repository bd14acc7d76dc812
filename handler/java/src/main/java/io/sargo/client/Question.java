package io.sargo.client;

import org.apache.thrift.TException;
import org.apache.thrift.protocol.TProtocol;

/** A call of the IDL about a table: how it is written, and how its reply {@code R} is believed. */
public interface Question<R> {
  /** The table's location as a URI. It chooses the sidecar. */
  String table();

  /** Writes the message and flushes it. {@code secret}: that of the address, or null. */
  void write(TProtocol out, int sequence, String secret) throws TException;

  /** Reads the reply. Throws KeepAll if the sidecar refused, and TException if it is no reply. */
  R read(TProtocol in, int sequence) throws TException, KeepAll;

  /** Throws KeepAll unless the reply answers this question. */
  void check(R reply) throws KeepAll;
}
