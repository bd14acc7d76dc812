package io.sargo.client;

import static io.sargo.client.Messages.read;
import static io.sargo.client.ReplyBytes.CALL;
import static io.sargo.client.ReplyBytes.I64;
import static io.sargo.client.ReplyBytes.LIST;
import static io.sargo.client.ReplyBytes.REPLY;
import static io.sargo.client.ReplyBytes.STRING;
import static io.sargo.client.ReplyBytes.STRUCT;
import static io.sargo.client.ReplyBytes.answer;
import static io.sargo.client.ReplyBytes.message;
import static io.sargo.client.ReplyBytes.reply;
import static io.sargo.client.Requests.NAMES;
import static io.sargo.client.Requests.requestFor;
import static io.sargo.client.Requests.utf8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sargo.client.Wire.Reply;
import java.io.InputStream;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.thrift.TApplicationException;
import org.apache.thrift.TException;
import org.apache.thrift.protocol.TProtocol;
import org.apache.thrift.transport.TIOStreamTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Bytes that are no reply, or no whole one, or one with a wrong bit. */
class NoReplyTest {
  @ParameterizedTest
  @ValueSource(strings = {"exception.of_the_call", "exception.of_no_call"})
  void anExceptionOfTheServerIsNoReply(String name) {
    assertThrows(TApplicationException.class, () -> read(Messages.frame(name)));
  }

  static Stream<Arguments> noReplies() {
    ReplyBytes answer = answer(1, NAMES, 3, 2, 5);
    byte[] otherName = answer.frame();
    otherName[12] = 'b'; // the first byte of "prune"
    ReplyBytes unversioned =
        new ReplyBytes()
            .text("prune")
            .raw(out -> out.writeByte(REPLY))
            .raw(out -> out.writeInt(1))
            .raw(out -> out.write(answer.frame(), 21, answer.frame().length - 21));
    return Stream.of(
        arguments("a reply to another call", Messages.frame("other.sequence")),
        arguments("a reply of another method", Messages.frame("other.method")),
        arguments("an answer under another name", otherName),
        arguments("a reply without a result", Messages.frame("other.no_result")),
        arguments("a reply without bits", Messages.frame("reply.no_skip")),
        arguments(
            "a call", message(CALL, "prune", 1).field(STRUCT, 0).bytes(2, 5).stop().stop().frame()),
        arguments("bits as a number", reply().i32(2, 5).stop().stop().frame()),
        arguments("bits as a struct", reply().field(STRUCT, 2).stop().stop().stop().frame()),
        arguments("a result that is text", message(REPLY, "prune", 1).bytes(0, 'x').stop().frame()),
        arguments("no bytes", new byte[0]),
        arguments("half a length", new byte[] {0, 0}),
        arguments("an empty frame", new ReplyBytes().frame()),
        arguments("a negative length", answer.frame(-1)),
        arguments("a longer frame than allowed", answer.frame(Settings.MAX_FRAME_BYTES + 1)),
        arguments("a longer frame than there is", answer.frame(Settings.MAX_FRAME_BYTES)),
        arguments("a shorter frame than the message", answer.frame(20)),
        arguments("HTTP", utf8("HTTP/1.1 400 Bad Request\r\n\r\n")),
        arguments("no version of Thrift", unversioned.frame()),
        arguments(
            "another version of Thrift",
            new ReplyBytes().raw(out -> out.writeInt(0x80020002)).text("prune").frame()),
        arguments("a negative length of bits", bits(-1)),
        arguments("more bits than the frame", bits(1000)),
        arguments("more bits than memory", bits(Integer.MAX_VALUE)),
        arguments("a negative length of a list", list(STRING, -1)),
        arguments("a longer list than the frame", list(STRING, 9_999)),
        arguments("a longer list than memory", list(STRING, Integer.MAX_VALUE)),
        arguments("a list of no type", list(0, 3)),
        arguments("a list of an unknown type", list(99, 3)),
        arguments("a field of an unknown type", reply().field(99, 5).stop().stop().frame()),
        arguments("a number that is cut off", reply().field(I64, 10).stop().frame()));
  }

  @Test
  void aLongerFrameThanAllowedIsNotRead() throws TException {
    AtomicInteger bytesRead = new AtomicInteger();
    InputStream endless =
        new InputStream() {
          @Override
          public int read() {
            return new byte[] {4, 0, 0, 1}[bytesRead.getAndIncrement() % 4]; // 64 MiB and 1 byte
          }
        };
    TProtocol in = Wire.protocol(Wire.framed(new TIOStreamTransport(endless)));
    assertThrows(TException.class, () -> Reply.read(in, 1));
    assertEquals(4, bytesRead.get());
  }

  private static byte[] bits(int length) {
    return reply().field(STRING, 2).raw(out -> out.writeInt(length)).stop().stop().frame();
  }

  private static byte[] list(int type, int size) {
    return reply()
        .bytes(2, 5)
        .field(LIST, 9)
        .raw(out -> out.writeByte(type))
        .raw(out -> out.writeInt(size))
        .stop()
        .stop()
        .frame();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("noReplies")
  void bytesThatAreNoReplyAreRejected(String name, byte[] frame) {
    assertThrows(TException.class, () -> read(frame));
  }

  @ParameterizedTest
  @ValueSource(strings = {"reply.two_skipped", "reply.all_fields", "refused.secret"})
  void aReplyThatIsCutOffAnywhereIsRejected(String name) {
    byte[] whole = Messages.frame(name);
    for (int length = 0; length < whole.length; length++) {
      byte[] cut = Arrays.copyOf(whole, length);
      assertThrows(TException.class, () -> read(cut), "the connection ends at " + length);
      if (length >= 4) {
        cut[2] = (byte) (length - 4 >> 8);
        cut[3] = (byte) (length - 4);
        assertThrows(TException.class, () -> read(cut), "the frame ends at " + length);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"reply.two_skipped", "reply.all_fields"})
  void noSingleWrongBitChangesWhatIsSkipped(String name) {
    byte[] right = Messages.frame(name);
    int rejected = 0;
    for (int bit = 0; bit < 8 * right.length; bit++) {
      byte[] wrong = right.clone();
      wrong[bit / 8] ^= (byte) (1 << bit % 8);
      try {
        Reply reply = read(wrong);
        reply.check(requestFor(3));
        assertEquals("{0, 2}", reply.skip.toString(), "bit " + bit + " is wrong");
      } catch (TException | KeepAll | RuntimeException e) { // Sidecar turns each into KeepAll
        rejected++;
      }
    }
    assertTrue(rejected > 4 * 62, "only " + rejected + " wrong bits are noticed");
  }
}
