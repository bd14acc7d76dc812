"""An index of some files only, in memory: what an index would say, and cost, before it is built.

    chosen       file slices, drawn from those that matter, with all their files: at most so many files
    sketched     by the code that builds an index, all sketches of a file in one pass
    asked        by the code that answers filters (``kind.OwnSketches``), for the chosen slices

What holds for a sample is carried over to the table by the number of slices (what is skipped), of files (bytes of the
index) or of bytes (seconds). A sample of all files says exactly what the index will say.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from index_store.own.build.local import LocalBuilder
from index_store.own.build.sketching import SketchPlan
from index_store.own.builder import FILE_ID, FILES, NewFiles
from index_store.own.definition import Definition, Entry
from index_store.own.maintenance.table_files import partitions_of, table_files, with_ids
from index_store.own.provider.kind import OwnSketches
from index_store.own.provider.own_indexes import OwnIndexes
from index_store.own.store.manifest import ids_of, row_indices_of
from index_store.own.store.own_index import FileRows
from index_store.own.store.stored_table import stored_size
from index_store.table.file_slices import FileSlices

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["InMemory", "Sample", "chosen_slices", "take_sample"]

NAME = "sample"
#: How many files are read again to measure what one sketch costs, and for about how long at most.
TIMED_FILES, TIMED_SECONDS = 8, 2.0


@dataclass(frozen=True)
class InMemory:
    """What is known of some files, in memory (``own_index.KnownFiles``). ``rows`` have the ids of the files."""

    definition: Definition
    files: pa.Table
    rows: pa.Table
    path: str = "a sample in memory"

    def find(
        self, paths: Sequence[str] | pa.Array, sizes: npt.NDArray[np.int64] | None = None
    ) -> npt.NDArray[np.int64]:
        """``(m,)``: the row of each path in ``files``, -1 where it is not among them."""
        return row_indices_of(paths if isinstance(paths, pa.Array) else pa.array(paths, pa.string()), sizes, self.files)

    def statistics(self, columns: Sequence[str] | None = None) -> Iterator[FileRows]:
        """These columns of all rows."""
        names = [name for name in self.rows.column_names if name != FILE_ID and (columns is None or name in columns)]
        yield FileRows(places_of_ids(self.files, self.rows), self.rows.select(names))


def places_of_ids(files: pa.Table, rows: pa.Table) -> npt.NDArray[np.int64]:
    """``(r,)``: which of the files each row is of, by id."""
    place = np.full(int(ids_of(files).max(initial=-1)) + 1, -1, np.int64)
    place[ids_of(files)] = np.arange(files.num_rows)
    found: npt.NDArray[np.int64] = place[ids_of(rows)]
    return found


@dataclass(frozen=True, eq=False)
class Sample:
    """Sketches of the files of some slices of a table.

    places     ``(k,)``: the chosen ones among the table's slices, ascending
    slices     the chosen ones
    files      their files (the schema ``builder.FILES``), ``rows`` what is stored of them, by id
    all_files  how many files the table has, and ``all_bytes`` and ``partitions``; ``manifest_bytes`` of an index that
               lists them
    failed     files that cannot be read, and why
    """

    table: Table
    entries: tuple[Entry, ...]
    options: Mapping[str, str]
    places: npt.NDArray[np.int64]
    slices: FileSlices
    files: pa.Table
    rows: pa.Table
    all_files: int
    all_bytes: int
    partitions: int
    manifest_bytes: int
    seconds: float
    failed: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def bytes(self) -> int:
        """Of the sample's files."""
        return int(np.sum(self.files.column("size").to_numpy()))

    def kind(self, *entries: Entry) -> OwnSketches:
        """An index of these sketches alone, of the sample's slices."""
        index = InMemory(self._definition(entries), self.files, self.rows)
        return OwnSketches(OwnIndexes(self.table, self.slices, [index]))

    def index_bytes(self, *entries: Entry) -> int:
        """Bytes of an index of the whole table: statistics, what is said of partitions, the list of files."""
        if not self.rows.num_rows:
            return self.manifest_bytes
        plan = self._plan(entries)
        rows = self.rows.select(plan.schema.names)
        whole, count = stored_size(rows), rows.num_rows
        half = rows.slice(0, count // 2)
        each = (whole - stored_size(half)) / (count - half.num_rows)
        size: int = round(whole + each * (self.all_files - count))
        return self.manifest_bytes + size + self._aggregate_bytes(rows, plan)

    def _aggregate_bytes(self, rows: pa.Table, plan: SketchPlan) -> int:
        """Of what is said of whole partitions, in proportion to their number."""
        places = places_of_ids(self.files, rows)
        of = partitions_of(self.files["path"].take(pa.array(places)))
        found = LocalBuilder(self.table.storage, plan).aggregate(
            rows.drop_columns([FILE_ID]).append_column("partition", of)
        )
        if found is None or not found.num_rows:
            return 0
        more = max(1.0, self.partitions / max(len(pc.unique(of)), 1))
        return round(stored_size(found) * more)

    def build_seconds(self, *entries: Entry) -> float:
        """How long the whole table would take in threads of this process: measured on some files of the sample.

        In proportion to files where footers are enough, else to their bytes. The files were read before: a store that
        is slow to read from takes longer.
        """
        count = self.files.num_rows
        if not count:
            return 0.0
        few = max(1, min(TIMED_FILES, int(TIMED_SECONDS * count / max(self.seconds, 1e-9))))
        some = np.unique(np.linspace(0, count - 1, min(count, few)).astype(np.intp))
        files = NewFiles(self.files.take(pa.array(some)))
        plan = self._plan(entries)
        began = time.perf_counter()
        for _ in LocalBuilder(self.table.storage, plan).build(files):
            pass
        spent = time.perf_counter() - began
        if len(plan.from_footers) == len(plan.targets):
            return spent * self.all_files / len(files)
        size = int(np.sum(files.table.column("size").to_numpy()))
        return float(spent * self.all_bytes / max(size, 1))

    def _definition(self, entries: Sequence[Entry]) -> Definition:
        return Definition(NAME, tuple(entries), options=self.options)

    def _plan(self, entries: Sequence[Entry]) -> SketchPlan:
        return SketchPlan.for_table(self.table, self._definition(entries))


def chosen_slices(slices: FileSlices, among: npt.NDArray[np.int64], most_files: int) -> npt.NDArray[np.int64]:
    """``(k,)``, ascending: drawn from these slices, with at most so many files together, but one slice at least.

    The same are drawn each time. Not every so-maniest: neighbours overlap more than others, and have to be among them.
    """
    drawn = np.random.default_rng(0).permutation(among)[:most_files]
    files = np.cumsum([len(one.files) for one in slices.some(drawn)])
    return np.sort(drawn[: max(1, int(np.searchsorted(files, most_files, "right")))])


def take_sample(
    table: Table,
    slices: FileSlices,
    places: npt.NDArray[np.int64],
    entries: Sequence[Entry],
    options: Mapping[str, str],
) -> Sample:
    """Sketch the files of these slices. Raises UnsupportedError for a sketch that is none."""
    everything, _ = table_files(table)
    some = replace(slices, items=tuple(slices.some(places)))
    wanted = pa.array(sorted(path for one in some for path in one.files), pa.string())
    row = pc.index_in(wanted, value_set=everything.column("path"))
    files = with_ids(everything.take(row.drop_null()))
    began = time.perf_counter()
    plan = SketchPlan.for_table(table, Definition(NAME, tuple(entries), options=options)) if entries else None
    rows, failed = pa.table({FILE_ID: pa.array([], pa.int32())}), {}
    if plan is not None:
        builder = LocalBuilder(table.storage, plan)
        rows = pa.Table.from_batches(builder.build(NewFiles(files)), plan.schema)
        failed = builder.failed
    return Sample(
        table,
        tuple(entries),
        dict(options),
        places,
        some,
        files,
        rows,
        everything.num_rows,
        int(np.sum(everything.column("size").to_numpy())),
        len(pc.unique(partitions_of(everything["path"]))),
        _manifest_bytes(everything),
        time.perf_counter() - began,
        failed,
    )


def _manifest_bytes(everything: pa.Table, most: int = 100_000) -> int:
    some = with_ids(everything.slice(0, most)).cast(FILES)
    size: int = round(stored_size(some, ["path"]) * max(1.0, everything.num_rows / most))
    return size
