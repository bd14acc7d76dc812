"""The list of file names in a request, and where they stand among the files that a table is known to have.

A list arrives as one blob (names joined by a line feed, perhaps compressed). It is taken apart at most once: a view
remembers by the blob's hash which files a list named, because queries on a table list the same files until a commit.
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

__all__ = ["NOT_KNOWN", "FileNames", "ListedNames", "Places"]

#: The place of a name that is no file of the view.
NOT_KNOWN = -1
Places = npt.NDArray[np.int32]

_LINE_FEED = 10
#: Hashes of lists are keyed, so that nobody can prepare two lists of one hash.
_SEED = secrets.randbits(64)
#: Below this share of the known files, looking up each name costs less than hashing all known names.
_FEW = 16


@dataclass(frozen=True)
class ListedNames:
    """The names of one request as they were sent.

    blob          the bytes of the request
    compressed    whether they are a zlib stream
    count         how many names the client says they are
    most_bytes    the largest list that is unpacked
    """

    blob: bytes | memoryview
    compressed: bool
    count: int
    most_bytes: int

    @cached_property
    def digest(self) -> int:
        """CRC32 of the bytes as sent."""
        return zlib.crc32(self.blob)

    @cached_property
    def key(self) -> bytes:
        """16 bytes that stand for this list."""
        return xxhash.xxh3_128_digest(self.blob, _SEED) + b"%d %d" % (self.count, self.compressed)

    @cached_property
    def text(self) -> bytes | memoryview:
        """The names joined by line feeds. Raises Refused when they cannot be unpacked or are too many."""
        found = self.blob
        if self.compressed:
            stream = zlib.decompressobj()
            try:
                found = stream.decompress(self.blob, self.most_bytes + 1)
            except zlib.error as error:
                raise Refused("request", "the list of names cannot be decompressed") from error
            if len(found) <= self.most_bytes and (not stream.eof or stream.unused_data):
                raise Refused("request", "the list of names is not one whole zlib stream")
        if len(found) > self.most_bytes:
            raise Refused("limit", f"the list of names has more than {self.most_bytes} bytes")
        return found

    @cached_property
    def ends(self) -> npt.NDArray[np.int64]:
        """``(count,) int64``: where each name ends. Raises Refused when there are not ``count`` names."""
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
        """The names as an Arrow array that shares their bytes, each with the line feed behind it."""
        offsets = np.empty(self.count + 1, np.int64)
        offsets[0] = 0
        offsets[1:] = self.ends + 1
        return pa.LargeBinaryArray.from_buffers(
            pa.large_binary(), self.count, [None, pa.py_buffer(offsets), pa.py_buffer(b"".join((self.text, b"\n")))]
        )

    def at(self, indices: Sequence[int]) -> list[bytes]:
        """Some of the names."""
        text, ends = self.text, self.ends
        return [bytes(text[int(ends[i - 1]) + 1 if i else 0 : int(ends[i])]) for i in indices]


class FileNames:
    """The paths of a table's files, relative to it, each at its place, for looking up lists of names."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._lines = pa.array([path.encode() + b"\n" for path in paths], pa.large_binary())

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def nbytes(self) -> int:
        return int(self._lines.nbytes) * (3 if "_by_name" in self.__dict__ else 1)

    @cached_property
    def _by_name(self) -> Mapping[bytes, int]:
        return {line[:-1]: place for place, line in enumerate(self._lines.to_pylist())}

    def places(self, listed: ListedNames) -> Places:
        """``(count,) int32``: the place of each name, ``NOT_KNOWN`` for others. Raises Refused as ``ListedNames``."""
        if len(listed.ends) == 0 or not len(self):
            return np.full(listed.count, NOT_KNOWN, np.int32)
        if listed.count * _FEW < len(self) or listed.count < 5_000:
            found = self._by_name.get
            return np.array([found(name, NOT_KNOWN) for name in bytes(listed.text).split(b"\n")], np.int32)
        indices = pc.index_in(listed.array(), value_set=self._lines)
        return np.asarray(pc.fill_null(indices, NOT_KNOWN), np.int32)
