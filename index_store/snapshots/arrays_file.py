"""Named arrays of different lengths in one file, read through a memory map without a copy.

    offset  bytes
    0       8       "SARGOARR"
    8       16      the digest (XXH3) of all that follows
    24      4       length of the header, little-endian
    28              the header: JSON of what the file is about, and of the forms of its arrays (``array_forms``)
                    the bytes of the arrays, from the next multiple of 64 on

A file that is damaged, or about something else, raises ``UnusableError``. Files are replaced atomically.

The digest is compared once after each start of the machine, which reads the whole file. A mark beside the file then
records its inode, size and times, so that opening a marked file costs the same at any size.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import xxhash

from evaluator.statistics.packed_numbers import Numbers
from evaluator.statistics.packed_texts import PackedDecimals, PackedTexts
from index_store.snapshots.array_forms import ALIGNMENT, FormReader, FormWriter, Stored
from index_store.snapshots.private_folder import PrivateFile

__all__ = ["ArraysFile", "Stored", "UnusableError", "write_arrays"]

_MAGIC, _DIGEST_END, _HEADER = b"SARGOARR", 24, 28
_ABOUT, _ARRAYS = "about", "arrays"
_FAULTS = (
    OSError,
    pa.ArrowException,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)
_MARK, _MARK_BYTES = ".verified", 4096
#: Comparing the digest of smaller files is as fast as reading a mark.
_MARKED_FROM = 1 << 20
_Identity: TypeAlias = tuple[str, str, int, int, int, int, int]
#: Files that this process has verified.
_verified: set[_Identity] = set()


class UnusableError(Exception):
    """A stored file is missing, damaged, or about something else. The caller writes it again."""


def write_arrays(file: PrivateFile, arrays: Mapping[str, Stored], about: Mapping[str, Any]) -> None:
    """Write arrays into a file, which is complete or not there. Raises OSError, and ValueError for no such array."""
    forms = FormWriter()
    for name, array in arrays.items():
        forms.add(name, array)
    header = json.dumps({_ABOUT: about, _ARRAYS: forms.forms}, sort_keys=True).encode()
    padding = bytes(-(_HEADER + len(header)) % ALIGNMENT)
    parts: list[Any] = [len(header).to_bytes(4, "little"), header, padding, *forms.chunks]
    state = xxhash.xxh3_128()
    for part in parts:
        state.update(part)
    with file.replacing() as stream:
        stream.writelines([_MAGIC, state.digest(), *parts])
    if sum(map(len, parts)) >= _MARKED_FROM:
        with file.opened() as stream:
            _mark(file, os.fstat(stream.fileno()))


class ArraysFile:
    """An open file of arrays."""

    def __init__(self, file: PrivateFile, content: memoryview, about: Mapping[str, Any]) -> None:
        """Raises UnusableError when the file is about something else, and what a damaged one makes json raise."""
        length = int.from_bytes(content[_DIGEST_END:_HEADER], "little")
        header = json.loads(bytes(content[_HEADER : _HEADER + length]))
        self.file = file
        self.about: Mapping[str, Any] = header[_ABOUT]
        if any(self.about.get(name) != value for name, value in about.items()):
            raise UnusableError(f"{file}: about something else")
        self._digest = bytes(content[len(_MAGIC) : _DIGEST_END])
        start = -(-(_HEADER + length) // ALIGNMENT) * ALIGNMENT
        self._forms: Mapping[str, Any] = header[_ARRAYS]
        self._arrays = FormReader(content[start:], self._forms)

    @classmethod
    def open(cls, file: PrivateFile, about: Mapping[str, Any]) -> ArraysFile:
        """Open a file if it is whole, and about what is expected, as far as ``about`` says it. Raises UnusableError."""
        try:
            with file.opened() as stream:
                stat = os.fstat(stream.fileno())
                content = memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
            _verify(file, stat, content)
            return cls(file, content, about)
        except _FAULTS as error:
            raise UnusableError(f"{file}: {error}") from error

    @property
    def digest(self) -> str:
        """The digest of what the file is about and of its arrays: equal files have equal ones."""
        return self._digest.hex()

    @property
    def names(self) -> list[str]:
        return list(self._forms)

    def get(self, name: str) -> Any:
        """An array as it is stored, packed or not. Raises UnusableError when there is none of this name."""
        try:
            return self._arrays.get(name)
        except _FAULTS as error:
            raise UnusableError(f"{self.file}: {name}: {error}") from error

    def array(self, name: str) -> Numbers:
        """Numbers; read-only. Raises UnusableError when there are none of this name."""
        found: Numbers | PackedTexts | PackedDecimals = self.get(name)
        if isinstance(found, PackedTexts | PackedDecimals):
            raise UnusableError(f"{self.file}: {name} are no numbers")
        return found

    def texts(self, name: str) -> PackedTexts:
        """Texts. Raises UnusableError when there are none of this name."""
        found = self.get(name)
        if not isinstance(found, PackedTexts):
            raise UnusableError(f"{self.file}: {name} are no texts")
        return found


def _verify(file: PrivateFile, stat: os.stat_result, content: memoryview) -> None:
    """Compare the digest with what is there, unless that was done. Raises ValueError."""
    if _is_marked(file, stat):
        return
    if content[: len(_MAGIC)] != _MAGIC or (
        xxhash.xxh3_128_digest(content[_DIGEST_END:]) != content[len(_MAGIC) : _DIGEST_END]
    ):
        raise ValueError("damaged, or of another format")
    _mark(file, stat)


def _identity(file: PrivateFile, stat: os.stat_result) -> _Identity | None:
    """What changes with any change to a file, and when the machine starts; None where the latter is not known."""
    boot = _boot()
    if not boot:
        return None
    return boot, file.name, stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


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
            if file.beside(_MARK).read_text(_MARK_BYTES) == _mark_of(identity):
                _verified.add(identity)
    return identity in _verified


def _mark(file: PrivateFile, stat: os.stat_result) -> None:
    identity = _identity(file, stat)
    if identity is None:
        return
    _verified.add(identity)
    if stat.st_size >= _MARKED_FROM:
        with suppress(OSError), file.beside(_MARK).replacing() as stream:
            stream.write(_mark_of(identity).encode())


def _mark_of(identity: _Identity) -> str:
    return " ".join(map(str, identity))
