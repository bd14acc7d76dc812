"""The shared folder: the driver and all executors see it, and statistics stay in it for the next filter.

    <folder>/<table>/<state>/slices.json            how many slices, and the files that name them
    <folder>/<table>/<state>/partitions.json        the paths of their partitions
    <folder>/<table>/<state>/<question>.json        the files with the statistics of the index kinds for a question
    <folder>/<table>/<state>/<random>-00007.parquet

A file is never rewritten: each writer chooses new names, and writes the JSON that lists them last. A task that finds no
JSON writes the files itself. The state of the table is part of the path, so stored statistics never become wrong. When
a new state appears, all states but the newest few are removed.

What a process made of the tables that it read last stays in its memory, for the next filter. A Python worker of Spark
lives on between tasks (``spark.python.worker.reuse``), but Spark does not say to which worker it gives a task.
"""

from __future__ import annotations

import json
import os
import posixpath
import threading
import uuid
from collections.abc import Callable, Hashable
from dataclasses import field
from typing import Any, TypeVar, cast

import pyarrow as pa
from pyarrow import fs, parquet

from evaluator.language.records import frozen
from handler.recently_used import RecentlyUsed
from index_store.storage.errors import TableError
from index_store.storage.file_systems import Location, locate

__all__ = ["KEPT_MEGABYTES", "SharedFolder"]

T = TypeVar("T")

#: How many states of a table are kept; a job may still read an older one.
_STATES = 4
#: The environment variable with the megabytes that a process keeps of what it read, and how many there are without it.
KEPT_MEGABYTES = "SARGO_KEPT_MEGABYTES", 256


@frozen(slots=False)
class SharedFolder:
    """A folder at a path or URI; ``options`` are those of its file system. Methods raise TableError."""

    path: str
    options: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def below(self, name: str) -> SharedFolder:
        """A folder inside."""
        return SharedFolder(f"{self.path.rstrip('/')}/{name}", self.options)

    def read_json(self, name: str) -> dict[str, Any] | None:
        """The value of a JSON file; None when it is missing or incomplete."""

        def attempt(location: Location) -> bytes | None:
            try:
                with location.filesystem.open_input_stream(_inside(location, name)) as stream:
                    data: bytes = stream.read()
                    return data
            except FileNotFoundError:
                return None

        data = self._run(name, attempt)
        try:
            found = None if data is None else json.loads(data)
        except ValueError:
            return None
        return found if isinstance(found, dict) else None

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        """Put a file into the folder, which appears as a whole."""

        def attempt(location: Location) -> None:
            temporary = _inside(location, f"{name}.{uuid.uuid4().hex}")
            location.filesystem.create_dir(location.root, recursive=True)
            with location.filesystem.open_output_stream(temporary) as stream:
                stream.write(json.dumps(content).encode())
            location.filesystem.move(temporary, _inside(location, name))

        self._run(name, attempt)

    def read_table(self, name: str) -> pa.Table:
        """A Parquet file; one that was damaged is an error."""

        def attempt(location: Location) -> pa.Table:
            with location.filesystem.open_input_file(_inside(location, name)) as stream:
                return _decoded(stream)

        return self._run(name, attempt)

    def read_kept(self, name: str, form: Callable[[pa.Table], T], what: Hashable = None) -> T:
        """What ``form`` makes of a table; the same object again, as long as it was used lately. Nobody may change it.

        ``what`` names the form: two forms of one table have two names.
        """

        def read() -> tuple[T, int]:
            table = self.read_table(name)
            return form(table), table.nbytes

        return self._kept(name, what, read)

    def read_packed(self, name: str) -> pa.Table:
        """A Parquet file as ``read_table`` reads it; what stays in memory are its bytes, unless it is damaged."""

        def attempt(location: Location) -> tuple[pa.Buffer, int]:
            with location.filesystem.open_input_file(_inside(location, name)) as stream:
                data = stream.read_buffer()
                _decoded(pa.BufferReader(data))
                return data, data.size

        return _decoded(pa.BufferReader(self._kept(name, "bytes", lambda: self._run(name, attempt))))

    def _kept(self, name: str, what: Hashable, read: Callable[[], tuple[T, int]]) -> T:
        """What ``read`` gives, with its bytes; from memory, if it was used lately."""
        key = (self, name, what)
        with _LOCK:
            found = _KEPT.get(key)
        if found is None:
            found = _Kept(*read())
            with _LOCK:
                _KEPT.put(key, found)
        return cast(T, found.value)

    def write_table(self, name: str, table: pa.Table) -> None:
        """Write a Parquet file."""

        def attempt(location: Location) -> None:
            location.filesystem.create_dir(location.root, recursive=True)
            parquet.write_table(
                table,
                _inside(location, name),
                filesystem=location.filesystem,
                compression="lz4",  # decoded in half the time of zstd; dictionaries of bounds are as long as these
                use_dictionary=[name for name in ("partition",) if name in table.column_names],
                write_page_checksum=True,
            )

        self._run(name, attempt)

    def write_runs(self, tables: Callable[[int], pa.Table], count: int) -> list[str]:
        """Write ``count`` tables under names that nobody else has; gives the names."""
        prefix = uuid.uuid4().hex
        names = [f"{prefix}-{number:05}.parquet" for number in range(count)]
        for number, name in enumerate(names):
            self.write_table(name, tables(number))
        return names

    def tidy(self, keep: str) -> None:
        """Remove the folders in this one but ``keep`` and the newest few."""

        def attempt(location: Location) -> None:
            found = location.filesystem.get_file_info(fs.FileSelector(location.root, allow_not_found=True))
            folders = [info for info in found if info.type is fs.FileType.Directory]
            written = {
                info.path: location.filesystem.get_file_info(f"{info.path}/slices.json").mtime_ns or 0
                for info in folders
            }
            for path in sorted(written, key=lambda one: -written[one])[_STATES:]:
                if posixpath.basename(path) != keep and written[path]:
                    location.filesystem.delete_dir(path)

        self._run("", attempt)

    def _run(self, name: str, attempt: Callable[[Location], T]) -> T:
        location = locate(self.path, None, dict(self.options))
        try:
            return location.patience.run(lambda: attempt(location))
        except Exception as error:
            shown = location.mask(f"{type(error).__name__} {error}")
            raise TableError(f"{location.name}/{name}", f"the shared folder cannot be used: {shown}") from None


@frozen
class _Kept:
    value: object
    nbytes: int


def _most_bytes() -> int:
    name, default = KEPT_MEGABYTES
    text = os.environ.get(name, "")
    return (int(text) if text.isascii() and text.isdigit() else default) << 20


_LOCK = threading.Lock()
_KEPT: RecentlyUsed[Hashable, _Kept] = RecentlyUsed(
    most=1 << 16, most_bytes=_most_bytes(), bytes_of=lambda one: one.nbytes
)


def _decoded(source: pa.NativeFile) -> pa.Table:
    return parquet.ParquetFile(source, page_checksum_verification=True).read()


def _inside(location: Location, name: str) -> str:
    return f"{location.root.rstrip('/')}/{name}"
