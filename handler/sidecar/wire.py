"""Thrift's binary protocol on frames in memory: decodes a call from a frame, and encodes its result as a frame.

``check`` validates a frame before thriftpy2 decodes it, so that a hostile frame cannot make thriftpy2 loop, recurse or
read behind the end. It takes the time of ``MAX_FIELDS`` fields, however long the frame is:

    the fields      at most ``MAX_FIELDS`` in the whole frame, those of nested structs included
    a string        its length fits into the frame
    a struct        at most ``MAX_DEPTH`` inside each other
    a container     refused: no call of the IDL has one
    a text          at most ``MAX_TEXT_BYTES``; a longer ``filter_text``, which nothing needs, counts as not sent

Other faults, such as a missing field or a type that is not the IDL's, are checked where the values are used.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from thriftpy2.protocol.binary import TBinaryProtocol
from thriftpy2.thrift import TApplicationException, TMessageType, TType

from evaluator.language.errors import SargoError
from handler.sidecar.idl import interface

_BinaryProtocol: Any = TBinaryProtocol  # thriftpy2 types it in part only

__all__ = [
    "MAX_DEPTH",
    "MAX_FIELDS",
    "MAX_TEXT_BYTES",
    "FrameError",
    "MemoryTransport",
    "ThriftCall",
    "check",
    "failure",
    "read_call",
    "read_head",
    "result",
]

MAX_DEPTH = 4
#: Four times as many as the IDL's longest struct has.
MAX_FIELDS = 64
MAX_TEXT_BYTES = 1 << 20
#: Texts that no answer depends on.
_DISPENSABLE = frozenset({"filter_text"})
#: Longer strings of a call stay views of its frame, because a list of names has megabytes.
_MAX_COPIED_BYTES = 64 << 10
_STOP, _STRUCT, _STRING = 0, 12, 11
_FIXED = {2: 1, 3: 1, 4: 8, 6: 2, 8: 4, 10: 8}
_VERSION = 0x8001
_MAX_NAME_BYTES = 64
_CALL = 1


class FrameError(SargoError):
    """The frame is not a call of this interface. ``why`` contains no data values."""

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


class MemoryTransport:
    """Bytes as the transport that thriftpy2's protocol reads from or writes to."""

    def __init__(self, data: memoryview | bytes = b"", copied: int = 1 << 31) -> None:
        """Strings of more than ``copied`` bytes are read as views of the data."""
        self._data = memoryview(data)
        self._copied = copied
        self._at = 0
        self._written: list[bytes] = []

    def read(self, n: int) -> bytes | memoryview:
        """The next n bytes."""
        end = self._at + n
        if n < 0 or end > len(self._data):
            raise FrameError("the frame ends too soon")
        piece = self._data[self._at : end]
        self._at = end
        return piece if n > self._copied else bytes(piece)

    def write(self, data: bytes | memoryview) -> None:
        self._written.append(bytes(data))

    def flush(self) -> None:
        """Do nothing: writes are not buffered."""

    def written(self) -> bytes:
        return b"".join(self._written)


def _head(frame: memoryview) -> tuple[bytes, int, int]:
    """The method's name, the sequence number, and where the arguments begin. Raises FrameError when it is no call."""
    if len(frame) < 12 or int.from_bytes(frame[:2], "big") != _VERSION or frame[3] != _CALL:
        raise FrameError("no call in Thrift's binary protocol")
    length = int.from_bytes(frame[4:8], "big", signed=True)
    if not 0 < length <= _MAX_NAME_BYTES:
        raise FrameError("the method's name is too long")
    at = 12 + length
    if at > len(frame):
        raise FrameError("the frame ends too soon")
    return bytes(frame[8 : at - 4]), int.from_bytes(frame[at - 4 : at], "big", signed=True), at


def check(frame: memoryview) -> None:
    """Validate a frame without decoding it. Raises FrameError when it is not exactly one call with its arguments."""
    size, fields = len(frame), 0
    _, _, at = _head(frame)
    open_structs = 1
    while open_structs:
        kind = _byte(frame, at)
        if kind == _STOP:
            at += 1
            open_structs -= 1
            continue
        at += 3
        fields += 1
        if fields > MAX_FIELDS:
            raise FrameError(f"a call has more than {MAX_FIELDS} fields")
        if kind in _FIXED:
            at += _FIXED[kind]
        elif kind == _STRING:
            if at + 4 > size:
                raise FrameError("the frame ends too soon")
            (length,) = struct.unpack_from("!i", frame, at)
            if length < 0:
                raise FrameError("a string has a negative length")
            at += 4 + length
        elif kind == _STRUCT:
            open_structs += 1
            if open_structs > MAX_DEPTH:
                raise FrameError("structs are nested too deeply")
        else:
            raise FrameError(f"a field of type {kind} has no place in a call")
    if at != size:
        raise FrameError("the frame does not end with the call")


def _byte(frame: memoryview, at: int) -> int:
    if at >= len(frame):
        raise FrameError("the frame ends too soon")
    return frame[at]


def read_call(frame: memoryview) -> ThriftCall:
    """The call in a frame. Raises FrameError when there is none, or the method is not of this interface."""
    check(frame)
    protocol: Any = _BinaryProtocol(MemoryTransport(frame, _MAX_COPIED_BYTES), decode_response=False)
    service = interface().Sargo
    try:
        method, _, sequence = protocol.read_message_begin()
        if method not in service.thrift_services:
            raise FrameError("no such method")
        arguments = getattr(service, f"{method}_args")()
        arguments.read(protocol)
        _decode_texts(arguments)
    except (UnicodeDecodeError, RecursionError) as error:
        raise FrameError(f"the call cannot be decoded: {type(error).__name__}") from error
    given = {spec[1]: getattr(arguments, spec[1]) for spec in arguments.thrift_spec.values()}
    secret = given.pop("secret", None)
    for value in given.values():
        secret = secret or getattr(value, "secret", None)
    return ThriftCall(method, sequence, tuple(given.values()), secret)


def read_head(head: bytes) -> ThriftCall:
    """The call that begins with these bytes, without its arguments. Raises FrameError."""
    name, sequence, _ = _head(memoryview(head))
    method = name.decode("ascii", "replace")
    result_type = getattr(interface().Sargo, f"{method}_result", None)
    if result_type is None or "refused" not in (spec[1] for spec in result_type.thrift_spec.values()):
        raise FrameError("no method of this interface that can be refused")
    return ThriftCall(method, sequence, ())


def _decode_texts(read: Any) -> None:
    """Decode the strings of a struct and its nested structs, which thriftpy2 reads as bytes or views."""
    for kind, name, *_ in read.thrift_spec.values():
        value = getattr(read, name)
        if value is None:
            continue
        if kind == TType.STRUCT:
            _decode_texts(value)
        elif kind == TType.STRING:
            if len(value) <= MAX_TEXT_BYTES:
                setattr(read, name, bytes(value).decode("utf-8"))
            elif name in _DISPENSABLE:
                setattr(read, name, None)
            else:
                raise FrameError(f"a text has more than {MAX_TEXT_BYTES} bytes")


def result(call: ThriftCall, value: Any = None, refused: Exception | None = None) -> bytes:
    """The reply's frame without its length: the value, or the exception of the IDL."""
    made = getattr(interface().Sargo, f"{call.method}_result")()
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
    memory = MemoryTransport()
    protocol: Any = _BinaryProtocol(memory)
    protocol.write_message_begin(name, kind, sequence)
    write(protocol)
    protocol.write_message_end()
    return memory.written()
