"""Where a table's bytes are: one directory of a file system, read by paths relative to it.

    read, open          a file of up to READ_WHOLE bytes in one request, of a larger one only the ranges that are read
    ahead               many small files in parallel: where each costs a round trip, the trips overlap
    files               a listing; a file must still have its listed size when it is read

Every failure of the file system becomes a ``TableError`` that names the file and no secret. Transient failures are
retried (``retries``). A file that vanished or changed after the listing is an error, so no statistics get lost (C4).
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Protocol, TypeVar

from pyarrow import fs

from index_store.storage.errors import TableError
from index_store.storage.file_cache import MAX_KEPT, FileCache
from index_store.storage.file_systems import Location, locate
from index_store.storage.ranged_file import RangedFile

__all__ = ["ByteSource", "Bytes", "Entry", "Storage"]

T = TypeVar("T")

_REFUSED = re.compile(
    r"(?i)access.?denied|forbidden|unauthorized|auth(?:oriz|entic)ation.?fail|invalid.?access.?key|"
    r"signature.?does.?not.?match|permission.?denied|status 40[13]\b"
)

#: Files up to this size are read whole; of larger ones only ranges.
READ_WHOLE = 4 << 20
#: No file that is read whole is larger. A log file ends at a gigabyte (``hoodie.logfile.max.size``).
MAX_WHOLE = 2 << 30
#: How many files or ranges are read side by side, and how many bytes may wait in memory for their reader.
SIDE_BY_SIDE = 16
MAX_AHEAD = MAX_KEPT


class ByteSource(Protocol):
    """Random access to bytes. ``read_at`` returns exactly the bytes of a range or raises."""

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
        return self.data[offset : offset + length]


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of a listing: path relative to the storage, and size in bytes."""

    path: str
    size: int


@dataclass(frozen=True, slots=True, repr=False)
class Storage:
    """A directory of a file system, made by ``at``. ``root``: a URI without secrets, for messages."""

    root: str
    _location: Location
    _inside: str
    _known: FileCache
    _options: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def at(
        cls, path: str | os.PathLike[str], filesystem: Any = None, options: Mapping[str, str] | None = None
    ) -> Storage:
        """A local path, a URI, or a path of the pyarrow or fsspec file system given (``file_systems.locate``)."""
        location = locate(path, filesystem, options)
        return cls(location.name, location, location.root, FileCache(), dict(options or {}))

    def __repr__(self) -> str:
        return f"Storage({self.root!r})"

    @property
    def filesystem(self) -> Any:
        """The ``pyarrow.fs.FileSystem``; reads through it are not retried."""
        return self._location.filesystem

    def below(self, path: str) -> Storage:
        """The storage of a directory inside this one."""
        return replace(self, root=self.absolute(path), _inside=self.place(path))

    def elsewhere(self, path: str) -> Storage:
        """The storage of another local path or URI, with the options of this one."""
        return Storage.at(path, None, self._options)

    def afresh(self) -> Storage:
        """The same directory with an empty cache, for listing it again."""
        return replace(self, _known=FileCache())

    def absolute(self, path: str) -> str:
        """The absolute path or URI, for messages."""
        return f"{self.root.rstrip('/')}/{path}" if path else self.root

    def relative(self, path: str) -> str:
        """A path that a table's files name, absolute or as a URI, relative to this storage if it is inside."""
        for root in (self.root, self._inside):
            if path.startswith(f"{root}/"):
                return path[len(root) :].lstrip("/")
        bare, own = path.partition("://")[2], self.root.partition("://")[2]
        if bare and own and bare.startswith(f"{own}/"):  # s3a://bucket/t and s3://bucket/t are one place
            return bare[len(own) :].lstrip("/")
        return path

    def place(self, path: str) -> str:
        """The path in the terms of ``filesystem``. Raises TableError for one that leads out of this directory."""
        if path.startswith("/") or "://" in path or ".." in path.split("/"):
            raise TableError(self.root, f"{path} does not lie inside of it")
        return f"{self._inside.rstrip('/')}/{path}" if path else self._inside

    # -- files

    def read(self, path: str, limit: int = MAX_WHOLE) -> bytes:
        """All bytes of a file. Raises TableError for one of more than ``limit`` bytes."""
        found = self._known.get(self.place(path))
        if found is None:
            return self._read(path, limit=limit)
        self._refuse_large(path, len(found), limit)
        return found

    def read_if_there(self, path: str, limit: int = MAX_WHOLE) -> bytes | None:
        """All bytes of a file, None when there is none."""
        try:
            return self.read(path, limit)
        except _NoSuchFileError:
            return None

    @contextmanager
    def ahead(self, paths: Sequence[str]) -> Iterator[None]:
        """Inside the block, ``read`` and ``open`` find these files on their way already, if they are small.

        Nothing is read ahead on a local disk, nor beyond MAX_AHEAD bytes. Unread files are dropped afterwards.
        """
        chosen = [] if self._location.is_local or len(paths) < 2 else list(self._affordable(paths))
        if not chosen:
            yield
            return
        pool = ThreadPoolExecutor(min(SIDE_BY_SIDE, len(chosen)), "sargo-ahead")
        mine = {self.place(path): pool.submit(self._read, path) for path in chosen}
        self._known.expect(mine)
        try:
            yield
        finally:
            self._known.forget(mine)
            pool.shutdown(wait=False, cancel_futures=True)

    def _affordable(self, paths: Sequence[str]) -> Iterator[str]:
        left = MAX_AHEAD
        for path in dict.fromkeys(paths):
            size = self._known.size(self.place(path))
            if size is not None and size <= min(left, READ_WHOLE) and not self._known.is_here(self.place(path)):
                left -= size
                yield path

    @contextmanager
    def open(self, path: str) -> Iterator[ByteSource]:
        """Random access to a file."""
        found = self._known.get(self.place(path))
        if found is not None:
            yield Bytes(found)
            return
        with self.input_file(path) as stream:
            size = self._checked_size(path, self._run(path, stream.size))
            if size <= READ_WHOLE:
                yield Bytes(self._read(path, stream))
                return
            yield RangedFile(
                size,
                stream,
                lambda: self._stream(path),
                lambda attempt: self._run(path, attempt),
                local=self._location.is_local,
                shared=not isinstance(self._location.filesystem, fs.PyFileSystem),
            )

    def input_file(self, path: str) -> Any:
        """The file as pyarrow's random access file, for pyarrow's own readers."""
        return self._run(path, lambda: self._stream(path))

    def apply(self, path: str, function: Callable[[Any], T]) -> T:
        """The function's result for the file, opened as pyarrow's random access file; the whole call is retried."""

        def attempt() -> T:
            with self._stream(path) as stream:
                return function(stream)

        return self._run(path, attempt)

    @property
    def is_local(self) -> bool:
        """Whether reading costs no round trip."""
        return self._location.is_local

    def exists(self, path: str) -> bool:
        """Whether there is a file or directory."""
        kind = self._run(path, lambda: self._location.filesystem.get_file_info(self.place(path)).type)
        return kind is not fs.FileType.NotFound

    def files(self, path: str = "", *, recursive: bool = False) -> list[Entry]:
        """The files of a directory, by path; an absent directory has none."""

        def listed() -> dict[str, int]:
            selector = fs.FileSelector(self.place(path), recursive=recursive, allow_not_found=True)
            return self._of_type(selector, fs.FileType.File)

        found = self._run(path, listed)
        if not recursive:
            self._known.listed(found)
        return sorted((Entry(self._relative(one), size) for one, size in found.items()), key=lambda entry: entry.path)

    def _of_type(self, selector: Any, kind: Any) -> dict[str, int]:
        """Path and size of what is listed. A name that is no UTF-8 raises here, so inside of ``_run``."""
        found = self._location.filesystem.get_file_info(selector)
        return {info.path: info.size or 0 for info in found if info.type is kind}

    def files_outside(self, folder: str) -> list[Entry]:
        """All files below the root but those of one of its folders; that folder need not be readable."""
        try:
            found = self.files(recursive=True)
        except TableError:
            others = (self.files(one, recursive=True) for one in self._folders(folder))
            found = sorted(chain(self.files(), *others), key=lambda entry: entry.path)
        return [entry for entry in found if not entry.path.startswith(f"{folder}/")]

    def _folders(self, left_out: str) -> list[str]:
        """The folders of the root but one."""

        def listed() -> dict[str, int]:
            return self._of_type(fs.FileSelector(self.place("")), fs.FileType.Directory)

        found = self._run("", listed)
        return [name for name in map(self._relative, found) if name != left_out]

    def _relative(self, path: str) -> str:
        return (
            path[len(self._inside) :].lstrip("/")
            if path.startswith(self._inside)
            else posixpath.relpath(path, self._inside)
        )

    # -- one attempt

    def _refuse_large(self, path: str, size: int, limit: int) -> None:
        if size > limit:
            raise TableError(self.absolute(path), f"it has {size} bytes, at most {limit} are read")

    def _read(self, path: str, opened: Any = None, limit: int = MAX_WHOLE) -> bytes:
        """As many bytes as the listing has for the file; bytes appended to a log file later are left out."""
        streams = [] if opened is None else [opened]

        def attempt() -> bytes:
            with streams.pop() if streams else self._stream(path) as stream:
                self._refuse_large(path, stream.size(), limit)
                data: bytes = stream.read()
                return data

        data = self._run(path, attempt)
        data = data[: self._checked_size(path, len(data))]
        if not self._location.is_local:
            self._known.keep(self.place(path), data)
        return data

    def _stream(self, path: str) -> Any:
        return self._location.filesystem.open_input_file(self.place(path))

    def _checked_size(self, path: str, size: int) -> int:
        """The listed size, else ``size``. Raises TableError for a file that shrank, or grew and is no log file."""
        listed = self._known.size(self.place(path))
        if listed is None:
            return size
        if size < listed or (size > listed and ".log." not in posixpath.basename(path)):
            raise TableError(self.absolute(path), f"changed while it was read: {listed} bytes, then {size}")
        return listed

    def change(self, path: str, operation: Callable[[], T]) -> T:
        """Run an operation that writes this file, with retries; the operation must be idempotent."""
        return self._run(path, operation, "written")

    def _run(self, path: str, operation: Callable[[], T], done: str = "read") -> T:
        """The result of the operation, with retries. Raises TableError when it fails in the end."""
        try:
            return self._location.patience.run(operation)
        except TableError:
            raise
        except FileNotFoundError:
            raise _NoSuchFileError(self.absolute(path), "no such file") from None
        except Exception as error:  # clients behind fsspec have errors of their own
            text = str(error) or type(error).__name__
            shown = self._location.mask(text)
            if _REFUSED.search(text):
                shown = f"access is denied, check the credentials and what they allow: {shown}"
            cause = error if shown.endswith(text) else None  # a traceback would show the secret again
            raise TableError(self.absolute(path), f"cannot be {done}: {shown}") from cause


class _NoSuchFileError(TableError):
    """There is no file of this name."""
