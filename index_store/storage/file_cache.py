"""The cache of an opened table's files: listed sizes, and the bytes of small files that were read or are on their way.

    a file of a listing        cached: Hudi never writes under the name of a file again
    a log file                 cached up to the listed size: version 6 appends to log files
    a file of no listing       not cached
    a listing that was begun   kept until something in it is written

Where a request costs a round trip, a file that several columns need is read once.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from concurrent.futures import CancelledError, Future

from index_store.storage.client import LargeFileError, Listed

__all__ = ["MAX_KEPT", "FileCache"]

#: Bytes that are kept for one table.
MAX_KEPT = 64 << 20
#: Listings of more files are not remembered: they are of data, not of what is read.
_MAX_LISTED = 100_000


class FileCache:
    """Shared by the storages of one table; a file is named by its path in the file system. Safe with threads."""

    __slots__ = ("_ahead", "_bytes", "_folders", "_kept", "_limit", "_listed", "_lock")

    def __init__(self, limit: int = MAX_KEPT) -> None:
        self._limit = limit
        self._listed: dict[str, Listed] = {}
        self._ahead: dict[str, Future[bytes]] = {}
        self._folders: dict[tuple[str, bool], Future[list[Listed]]] = {}
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def listed(self, files: Iterable[Listed]) -> None:
        """Remember a listing; files that it shows with another size or version are no longer kept."""
        found = {file.path: file for file in files}
        if len(found) > _MAX_LISTED:
            return
        with self._lock:
            for path in self._kept.keys() & found.keys():
                before, now = self._listed.get(path), found[path]
                if before is None or (before.size, before.version) != (now.size, now.version):
                    self._bytes -= len(self._kept.pop(path))
            self._listed.update(found)

    def listing(self, path: str) -> Listed | None:
        """The file as a listing showed it."""
        return self._listed.get(path)

    def expect_folders(self, folders: Mapping[tuple[str, bool], Future[list[Listed]]]) -> None:
        """Note that these folders (path, whether with all below) are being listed."""
        self._folders.update(folders)

    def is_begun(self, path: str, recursive: bool) -> bool:
        """Whether the folder is listed, or on its way."""
        return (path, recursive) in self._folders

    def folder(self, path: str, *, recursive: bool) -> list[Listed] | None:
        """A listing that was begun, after waiting for it; None without one. Raises what listing raised, once."""
        future = self._folders.get((path, recursive))
        if future is None:
            return None
        try:
            return future.result()
        except BaseException:
            self._folders.pop((path, recursive), None)
            raise

    def forget_folders(self, path: str) -> None:
        """Drop the listings that may show this file or folder, or what is in it: it is written."""
        for folder, recursive in list(self._folders):
            if f"{path}/".startswith(f"{folder}/") or f"{folder}/".startswith(f"{path}/"):
                self._folders.pop((folder, recursive), None)

    def expect(self, files: Mapping[str, Future[bytes]]) -> None:
        """Note that these files are being read."""
        self._ahead.update(files)

    def forget(self, files: Mapping[str, Future[bytes]]) -> None:
        """Drop these files: no reader waits for them any more."""
        for path, future in files.items():
            if self._ahead.get(path) is future:
                del self._ahead[path]

    def is_here(self, path: str) -> bool:
        """Whether the file is cached or on its way."""
        return path in self._kept or path in self._ahead

    def get(self, path: str) -> bytes | None:
        """The cached bytes, after waiting for a file on its way; None without either. Raises what reading raised."""
        with self._lock:
            data = self._kept.get(path)
            if data is not None:
                self._kept.move_to_end(path)
                return data
        future = self._ahead.pop(path, None)
        try:
            return None if future is None else future.result()
        except (CancelledError, LargeFileError):  # whoever began it has left; or ranges of it are read
            return None

    def keep(self, path: str, data: bytes) -> None:
        """Cache a listed file; the least recently used files make room."""
        if path not in self._listed or len(data) > self._limit // 4:
            return
        with self._lock:
            if path not in self._kept:
                self._kept[path] = data
                self._bytes += len(data)
            while self._bytes > self._limit:
                _, gone = self._kept.popitem(last=False)
                self._bytes -= len(gone)
