"""A client over a file system of pyarrow: local disks, HDFS, fsspec, and object stores that pyarrow is asked to read.

pyarrow asks for the size of an object before it reads it. An object that is replaced between these requests is read
cut to its old length, so a whole file is read again until its size is the same afterwards. Where a reply is shorter
than its range, pyarrow 26 returns memory that was never written; nothing here can tell (docs/facts/object-stores.md).
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from pyarrow import fs

from index_store.storage.client import ChangedError, LargeFileError, Listed, Whole

__all__ = ["ArrowClient"]

_OBJECT_STORES = frozenset({"s3", "gcs", "abfs"})
_TRIES = 3


class ArrowClient:
    """``filesystem``: a ``pyarrow.fs.FileSystem``. ``is_local``: nothing is asked of another host."""

    def __init__(self, filesystem: Any, *, is_local: bool) -> None:
        self._filesystem = filesystem
        self._is_local = is_local
        self.kind: str = filesystem.type_name
        self.shares_files = not isinstance(filesystem, fs.PyFileSystem)
        self.writes_at_once = self.kind in _OBJECT_STORES

    def whole(self, path: str, limit: int) -> Whole:
        for _ in range(_TRIES):
            stream = self._filesystem.open_input_file(path)
            if stream.size() > limit:
                raise LargeFileError(stream.size(), stream)
            with stream:
                data: bytes = stream.read()
            if self._is_local or self._filesystem.get_file_info(path).size in (None, len(data)):
                return Whole(data)
        raise ChangedError("it changed each time it was read")

    def open(self, path: str, listed: Listed | None = None) -> Any:  # noqa: ARG002  pyarrow asks for the size itself
        return self._filesystem.open_input_file(path)

    def listed(self, path: str, *, recursive: bool = False) -> list[Listed]:
        selector = fs.FileSelector(path, recursive=recursive, allow_not_found=True)
        return [
            Listed(info.path, info.size or 0, "", (info.mtime_ns or 0) / 1e9)
            for info in self._filesystem.get_file_info(selector)
            if info.type is fs.FileType.File
        ]

    def folders(self, path: str) -> list[str]:
        found = self._filesystem.get_file_info(fs.FileSelector(path))
        return [info.path for info in found if info.type is fs.FileType.Directory]

    def exists(self, path: str) -> bool:
        return self._filesystem.get_file_info(path).type is not fs.FileType.NotFound

    def create_folder(self, path: str) -> None:
        if not self.writes_at_once:
            self._filesystem.create_dir(path, recursive=True)

    def write(self, path: str, source: Path, *, new: bool = False) -> None:  # noqa: ARG002  pyarrow only overwrites
        with source.open("rb") as local, self._filesystem.open_output_stream(path, compression=None) as sink:
            shutil.copyfileobj(local, sink, 1 << 20)

    def move(self, path: str, to: str) -> None:
        self._filesystem.move(path, to)

    def remove(self, path: str) -> None:
        self._filesystem.delete_file(path)

    def remove_all(self, path: str) -> None:
        self._filesystem.delete_dir(path)
