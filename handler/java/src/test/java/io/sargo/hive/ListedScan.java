package io.sargo.hive;

import io.sargo.client.FakeSidecar;
import io.sargo.client.ReplyBytes;
import io.sargo.client.Wire;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hive.ql.exec.SerializationUtilities;
import org.apache.hadoop.hive.ql.plan.ExprNodeColumnDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeConstantDesc;
import org.apache.hadoop.hive.ql.plan.ExprNodeGenericFuncDesc;
import org.apache.hadoop.hive.ql.udf.generic.GenericUDFOPEqual;
import org.apache.hadoop.hive.serde2.typeinfo.TypeInfoFactory;
import org.apache.hadoop.mapred.FileInputFormat;
import org.apache.hadoop.mapred.JobConf;
import org.apache.hudi.common.model.FileSlice;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.table.timeline.HoodieInstant;
import org.apache.hudi.common.util.Option;
import org.apache.hudi.hadoop.realtime.HoodieMergeOnReadTableInputFormat;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TField;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.protocol.TType;
import org.apache.thrift.transport.TIOStreamTransport;

/** A job that lists the files of one table, and what it counts. Hudi's own listing is one file. */
final class ListedScan {
  static final String FILTER =
      SerializationUtilities.serializeExpression(
          new ExprNodeGenericFuncDesc(
              TypeInfoFactory.booleanTypeInfo,
              new GenericUDFOPEqual(),
              Arrays.asList(
                  new ExprNodeColumnDesc(TypeInfoFactory.intTypeInfo, "id", "t", false),
                  new ExprNodeConstantDesc(1))));

  final JobConf job = new JobConf(false);

  /** What Hudi lists. */
  FileStatus[] byHudi;

  /** The reason and the counts of the last listing. */
  Map<String, Long> counted;

  ListedScan(TableFolder table, FakeSidecar sidecar, String... folders) {
    job.set("sargo.sidecar.address", sidecar.address());
    job.set("sargo.sidecar.timeout.ms", "20000");
    job.set("sargo.sidecar.breaker.ms", "0");
    Path[] inputs =
        Arrays.stream(folders)
            .map(folder -> new Path(folder.isEmpty() ? table.uri() : table.uri() + "/" + folder))
            .toArray(Path[]::new);
    FileInputFormat.setInputPaths(job, inputs);
    byHudi =
        new FileStatus[] {
          new FileStatus(1, false, 1, 1, 0, new Path(table.uri() + "/of-hudi.parquet"))
        };
  }

  FileStatus[] list(boolean merged) throws IOException {
    Map<String, Long> before = Counters.INSTANCE.getCounts();
    FileStatus[] listed = SidecarListing.list(job, merged, new Format(merged));
    counted = new TreeMap<>(Counters.INSTANCE.getCounts());
    before.forEach((name, n) -> counted.merge(name, -n, Long::sum));
    counted.values().removeIf(n -> n == 0);
    return listed;
  }

  /** The names of the listed files. */
  List<String> names(boolean merged) throws IOException {
    return Arrays.stream(list(merged))
        .map(file -> file.getPath().getName())
        .collect(Collectors.toList());
  }

  /** The fields of the last request by their number in the IDL, bytes as ISO 8859-1 text. */
  static Map<Integer, Object> request(FakeSidecar sidecar) throws TException {
    TProtocol in =
        Wire.protocol(new TIOStreamTransport(new ByteArrayInputStream(sidecar.lastRequest)));
    in.readMessageBegin();
    in.readFieldBegin();
    Map<Integer, Object> fields = new HashMap<>();
    for (TField field = in.readFieldBegin();
        field.type != TType.STOP;
        field = in.readFieldBegin()) {
      Object value =
          switch (field.type) {
            case TType.I32 -> in.readI32();
            case TType.BOOL -> in.readBool();
            default -> StandardCharsets.ISO_8859_1.decode(in.readBinary()).toString();
          };
      fields.put((int) field.id, value);
    }
    return fields;
  }

  /** A refusal of {@code plan}. */
  static byte[] refusal(String code) {
    return ReplyBytes.message(ReplyBytes.REPLY, "plan", 1)
        .field(ReplyBytes.STRUCT, 1)
        .field(ReplyBytes.STRING, 1)
        .text("why")
        .field(ReplyBytes.STRING, 2)
        .text(code)
        .stop()
        .stop()
        .frame();
  }

  /** What an earlier sidecar says to a call that it does not know. */
  static byte[] unknownMethod() {
    return ReplyBytes.message(ReplyBytes.EXCEPTION, "plan", 1)
        .field(ReplyBytes.STRING, 1)
        .text("no such method")
        .i32(2, 1)
        .stop()
        .frame();
  }

  /** Hudi's format: its statuses of slices, and {@link #byHudi}. */
  private final class Format extends HoodieMergeOnReadTableInputFormat
      implements SliceStatuses.HudiFormat {
    private final boolean merged;

    private Format(boolean merged) {
      this.merged = merged;
    }

    @Override
    public FileStatus[] listAll(JobConf job) {
      return byHudi;
    }

    @Override
    public FileStatus statusOf(
        FileSlice slice, Option<HoodieInstant> instant, String base, HoodieTableMetaClient client) {
      return merged
          ? createFileStatusUnchecked(slice, instant, base, client)
          : getFileStatusUnchecked(slice.getBaseFile().get());
    }
  }
}
