"""The operations of ``sargo index`` and of statements on the own indexes of a table: which index, and what builds it.

    create city --using bloom_filter     the definition, its folder, files sketched in threads or on Spark
    refresh                              every index of the table
    drop by_city                         the index of this name; one that cannot be read can be dropped too

A secondary index is created, refreshed and optimized by ``index_store.own.secondary``, one of sketches by
``index_store.own.maintenance``. Each operation gives a ``Report``; ``handler.views.index`` prints it.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import KW_ONLY, field
from datetime import timedelta
from typing import TYPE_CHECKING

import pyarrow as pa

from evaluator.language.records import frozen
from handler.indexes.benefit import benefits_at
from handler.indexes.entries import IndexWorkError, definition_of, known_by_hudi
from index_store import Table, TableError, open_table
from index_store.own.advice.benefit import Benefit
from index_store.own.builder import Builder, IndexedFile, MakeBuilder, Progress
from index_store.own.builders.local import build_locally
from index_store.own.builders.spark import build_on
from index_store.own.definition import SECONDARY_INDEX, SKETCHES, Definition
from index_store.own.maintenance.merged_files import SketchedFiles, sketched_files
from index_store.own.maintenance.operations import (
    RETENTION,
    OperationResult,
    Removed,
    create,
    drop,
    optimize,
    refresh,
    vacuum,
)
from index_store.own.maintenance.table_files import table_files
from index_store.own.secondary import operations as secondary
from index_store.own.secondary.slice_entries import LocalReader, MakeReader, SliceReader, key_columns
from index_store.own.secondary.spark_entries import read_on
from index_store.own.store.folder import Folder
from index_store.own.store.locations import DIRECTORY, IndexLocation, folder_of, indexes_of
from index_store.own.store.merged_slices import MergedPart, is_merged, merged_slices
from index_store.own.store.own_index import OwnIndex
from index_store.table.reads import begin_schemas
from index_store.table.table import Table as BaseTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["DEFAULT_SKETCH", "IndexWork", "Report", "Staleness", "staleness"]

#: Seconds for which a version that was read is taken for the latest one; the commit finds out if it is not.
_MOMENT = 10.0

DEFAULT_SKETCH = "min_max"


@frozen
class Report:
    """The result of an operation on one index.

    change     the result of create, refresh or optimize, unless there was nothing to do
    removed    what vacuum or drop removed
    unread     files that no statistics could be computed of, or slices that a secondary index does not know, and why
    not_merged slices with log files whose merged rows are not known, by a file of each, and why
    benefits   the selectivity scores of the index's sketches
    note       why there was nothing to do
    """

    name: str
    folder: str
    _: KW_ONLY
    change: OperationResult | None = None
    removed: Removed | None = None
    unread: Mapping[str, str] = field(default_factory=dict)
    not_merged: Mapping[str, str] = field(default_factory=dict)
    benefits: tuple[Benefit, ...] = ()
    note: str = ""


@frozen
class Staleness:
    """How far a table is ahead of an index: files that the index does not know, and known files that are gone.

    Filters read the files that the index does not know. ``logged``: slices with log files now, of an index of sketches;
    ``merged``: those of them whose merged rows the index knows.
    """

    unknown: int
    gone: int
    logged: int = 0
    merged: int = 0


@frozen(slots=False)
class IndexWork:
    """Operations on the indexes of the table at a path. Methods raise TableError and IndexWorkError.

    path        the folder of the index, if it is not beside the data
    spark       whether Spark reads the files, instead of threads of this process
    time_zone   in which expressions are computed
    """

    table_path: str
    path: str = ""
    table_options: Mapping[str, str] = field(default_factory=dict)
    storage_options: Mapping[str, str] = field(default_factory=dict)
    _: KW_ONLY
    spark: bool = False
    time_zone: str | None = None
    progress: Progress | None = None

    def open(self) -> Table:
        """The table, whose files and schema are on their way. Raises TableError."""
        table = open_table(self.table_path, options=self.table_options, storage_options=self.storage_options)
        table.begin_reading(["files"])
        begin_schemas(table.storage)
        return table

    def locations(self, table: Table) -> list[IndexLocation]:
        """Every index of the table, also one that cannot be read."""
        return indexes_of(table, [self.path] if self.path else [], self.storage_options)

    def create(self, on: Sequence[str], using: Sequence[str], name: str = "", *, if_needed: bool = False) -> Report:
        """Create an index with each of these sketches of each of these columns."""
        for what, given in (("on", on), ("using", using)):
            if isinstance(given, str | bytes) or not isinstance(given, Sequence):
                raise TypeError(f"{what} is a list of texts, not {type(given).__name__}")
        return self.create_of(
            [(column, sketch) for column in on for sketch in using or (DEFAULT_SKETCH,)], name, if_needed=if_needed
        )

    def create_of(self, uses: Sequence[tuple[str, str]], name: str = "", *, if_needed: bool = False) -> Report:
        """Create an index of pairs of a column and a sketch. ``if_needed``: only if none has its name."""
        table = self.open()
        if name and not self.path:
            with suppress(ValueError):  # ``definition_of`` says what is wrong with the name
                folder_of(table, name).begin_versions()
        definition = definition_of(table, uses, name, self.time_zone)
        folder = folder_of(table, definition.name, self.path, self.storage_options)
        if if_needed and any(one.name == definition.name for one in self.locations(table)):
            return Report(definition.name, folder.path)
        known = known_by_hudi(table, definition)
        if known and not if_needed:
            raise IndexWorkError(f"nothing was built: {known}")
        if known:
            return Report(definition.name, "", note=known)
        if definition.kind == SECONDARY_INDEX:
            change = secondary.create(folder, table, definition, self._make_reader(), self.progress)
            return _report(table, definition.name, folder, change, change.unknown)
        builders = _Builders(self._make_builder())
        change = create(folder, table, definition, builders, self.progress)
        return _report(table, definition.name, folder, change, builders.failed)

    def refresh(self, name: str = "", *, full: bool = False) -> list[Report]:
        """Bring an index up to date, or all of them."""
        table = self.open()
        chosen, read_at = self._chosen(table, name), time.monotonic()
        return [self._refresh(table, location, read_at, full=full) for location in chosen]

    def _refresh(self, table: Table, location: IndexLocation, read_at: float, *, full: bool) -> Report:
        folder, index = location.folder, location.index
        is_recent = index is not None and time.monotonic() - read_at < _MOMENT
        latest = index.latest if index is not None and is_recent else None
        if _is_secondary(location):
            change = secondary.refresh(
                folder, table, self._make_reader(), full=full, progress=self.progress, latest=latest
            )
            return _report(table, location.name, folder, change, change.unknown)
        builders = _Builders(self._make_builder())
        change = refresh(folder, table, builders, full=full, progress=self.progress, latest=latest)
        return _report(table, location.name, folder, change, builders.failed)

    def optimize(self, name: str = "") -> list[Report]:
        """Merge the statistics of an index, or of all of them."""
        reports = []
        for location in self._chosen(self.open(), name):
            merge = secondary.optimize if _is_secondary(location) else optimize
            change = merge(location.folder, self.progress)
            reports.append(Report(location.name, location.folder.path, change=change))
        return reports

    def vacuum(self, name: str = "", retention: timedelta | None = None) -> list[Report]:
        """Remove what only versions older than the retention need, of an index or of all of them."""
        return [
            Report(
                location.name,
                location.folder.path,
                removed=vacuum(location.folder, RETENTION if retention is None else retention),
            )
            for location in self._chosen(self.open(), name)
        ]

    def drop(self, name: str = "", *, if_needed: bool = False) -> Report:
        """Remove one index. ``if_needed``: do nothing when there is none of the name."""
        table = self.open()
        if if_needed and not any(one.name == name for one in self.locations(table)):
            return Report(name, "")
        location = self.one(table, name)
        return Report(location.name, location.folder.path, removed=drop(location.folder))

    def one(self, table: Table, name: str) -> IndexLocation:
        """The index of a name, or the only one, also one that cannot be read. Raises IndexWorkError otherwise."""
        named = self._named(table, name)
        if len(named) != 1:
            raise IndexWorkError(
                f"{table.path} has {len(named)} indexes, say which one: {', '.join(one.name for one in named)}"
            )
        return named[0]

    def _chosen(self, table: Table, name: str) -> list[IndexLocation]:
        """The index of a name, or all of them; each can be read. Raises TableError for one that cannot."""
        named = self._named(table, name)
        broken = next((location for location in named if location.index is None), None)
        if broken is not None:
            raise TableError(broken.folder.path, broken.fault)
        return named

    def _named(self, table: Table, name: str) -> list[IndexLocation]:
        """The indexes of a name, or all of them. Raises IndexWorkError when there is none."""
        locations = self.locations(table)
        if self.path:
            path = folder_of(table, "", self.path, self.storage_options).path
            locations = [location for location in locations if location.folder.path == path]
        named = [location for location in locations if not name or location.name == name]
        if named:
            return named
        if locations:
            raise IndexWorkError(f"{table.path} has no index {name}, but {', '.join(one.name for one in locations)}")
        raise IndexWorkError(
            f"there is no index of {table.path} in {self.path or DIRECTORY}: make one with "
            f"'sargo index create'{'' if self.path else ', or say with --path where it is'}"
        )

    def _make_builder(self) -> MakeBuilder:
        if not self.spark:
            return build_locally
        make = build_on(self._session(), self.storage_options)
        return lambda table, definition: _SparkBuilds(make(table, definition))

    def _make_reader(self) -> MakeReader:
        if not self.spark:
            return lambda table, definition: LocalReader(table.storage, key_columns(definition))
        make = read_on(self._session(), self.storage_options)
        return lambda table, definition: _SparkReads(make(table, definition))

    def _session(self) -> SparkSession:
        try:
            from pyspark.sql import SparkSession
        except ImportError as error:
            raise IndexWorkError("--spark needs PySpark: pip install 'sargo[spark]', or leave it out") from error
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # a local master's workers need this package
        return SparkSession.builder.appName("sargo index").getOrCreate()


class _SparkBuilds:
    """A builder on Spark, whose errors are IndexWorkError."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder

    def build(self, files: Sequence[IndexedFile]) -> Iterator[pa.RecordBatch]:
        with _errors_of_spark():
            yield from self._builder.build(files)


class _SparkReads:
    """A reader of slices on Spark, whose errors are IndexWorkError."""

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


def _is_secondary(location: IndexLocation) -> bool:
    return location.index is not None and location.index.definition.kind == SECONDARY_INDEX


def _report(table: Table, name: str, folder: Folder, change: OperationResult, unread: Mapping[str, str]) -> Report:
    """The report of a create or refresh, with scores of the index if it has changed."""
    benefits = benefits_at(table, OwnIndex(folder, change.version)) if change.committed else ()
    parts = {path: part for path in unread if (part := MergedPart.named(path)) is not None}
    return Report(
        name,
        folder.path,
        change=change,
        unread={path: why for path, why in unread.items() if path not in parts},
        not_merged={**change.not_merged, **{part.files[0]: unread[path] for path, part in parts.items()}},
        benefits=benefits,
    )


class _Builders:
    """Makes builders of sketches, and collects the files that they could not read."""

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
    """How far the table is ahead of the index. Raises TableError."""
    sketched = sketched_files(table) if index.definition.kind == SKETCHES else SketchedFiles(*table_files(table))
    files = sketched.files
    known = index.find(files.column("path"), files.column("size").to_numpy()) >= 0
    is_file = ~is_merged(files.column("path"))
    merged = merged_slices(files.column("path").filter(pa.array(known)))
    known = known & is_file
    return Staleness(int((is_file & ~known).sum()), index.version.files - int(known.sum()), sketched.logged, merged)
