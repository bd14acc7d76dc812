package io.sargo.hive;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sargo.client.KeepAll;
import io.sargo.client.Messages;
import io.sargo.client.Settings;
import io.sargo.client.Wire;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.thrift.TException;
import org.apache.thrift.transport.TIOStreamTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What is believed of an answer to {@code plan}. */
class PlanReplyTest {
  private static final String BASE = "dt=1/f1-0_0-1-2_20250101000000000.parquet";
  private static final String LOG = "dt=1/.f1-0_20250102000000000.log.1_0-1-2";
  private static final String OTHER = "dt=2/f2-0_0-1-2_20250101000000000.parquet";
  private static final String LOG_ONLY = "dt=2/.f3-0_20250102000000000.log.1_0-1-2";

  static PlanRequest request(String... partitions) throws IOException {
    PlanRequest request = new PlanRequest();
    request.table = "file:/t";
    request.filter = "AQEA";
    request.instant = PlanAnswer.INSTANT;
    request.merged = true;
    if (partitions.length > 0) {
      request.setPartitions(Arrays.asList(partitions), 1 << 20);
    }
    return request;
  }

  private static PlanAnswer answer() {
    PlanAnswer answer = new PlanAnswer();
    answer.partitions = "dt=1\ndt=2".getBytes(StandardCharsets.UTF_8);
    answer.skipped = 5;
    return answer.file(0, 100, BASE).file(0, 20, LOG).file(1, 300, OTHER).file(2, 4, LOG_ONLY);
  }

  static PlanReply read(byte[] frame, PlanRequest request) throws TException, KeepAll {
    PlanReply reply =
        request.read(
            Wire.protocol(Wire.framed(new TIOStreamTransport(new ByteArrayInputStream(frame)))), 1);
    request.check(reply);
    return reply;
  }

  static Stream<byte[]> goodAnswers() {
    return Stream.of(answer().frame(), Messages.frame("plan.reply"));
  }

  @ParameterizedTest
  @MethodSource("goodAnswers")
  void aGoodAnswerIsUnpacked(byte[] answer) throws Exception {
    PlanReply reply = read(answer, request("dt=1", "dt=2"));
    assertArrayEquals(new String[] {BASE, LOG, OTHER, LOG_ONLY}, reply.slices.names);
    assertArrayEquals(new long[] {100, 20, 300, 4}, reply.slices.lengths);
    assertArrayEquals(new int[] {0, 2, 3, 4}, reply.slices.firstFile);
    assertEquals(5, reply.skipped());
    assertEquals(3, reply.slices.count());
    assertEquals("r-1", reply.reportId);
  }

  @Test
  void foldersThatTheSidecarDoesNotKnowAreNamed() throws Exception {
    PlanRequest request = request("dt=1", "dt=2", "dt=3", "gr\u00f6\u00dfe");
    PlanReply reply = read(Messages.frame("plan.reply.unknown_partitions"), request);
    assertEquals(Set.of("dt=3", "gr\u00f6\u00dfe"), reply.unknown);
    assertEquals(3, reply.slices.count());
    assertEquals(Set.of(), read(answer().frame(), request("dt=1", "dt=2")).unknown);
  }

  @ParameterizedTest
  @CsvSource({
    "dt=3, folders that were not asked for",
    "'', folders that were not asked for",
    "dt=1, a folder that the sidecar does not know",
    "dt=2, a folder that the sidecar does not know",
  })
  void onlyAFolderOfTheRequestWithoutAFileIsUnknown(String folder, String why) throws IOException {
    PlanAnswer answer = answer();
    answer.unknown.add(folder);
    wrong(answer, request("dt=1", "dt=2"), why);
  }

  @Test
  void withoutAListNoFolderIsUnknown() throws IOException {
    PlanAnswer answer = answer();
    answer.partitions = new byte[0];
    answer.unknown.add("dt=3");
    wrong(answer, request(), "folders that were not asked for");
  }

  @Test
  void manyFoldersAreNotUnknown() throws Exception {
    String[] folders = IntStream.range(0, 33).mapToObj(i -> "dt=" + i).toArray(String[]::new);
    PlanAnswer answer = new PlanAnswer();
    answer.partitions = String.join("\n", folders).getBytes(StandardCharsets.UTF_8);
    answer.unknown.addAll(List.of(folders).subList(0, 32));
    assertEquals(32, read(answer.frame(), request(folders)).unknown.size());
    answer.unknown.add("dt=32");
    wrong(answer, request(folders), "or too many");
  }

  @Test
  void anAnswerMayHaveNoFile() throws Exception {
    PlanAnswer answer = new PlanAnswer();
    answer.partitions = "dt=1".getBytes(StandardCharsets.UTF_8);
    answer.skipped = 5;
    assertEquals(0, read(answer.frame(), request("dt=1")).slices.count());
  }

  @Test
  void everyPartitionIsAskedForWithoutAList() throws Exception {
    PlanAnswer answer = answer();
    answer.partitions = new byte[0];
    assertEquals(3, read(answer.frame(), request()).slices.count());
  }

  @Test
  void theBasePathIsAskedForByTheEmptyText() throws Exception {
    String name = "f1-0_0-1-2_20250101000000000.parquet";
    PlanAnswer answer = new PlanAnswer().file(0, 1, name);
    assertEquals(List.of(name), List.of(read(answer.frame(), request("")).slices.names));
    wrong(new PlanAnswer().file(0, 1, BASE), request(""), "no folder that was asked for");
  }

  @Test
  void anOlderInstantIsBelievedInAQueryThatHasAnId() throws Exception {
    PlanAnswer answer = answer();
    answer.instant = "20250101120000000";
    PlanRequest request = request("dt=1", "dt=2");
    wrong(answer, request, "answered for");
    request.queryId = "hive_1";
    assertEquals("20250101120000000", read(answer.frame(), request).instant);
    answer.instant = "20250103000000000";
    wrong(answer, request, "answered for");
  }

  @Test
  void nothingIsSkippedWithoutAFilter() throws Exception {
    PlanRequest request = request("dt=1", "dt=2");
    request.filter = null;
    wrong(answer(), request, "without a filter");
  }

  @Test
  void aViewOfBaseFilesHasNoLogFile() throws Exception {
    PlanRequest request = request("dt=1", "dt=2");
    request.merged = false;
    wrong(answer(), request, "a log file in a view of base files");
  }

  @Test
  void anotherVersionIsNoWrongAnswer() throws Exception {
    PlanAnswer answer = answer();
    answer.version = 2;
    PlanRequest request = request("dt=1", "dt=2");
    KeepAll e = assertThrows(KeepAll.class, () -> read(answer.frame(), request));
    assertEquals(KeepAll.Reason.WRONG_VERSION, e.reason);
  }

  private static void wrong(PlanAnswer answer, PlanRequest request, String why) {
    KeepAll e = assertThrows(KeepAll.class, () -> read(answer.frame(), request));
    assertEquals(KeepAll.Reason.WRONG_ANSWER, e.reason);
    assertTrue(e.mayAskAnother);
    assertTrue(e.getMessage().contains(why), e.getMessage());
  }

  private static Arguments wrong(String why, Consumer<PlanAnswer> change) {
    return arguments(why, change);
  }

  private static Arguments named(String why, String name) {
    return wrong(why, answer -> answer.file(3, 1, name));
  }

  private static byte[] cut(byte[] bytes, int by) {
    return Arrays.copyOf(bytes, bytes.length - by);
  }

  static Stream<Arguments> wrongAnswers() {
    return Stream.of(
        wrong("another list of partitions", a -> a.digest = 1L),
        wrong("another list of partitions", a -> a.without = 12),
        wrong("checksum", a -> a.checksum = 1L),
        wrong("checksum", a -> a.without = 13),
        wrong("answered for", a -> a.instant = "20250101000000000"),
        wrong("answered for", a -> a.instant = "20250103000000000"),
        wrong("answered for", a -> a.instant = ""),
        // counts
        wrong("it counts -1 files", a -> a.without = 3),
        wrong("3 slices, -1 skipped", a -> a.skipped = -1),
        wrong("it counts 4 files in -1 slices", a -> a.without = 7),
        wrong("it counts 2147483647 files", a -> a.fileCount = Integer.MAX_VALUE),
        wrong("it counts -5 files", a -> a.fileCount = -5),
        wrong("it counts 4 files in 5 slices", a -> a.sliceCount = 5),
        wrong("it counts 2147483650 slices", a -> a.skipped = Integer.MAX_VALUE),
        wrong("it counts 4000003 slices", a -> a.skipped = Settings.MAX_NAMES),
        wrong("bytes, not 20", a -> a.fileCount = 5),
        wrong("more than 12 bytes", a -> a.fileCount = 3),
        // streams
        wrong("slices are cut off", a -> a.sliceStream = cut(a.slices(), 5)),
        wrong("lengths are cut off", a -> a.lengthStream = new byte[0]),
        wrong("names are cut off", a -> a.nameStream = cut(a.names(), 1)),
        wrong("follows its names", a -> a.nameStream = Arrays.copyOf(a.names(), 300)),
        wrong("header", a -> a.nameStream = BASE.getBytes(StandardCharsets.UTF_8)),
        wrong("more than 16384 bytes", a -> a.nameStream = PlanAnswer.zlib(new byte[64 << 20])),
        wrong("more than 32 bytes", a -> a.lengthStream = PlanAnswer.zlib(new byte[64 << 20])),
        wrong("names 5", a -> a.nameStream = PlanAnswer.zlib("\n\n\n\n".getBytes())),
        wrong("no UTF-8", a -> a.nameStream = PlanAnswer.zlib(new byte[] {-1, 10, 10, 10})),
        // slices
        wrong("slice 1 follows slice -1", a -> a.slices.replaceAll(slice -> slice + 1)),
        wrong("slice -1 follows slice -1", a -> a.slices.set(0, -1)),
        wrong("slice 3 follows slice 1", a -> a.slices.set(3, 3)),
        wrong("slice -7 follows slice 0", a -> a.slices.set(2, -7)),
        wrong("the last is 2", a -> a.sliceCount = 4),
        wrong("slice 2 follows slice 1", a -> a.sliceCount = 2),
        wrong("not the first", a -> a.slices.replaceAll(slice -> 0)),
        wrong("two file groups", a -> a.slices.set(3, 1)),
        wrong("two file groups", a -> a.file(3, 1, "dt=1/.f1-0_20250102000000000.log.2_0-1-2")),
        wrong("not the first", a -> a.file(3, 1, LOG.replace("f1", "f4")).file(3, 1, base("f4"))),
        wrong("not the first", a -> a.file(3, 1, base("f4")).file(3, 1, base("f4", "0-7-8"))),
        wrong("two files", a -> a.file(3, 1, BASE)),
        wrong("two files", a -> a.file(2, 4, LOG_ONLY)),
        wrong("length -1", a -> a.lengths.set(2, -1L)),
        wrong("length 9223372036854775807", a -> a.lengths.set(2, Long.MAX_VALUE)),
        // names
        named("no folder that was asked for", "dt=3/f4-0_0-1-2_20250101000000000.parquet"),
        named("no folder that was asked for", "f4-0_0-1-2_20250101000000000.parquet"),
        named("no folder that was asked for", "dt=1/hour=1/f4-0_0-1-2_20250101000000000.parquet"),
        named("no relative name", "dt=1/../dt=2/f4-0_0-1-2_20250101000000000.parquet"),
        named("no relative name", "./dt=1/f4-0_0-1-2_20250101000000000.parquet"),
        named("no relative name", "/dt=1/f4-0_0-1-2_20250101000000000.parquet"),
        named("no relative name", "dt=1//f4-0_0-1-2_20250101000000000.parquet"),
        named("no relative name", "dt=1/f4-0_0-1-2_20250101000000000.parquet/"),
        named("no relative name", "dt=1/f4-0\0_0-1-2_20250101000000000.parquet"),
        named("no relative name", "dt=1\\f4-0_0-1-2_20250101000000000.parquet"),
        named("no relative name", ""),
        named("no name of a base file", "dt=1/f4.parquet"),
        named("no name of a base file", "dt=1/f4-0_0-1-2_20250101000000000.exe"),
        named("no name of a base file", "dt=1/.hoodie_partition_metadata"),
        named("later than", "dt=1/f4-0_0-1-2_20250103000000000.parquet"));
  }

  private static String base(String id) {
    return base(id, "0-1-2");
  }

  private static String base(String id, String token) {
    return "dt=1/" + id + "-0_" + token + "_20250101000000000.parquet";
  }

  @ParameterizedTest(name = "{index} {0}")
  @MethodSource("wrongAnswers")
  void aWrongAnswerIsRefused(String why, Consumer<PlanAnswer> change) throws IOException {
    PlanAnswer answer = answer();
    change.accept(answer);
    wrong(answer, request("dt=1", "dt=2"), why);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 4, 5, 6})
  void aReplyWithoutItsAnswerIsNoReply(int field) throws IOException {
    PlanAnswer answer = answer();
    answer.without = field;
    PlanRequest request = request("dt=1", "dt=2");
    assertThrows(TException.class, () -> read(answer.frame(), request));
  }

  @Test
  void aFileOfHudisOwnFolderIsNoFileOfATable() throws IOException {
    PlanAnswer answer = new PlanAnswer();
    answer.file(0, 1, ".hoodie/metadata/files/f4-0_0-1-2_20250101000000000.parquet");
    wrong(answer, request(), "no folder that was asked for");
  }

  @Test
  void aRefusalSaysItsCode() throws IOException {
    PlanRequest request = request("dt=1");
    byte[] refusal = Messages.frame("plan.refused");
    KeepAll e = assertThrows(KeepAll.class, () -> read(refusal, request));
    assertEquals(KeepAll.Reason.REFUSED, e.reason);
    assertEquals("instant: another timeline", e.getMessage());
    assertFalse(e.mayAskAnother);
  }
}
