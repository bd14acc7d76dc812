package io.sargo.client;

import static io.sargo.client.Messages.read;
import static io.sargo.client.ReplyBytes.BOOL;
import static io.sargo.client.ReplyBytes.DOUBLE;
import static io.sargo.client.ReplyBytes.I32;
import static io.sargo.client.ReplyBytes.LIST;
import static io.sargo.client.ReplyBytes.MAP;
import static io.sargo.client.ReplyBytes.STRING;
import static io.sargo.client.ReplyBytes.STRUCT;
import static io.sargo.client.ReplyBytes.answer;
import static io.sargo.client.ReplyBytes.reply;
import static io.sargo.client.Requests.NAMES;
import static io.sargo.client.Requests.request;
import static io.sargo.client.Requests.requestFor;
import static io.sargo.client.Requests.utf8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sargo.client.KeepAll.Reason;
import io.sargo.client.Wire.Reply;
import io.sargo.client.Wire.Request;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Stream;
import org.apache.thrift.TException;
import org.apache.thrift.transport.TIOStreamTransport;
import org.apache.thrift.transport.TMemoryBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The messages against bytes that the Python side makes from the Thrift IDL ({@link Messages}), and
 * against wrong bytes ({@link ReplyBytes}). The values of the requests and replies are those of
 * {@code tests/handler/sidecar/java_messages.py}.
 */
class WireTest {
  // ---- requests

  static Stream<Arguments> requests() {
    byte[] everyByte = new byte[256];
    for (int i = 0; i < everyByte.length; i++) {
      everyByte[i] = (byte) i;
    }
    byte[] manyBytes = new byte[1000];
    Arrays.fill(manyBytes, (byte) 'a');
    return Stream.of(
        arguments("required", request(request -> {})),
        arguments(
            "all_fields",
            request(
                request -> {
                  request.table = "hdfs://host:8020/warehouse/t";
                  request.filterText = "(id = 1)";
                  request.engine = "hive3";
                  request.engineVersion = "3.1.3";
                  request.timeZone = "Europe/Berlin";
                  request.queryType = "as_of";
                  request.instant = "20250101000000000";
                  request.queryId = "hive_20250101_1";
                  request.user = "ada";
                  request.mergesRows = true;
                })),
        arguments(
            "utf8",
            request(
                request -> {
                  request.table = "file:/größe/表/😀";
                  request.filterText = "(s = '\0é😀')";
                })),
        arguments(
            "compressed",
            request(
                request -> {
                  request.names = everyByte;
                  request.compressed = true;
                })),
        arguments(
            "large",
            request(
                request -> {
                  request.names = manyBytes;
                  request.nameCount = Integer.MAX_VALUE;
                })));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("requests")
  void aRequestIsTheBytesThatTheIdlSays(String name, Request request) throws TException {
    TMemoryBuffer written = new TMemoryBuffer(1024);
    String secret = name.equals("all_fields") ? "open sesame" : null;
    request.write(Wire.protocol(Wire.framed(written)), 1, secret);
    assertArrayEquals(
        Messages.frame("request." + name), Arrays.copyOf(written.getArray(), written.length()));
  }

  // ---- the secret

  private static byte[] showSecret(byte[] answer) throws TException, KeepAll {
    TMemoryBuffer written = new TMemoryBuffer(1024);
    TIOStreamTransport stream =
        new TIOStreamTransport(
            new ByteArrayInputStream(answer),
            new OutputStream() {
              @Override
              public void write(int one) throws IOException {
                try {
                  written.write(new byte[] {(byte) one});
                } catch (TException e) {
                  throw new IOException(e);
                }
              }
            });
    Wire.showSecret(Wire.protocol(Wire.framed(stream)), "open sesame");
    return Arrays.copyOf(written.getArray(), written.length());
  }

  @Test
  void theCallThatShowsTheSecretIsTheBytesThatTheIdlSays() throws TException, KeepAll {
    assertArrayEquals(
        Messages.frame("version.shows_secret"), showSecret(Messages.frame("version.reply")));
  }

  @Test
  void aRefusedSecretKeepsEveryFile() {
    KeepAll keepAll =
        assertThrows(KeepAll.class, () -> showSecret(Messages.frame("version.refused")));
    assertEquals(Reason.REFUSED, keepAll.reason);
    assertEquals("secret: the secret is missing or wrong", keepAll.getMessage());
  }

  @ParameterizedTest
  @ValueSource(strings = {"reply.two_skipped", "other.sequence", "exception.of_the_call"})
  void anotherReplyIsNoAnswerToTheSecret(String name) {
    assertThrows(TException.class, () -> showSecret(Messages.frame(name)));
  }

  // ---- replies that are used

  @Test
  void everyFieldOfAReplyIsRead() throws TException, KeepAll {
    Reply reply = read(Messages.frame("reply.all_fields"));
    reply.check(requestFor(3));
    assertEquals(BitSet.valueOf(new byte[] {5}), reply.skip);
    assertEquals("20250101000000000", reply.instant);
    assertEquals("r-1", reply.reportId);
    assertEquals(List.of("no column statistics", "größe 😀"), reply.reasons);
  }

  static Stream<Arguments> answers() {
    return Stream.of(
        arguments("two of three names", 3, Messages.frame("reply.two_skipped"), "{0, 2}"),
        arguments("no name", 3, Messages.frame("reply.nothing_skipped"), "{}"),
        arguments("zero bits in full length", 3, answer(1, NAMES, 3, 0, 0).frame(), "{}"),
        arguments("all of three names", 3, answer(1, NAMES, 3, 3, 7).frame(), "{0, 1, 2}"),
        arguments("the last of a full byte", 8, answer(1, NAMES, 8, 1, 0x80).frame(), "{7}"),
        arguments("the first of the second byte", 9, answer(1, NAMES, 9, 1, 0, 1).frame(), "{8}"),
        arguments(
            "the first and the last of 16",
            16,
            answer(1, NAMES, 16, 2, 1, 128).frame(),
            "{0, 15}"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("answers")
  void bitIOfTheAnswerIsNameI(String name, int nameCount, byte[] frame, String skipped)
      throws TException, KeepAll {
    Reply reply = read(frame);
    reply.check(requestFor(nameCount));
    assertEquals(skipped, reply.skip.toString());
  }

  @Test
  void fieldsOfALaterVersionOfTheIdlAreIgnored() throws TException, KeepAll {
    byte[] frame =
        reply()
            .field(BOOL, 20)
            .raw(out -> out.writeByte(1))
            .field(DOUBLE, 21)
            .raw(out -> out.writeDouble(1.5))
            .field(MAP, 22)
            .raw(out -> out.writeByte(STRING))
            .raw(out -> out.writeByte(I32))
            .raw(out -> out.writeInt(1))
            .text("key")
            .raw(out -> out.writeInt(7))
            .field(STRUCT, 23)
            .i32(1, 1)
            .stop()
            .field(LIST, 24)
            .raw(out -> out.writeByte(STRUCT))
            .raw(out -> out.writeInt(2))
            .stop()
            .stop()
            .i32(1, 1)
            .bytes(2, 5)
            .i32(3, 3)
            .i32(6, 2)
            .i64(10, 0x9b89e25fL)
            .stop()
            .stop()
            .frame();
    Reply reply = read(frame);
    reply.check(requestFor(3));
    assertEquals("{0, 2}", reply.skip.toString());
  }

  // ---- replies that keep every file

  static Stream<Arguments> wrongAnswers() {
    return Stream.of(
        arguments("another protocol", Reason.WRONG_VERSION, 3, answer(2, NAMES, 3, 2, 5).frame()),
        arguments(
            "no protocol version",
            Reason.WRONG_VERSION,
            3,
            Messages.frame("reply.no_protocol_version")),
        arguments("fewer names", Reason.WRONG_ANSWER, 3, answer(1, NAMES, 2, 1, 1).frame()),
        arguments("more names", Reason.WRONG_ANSWER, 3, answer(1, NAMES, 4, 1, 1).frame()),
        arguments("no name count", Reason.WRONG_ANSWER, 3, Messages.frame("reply.no_name_count")),
        arguments(
            "another list of as many names",
            Reason.WRONG_ANSWER,
            3,
            answer(1, utf8("x\ny\nz"), 3, 2, 5).frame()),
        arguments("no digest", Reason.WRONG_ANSWER, 3, Messages.frame("reply.no_digest")),
        arguments("too few bits", Reason.WRONG_ANSWER, 9, answer(1, NAMES, 9, 1, 1).frame()),
        arguments("too many bits", Reason.WRONG_ANSWER, 8, answer(1, NAMES, 8, 1, 1, 0).frame()),
        arguments("a bit of no name", Reason.WRONG_ANSWER, 3, answer(1, NAMES, 3, 1, 8).frame()),
        arguments("a wrong count", Reason.WRONG_ANSWER, 3, answer(1, NAMES, 3, 1, 5).frame()),
        arguments("a count of no bits", Reason.WRONG_ANSWER, 3, answer(1, NAMES, 3, 1).frame()),
        arguments("no count", Reason.WRONG_ANSWER, 3, Messages.frame("reply.no_skipped")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("wrongAnswers")
  void anAnswerToAnotherRequestKeepsEveryFile(
      String name, Reason reason, int nameCount, byte[] frame) throws TException, KeepAll {
    Reply reply = read(frame);
    KeepAll keepAll = assertThrows(KeepAll.class, () -> reply.check(requestFor(nameCount)));
    assertEquals(reason, keepAll.reason);
  }

  static Stream<Arguments> refusals() {
    return Stream.of(
        arguments("version", Reason.WRONG_VERSION, "version: protocol 2"),
        arguments("secret", Reason.REFUSED, "secret: the secret is wrong"),
        arguments("no_code", Reason.REFUSED, "null: busy"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("refusals")
  void aRefusalKeepsEveryFileForItsReason(String name, Reason reason, String why) {
    KeepAll keepAll = assertThrows(KeepAll.class, () -> read(Messages.frame("refused." + name)));
    assertEquals(reason, keepAll.reason);
    assertEquals(why, keepAll.getMessage());
  }
}
