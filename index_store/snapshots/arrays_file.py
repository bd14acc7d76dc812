"""Named arrays of different lengths in one Arrow IPC file, read through a memory map without a copy.

An array is a column of large lists in a record batch of one row. The schema's metadata says what the file is about and
holds a digest of that and of all names, types, lengths and contents. A file that is damaged, or about something else,
raises ``UnusableError``. Files are replaced atomically.

The digest is compared once after each start of the machine, which reads the whole file. A mark beside the file then
records its inode, size and times, so that opening a marked file costs the same at any size.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from evaluator.language.arrow_arrays import to_arrow, to_numpy
from index_store.snapshots.private_folder import PrivateFile

__all__ = ["ArraysFile", "Stored", "UnusableError", "write_arrays"]

#: What can be stored: a numeric array of one axis, or an Arrow array of large binary or decimals.
Stored: TypeAlias = Any

#: What stands for no array at all: a batch without columns has no rows either.
_NOTHING = {"nothing": np.zeros(0, np.int64)}
_ABOUT, _DIGEST = b"sargo.about", b"sargo.digest"
_FAULTS = (OSError, pa.ArrowException, ValueError, LookupError, TypeError, AttributeError, RecursionError)
_MARK, _MARK_BYTES = ".verified", 4096
#: Comparing the digest of smaller files is as fast as reading a mark.
_MARKED_FROM = 1 << 20
#: Files that this process has verified.
_verified: set[str] = set()


class UnusableError(Exception):
    """A stored file is missing, damaged, or about something else. The caller writes it again."""


def write_arrays(file: PrivateFile, arrays: Mapping[str, Stored], about: Mapping[str, Any]) -> None:
    """Write arrays into a file, which is complete or not there. Raises OSError."""
    stored = {name: _arrow(array) for name, array in (arrays or _NOTHING).items()}
    about_json = json.dumps(about, sort_keys=True).encode()
    metadata = {_ABOUT: about_json, _DIGEST: _digest(about_json, stored)}
    fields = [pa.field(name, pa.large_list(array.type)) for name, array in stored.items()]
    columns = [
        pa.LargeListArray.from_arrays(to_arrow(np.array([0, len(array)], np.int64)), array) for array in stored.values()
    ]
    schema = pa.schema(fields, metadata)
    with file.replacing() as stream, pa.PythonFile(stream, "w") as sink, pa.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pa.record_batch(columns, schema=schema))
    with file.opened() as stream:
        _mark(file, os.fstat(stream.fileno()))


class ArraysFile:
    """An open file of arrays."""

    def __init__(self, file: PrivateFile, batch: pa.RecordBatch, stat: os.stat_result) -> None:
        metadata = batch.schema.metadata or {}
        self.file = file
        self._said: bytes = metadata[_ABOUT]
        self.about: Mapping[str, Any] = json.loads(self._said)
        self._batch = batch
        self._digest: bytes = metadata[_DIGEST]
        self._stat = stat

    @classmethod
    def open(cls, file: PrivateFile, about: Mapping[str, Any]) -> ArraysFile:
        """Open a file if it is whole, and about what is expected, as far as ``about`` says it. Raises UnusableError."""
        try:
            with file.opened() as stream:
                stat = os.fstat(stream.fileno())
                mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
            batch = pa.ipc.open_file(pa.py_buffer(mapped)).get_batch(0)
            found = cls(file, batch, stat)
            if batch.num_rows != 1:
                raise ValueError("not a file of arrays")
            if any(found.about.get(name) != value for name, value in about.items()):
                raise UnusableError(f"{file}: about something else")
            found._verify()
        except _FAULTS as error:
            raise UnusableError(f"{file}: {error}") from error
        return found

    def _verify(self) -> None:
        """Compare the digest with what is there, unless that was done. Raises UnusableError."""
        if _is_marked(self.file, self._stat):
            return
        if _digest(self._said, {name: self._values(name) for name in self._batch.schema.names}) != self._digest:
            raise UnusableError(f"{self.file}: damaged")
        _mark(self.file, self._stat)

    @property
    def digest(self) -> str:
        """The digest of what the file is about and of its arrays: equal files have equal ones."""
        return self._digest.decode("ascii", "replace")

    @property
    def names(self) -> list[str]:
        found: list[str] = self._batch.schema.names
        return found

    def array(self, name: str) -> npt.NDArray[Any]:
        """A numeric array; read-only. Raises UnusableError when there is none of this name."""
        try:
            return to_numpy(self._values(name))
        except _FAULTS as error:
            raise UnusableError(f"{self.file}: {name}: {error}") from error

    def arrow(self, name: str) -> pa.Array:
        """An array as Arrow has it. Raises UnusableError when there is none of this name."""
        try:
            return self._values(name)
        except _FAULTS as error:
            raise UnusableError(f"{self.file}: {name}: {error}") from error

    def _values(self, name: str) -> pa.Array:
        return self._batch.column(name).values


def _identity(file: PrivateFile, stat: os.stat_result) -> str:
    """What changes with any change to a file, and when the machine starts; "" where the latter is not known."""
    boot = _boot()
    return boot and " ".join(
        map(str, (boot, file.name, stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns))
    )


@cache
def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except (OSError, ValueError):
        return ""


def _is_marked(file: PrivateFile, stat: os.stat_result) -> bool:
    identity = _identity(file, stat)
    if identity and identity not in _verified and stat.st_size >= _MARKED_FROM:
        with suppress(OSError, ValueError):
            if file.beside(_MARK).read_text(_MARK_BYTES) == identity:
                _verified.add(identity)
    return identity in _verified


def _mark(file: PrivateFile, stat: os.stat_result) -> None:
    identity = _identity(file, stat)
    if identity:
        _verified.add(identity)
    if identity and stat.st_size >= _MARKED_FROM:
        with suppress(OSError), file.beside(_MARK).replacing() as stream:
            stream.write(identity.encode())


def _arrow(array: Stored) -> pa.Array:
    if isinstance(array, np.ndarray):
        return to_arrow(array.view(np.uint8) if array.dtype == np.bool_ else array)
    if array.null_count:
        raise ValueError("an array with nulls is not stored")
    return array if array.offset == 0 else pa.concat_arrays([array])


def _digest(about: bytes, arrays: Mapping[str, pa.Array]) -> bytes:
    state = xxhash.xxh3_128(about)
    for name, array in arrays.items():
        state.update(f"{name}\0{array.type}\0{len(array)}\0".encode())
        for buffer in _contents(array):
            state.update(buffer)
    return state.hexdigest().encode()


def _contents(array: pa.Array) -> Iterator[memoryview]:
    """The bytes that make up an array without nulls, without padding."""
    if pa.types.is_large_binary(array.type):
        _, offsets, data = array.buffers()
        edges = memoryview(offsets)[: (len(array) + 1) * 8] if offsets else memoryview(b"")
        yield edges
        end = int.from_bytes(edges[-8:], "little") if len(edges) else 0
        if data is not None:
            yield memoryview(data)[:end]
    else:
        data = array.buffers()[1]
        if data is not None:
            yield memoryview(data)[: len(array) * (array.type.bit_width // 8)]
