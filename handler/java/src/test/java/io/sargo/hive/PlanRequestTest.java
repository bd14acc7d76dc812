package io.sargo.hive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.sargo.client.Messages;
import io.sargo.client.Wire;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import org.apache.thrift.TException;
import org.apache.thrift.transport.TMemoryBuffer;
import org.junit.jupiter.api.Test;

/** Requests to {@code plan} against the bytes that the Python side makes from the Thrift IDL. */
class PlanRequestTest {
  private static PlanRequest required() {
    PlanRequest request = new PlanRequest();
    request.table = "file:/t";
    request.engine = "hive4";
    request.instant = "20250102000000000";
    request.instantCount = 2;
    return request;
  }

  private static void written(String name, PlanRequest request, String secret) throws TException {
    TMemoryBuffer buffer = new TMemoryBuffer(0);
    request.write(Wire.protocol(Wire.framed(buffer)), 1, secret);
    byte[] bytes = new byte[buffer.length()];
    buffer.read(bytes, 0, bytes.length);
    assertArrayEquals(Messages.frame("plan.request." + name), bytes);
  }

  @Test
  void aFieldThatIsNullIsNotSent() throws TException {
    PlanRequest request = required();
    written("required", request, null);
    assertNull(request.partitions());
    assertEquals(0, request.digest());
  }

  @Test
  void theBasePathIsTheEmptyText() throws IOException, TException {
    PlanRequest request = required();
    request.setPartitions(Set.of(""), 0);
    written("base_path", request, null);
    assertEquals(0, request.digest());
  }

  @Test
  void everyFieldIsWritten() throws IOException, TException {
    PlanRequest request = required();
    request.table = "hdfs://host:8020/gr\u00f6\u00dfe";
    request.filter = "AQEA";
    request.filterText = "(id = 1)";
    request.engine = "hive3";
    request.engineVersion = "3.1.3";
    request.timeZone = "Europe/Berlin";
    request.queryType = "read_optimized";
    request.queryId = "hive_20250101_1";
    request.user = "ada";
    request.mergesRows = true;
    request.setPartitions(List.of("dt=1", "dt=2"), 1 << 20);
    written("all_fields", request, "open sesame");
  }
}
