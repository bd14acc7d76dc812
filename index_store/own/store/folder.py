"""The folder of an index: whole files under names that nobody uses twice, and one step that makes a version count.

    versions/<number>.json              local: created by a hard link, which fails when somebody was first
    versions/<number>-<token>.json      elsewhere: pyarrow's file systems overwrite, so each writer has names of its own
    manifests/  statistics/  ...        what versions name: <instant>-<token>....parquet, complete before it is named

A file appears whole or not at all: local ones are written beside their place, forced to disk and then renamed, objects
of a store appear when they are closed, and other file systems rename. So a process may die at any step: what it leaves
behind is named by no version, and ``vacuum`` takes it away.
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
    """What makes a name nobody else's."""
    return uuid.uuid4().hex[:16]


@dataclass(frozen=True, slots=True)
class Stat:
    """A file of the folder: its path in it, its size in bytes, and when it was written, in seconds since 1970."""

    path: str
    size: int
    written: float


class Folder:
    """The folder of one index. Methods raise TableError; a file that cannot be written is not there."""

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
        """For people."""
        return self.storage.root

    @property
    def creates_atomically(self) -> bool:
        """Whether a name can be taken by one writer only."""
        return self.storage.is_local

    # -- what is there

    def read(self, file: str) -> bytes:
        """All bytes of a file."""
        return self.storage.read(file)

    def names(self, below: str) -> list[str]:
        """The names of the files right below a folder of this one."""
        return [entry.path.rpartition("/")[2] for entry in self.storage.files(below)]

    def stats(self) -> list[Stat]:
        """Every file of the folder."""

        def listed() -> Any:
            selector = fs.FileSelector(self.storage.place(""), recursive=True, allow_not_found=True)
            return self.storage.filesystem.get_file_info(selector)

        inside = self.storage.place("").rstrip("/")
        return [
            Stat(info.path[len(inside) :].lstrip("/"), info.size or 0, (info.mtime_ns or 0) / 1e9)
            for info in self.storage.change("", listed)
            if info.type is fs.FileType.File
        ]

    # -- what is written

    @contextmanager
    def writing(self, file: str) -> Iterator[Path]:
        """A local file to write; at the end of the block it is the folder's ``file``, after an error it is gone."""
        if self.storage.is_local:
            place = Path(self.storage.place(file))
            self.make_room(file)
            with self._temporary(place.parent) as temporary:
                yield temporary
                self.publish(temporary, file)
        else:
            with tempfile.TemporaryDirectory(prefix="sargo-") as directory:
                temporary = Path(directory) / "file"
                yield temporary
                self.publish(temporary, file)

    def write_version(self, number: int, data: bytes) -> str | None:
        """Write the file of a version; None when another writer has this number already, else the name of the file.

        Where a name cannot be taken atomically, versions of other writers may have the same number afterwards:
        the caller looks. Then each has a name of its own, and nothing is lost.
        """
        if not self.creates_atomically:
            file = f"{VERSIONS}/{number:010d}-{new_token()}.json"
            with self.writing(file) as temporary:
                temporary.write_bytes(data)
            return file
        file = f"{VERSIONS}/{number:010d}.json"
        place = Path(self.storage.place(file))
        self.make_room(file)
        with self._temporary(place.parent) as temporary:
            temporary.write_bytes(data)
            return file if self.link(temporary, file) else None

    def remove(self, file: str) -> None:
        """Remove a file, which need not be there."""

        def removed() -> None:
            with suppress(FileNotFoundError):
                self.storage.filesystem.delete_file(self.storage.place(file))

        self.storage.change(file, removed)

    def remove_all(self) -> None:
        """Remove the folder, which no longer holds a version."""

        def removed() -> None:
            with suppress(FileNotFoundError):
                self.storage.filesystem.delete_dir(self.storage.place(""))

        self.storage.change("", removed)

    # -- the single steps

    def make_room(self, file: str) -> None:
        """Make the directory that the file belongs into, where there are directories."""
        if self.storage.filesystem.type_name not in _OBJECT_STORES:
            parent = self.storage.place(file).rpartition("/")[0]
            self.storage.change(file, lambda: self.storage.filesystem.create_dir(parent, recursive=True))

    def publish(self, temporary: Path, file: str) -> None:
        """Give a local file, which is complete, its place and name."""
        place = self.storage.place(file)
        if self.storage.is_local:

            def renamed() -> None:
                _force(temporary)
                os.replace(temporary, place)
                _force(Path(place).parent)

            self.storage.change(file, renamed)
            return
        self.make_room(file)
        filesystem = self.storage.filesystem
        at_once = filesystem.type_name in _OBJECT_STORES
        first = place if at_once else f"{place}.{new_token()}.part"

        def uploaded() -> None:
            with temporary.open("rb") as source, filesystem.open_output_stream(first, compression=None) as sink:
                shutil.copyfileobj(source, sink, 1 << 20)
            if not at_once:
                filesystem.move(first, place)

        self.storage.change(file, uploaded)

    def link(self, temporary: Path, file: str) -> bool:
        """Give a local file a second name, unless there is a file of this name: the one step that commits."""
        place = self.storage.place(file)

        def linked() -> bool:
            _force(temporary)
            try:
                os.link(temporary, place)
            except FileExistsError:
                return os.path.samefile(temporary, place)
            except OSError as error:
                raise TableError(
                    self.storage.absolute(file),
                    f"cannot be written: {error.strerror}; an index needs a "
                    "local file system with hard links, choose another folder",
                ) from error
            _force(Path(place).parent)
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
    """What was written is on the disk when this returns."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
