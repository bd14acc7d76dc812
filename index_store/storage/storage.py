"""Where a table's bytes are: one directory of a file system, read by paths relative to it.

    read, open          a small file in one request, of a larger one only the ranges that are read. What is small is
                        learned from the time of earlier requests (``pace``); READ_WHOLE where no listing shows a file
    begin               files and listings that will be read soon: where each costs a round trip, the trips overlap
    ahead               the same for listed files, inside of a block
    files               a listing; a file must still have its listed size when it is read

Every failure of the file system becomes a ``TableError`` that names the file and no secret. Transient failures are
retried (``retries``). A file that vanished or changed after the listing is an error, so no statistics get lost (C4).
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import field, replace
from itertools import chain
from typing import Any, TypeVar

from evaluator.language.records import frozen, record
from index_store.storage.byte_source import Bytes, ByteSource
from index_store.storage.client import Client, LargeFileError, Listed
from index_store.storage.errors import TableError, TransientError
from index_store.storage.file_cache import MAX_KEPT, FileCache
from index_store.storage.file_systems import Location, locate
from index_store.storage.ranged_file import RangedFile
from index_store.storage.retries import is_transient

__all__ = ["Entry", "Storage"]

T = TypeVar("T")

_REFUSED = re.compile(
    r"(?i)access.?denied|forbidden|unauthorized|auth(?:oriz|entic)ation.?fail|invalid.?access.?key|"
    r"signature.?does.?not.?match|permission.?denied|status 40[13]\b"
)

_HDFS = frozenset({"hdfs", "webhdfs", "swebhdfs", "viewfs"})

#: Files up to this size are read whole on a local disk, and where no listing shows their size; of others only ranges.
READ_WHOLE = 4 << 20
#: No file that is read whole is larger. A log file ends at a gigabyte (``hoodie.logfile.max.size``).
MAX_WHOLE = 2 << 30
#: How many files or ranges are read side by side, and how many bytes may wait in memory for their reader.
SIDE_BY_SIDE = 16
#: How many reads that are begun together are on their way at once: a small read costs a round trip and few bytes.
AT_ONCE = 64
MAX_AHEAD = MAX_KEPT


@record
class Entry:
    """A file of a listing: path relative to the storage, and size in bytes."""

    path: str
    size: int


@frozen(shown=False)
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
    def client(self) -> Client:
        """What the directory is read and written through, one attempt at a time: see ``change``."""
        return self._location.client

    @property
    def filesystem(self) -> Any:
        """The ``pyarrow.fs.FileSystem`` of the same place; reads through it are not retried."""
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

    def knowing(self, other: Storage) -> Storage:
        """This directory with what another storage of it has read and listed, or begun to."""
        return replace(self, _known=other._known)

    def has_answered(self) -> None:
        """The place has answered somebody else: it does not count as down any more."""
        self._location.patience.answered()

    def hangs(self, seconds: float) -> bool:
        """Whether a read of this place has been waiting for so long."""
        return self._location.patience.waited() > seconds

    def absolute(self, path: str) -> str:
        """The absolute path or URI, for messages."""
        return f"{self.root.rstrip('/')}/{path}" if path else self.root

    def relative(self, path: str) -> str:
        """A path that a table's files name, absolute or as a URI, relative to this storage if it is inside."""
        for root in (self.root, self._inside):
            if path.startswith(f"{root}/"):
                return path[len(root) :].lstrip("/")
        (scheme, _, bare), (mine, _, own) = path.partition("://"), self.root.partition("://")
        if bare and own and bare.startswith(f"{own}/"):  # s3a://bucket/t and s3://bucket/t are one place
            return bare[len(own) :].lstrip("/")
        if scheme in _HDFS and mine in _HDFS:  # a cluster has several names, and a table may have moved with its files
            inside, folder = (f"/{text.partition('/')[2]}" for text in (bare, own))
            if inside.startswith(f"{folder.rstrip('/')}/"):
                return inside[len(folder) :].lstrip("/")
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
            try:
                return self._read(path, limit)
            except LargeFileError as error:
                error.file.close()
                self._refuse_large(path, error.size, limit)
        self._refuse_large(path, len(found or b""), limit)
        return found or b""

    def read_if_there(self, path: str, limit: int = MAX_WHOLE) -> bytes | None:
        """All bytes of a file, None when there is none."""
        try:
            return self.read(path, limit)
        except _NoSuchFileError:
            return None

    def begin(self, files: Iterable[str] = (), folders: Iterable[tuple[str, bool]] = ()) -> None:
        """Start to read these files, and to list these folders (path, with all below), side by side.

        ``read``, ``open`` and ``files`` find them, and their errors. No effect on a local disk.
        """
        if self._location.is_local:
            return
        chosen = list(self._affordable(files))
        wanted = [one for one in dict.fromkeys(folders) if not self._known.is_begun(self.place(one[0]), one[1])]
        if not chosen and not wanted:
            return
        pool = ThreadPoolExecutor(min(AT_ONCE, len(chosen) + len(wanted)), "sargo-begun")
        self._known.expect_folders(
            {(self.place(one), deep): pool.submit(self._list, one, deep) for one, deep in wanted}
        )
        self._known.expect({self.place(path): pool.submit(self._read_small, path) for path in chosen})
        pool.shutdown(wait=False)

    def begin_final(self, files: Mapping[str, int]) -> None:
        """The same for files that never change, given with their sizes: the small ones, which are kept."""
        if not self._location.is_local:
            self._known.listed([Listed(self.place(path), size) for path, size in files.items()])
            self.begin(files)

    @contextmanager
    def ahead(self, paths: Sequence[str]) -> Iterator[None]:
        """Inside the block, ``read`` and ``open`` find these files on their way already, if they are small.

        Nothing is read ahead on a local disk, nor beyond MAX_AHEAD bytes. Unread files are dropped afterwards.
        """
        known = [path for path in paths if self._known.listing(self.place(path))]
        chosen = [] if self._location.is_local or len(known) < 2 else list(self._affordable(known))
        if not chosen:
            yield
            return
        pool = ThreadPoolExecutor(min(SIDE_BY_SIDE, len(chosen)), "sargo-ahead")
        mine = {self.place(path): pool.submit(self._read, path, MAX_WHOLE) for path in chosen}
        self._known.expect(mine)
        try:
            yield
        finally:
            self._known.forget(mine)
            pool.shutdown(wait=False, cancel_futures=True)

    def _affordable(self, paths: Iterable[str]) -> Iterator[str]:
        """Those that are neither here nor known to be large. What no listing shows is taken for small."""
        left, largest = MAX_AHEAD, self._largest_whole
        for path in dict.fromkeys(paths):
            listed = self._known.listing(self.place(path))
            size = 0 if listed is None else listed.size
            if size <= min(left, largest) and not self._known.is_here(self.place(path)):
                left -= size
                yield path

    @contextmanager
    def open(self, path: str, size: int | None = None) -> Iterator[ByteSource]:
        """Random access to a file. ``size``: its bytes, where the caller knows them, so that nobody is asked."""
        found = self._known.get(self.place(path))
        if found is not None:
            yield Bytes(found)
            return
        listed = self._known.listing(self.place(path))
        if listed is None and size is not None:
            listed = Listed(self.place(path), size)
            if not self._location.is_local:
                self._known.listed([listed])  # its content is for good, so it is kept as that of a listed file
        if listed is None or listed.size <= self._largest_whole:
            try:
                whole = Bytes(self._read_small(path))
            except LargeFileError as error:
                stream = error.file
            else:
                yield whole
                return
        else:
            stream = self._run(path, lambda: self.client.open(self.place(path), listed))
        with stream:
            yield RangedFile(
                self._checked_size(path, self._run(path, stream.size)),
                stream,
                lambda: self.client.open(self.place(path), listed),
                lambda attempt: self._run(path, attempt),
                local=self._location.is_local,
                shared=self.client.shares_files,
                pace=self._location.patience.pace,
            )

    def input_file(self, path: str) -> Any:
        """The file as pyarrow's random access file, for pyarrow's own readers."""

        def opened() -> Any:
            stream = self._stream(path)
            stream.size()  # of a file that no listing showed, this asks whether it is there
            return stream

        return self._run(path, opened)

    def apply(self, path: str, function: Callable[[Any], T]) -> T:
        """The function's result for the file, opened as pyarrow's random access file; the whole call is retried."""

        def attempt() -> T:
            with self._stream(path) as stream:
                return function(stream)

        return self._run(path, attempt)

    @property
    def host(self) -> str | None:
        """The endpoint and account that the options give, "" for the usual ones; None when it is not known."""
        return self._location.host

    @property
    def is_local(self) -> bool:
        """Whether reading costs no round trip."""
        return self._location.is_local

    @property
    def readers(self) -> int:
        """How many files are decoded side by side: more where threads wait for answers."""
        return min(SIDE_BY_SIDE, 2 * (os.cpu_count() or 1)) if self.is_local else SIDE_BY_SIDE

    def exists(self, path: str) -> bool:
        """Whether there is a file or directory."""
        return self._run(path, lambda: self.client.exists(self.place(path)), small=True)

    def files(self, path: str = "", *, recursive: bool = False) -> list[Entry]:
        """The files of a directory, by path; an absent directory has none."""
        found = self._known.folder(self.place(path), recursive=recursive)
        if found is None:
            found = self._list(path, recursive)
        return sorted((Entry(self._relative(one.path), one.size) for one in found), key=lambda entry: entry.path)

    def listed(self, path: str) -> list[Listed]:
        """The files of a directory as the file system shows them now: with versions, and when they were written."""
        return self._list(path, recursive=False)

    def _list(self, path: str, recursive: bool) -> list[Listed]:
        found = self._run(path, lambda: self.client.listed(self.place(path), recursive=recursive), small=not recursive)
        if not recursive:
            self._known.listed(found)
        return found

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
        found = self._run("", lambda: self.client.folders(self.place("")))
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

    @property
    def _largest_whole(self) -> int:
        """Up to so many bytes a listed file is read whole: the sooner a round trip is made, the fewer."""
        return READ_WHOLE if self._location.is_local else self._location.patience.pace.whole

    def _read_small(self, path: str) -> bytes:
        """A file that is read whole when a listing shows it, or when it has up to READ_WHOLE bytes."""
        listed = self._known.listing(self.place(path))
        return self._read(path, READ_WHOLE if listed is None else max(listed.size, READ_WHOLE))

    def _read(self, path: str, limit: int) -> bytes:
        """As many bytes as the listing has for the file; bytes appended to a log file later are left out.

        Raises LargeFileError for more than ``limit`` bytes.
        """
        listed = self._known.listing(self.place(path))
        small = limit <= READ_WHOLE if listed is None else listed.size <= READ_WHOLE
        pace = self._location.patience.pace
        data = self._run(path, lambda: pace.timed(lambda: self.client.whole(self.place(path), limit).data), small=small)
        data = data[: self._checked_size(path, len(data))]
        if not self._location.is_local:
            self._known.keep(self.place(path), data)
        return data

    def _stream(self, path: str) -> Any:
        return self.client.open(self.place(path), self._known.listing(self.place(path)))

    def _checked_size(self, path: str, size: int) -> int:
        """The listed size, else ``size``. Raises TableError for a file that shrank, or grew and is no log file."""
        listed = self._known.listing(self.place(path))
        if listed is None:
            return size
        if size < listed.size or (size > listed.size and ".log." not in posixpath.basename(path)):
            raise TableError(self.absolute(path), f"changed while it was read: {listed.size} bytes, then {size}")
        return listed.size

    def change(self, path: str, operation: Callable[[], T]) -> T:
        """Run an operation that writes this file, with retries; the operation must be idempotent."""
        self._known.forget_folders(self.place(path))
        return self._run(path, operation, "written")

    def keep_written(self, path: str, data: bytes) -> None:
        """Cache a file that was just written under a name of its own: its writer reads it again."""
        if not self.is_local:
            self._known.listed([Listed(self.place(path), len(data))])
            self._known.keep(self.place(path), data)

    def _run(self, path: str, operation: Callable[[], T], done: str = "read", *, small: bool = False) -> T:
        """The result of the operation, with retries. Raises TableError when it fails in the end."""
        try:
            return self._location.patience.run(operation, small=small)
        except (TableError, LargeFileError):
            raise
        except FileNotFoundError:
            raise _NoSuchFileError(self.absolute(path), "no such file") from None
        except Exception as error:  # clients behind fsspec have errors of their own
            text = str(error) or type(error).__name__
            shown = self._location.mask(text)
            if _REFUSED.search(text):
                shown = f"access is denied, check the credentials and what they allow: {shown}"
            cause = error if shown.endswith(text) else None  # a traceback would show the secret again
            kind = TransientError if is_transient(error) else TableError
            raise kind(self.absolute(path), f"cannot be {done}: {shown}") from cause


class _NoSuchFileError(TableError):
    """There is no file of this name."""
