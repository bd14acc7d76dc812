"""The folder of an index: whole files under unique names, and one atomic step that commits a version.

    versions/<number>.json              local: created by a hard link, which fails when the number is taken
    versions/<number>-<token>.json      elsewhere: pyarrow's file systems overwrite, so names are unique by a token
    manifests/  statistics/  ...        the files that versions name: <instant>-<token>....parquet

A file appears whole or not at all. A local file is written under a temporary name, synchronized to disk and renamed; an
object of a store appears when it is closed; other file systems rename. A version is written after the files that it
names. So a process may die at any step: no version names what it leaves behind, and ``vacuum`` removes it.

Facts about object stores: docs/facts/object-stores.md.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyarrow import fs

from index_store.storage.errors import TableError
from index_store.storage.storage import Storage

__all__ = ["VERSIONS", "Folder", "Stat", "new_token"]

VERSIONS = "versions"
_OBJECT_STORES = frozenset({"s3", "gcs", "abfs"})


def new_token() -> str:
    """Sixteen random hexadecimal digits, which make a name unique."""
    return uuid.uuid4().hex[:16]


@dataclass(frozen=True, slots=True)
class Stat:
    """A file of the folder: its path in it, its size in bytes, and when it was written, in seconds since 1970."""

    path: str
    size: int
    written: float


class Folder:
    """The folder of one index. Methods raise TableError; a file that could not be written does not exist."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    @classmethod
    def at(
        cls, path: str | os.PathLike[str], filesystem: Any = None, options: Mapping[str, str] | None = None
    ) -> Folder:
        """The folder at a local path, a URI, or a path of the file system given (``Storage.at``)."""
        return cls(Storage.at(path, filesystem, options))

    def __repr__(self) -> str:
        return f"Folder({self.path!r})"

    @property
    def path(self) -> str:
        """The path or URI, for messages."""
        return self.storage.root

    @property
    def creates_atomically(self) -> bool:
        """Whether only one of several writers can create a file of one name."""
        return self.storage.is_local

    # -- reading

    def read(self, file: str, limit: int) -> bytes:
        """All bytes of a file. Raises TableError for one of more than ``limit`` bytes."""
        return self.storage.read(file, limit)

    def names(self, below: str) -> list[str]:
        """The names of the files right below a folder of this one."""
        return [entry.path.rpartition("/")[2] for entry in self.storage.files(below)]

    def stats(self) -> list[Stat]:
        """Every file of the folder."""

        inside = self.storage.place("").rstrip("/")

        def listed() -> list[Stat]:
            selector = fs.FileSelector(self.storage.place(""), recursive=True, allow_not_found=True)
            return [
                Stat(info.path[len(inside) :].lstrip("/"), info.size or 0, (info.mtime_ns or 0) / 1e9)
                for info in self.storage.filesystem.get_file_info(selector)
                if info.type is fs.FileType.File
            ]

        return self.storage.change("", listed)

    # -- writing

    @contextmanager
    def writing(self, file: str) -> Iterator[Path]:
        """A local path to write to. It becomes the folder's ``file`` at the end; an error removes it."""
        if self.storage.is_local:
            path = Path(self.storage.place(file))
            self.create_parent(file)
            with self._temporary(path.parent) as temporary:
                yield temporary
                self.publish(temporary, file)
        else:
            with tempfile.TemporaryDirectory(prefix="sargo-") as directory:
                temporary = Path(directory) / "file"
                yield temporary
                self.publish(temporary, file)

    def write_version(self, number: int, data: bytes) -> str | None:
        """Write the file of a version and return its name; None when another writer has taken the number.

        Where names cannot be taken atomically, another writer's version may have the same number afterwards, under
        another name. The caller has to look for it.
        """
        if not self.creates_atomically:
            file = f"{VERSIONS}/{number:010d}-{new_token()}.json"
            with self.writing(file) as temporary:
                temporary.write_bytes(data)
            return file
        file = f"{VERSIONS}/{number:010d}.json"
        path = Path(self.storage.place(file))
        self.create_parent(file)
        with self._temporary(path.parent) as temporary:
            temporary.write_bytes(data)
            return file if self.link(temporary, file) else None

    def remove(self, file: str) -> None:
        """Remove a file, if it exists."""

        def removed() -> None:
            with suppress(FileNotFoundError):
                self.storage.filesystem.delete_file(self.storage.place(file))

        self.storage.change(file, removed)

    def remove_all(self) -> None:
        """Remove the folder, after its versions."""

        def removed() -> None:
            with suppress(FileNotFoundError):
                self.storage.filesystem.delete_dir(self.storage.place(""))

        self.storage.change("", removed)

    # -- single steps: tests stop a process after each

    def create_parent(self, file: str) -> None:
        """Create the directory of a file; object stores have none."""
        if self.storage.filesystem.type_name not in _OBJECT_STORES:
            parent = self.storage.place(file).rpartition("/")[0]
            self.storage.change(file, lambda: self.storage.filesystem.create_dir(parent, recursive=True))

    def publish(self, temporary: Path, file: str) -> None:
        """Move a complete local file into the folder under its name."""
        path = self.storage.place(file)
        if self.storage.is_local:

            def renamed() -> None:
                _force(temporary)
                os.replace(temporary, path)
                _force(Path(path).parent)

            self.storage.change(file, renamed)
            return
        self.create_parent(file)
        filesystem = self.storage.filesystem
        at_once = filesystem.type_name in _OBJECT_STORES
        first = path if at_once else f"{path}.{new_token()}.part"

        def uploaded() -> None:
            with temporary.open("rb") as source, filesystem.open_output_stream(first, compression=None) as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
            if not at_once:
                filesystem.move(first, path)

        self.storage.change(file, uploaded)

    def link(self, temporary: Path, file: str) -> bool:
        """Give a local file a second name, unless a file has that name: the one step that commits a version."""
        path = self.storage.place(file)

        def linked() -> bool:
            _force(temporary)
            try:
                os.link(temporary, path)
            except FileExistsError:
                return os.path.samefile(temporary, path)
            except OSError as error:
                raise TableError(
                    self.storage.absolute(file),
                    f"cannot be written: {error.strerror}; an index needs a "
                    "local file system with hard links, choose another folder",
                ) from error
            _force(Path(path).parent)
            return True

        return self.storage.change(file, linked)

    @contextmanager
    def _temporary(self, directory: Path) -> Iterator[Path]:
        temporary = directory / f".{new_token()}.tmp"
        try:
            yield temporary
        finally:
            with suppress(OSError):
                temporary.unlink()


def age_of(stat: Stat) -> float:
    """How many seconds ago a file was written."""
    return time.time() - stat.written


def _force(path: Path) -> None:
    """Synchronize a file or directory to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
