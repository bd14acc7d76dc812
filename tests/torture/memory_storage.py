"""A table in memory, of which one file may be replaced. It notes which files are read. Nothing is cached."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from index_store.storage.byte_source import Bytes, ByteSource
from index_store.storage.errors import TableError
from index_store.storage.file_cache import FileCache
from index_store.storage.file_systems import locate
from index_store.storage.storage import MAX_WHOLE, Entry, Storage

__all__ = ["MemoryStorage", "unpacked"]

T = TypeVar("T")
_NOWHERE = locate("/torture")


class MemoryStorage(Storage):
    """Files by path. ``below`` gives a directory of it; ``replaced`` and ``read_paths`` are shared with that."""

    files_by_path: dict[str, bytes]
    folders: dict[str, list[str]]
    replaced: dict[str, bytes]
    read_paths: set[str]

    __slots__ = ("files_by_path", "folders", "read_paths", "replaced")

    def __init__(self, files: dict[str, bytes], inside: str = "", parent: MemoryStorage | None = None) -> None:
        super().__init__(f"/torture/{inside}".rstrip("/"), _NOWHERE, inside, FileCache())
        put = object.__setattr__
        put(self, "files_by_path", files)
        put(self, "replaced", {} if parent is None else parent.replaced)
        put(self, "read_paths", set() if parent is None else parent.read_paths)
        if parent is None:
            folders: dict[str, list[str]] = {}
            for path in sorted(files):
                folder = path.rpartition("/")[0]
                folders.setdefault(folder, []).append(path)
        else:
            folders = parent.folders
        put(self, "folders", folders)

    def below(self, path: str) -> MemoryStorage:
        return MemoryStorage(self.files_by_path, self.place(path).strip("/"), self)

    def elsewhere(self, path: str) -> Storage:
        return self if path == self.root else MemoryStorage({}, path)

    def afresh(self) -> Storage:
        return self

    def place(self, path: str) -> str:
        return super().place(path).lstrip("/")

    def read(self, path: str, limit: int = MAX_WHOLE) -> bytes:
        place = self.place(path)
        self.read_paths.add(place)
        found = self.replaced.get(place)
        if found is None:
            found = self.files_by_path.get(place)
        if found is None:
            raise TableError(self.absolute(path), "no such file")
        self._refuse_large(path, len(found), limit)
        return found

    def read_if_there(self, path: str, limit: int = MAX_WHOLE) -> bytes | None:
        return self.read(path, limit) if self.place(path) in self.files_by_path else None

    @contextmanager
    def ahead(self, paths: Sequence[str]) -> Iterator[None]:
        del paths
        yield

    @contextmanager
    def open(self, path: str, size: int | None = None) -> Iterator[ByteSource]:
        del size
        yield Bytes(self.read(path))

    def input_file(self, path: str) -> Any:
        return pa.BufferReader(self.read(path))

    def apply(self, path: str, function: Callable[[Any], T]) -> T:
        return function(self.input_file(path))

    @property
    def is_local(self) -> bool:
        return True

    def exists(self, path: str) -> bool:
        place = self.place(path)
        return place in self.files_by_path or any(
            folder == place or folder.startswith(f"{place}/") for folder in self.folders
        )

    def files(self, path: str = "", *, recursive: bool = False) -> list[Entry]:
        place = self.place(path).strip("/")
        cut = len(self._inside.strip("/")) + 1 if self._inside.strip("/") else 0
        if recursive:
            head = f"{place}/" if place else ""
            found = sorted(one for one in self.files_by_path if one.startswith(head))
        else:
            found = self.folders.get(place, [])
        return [Entry(one[cut:], len(self.replaced.get(one) or self.files_by_path[one])) for one in found]

    def files_outside(self, folder: str) -> list[Entry]:
        return [one for one in self.files(recursive=True) if not one.path.startswith(f"{folder}/")]


def unpacked(archive: Path) -> dict[str, bytes]:
    """The files of a zipped table, or of one in a tar archive, by their path in the table."""
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as zipped:
            files = {name: zipped.read(name) for name in zipped.namelist() if not name.endswith("/")}
    else:
        with tarfile.open(fileobj=io.BytesIO(archive.read_bytes())) as tarred:
            files = {}
            for member in tarred:
                stream = tarred.extractfile(member)
                if stream is not None:
                    files[member.name] = stream.read()
    while ".hoodie/hoodie.properties" not in {name.removeprefix("./") for name in files}:
        files = {name.removeprefix("./").partition("/")[2]: data for name, data in files.items()}
    return {name.removeprefix("./"): data for name, data in files.items()}
