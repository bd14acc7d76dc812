"""The list of file names in a request, and the index of each name among the known files of a table.

A list arrives as one blob: names joined by line feeds, optionally compressed. It is split at most once. A view caches
the matched files by the hash of the blob, because queries on a table list the same files until the next commit.
"""

from __future__ import annotations

import secrets
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import xxhash

from handler.sidecar.idl import Refused

__all__ = ["NOT_KNOWN", "FileIndices", "FileNames", "ListedNames"]

#: The index of a name that is no file of the view.
NOT_KNOWN = -1
#: ``(count,) int32``: the index in ``ViewFiles`` of each listed name.
FileIndices = npt.NDArray[np.int32]

_LINE_FEED = 10
#: The hash of a list is keyed, so that a client cannot prepare two lists with one hash.
_SEED = secrets.randbits(64)
#: A list with less than a 16th of the known files is looked up name by name: that costs less than hashing all of them.
_FEW = 16


@dataclass(frozen=True)
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

    @cached_property
    def digest(self) -> int:
        """CRC32 of the bytes as sent."""
        return zlib.crc32(self.blob)

    @cached_property
    def key(self) -> bytes:
        """16 bytes that identify this list."""
        return xxhash.xxh3_128_digest(self.blob, _SEED) + b"%d %d" % (self.count, self.compressed)

    @cached_property
    def text(self) -> bytes | memoryview:
        """The names joined by line feeds. Raises Refused when they cannot be unpacked or are too many."""
        text = self.blob
        if self.compressed:
            stream = zlib.decompressobj()
            try:
                text = stream.decompress(self.blob, self.max_bytes + 1)
            except zlib.error as error:
                raise Refused("request", "the list of names cannot be decompressed") from error
            if len(text) <= self.max_bytes and (not stream.eof or stream.unused_data):
                raise Refused("request", "the list of names is not one whole zlib stream")
        if len(text) > self.max_bytes:
            raise Refused("limit", f"the list of names has more than {self.max_bytes} bytes")
        return text

    @cached_property
    def ends(self) -> npt.NDArray[np.int64]:
        """``(count,) int64``: the end of each name in ``text``. Raises Refused when there are not ``count`` names."""
        text = self.text
        if not text:
            if self.count:
                raise Refused("request", f"{self.count} names were announced, none were sent")
            return np.zeros(0, np.int64)
        feeds = np.flatnonzero(np.frombuffer(text, np.uint8) == _LINE_FEED)
        if len(feeds) + 1 != self.count:
            raise Refused("request", f"{self.count} names were announced, {len(feeds) + 1} were sent")
        return np.append(feeds, len(text)).astype(np.int64)

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
    """The paths of a table's files, relative to the table: finds the index of each listed name among them."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._lines = pa.array([path.encode() + b"\n" for path in paths], pa.large_binary())

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def nbytes(self) -> int:
        return int(self._lines.nbytes) * (3 if "_by_name" in self.__dict__ else 1)

    @cached_property
    def _by_name(self) -> Mapping[bytes, int]:
        return {line[:-1]: index for index, line in enumerate(self._lines.to_pylist())}

    def indices(self, listed: ListedNames) -> FileIndices:
        """``(count,) int32``: the index of each name, or ``NOT_KNOWN``. Raises Refused as ``ListedNames`` does."""
        if len(listed.ends) == 0 or not len(self):
            return np.full(listed.count, NOT_KNOWN, np.int32)
        if listed.count * _FEW < len(self) or listed.count < 5_000:
            index_of = self._by_name.get
            return np.array([index_of(name, NOT_KNOWN) for name in bytes(listed.text).split(b"\n")], np.int32)
        indices = pc.index_in(listed.array(), value_set=self._lines)
        return np.asarray(pc.fill_null(indices, NOT_KNOWN), np.int32)
