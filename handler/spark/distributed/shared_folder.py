"""The shared folder: the driver and all executors see it, and statistics stay in it for the next filter.

    <folder>/<table>/<state>/slices.json            how many slices, and the files that name them
    <folder>/<table>/<state>/<question>.json        the files with the statistics of the index kinds for a question
    <folder>/<table>/<state>/<random>-00007.parquet

A file is never rewritten: each writer chooses new names, and writes the JSON that lists them last. A task that finds no
JSON writes the files itself. The state of the table is part of the path, so stored statistics never become wrong. When
a new state appears, all states but the newest few are removed.
"""

from __future__ import annotations

import json
import posixpath
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pyarrow as pa
from pyarrow import fs, parquet

from index_store.storage.errors import TableError
from index_store.storage.file_systems import Location, locate

__all__ = ["SharedFolder"]

T = TypeVar("T")

#: How many states of a table are kept; a job may still read an older one.
_STATES = 4


@dataclass(frozen=True)
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
                return parquet.ParquetFile(stream, page_checksum_verification=True).read()

        return self._run(name, attempt)

    def write_table(self, name: str, table: pa.Table) -> None:
        """Write a Parquet file."""

        def attempt(location: Location) -> None:
            location.filesystem.create_dir(location.root, recursive=True)
            parquet.write_table(
                table,
                _inside(location, name),
                filesystem=location.filesystem,
                compression="zstd",
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


def _inside(location: Location, name: str) -> str:
    return f"{location.root.rstrip('/')}/{name}"
