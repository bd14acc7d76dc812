"""The kept files as the columns of a reply: names, lengths and slices, each a zlib stream.

100,000 names of 80 bytes are 8 MB, half of which is random (the ids of file groups). ISA-L deflates them several times
as fast as zlib, at its first level.
"""

from __future__ import annotations

import zlib
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.arrow_arrays import to_arrow
from handler.sidecar.listed_files import ListedFiles
from handler.sidecar.request_matching import Mask, ViewFiles

_deflater: Any = zlib
with suppress(ImportError):  # no wheel for this platform
    from isal import isal_zlib as _deflater

__all__ = ["EncodedFiles", "encode_files"]

_LEVEL = 1


class EncodedFiles(NamedTuple):
    """The columns of a PlanReply, how many files and slices they name, and the checksum of the streams."""

    names: bytes
    lengths: bytes
    slices: bytes
    file_count: int
    slice_count: int

    @property
    def nbytes(self) -> int:
        return len(self.names) + len(self.lengths) + len(self.slices)

    @property
    def checksum(self) -> int:
        """CRC32 of the three streams one after the other."""
        return zlib.crc32(self.slices, zlib.crc32(self.lengths, zlib.crc32(self.names)))


def encode_files(files: ViewFiles, listed: ListedFiles, kept: Mask, *, only_base: bool) -> EncodedFiles:
    """The files of the slices where the ``(n,)`` mask ``kept`` is true. ``only_base``: without log files."""
    chosen = kept[files.slice_of]
    if only_base:
        chosen &= files.is_base
    rows = np.flatnonzero(chosen)
    slices = files.slice_of[rows]
    numbers = np.zeros(len(rows), np.int32)
    np.cumsum(slices[1:] != slices[:-1], out=numbers[1:])
    return EncodedFiles(
        names=_deflated(_joined(files.names.lines, rows)),
        lengths=_deflated(np.ascontiguousarray(listed.lengths[rows], "<i8")),
        slices=_deflated(np.ascontiguousarray(numbers, "<i4")),
        file_count=len(rows),
        slice_count=int(numbers[-1]) + 1 if len(rows) else 0,
    )


def _joined(lines: pa.LargeBinaryArray, rows: npt.NDArray[np.intp]) -> memoryview:
    """The bytes of these lines one after the other, without the line feed of the last one."""
    if not len(rows):
        return memoryview(b"")
    some = lines if len(rows) == len(lines) else lines.take(to_arrow(rows))
    _, offsets, data = some.buffers()
    ends = np.frombuffer(offsets, np.int64)
    begin, end = int(ends[some.offset]), int(ends[some.offset + len(some)])
    return memoryview(data)[begin : end - 1]


def _deflated(data: Any) -> bytes:
    stream: bytes = _deflater.compress(data, _LEVEL)
    return stream
