"""Frames that a decoder of Thrift would read in a way of its own, and long values that are not decoded."""

import contextlib
import struct

import pytest
from thrift.protocol.TBinaryProtocol import TBinaryProtocol

from handler.sidecar import wire
from handler.sidecar.idl import PruneReply, PruneRequest
from handler.sidecar.wire import MAX_TEXT_BYTES, FrameError, ThriftCall, call_message, failure, read_call, read_reply
from tests.handler.sidecar.test_server import HEADER, LIST, STRING, STRUCT, field, prune_call

BOOL, I32 = 2, 8
REPLY = b"\x80\x01\x00\x02" + HEADER[4:]


def text(value):
    return struct.pack("!i", len(value)) + value


def read(*fields):
    """The request of a call with these fields."""
    return read_call(memoryview(prune_call(*fields))).arguments[0]


@pytest.mark.parametrize(
    ("why", "fields"),
    [
        ("a bool is neither 0 nor 1", [field(BOOL, 11, b"\x07")]),
        ("a field is sent twice", [field(STRING, 2, text(b"/a")), field(STRING, 2, text(b"/b"))]),
        ("a field is sent twice", [field(STRING, 2, text(b"/a")), field(I32, 2, b"\0\0\0\1")]),
        ("a field is sent twice", [field(STRUCT, 99), b"\0", field(STRUCT, 99), b"\0"]),
        ("cannot be decoded", [field(STRING, 2, text(b"/\xed\xa0\x80"))]),  # a surrogate
        ("cannot be decoded", [field(STRING, 14, text(b"\xff"))]),
        ("cannot be decoded", [field(STRING, 4, text(b"\xc3" * MAX_TEXT_BYTES))]),
        ("a text has more than", [field(STRING, 2, text(b"x" * (MAX_TEXT_BYTES + 1)))]),
        ("the frame ends too soon", [struct.pack("!bh", 4, 1)]),
    ],
)
def test_a_frame_that_decoders_read_in_different_ways_is_refused(why, fields):
    with pytest.raises(FrameError, match=why):
        read(*fields)


def test_thrift_would_have_replaced_what_is_no_utf_8(monkeypatch):
    monkeypatch.setattr(wire, "_require_utf8", lambda _: None)
    assert read(field(STRING, 2, text(b"/\xff"))).table == "/\ufffd"


def test_the_last_of_fields_of_one_name_in_two_structs_are_apart():
    request = read(field(STRUCT, 99), field(STRING, 2, text(b"inner")), b"\0", field(STRING, 2, text(b"outer")))
    assert request.table == "outer"


def test_of_a_number_that_is_sent_twice_the_last_counts():
    assert read(field(I32, 1, b"\0\0\0\1"), field(I32, 1, b"\0\0\0\2"), field(STRING, 2, text(b"/t"))).table == "/t"
    assert read(field(I32, 1, b"\0\0\0\1"), field(I32, 1, b"\0\0\0\2")).protocol_version == 2


def test_long_bytes_are_views_of_the_frame_and_not_copied():
    names, filter_ = b"n" * (20 << 20), b"f" * (1 << 20)
    sent = memoryview(call_message("prune", {"request": PruneRequest(1, "/t", filter_, names=names, name_count=1)}))
    request = read_call(sent).arguments[0]
    for value, expected in ((request.names, names), (request.filter, filter_)):
        assert isinstance(value, memoryview)
        assert value == expected
        assert value.obj is sent.obj
    assert (request.table, request.name_count) == ("/t", 1)


def test_what_thrift_gets_of_a_long_frame_is_short(monkeypatch):
    seen = []
    decode = wire._decode
    monkeypatch.setattr(wire, "_decode", lambda into, data, limit: (seen.append(len(data)), decode(into, data, limit)))
    read(field(STRING, 10, text(b"n" * (20 << 20))), field(STRING, 77, text(b"?" * (20 << 20))))
    assert seen[0] < 100


@pytest.mark.parametrize("length", [MAX_TEXT_BYTES, MAX_TEXT_BYTES + 1])
def test_a_filter_text_that_is_too_long_counts_as_not_sent(length):
    request = read(field(STRING, 4, text(b"x" * length)), field(STRING, 2, text(b"/t")))
    assert request.filter_text == ("x" * length if length <= MAX_TEXT_BYTES else None)
    assert request.table == "/t"


def test_long_strings_where_the_idl_has_none_are_left_out():
    long = text(b"x" * (100 << 10))
    request = read(
        field(STRING, 1, long),  # an i32 in the IDL
        field(STRING, -1, long),
        field(STRING, 32767, long),
        field(STRUCT, 10) + field(STRING, 1, long) + b"\0",  # a string in the IDL
        field(STRING, 2, text(b"/t")),
    )
    assert (request.protocol_version, request.names, request.table) == (None, None, "/t")
    call = HEADER + field(STRING, 1, long) + field(STRING, 5, long) + b"\0"
    assert read_call(memoryview(call)).arguments == (None,)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"HTTP/1.1 400 Bad Request\r\n\r\n",
        REPLY,
        REPLY + field(STRUCT, 0) * 5_000_000,
        REPLY + field(STRUCT, 0) + field(LIST, 9, b"\x0b" + struct.pack("!i", 2**31 - 1)) + b"\0\0",
        REPLY + field(STRUCT, 0) + field(LIST, 9, b"\x0c" + struct.pack("!i", 1)) + b"\0\0\0",
        REPLY + field(STRUCT, 0) + field(LIST, 9, b"\x0b" + struct.pack("!i", -1)) + b"\0\0",
        REPLY + field(STRUCT, 0) + field(STRING, 4, text(b"\xff")) + b"\0\0",
        REPLY + field(LIST, 99, b"\x0f" + struct.pack("!i", 1)) * 1_000_000,
    ],
)
def test_bytes_that_are_no_reply_are_refused(answer):
    with pytest.raises(FrameError):
        read_reply("prune", answer)


def test_a_reply_is_read_as_it_was_written():
    call = ThriftCall("prune", 7, ())
    reply = PruneReply(protocol_version=1, skip=b"\x05", name_count=3, skipped=2, reasons=["größe"] * 8)
    assert read_reply("prune", wire.result(call, reply)).success == reply
    assert "an error" in str(read_reply("prune", failure(None, "an error")))


def test_without_the_c_code_of_thrift_calls_are_read_all_the_same(monkeypatch):
    sent = call_message("prune", {"request": PruneRequest(1, "/größe", b"AQ==", names=b"n" * (1 << 20), name_count=1)})
    monkeypatch.setattr(wire, "TBinaryProtocolAccelerated", TBinaryProtocol)
    request = read_call(memoryview(sent)).arguments[0]
    assert (request.table, len(request.names), bytes(request.filter)) == ("/größe", 1 << 20, b"AQ==")
    assert call_message("prune", {"request": request}) == sent
    with pytest.raises(FrameError):
        read_call(memoryview(prune_call(field(STRING, 2, text(b"\xff")))))
    with contextlib.suppress(FrameError):
        read_reply("prune", REPLY + b"\0")
