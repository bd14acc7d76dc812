"""Where a table's bytes are: one directory of a ``pyarrow.fs.FileSystem``, read by paths relative to it.

Every failure of the file system becomes a ``TableError`` that names the file.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa
from pyarrow import fs

from index_store.errors import TableError

__all__ = ["ByteSource", "Bytes", "Entry", "Storage"]

#: Files up to this size are read whole; of larger ones only what is asked for.
READ_WHOLE = 4 << 20


class ByteSource(Protocol):
    """Random access to bytes. ``read_at`` returns exactly the bytes asked for or raises."""

    @property
    def size(self) -> int: ...

    def read_at(self, offset: int, length: int) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Bytes:
    """A byte source in memory."""

    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    def read_at(self, offset: int, length: int) -> bytes:
        return self.data[offset:offset + length]


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a listing: path relative to the storage, and size in bytes."""

    path: str
    size: int


@dataclass(frozen=True, slots=True)
class Storage:
    """A directory of a file system. ``root`` is absolute in the terms of ``filesystem``."""

    filesystem: Any
    root: str

    @classmethod
    def at(cls, path: str | os.PathLike[str], filesystem: Any = None) -> Storage:
        """A local path, a URI (``hdfs://``, ``s3://``, ``file://``) or a path of the file system given."""
        text = os.fspath(path)
        if filesystem is not None:
            return cls(filesystem, text.rstrip("/") or "/")
        if "://" not in text:
            return cls(fs.LocalFileSystem(), os.path.abspath(text))
        try:
            found, root = fs.FileSystem.from_uri(text)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise TableError(text, f"no such file system: {error}") from error
        return cls(found, root.rstrip("/") or "/")

    def below(self, path: str) -> Storage:
        """The storage of a directory inside this one."""
        return Storage(self.filesystem, self.absolute(path))

    def absolute(self, path: str) -> str:
        return posixpath.join(self.root, path) if path else self.root

    def read(self, path: str) -> bytes:
        """All bytes of a file."""
        with self._named(path), self.filesystem.open_input_file(self.absolute(path)) as stream:
            data: bytes = stream.read()
            return data

    @contextmanager
    def open(self, path: str) -> Iterator[ByteSource]:
        """Random access to a file."""
        with self._named(path):
            stream = self.filesystem.open_input_file(self.absolute(path))
        with stream:
            with self._named(path):
                size = stream.size()
                source: ByteSource = Bytes(stream.read()) if size <= READ_WHOLE else _File(self, path, stream, size)
            yield source

    def input_file(self, path: str) -> Any:
        """The file as pyarrow's random access file, for pyarrow's own readers."""
        with self._named(path):
            return self.filesystem.open_input_file(self.absolute(path))

    def exists(self, path: str) -> bool:
        with self._named(path):
            kind = self.filesystem.get_file_info(self.absolute(path)).type
        return kind is not fs.FileType.NotFound

    def files(self, path: str = "", *, recursive: bool = False) -> list[Entry]:
        """The files of a directory, by path; an absent directory has none."""
        with self._named(path):
            selector = fs.FileSelector(self.absolute(path), recursive=recursive, allow_not_found=True)
            found = self.filesystem.get_file_info(selector)
        return sorted((Entry(self._relative(info.path), info.size or 0) for info in found
                       if info.type is fs.FileType.File), key=lambda entry: entry.path)

    def _relative(self, path: str) -> str:
        return path[len(self.root):].lstrip("/") if path.startswith(self.root) else posixpath.relpath(path, self.root)

    @contextmanager
    def _named(self, path: str) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError as error:
            raise TableError(self.absolute(path), "no such file") from error
        except (OSError, pa.ArrowException) as error:
            raise TableError(self.absolute(path), f"cannot be read: {error}") from error


@dataclass(frozen=True, slots=True)
class _File:
    storage: Storage
    path: str
    stream: Any
    size: int

    def read_at(self, offset: int, length: int) -> bytes:
        with self.storage._named(self.path):
            data: bytes = self.stream.read_at(length, offset)
            return data
