"""The list of file names in a request, and the index of each name among the known files of a table.

A list arrives as one blob: names joined by line feeds, optionally compressed. It is split at most once. A view caches
the matched files by the hash of the blob, because queries on a table list the same files until the next commit.
"""

from __future__ import annotations

import hashlib
import secrets
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from evaluator.language import arrow_functions as pc
from evaluator.language.arrow_arrays import to_binary, to_numpy
from evaluator.language.records import frozen
from handler.sidecar.idl import Refused

__all__ = ["MAX_NAME_BYTES", "NOT_KNOWN", "FileIndices", "FileNames", "ListedNames", "computed_once"]

#: The index of a name that is no file of the view.
NOT_KNOWN = -1
#: ``(count,) int32``: the index in ``ViewFiles`` of each listed name.
FileIndices = npt.NDArray[np.int32]

#: No path of a file in a table is longer.
MAX_NAME_BYTES = 4096

_LINE_FEED = 10
#: A stream may inflate to this many times its size, or to the floor when that is more. Names of files hold a UUID and
#: are compressed less than ten times; zlib alone allows a thousand times.
_MAX_RATIO, _ALWAYS_INFLATED = 100, 4 << 20
#: Bytes of a stream that are inflated, and bytes of a list that are searched, at a time.
_INFLATED_AT_ONCE, _COUNTED_AT_ONCE = 4 << 10, 1 << 20
#: The hash of a list is keyed, so that a client cannot prepare two lists with one hash.
_SEED = secrets.randbits(64)
#: A list with less than a 16th of the known files is looked up name by name: that costs less than hashing all of them.
_FEW = 16


_Value = TypeVar("_Value")


class computed_once(Generic[_Value]):  # noqa: N801 - used as functools.cached_property is
    """``functools.cached_property`` without its lock.

    Before Python 3.12 all instances share the lock: a long list on a thread would hold up short ones on the event loop.
    """

    def __init__(self, compute: Callable[[Any], _Value]) -> None:
        self._compute = compute

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type | None = None) -> _Value:
        value = instance.__dict__[self._name] = self._compute(instance)
        return value


@frozen(slots=False)
class ListedNames:
    """The names of one request as they were sent.

    blob          the bytes of the request
    compressed    whether they are a zlib stream
    count         the number of names that the client announces
    max_bytes     the limit of the list when it is decompressed
    """

    blob: bytes | memoryview
    compressed: bool
    count: int
    max_bytes: int

    @computed_once
    def digest(self) -> int:
        """CRC32 of the bytes as sent."""
        return zlib.crc32(self.blob)

    @computed_once
    def key(self) -> bytes:
        """16 bytes that identify this list."""
        return xxhash.xxh3_128_digest(self.blob, _SEED) + b"%d %d" % (self.count, self.compressed)

    @computed_once
    def text(self) -> bytes | memoryview:
        """The names joined by line feeds. Raises Refused when they cannot be unpacked or are too many."""
        if self.compressed:
            return self._inflated()
        if len(self.blob) > self.max_bytes:
            raise Refused("limit", f"the list of names has more than {self.max_bytes} bytes")
        return self.blob

    def _inflated(self) -> bytes:
        """The decompressed list. It is given up as soon as it has too many bytes or names."""
        limit = min(self.max_bytes, max(_ALWAYS_INFLATED, _MAX_RATIO * len(self.blob)))
        stream, blob = zlib.decompressobj(), memoryview(self.blob)
        text, feeds = bytearray(), 0
        for start in range(0, len(blob), _INFLATED_AT_ONCE):
            try:
                piece = stream.decompress(blob[start : start + _INFLATED_AT_ONCE], limit + 1 - len(text))
            except zlib.error as error:
                raise Refused("request", "the list of names cannot be decompressed") from error
            text += piece
            feeds += piece.count(b"\n")
            if len(text) > limit:
                if limit == self.max_bytes:
                    raise Refused("limit", f"the list of names has more than {limit} bytes")
                raise Refused("limit", f"the list of names is compressed more than {_MAX_RATIO} times")
            if feeds >= max(1, self.count):
                raise Refused("request", f"{self.count} names were announced, more were sent")
            if stream.eof:
                break
        if not stream.eof or stream.unused_data or start + _INFLATED_AT_ONCE < len(blob):
            raise Refused("request", "the list of names is not one whole zlib stream")
        return bytes(text)

    @computed_once
    def ends(self) -> npt.NDArray[np.int64]:
        """``(count,) int64``: the end of each name in ``text``.

        Raises Refused when there are not ``count`` names, or one is longer than a path.
        """
        text = np.frombuffer(self.text, np.uint8)
        if not len(text):
            if self.count:
                raise Refused("request", f"{self.count} names were announced, none were sent")
            return np.zeros(0, np.int64)
        pieces = [text[start : start + _COUNTED_AT_ONCE] for start in range(0, len(text), _COUNTED_AT_ONCE)]
        sent = 1 + sum(int(np.count_nonzero(piece == _LINE_FEED)) for piece in pieces)
        if sent != self.count:
            raise Refused("request", f"{self.count} names were announced, {sent} were sent")
        ends = np.empty(self.count, np.int64)
        filled = 0
        for number, piece in enumerate(pieces):
            feeds = np.flatnonzero(piece == _LINE_FEED)
            ends[filled : filled + len(feeds)] = feeds + number * _COUNTED_AT_ONCE
            filled += len(feeds)
        ends[-1] = len(text)
        if int(np.diff(ends, prepend=-1).max()) - 1 > MAX_NAME_BYTES:
            raise Refused("limit", f"a name has more than {MAX_NAME_BYTES} bytes")
        return ends

    def array(self) -> pa.LargeBinaryArray:
        """The names as an Arrow array that shares their bytes; each name includes the line feed that follows it."""
        offsets = np.empty(self.count + 1, np.int64)
        offsets[0] = 0
        offsets[1:] = self.ends + 1
        return pa.LargeBinaryArray.from_buffers(
            pa.large_binary(), self.count, [None, pa.py_buffer(offsets), pa.py_buffer(b"".join((self.text, b"\n")))]
        )

    def at(self, indices: Sequence[int]) -> list[bytes]:
        """The names at these indices of the list."""
        text, ends = self.text, self.ends
        return [bytes(text[int(ends[i - 1]) + 1 if i else 0 : int(ends[i])]) for i in indices]


class FileNames:
    """The paths of a table's files, relative to the table: finds the index of each listed name among them.

    lines   the paths, each with a line feed
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.lines = to_binary([path.encode() + b"\n" for path in paths])

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def is_indexed(self) -> bool:
        """Whether the dictionary by name is made."""
        return "_by_name" in self.__dict__

    @property
    def digest(self) -> bytes:
        """16 bytes that identify the paths in their order."""
        digest = hashlib.blake2b(digest_size=16)
        for buffer in self.lines.buffers():
            digest.update(b"" if buffer is None else buffer)
        return digest.digest()

    @property
    def nbytes(self) -> int:
        return int(self.lines.nbytes) * (3 if self.is_indexed else 1)

    @computed_once
    def _by_name(self) -> Mapping[bytes, int]:
        return {line[:-1]: index for index, line in enumerate(self.lines.to_pylist())}

    def indices(self, listed: ListedNames) -> FileIndices:
        """``(count,) int32``: the index of each name, or ``NOT_KNOWN``. Raises Refused as ``ListedNames`` does."""
        if len(listed.ends) == 0 or not len(self):
            return np.full(listed.count, NOT_KNOWN, np.int32)
        if listed.count * _FEW < len(self) or listed.count < 5_000:
            index_of = self._by_name.get
            return np.array([index_of(name, NOT_KNOWN) for name in bytes(listed.text).split(b"\n")], np.int32)
        return to_numpy(pc.index_in(listed.array(), value_set=self.lines), null=NOT_KNOWN)
