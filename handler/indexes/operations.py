"""What the commands and statements about indexes do: which index is meant, and who builds it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

import pyarrow as pa

from handler.indexes.benefit import benefits_at
from handler.indexes.entries import IndexWorkError, definition_of, known_by_hudi
from index_store import Table, TableError, open_table
from index_store.own.advice.benefit import Benefit
from index_store.own.build.local import build_locally
from index_store.own.build.spark import build_on
from index_store.own.builder import Builder, IndexedFile, MakeBuilder, Progress
from index_store.own.definition import SECONDARY_INDEX, Definition
from index_store.own.maintenance.operations import OperationResult, Removed, create, drop, optimize, refresh, vacuum
from index_store.own.maintenance.table_files import table_files
from index_store.own.secondary import operations as secondary
from index_store.own.secondary.slice_entries import LocalReader, MakeReader, SliceReader, key_columns
from index_store.own.secondary.spark_entries import read_on
from index_store.own.store.folder import Folder
from index_store.own.store.locations import DIRECTORY, IndexLocation, folder_of, indexes_of
from index_store.own.store.own_index import OwnIndex
from index_store.table.table import Table as BaseTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["DEFAULT_SKETCH", "IndexWork", "Report", "Staleness", "staleness"]

DEFAULT_SKETCH = "min_max"


@dataclass(frozen=True, slots=True)
class Report:
    """What was done with one index: what changed, or what was removed, or neither when nothing was to be done.

    ``unread`` are files of which no statistics could be made, or slices that a secondary index does not know, and why;
    ``benefits`` what its sketches are worth; ``note`` why nothing was to be done.
    """

    name: str
    folder: str
    change: OperationResult | None = None
    removed: Removed | None = None
    unread: Mapping[str, str] = field(default_factory=dict)
    benefits: tuple[Benefit, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Staleness:
    """How far a table is ahead of an index: files that it does not know, which are read, and files that are gone."""

    unknown: int
    gone: int


@dataclass(frozen=True)
class IndexWork:
    """Work on the indexes of the table at a path.

    path        the folder of the index, if it is not beside the data
    time_zone   in which expressions are computed
    """

    table_path: str
    path: str = ""
    table_options: Mapping[str, str] = field(default_factory=dict)
    storage_options: Mapping[str, str] = field(default_factory=dict)
    spark: bool = False
    time_zone: str | None = None
    progress: Progress | None = None

    def open(self) -> Table:
        """The table. Raises TableError."""
        return open_table(self.table_path, options=self.table_options, storage_options=self.storage_options)

    def places(self, table: Table) -> list[IndexLocation]:
        """Every index of the table."""
        return indexes_of(table, [self.path] if self.path else [], self.storage_options)

    def create(self, on: Sequence[str], using: Sequence[str], name: str = "", *, if_needed: bool = False) -> Report:
        """Make an index of every one of these sketches (or of one kind) of every one of these columns."""
        return self.create_of(
            [(column, sketch) for column in on for sketch in using or (DEFAULT_SKETCH,)], name, if_needed=if_needed
        )

    def create_of(self, uses: Sequence[tuple[str, str]], name: str = "", *, if_needed: bool = False) -> Report:
        """The same of pairs of a column and a sketch."""
        table = self.open()
        definition = definition_of(table, uses, name, self.time_zone)
        folder = folder_of(table, definition.name, self.path, self.storage_options)
        if if_needed and any(one.name == definition.name for one in self.places(table)):
            return Report(definition.name, folder.path)
        known = known_by_hudi(table, definition)
        if known and not if_needed:
            raise IndexWorkError(f"nothing was built: {known}")
        if known:
            return Report(definition.name, "", note=known)
        if definition.kind == SECONDARY_INDEX:
            return _of_secondary(
                table,
                definition.name,
                folder,
                secondary.create(folder, table, definition, self._make_reader(), self.progress),
            )
        making = _Making(self._make_builder())
        change = create(folder, table, definition, making, self.progress)
        return Report(definition.name, folder.path, change, None, making.failed, benefits_at(table, folder))

    def refresh(self, name: str = "", *, full: bool = False) -> list[Report]:
        """Bring an index up to date, or all of them."""
        table = self.open()
        found = []
        for place in self._chosen(table, name):
            if _is_secondary(place):
                found.append(
                    _of_secondary(
                        table,
                        place.name,
                        place.folder,
                        secondary.refresh(place.folder, table, self._make_reader(), full=full, progress=self.progress),
                    )
                )
                continue
            making = _Making(self._make_builder())
            change = refresh(place.folder, table, making, full=full, progress=self.progress)
            found.append(
                Report(
                    place.name,
                    place.folder.path,
                    change,
                    None,
                    making.failed,
                    benefits_at(table, place.folder) if change.committed else (),
                )
            )
        return found

    def optimize(self, name: str = "") -> list[Report]:
        """Put the statistics of an index together, or of all."""
        return [
            Report(
                place.name,
                place.folder.path,
                (secondary.optimize if _is_secondary(place) else optimize)(place.folder, self.progress),
            )
            for place in self._chosen(self.open(), name)
        ]

    def vacuum(self, name: str = "", retention: timedelta | None = None) -> list[Report]:
        """Remove what no version needs that is younger than the retention, of an index or of all."""
        return [
            Report(
                place.name,
                place.folder.path,
                None,
                vacuum(place.folder) if retention is None else vacuum(place.folder, retention),
            )
            for place in self._chosen(self.open(), name)
        ]

    def drop(self, name: str = "", *, if_needed: bool = False) -> Report:
        """Remove one index."""
        table = self.open()
        if if_needed and not any(one.name == name for one in self.places(table)):
            return Report(name, "")
        place = self.one(table, name)
        return Report(place.name, place.folder.path, None, drop(place.folder))

    def one(self, table: Table, name: str) -> IndexLocation:
        """The index of a name, or the only one, also one that cannot be read. Raises IndexWorkError otherwise."""
        found = self._named(table, name)
        if len(found) != 1:
            raise IndexWorkError(
                f"{table.path} has {len(found)} indexes, say which one: {', '.join(one.name for one in found)}"
            )
        return found[0]

    def _chosen(self, table: Table, name: str) -> list[IndexLocation]:
        """The index of a name, or all of them; each can be read. Raises TableError for one that cannot."""
        found = self._named(table, name)
        broken = next((one for one in found if one.index is None), None)
        if broken is not None:
            raise TableError(broken.folder.path, broken.fault)
        return found

    def _named(self, table: Table, name: str) -> list[IndexLocation]:
        places = self.places(table)
        if self.path:
            place = folder_of(table, "", self.path, self.storage_options).path
            places = [one for one in places if one.folder.path == place]
        found = [one for one in places if not name or one.name == name]
        if found:
            return found
        if places:
            raise IndexWorkError(f"{table.path} has no index {name}, but {', '.join(one.name for one in places)}")
        raise IndexWorkError(
            f"there is no index of {table.path} in {self.path or DIRECTORY}: make one with "
            f"'sargo index create'{'' if self.path else ', or say with --path where it is'}"
        )

    def _make_builder(self) -> MakeBuilder:
        if not self.spark:
            return build_locally
        make = build_on(self._session(), self.storage_options)
        return lambda table, definition: _OnSpark(make(table, definition))

    def _make_reader(self) -> MakeReader:
        if not self.spark:
            return lambda table, definition: LocalReader(table.storage, key_columns(definition))
        make = read_on(self._session(), self.storage_options)
        return lambda table, definition: _ReadOnSpark(make(table, definition))

    def _session(self) -> SparkSession:
        try:
            from pyspark.sql import SparkSession
        except ImportError as error:
            raise IndexWorkError("--spark needs PySpark: pip install 'sargo[spark]', or leave it out") from error
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # a local master's workers need this package
        return SparkSession.builder.appName("sargo index").getOrCreate()


class _OnSpark:
    """A builder on Spark, whose errors are ours."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder

    def build(self, files: Sequence[IndexedFile]) -> Iterator[pa.RecordBatch]:
        with _errors_of_spark():
            yield from self._builder.build(files)


class _ReadOnSpark:
    """A reader on Spark, likewise."""

    def __init__(self, reader: SliceReader) -> None:
        self._reader = reader

    def read(self, slices: pa.Table) -> Iterator[pa.RecordBatch]:
        with _errors_of_spark():
            yield from self._reader.read(slices)


@contextmanager
def _errors_of_spark() -> Iterator[None]:
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()] or [type(error).__name__]
        why = next((line for line in reversed(lines) if "Error: " in line and not line.startswith("at ")), lines[0])
        raise IndexWorkError(f"Spark failed: {why[:500]}") from error


def _is_secondary(place: IndexLocation) -> bool:
    return place.index is not None and place.index.definition.kind == SECONDARY_INDEX


def _of_secondary(table: Table, name: str, folder: Folder, change: OperationResult) -> Report:
    return Report(
        name, folder.path, change, None, change.unknown, benefits_at(table, folder) if change.committed else ()
    )


class _Making:
    """Makes builders, and remembers which files they could not read."""

    def __init__(self, make: MakeBuilder) -> None:
        self._make = make
        self._made: list[Builder] = []

    def __call__(self, table: BaseTable, definition: Definition) -> Builder:
        self._made.append(self._make(table, definition))
        return self._made[-1]

    @property
    def failed(self) -> dict[str, str]:
        return {path: why for one in self._made for path, why in getattr(one, "failed", {}).items()}


def staleness(table: Table, index: OwnIndex) -> Staleness:
    """How far the table is ahead of the index."""
    files, _ = table_files(table)
    known = index.find(files.column("path"), files.column("size").to_numpy()) >= 0
    return Staleness(int((~known).sum()), index.files.num_rows - int(known.sum()))
