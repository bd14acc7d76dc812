"""The folder of an index: whole files under unique names, and one atomic step that commits a version.

    versions/<number>.json              local: created by a hard link, which fails when the number is taken
    versions/<number>-<token>.json      elsewhere: pyarrow's file systems overwrite, so names are unique by a token
    manifests/  statistics/  ...        the files that versions name: <instant>-<token>....parquet

A file appears whole or not at all. A local file is written under a temporary name, synchronized to disk and renamed; an
object of a store appears when it is closed; other file systems rename. A version is written after the files that it
names. So a process may die at any step: no version names what it leaves behind, and ``vacuum`` removes it.

To an object store files are written side by side, in threads: ``settle`` waits for them, and comes before every listing
and every version.

An object is written on the condition that there is none of its name. Where an answer is lost the second attempt finds
the first one's object, which is the same: names are unique. A store that ignores the condition loses nothing by that;
one that does not implement it is written to without it, after one warning.

Facts about object stores: docs/facts/object-stores.md.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
import uuid
import warnings
import weakref
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from evaluator.language.records import frozen
from index_store.storage.client import Client
from index_store.storage.errors import TableError
from index_store.storage.storage import READ_WHOLE, Storage

__all__ = ["VERSIONS", "Folder", "Stat", "new_token"]

VERSIONS = "versions"
_NOT_IMPLEMENTED = 501
#: Files that are written to a store side by side, and those that wait for it on the local disk.
_SIDE_BY_SIDE, _WAITING = 8, 32
#: The clients whose stores do not implement conditional writes.
_unconditional: weakref.WeakSet[Client] = weakref.WeakSet()
_unconditional_lock = threading.Lock()


def new_token() -> str:
    """Sixteen random hexadecimal digits, which make a name unique."""
    return uuid.uuid4().hex[:16]


@frozen
class Stat:
    """A file of the folder: its path in it, its size in bytes, and when it was written, in seconds since 1970."""

    path: str
    size: int
    written: float


class Folder:
    """The folder of one index. Methods raise TableError; a file that could not be written does not exist."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._writes: dict[str, Future[None]] = {}
        self._threads: ThreadPoolExecutor | None = None

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

    def read(self, file: str, limit: int, *, again: bool = False) -> bytes:
        """All bytes of a file. Raises TableError for one of more than ``limit`` bytes.

        ``again``: they are asked for, also when they were read before.
        """
        return (self.storage.afresh() if again else self.storage).read(file, limit)

    def exists(self, file: str) -> bool:
        """Whether there is a file of this name, whatever a listing shows."""
        return self.storage.exists(file)

    def names(self, below: str) -> list[str]:
        """The names of the files right below a folder of this one."""
        return [entry.path.rpartition("/")[2] for entry in self.storage.files(below)]

    def begin_versions(self) -> None:
        """Start to list the versions, for the first reader of them. No effect on a local disk."""
        self.storage.begin([], [(VERSIONS, False)])

    def stats(self) -> list[Stat]:
        """Every file of the folder. Raises the error of a file that could not be written."""
        self.settle()
        inside = self.storage.place("").rstrip("/")
        found = self.storage.change("", lambda: self.storage.client.listed(inside, recursive=True))
        return [Stat(one.path[len(inside) :].lstrip("/"), one.size, one.written) for one in found]

    # -- writing

    @contextmanager
    def writing(self, file: str) -> Iterator[Path]:
        """A local path to write to. It becomes the folder's ``file`` at the end; an error removes it.

        In an object store the file is there after ``settle``.
        """
        with ExitStack() as stack:
            if self.storage.is_local:
                self.create_parent(file)
            temporary = stack.enter_context(self._temporary(file))
            yield temporary
            if self.storage.client.writes_at_once and not self.storage.is_local:
                self._publish_later(temporary, file, stack.pop_all())
            else:
                self.publish(temporary, file)

    def _publish_later(self, temporary: Path, file: str, stack: ExitStack) -> None:
        """Publish in a thread, and close the stack then."""

        def published() -> None:
            with stack:
                self.publish(temporary, file)

        if len(self._writes) >= _WAITING:
            self.settle()
        if self._threads is None:
            self._threads = ThreadPoolExecutor(_SIDE_BY_SIDE, "sargo-write")
        self._writes[file] = self._threads.submit(published)

    def settle(self) -> None:
        """Wait until every file is written. Raises the first TableError; then none of them exists."""
        writes, self._writes = self._writes, {}
        if self._threads is not None:
            self._threads.shutdown()
            self._threads = None
        errors = [error for one in writes.values() if (error := one.exception()) is not None]
        if errors:
            for file in writes:
                with suppress(TableError):
                    self.remove(file)
            raise errors[0]

    def write_version(self, number: int, data: bytes) -> str | None:
        """Write the file of a version and return its name; None when another writer has taken the number.

        Where names cannot be taken atomically, another writer's version may have the same number afterwards, under
        another name. The caller has to look for it.
        """
        if not self.creates_atomically:
            self.settle()
            file = f"{VERSIONS}/{number:010d}-{new_token()}.json"
            self.create_parent(file)
            try:
                with self._temporary(file) as temporary:
                    temporary.write_bytes(data)
                    self.publish(temporary, file)
            except TableError:
                if not self._holds(file, data):  # otherwise only the answers were lost
                    raise
            return file
        file = f"{VERSIONS}/{number:010d}.json"
        self.create_parent(file)
        with self._temporary(file) as temporary:
            temporary.write_bytes(data)
            return file if self.link(temporary, file) else None

    def remove(self, file: str) -> None:
        """Remove a file, if it exists."""
        write = self._writes.pop(file, None)
        if write is not None:
            write.exception()  # it may still arrive

        def removed() -> None:
            with suppress(FileNotFoundError):
                self.storage.client.remove(self.storage.place(file))

        self.storage.change(file, removed)

    def remove_directories(self) -> None:
        """Remove the directories of the folder that are empty; object stores have none."""
        if self.storage.is_local:
            for directory, _, _ in os.walk(self.storage.place(""), topdown=False):
                with suppress(OSError):
                    os.rmdir(directory)
        elif not self.storage.client.writes_at_once and not self.stats():

            def removed() -> None:
                with suppress(FileNotFoundError):
                    self.storage.client.remove_all(self.storage.place(""))

            self.storage.change("", removed)

    def _holds(self, file: str, data: bytes) -> bool:
        try:
            return self.read(file, len(data), again=True) == data
        except TableError:
            return False

    # -- single steps: tests stop a process after each

    def create_parent(self, file: str) -> None:
        """Create the directory of a file; object stores have none."""
        parent = self.storage.place(file).rpartition("/")[0]
        self.storage.change(file, lambda: self.storage.client.create_folder(parent))

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
        client = self.storage.client
        first = path if client.writes_at_once else f"{path}.{new_token()}.part"

        def uploaded() -> None:
            is_conditional = client not in _unconditional
            try:
                client.write(first, temporary, new=is_conditional)
            except OSError as error:
                if not is_conditional or getattr(error, "status", 0) != _NOT_IMPLEMENTED:
                    raise
                self._write_without_conditions(client)
                client.write(first, temporary)
            if first != path:
                client.move(first, path)

        self.storage.change(file, uploaded)
        if temporary.stat().st_size <= READ_WHOLE:
            self.storage.keep_written(file, temporary.read_bytes())

    def _write_without_conditions(self, client: Client) -> None:
        with _unconditional_lock:  # files are written side by side, and the first to be refused says it
            if client in _unconditional:
                return
            _unconditional.add(client)
        warnings.warn(
            f"{self.path}: the store does not implement conditional writes (If-None-Match); files of indexes are "
            "written without them, under names that nobody else uses",
            RuntimeWarning,
            stacklevel=2,
        )

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
    def _temporary(self, file: str) -> Iterator[Path]:
        """A local path beside the file, or in a directory for temporary files."""
        if not self.storage.is_local:
            with tempfile.TemporaryDirectory(prefix="sargo-") as directory:
                yield Path(directory) / "file"
            return
        temporary = Path(self.storage.place(file)).parent / f".{new_token()}.tmp"
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
