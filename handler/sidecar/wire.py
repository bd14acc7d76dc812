"""Thrift's binary protocol on frames in memory: decodes a call from a frame, and encodes its result as a frame.

Apache Thrift decodes and encodes, in C where its wheel has it. ``check`` validates a frame before Thrift sees it, so
that nothing depends on what the decoder does with a hostile one. It takes the time of ``MAX_FIELDS`` fields, however
long the frame is:

    the fields      at most ``MAX_FIELDS`` in the whole frame, those of nested structs included; no string and no struct
                    is sent twice, and no field as two types
    a string        its length fits into the frame
    a bool          0 or 1
    a struct        at most ``MAX_DEPTH`` inside each other
    a container     refused in a call: no call of the IDL has one. In a reply, a list of strings
    a text          UTF-8 (Thrift would replace what is not), at most ``MAX_TEXT_BYTES``; a longer ``filter_text``,
                    which nothing needs, counts as not sent

Long binary values, such as a list of names of megabytes, are not decoded at all: Thrift gets the frame without them,
and they are put into their struct as views of the frame. Other faults, such as a missing field or a type that is not
the IDL's, are checked where the values are used.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

from thrift.protocol.TBinaryProtocol import TBinaryProtocolAccelerated
from thrift.Thrift import TApplicationException, TMessageType, TType
from thrift.transport.TTransport import TMemoryBuffer

from evaluator.language.errors import SargoError
from handler.sidecar.sargo_thrift import Sargo

__all__ = [
    "MAX_DEPTH",
    "MAX_FIELDS",
    "MAX_TEXT_BYTES",
    "FrameError",
    "ThriftCall",
    "call_message",
    "check",
    "failure",
    "read_call",
    "read_head",
    "read_reply",
    "result",
]

MAX_DEPTH = 4
#: Four times as many as the IDL's longest struct has.
MAX_FIELDS = 64
MAX_TEXT_BYTES = 1 << 20
#: The methods of the IDL.
METHODS = frozenset(name for name in vars(Sargo.Iface) if not name.startswith("_"))
#: Texts that no answer depends on.
_DISPENSABLE = frozenset({"filter_text"})
#: Longer strings of a call stay views of its frame, because a list of names has megabytes.
_MAX_COPIED_BYTES = 64 << 10
#: The strings of the list in a reply.
_MAX_LISTED = 1 << 10
#: The longest string of a reply: as long as its frame may be.
_MAX_REPLIED_BYTES = 64 << 20
_STOP, _BOOL, _STRING, _STRUCT, _LIST = 0, 2, 11, 12, 15
_FIXED = {3: 1, 4: 8, 6: 2, 8: 4, 10: 8}
_VERSION = 0x8001
_NUMBER, _LENGTH = struct.Struct("!h").unpack_from, struct.Struct("!i").unpack_from
_MAX_NAME_BYTES = 64
_CALL, _REPLY, _EXCEPTION = 1, 2, 3


class FrameError(SargoError):
    """The frame is not a message of this interface. ``why`` contains no data values."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


class ThriftCall:
    """One call: the method, the sequence number to echo, and the arguments in the order of the IDL.

    secret   the argument of that name, which is not among ``arguments``, or the field of that name of an argument
    """

    __slots__ = ("arguments", "method", "secret", "sequence")

    def __init__(self, method: str, sequence: int, arguments: tuple[Any, ...], secret: str | None = None) -> None:
        self.method = method
        self.sequence = sequence
        self.arguments = arguments
        self.secret = secret


class String(NamedTuple):
    """Where a string of a frame stands, and the numbers of the fields that lead to it."""

    path: tuple[int, ...]
    at: int
    end: int


# -- checks


def check(frame: memoryview) -> list[String]:
    """The strings of a call, none of which is decoded. Raises FrameError when it is not exactly one call."""
    return _check(frame, (_CALL,), _head(frame, (_CALL,))[-1])


def _head(frame: memoryview, kinds: tuple[int, ...]) -> tuple[bytes, int, int]:
    """The method's name, the sequence number, and where the fields begin. Raises FrameError when it is no message."""
    if len(frame) < 12 or int.from_bytes(frame[:2], "big") != _VERSION or frame[3] not in kinds:
        raise FrameError(f"no {'call' if kinds == (_CALL,) else 'reply'} in Thrift's binary protocol")
    length = int.from_bytes(frame[4:8], "big", signed=True)
    if not (0 if kinds != (_CALL,) else 1) <= length <= _MAX_NAME_BYTES:
        raise FrameError("the method's name is too long")
    at = 12 + length
    if at > len(frame):
        raise FrameError("the frame ends too soon")
    return bytes(frame[8 : at - 4]), int.from_bytes(frame[at - 4 : at], "big", signed=True), at


def _check(frame: memoryview, kinds: tuple[int, ...], at: int) -> list[String]:
    """The strings of a message whose fields begin there."""
    try:
        strings, end = _walk(frame, kinds != (_CALL,), at)
    except (IndexError, struct.error) as error:
        raise FrameError("the frame ends too soon") from error
    if end != len(frame):
        raise FrameError("the frame does not end with the call")
    return strings


def _walk(frame: memoryview, with_lists: bool, at: int) -> tuple[list[String], int]:
    """The strings, and where the message ends. Raises IndexError and struct.error where the frame ends too soon."""
    fields, seen = 0, dict[tuple[int, ...], int]()
    strings: list[String] = []
    path: tuple[int, ...] = ()
    while True:
        kind = frame[at]
        if kind == _STOP:
            at += 1
            if not path:
                return strings, at
            path = path[:-1]
            continue
        field = path + _NUMBER(frame, at + 1)
        at += 3
        fields += 1
        if fields > MAX_FIELDS:
            raise FrameError(f"a call has more than {MAX_FIELDS} fields")
        if field in seen and (kind in (_STRING, _STRUCT) or seen[field] != kind):
            raise FrameError("a field is sent twice")
        seen[field] = kind
        if kind == _STRING:
            end = _string_end(frame, at)
            strings.append(String(field, at + 4, end))
            at = end
        elif kind in _FIXED:
            at += _FIXED[kind]
        elif kind == _BOOL:
            if frame[at] > 1:
                raise FrameError("a bool is neither 0 nor 1")
            at += 1
        elif kind == _STRUCT:
            path = field
            if len(path) >= MAX_DEPTH:
                raise FrameError("structs are nested too deeply")
        elif kind == _LIST and with_lists:
            at = _list_end(frame, at)
        else:
            raise FrameError(f"a field of type {kind} has no place in a call")


def _string_end(frame: memoryview, at: int) -> int:
    (length,) = _LENGTH(frame, at)
    if length < 0:
        raise FrameError("a string has a negative length")
    end: int = at + 4 + length
    if end > len(frame):
        raise FrameError("the frame ends too soon")
    return end


def _list_end(frame: memoryview, at: int) -> int:
    (count,) = _LENGTH(frame, at + 1)
    if frame[at] != _STRING or not 0 <= count <= _MAX_LISTED:
        raise FrameError("a list is too long or not of strings")
    at += 5
    for _ in range(count):
        at = _string_end(frame, at)
    return at


# -- reading


def read_call(frame: memoryview) -> ThriftCall:
    """The call in a frame. Raises FrameError when there is none, or the method is not of this interface."""
    strings = check(frame)
    name, sequence, at = _head(frame, (_CALL,))
    method = name.decode("ascii", "replace")
    if method not in METHODS:
        raise FrameError("no such method")
    arguments = getattr(Sargo, f"{method}_args")()
    fields = _string_fields(arguments.__class__)
    cut: list[tuple[tuple[int, ...], memoryview | None]] = []
    pieces: list[memoryview | bytes] = []
    for string in strings:
        field_name, is_text = fields.get(string.path, ("", False))
        length = string.end - string.at
        if is_text and length <= MAX_TEXT_BYTES:
            _require_utf8(frame[string.at : string.end])
            continue
        if is_text and field_name not in _DISPENSABLE:
            raise FrameError(f"a text has more than {MAX_TEXT_BYTES} bytes")
        if length <= _MAX_COPIED_BYTES:
            continue
        if field_name:
            cut.append((string.path, None if is_text else frame[string.at : string.end]))
        pieces += (frame[at : string.at - 4], bytes(4))  # an empty string in its place
        at = string.end
    pieces.append(frame[at:])
    _decode(arguments, b"".join(pieces), MAX_TEXT_BYTES)
    for path, value in cut:
        _put(arguments, path, value)
    given = {spec[2]: getattr(arguments, spec[2]) for spec in arguments.thrift_spec if spec}
    secret = given.pop("secret", None)
    for value in given.values():
        secret = secret or getattr(value, "secret", None)
    return ThriftCall(method, sequence, tuple(given.values()), secret)


def read_head(head: bytes) -> ThriftCall:
    """The call that begins with these bytes, without its arguments. Raises FrameError."""
    name, sequence, _ = _head(memoryview(head), (_CALL,))
    method = name.decode("ascii", "replace")
    if method not in METHODS or "refused" not in (spec[2] for spec in _result_of(method).thrift_spec if spec):
        raise FrameError("no method of this interface that can be refused")
    return ThriftCall(method, sequence, ())


def read_reply(method: str, frame: bytes) -> Any:
    """What a reply to a call of that method holds: the IDL's result, or a TApplicationException. Raises FrameError."""
    kinds, view = (_REPLY, _EXCEPTION), memoryview(frame)
    _, _, at = _head(view, kinds)
    read = TApplicationException() if frame[3] == _EXCEPTION else _result_of(method)
    fields = _string_fields(read.__class__)
    for string in _check(view, kinds, at):
        if fields.get(string.path, ("", False))[1]:
            _require_utf8(view[string.at : string.end])
    _decode(read, frame[at:], _MAX_REPLIED_BYTES)
    return read


def _result_of(method: str) -> Any:
    return getattr(Sargo, f"{method}_result")()


def _decode(into: Any, data: bytes, longest: int) -> None:
    """Let Thrift decode a struct's fields, all of which were checked."""
    transport = TMemoryBuffer(data)
    try:
        into.read(
            TBinaryProtocolAccelerated(transport, string_length_limit=longest, container_length_limit=_MAX_LISTED)
        )
    except Exception as error:  # whatever the decoder raises in C or in Python
        raise FrameError(f"the call cannot be decoded: {type(error).__name__}") from error


@functools.cache
def _string_fields(of: Hashable) -> Mapping[tuple[int, ...], tuple[str, bool]]:
    """The name of each field of a struct that is a string, and whether it is text; by path."""
    fields: dict[tuple[int, ...], tuple[str, bool]] = {}
    for number, kind, name, details, *_ in filter(None, getattr(of, "thrift_spec", ())):
        if kind == TType.STRING:
            fields[number,] = name, details == "UTF8"
        elif kind == TType.STRUCT:
            fields |= {(number, *path): inner for path, inner in _string_fields(details[0]).items()}
    return fields


def _put(into: Any, path: tuple[int, ...], value: memoryview | None) -> None:
    """Set a field that was cut out of what Thrift decoded."""
    for number in path[:-1]:
        into = getattr(into, into.thrift_spec[number][2])
    setattr(into, into.thrift_spec[path[-1]][2], value)


def _require_utf8(text: memoryview) -> None:
    try:
        str(text, "utf-8")
    except UnicodeDecodeError as error:
        raise FrameError("the call cannot be decoded: UnicodeDecodeError") from error


# -- writing


def call_message(method: str, arguments: dict[str, Any], sequence: int = 1) -> bytes:
    """The frame of a call without its length. Raises UnicodeEncodeError for text that has no UTF-8."""
    return _message(method, _CALL, sequence, getattr(Sargo, f"{method}_args")(**arguments).write)


def result(call: ThriftCall, value: Any = None, refused: Exception | None = None) -> bytes:
    """The reply's frame without its length: the value, or the exception of the IDL."""
    made = _result_of(call.method)
    if refused is None:
        made.success = value
    else:
        made.refused = refused
    return _message(call.method, TMessageType.REPLY, call.sequence, made.write)


def failure(call: ThriftCall | None, text: str) -> bytes:
    """A TApplicationException: what a call gets that cannot be answered in the IDL's terms."""
    kind = TApplicationException.PROTOCOL_ERROR if call is None else TApplicationException.INTERNAL_ERROR
    error = TApplicationException(kind, text)
    name, sequence = ("", 0) if call is None else (call.method, call.sequence)
    return _message(name, TMessageType.EXCEPTION, sequence, error.write)


def _message(name: str, kind: int, sequence: int, write: Callable[[Any], None]) -> bytes:
    memory = TMemoryBuffer()
    protocol = TBinaryProtocolAccelerated(memory)
    protocol.writeMessageBegin(name, kind, sequence)
    write(protocol)
    written: bytes = memory.getvalue()
    return written
