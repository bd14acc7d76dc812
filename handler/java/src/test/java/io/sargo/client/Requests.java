package io.sargo.client;

import io.sargo.client.Wire.Request;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** Requests about three names. */
final class Requests {
  static final byte[] NAMES = utf8("dt=1/a.parquet\ndt=1/b.parquet\ndt=2/c.parquet");

  private Requests() {}

  static Request request(Consumer<Request> change) {
    Request request = new Request();
    request.table = "file:/warehouse/t";
    request.filter = "AQEA";
    request.engine = "hive4";
    request.names = NAMES;
    request.nameCount = 3;
    change.accept(request);
    return request;
  }

  static Request requestFor(int nameCount) {
    return request(request -> request.nameCount = nameCount);
  }

  static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
