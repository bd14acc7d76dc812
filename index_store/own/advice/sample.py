"""A sample of a table's slices, sketched in memory: what an index would answer and cost, before it is built.

    chosen       slices, drawn from those that matter, with at most so many files
    sketched     by the code that builds an index, all sketches of a file in one pass
    asked        by the code that answers filters (``provider.kind.OwnSketches``), for the chosen slices

    200 of 5,000 files sampled    an index of 1.2 MB for the sample's rows is one of about 30 MB for the table

Results of a sample are scaled to the table by slices (how many are skipped), by files (bytes of the index) or by bytes
(seconds of building). A sample of all files gives exactly the answers and the bytes of the index.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.records import frozen
from index_store.own.builder import FILE_ID, FILES, NewFiles
from index_store.own.builders.local import LocalBuilder
from index_store.own.builders.sketching import SketchPlan
from index_store.own.definition import Definition, Entry
from index_store.own.maintenance.table_files import partitions_of, table_files, with_ids
from index_store.own.provider.kind import OwnSketches
from index_store.own.provider.own_indexes import OwnIndexes
from index_store.own.store.manifest import ids_of, row_indices_of
from index_store.own.store.own_index import StatisticsRows
from index_store.own.store.stored_table import stored_size
from index_store.table.file_slices import FileSlices

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["InMemory", "Sample", "TableTotals", "chosen_slices", "take_sample"]

NAME = "sample"
#: How many files are read again to measure what one sketch costs, and for about how long at most.
TIMED_FILES, TIMED_SECONDS = 8, 2.0


@frozen(slots=False)
class InMemory:
    """The statistics of some files in memory (``own_index.IndexedFiles``); ``rows`` have the ids of the files."""

    definition: Definition
    files: pa.Table
    rows: pa.Table
    path: str = "a sample in memory"

    def find(
        self, paths: Sequence[str] | pa.Array, sizes: npt.NDArray[np.int64] | None = None
    ) -> npt.NDArray[np.int64]:
        """``(m,)``: the row of each path in ``files``, -1 where it is not among them."""
        return row_indices_of(paths if isinstance(paths, pa.Array) else pa.array(paths, pa.string()), sizes, self.files)

    def statistics(self, columns: Sequence[str] | None = None) -> Iterator[StatisticsRows]:
        """These columns of all rows."""
        names = [name for name in self.rows.column_names if name != FILE_ID and (columns is None or name in columns)]
        yield StatisticsRows(row_indices_of_ids(self.files, self.rows), self.rows.select(names))


def row_indices_of_ids(files: pa.Table, rows: pa.Table) -> npt.NDArray[np.int64]:
    """``(r,)``: for each row the index of its file, by id."""
    index_of_id = np.full(int(ids_of(files).max(initial=-1)) + 1, -1, np.int64)
    index_of_id[ids_of(files)] = np.arange(files.num_rows)
    indices: npt.NDArray[np.int64] = index_of_id[ids_of(rows)]
    return indices


@frozen
class TableTotals:
    """The files, bytes and partitions of the whole table, and the bytes of a list of its files."""

    files: int
    bytes: int
    partitions: int
    manifest_bytes: int

    @classmethod
    def of(cls, files: pa.Table) -> TableTotals:
        """The totals of all files of a table (the schema ``table_files.TABLE_FILES``)."""
        return cls(
            files.num_rows,
            int(np.sum(files.column("size").to_numpy())),
            len(pc.unique(partitions_of(files["path"]))),
            _manifest_bytes(files),
        )


@frozen(slots=False, eq=False, kw_only=True)
class Sample:
    """Sketches of the files of some slices of a table.

    options    of the definition of the index, such as the expressions and their zone
    slices     the sampled ones
    files      their files (the schema ``builder.FILES``); ``rows`` are the stored sketches of them, by id
    totals     of the whole table
    seconds    that sketching took
    failed     files that cannot be read, and why
    """

    table: Table
    options: Mapping[str, str]
    slices: FileSlices
    files: pa.Table
    rows: pa.Table
    totals: TableTotals
    seconds: float
    failed: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def bytes(self) -> int:
        """The bytes of the sample's files."""
        return int(np.sum(self.files.column("size").to_numpy()))

    def kind(self, *entries: Entry) -> OwnSketches:
        """An index of these sketches alone, of the sample's slices."""
        index = InMemory(self._definition(entries), self.files, self.rows)
        return OwnSketches(OwnIndexes(self.table, self.slices, [index]))

    def index_bytes(self, *entries: Entry) -> int:
        """Bytes of an index of the whole table: statistics, aggregates of partitions, the list of files."""
        if not self.rows.num_rows:
            return self.totals.manifest_bytes
        plan = self._plan(entries)
        rows = self.rows.select(plan.schema.names)
        whole, count = stored_size(rows), rows.num_rows
        half = rows.slice(0, count // 2)
        each = (whole - stored_size(half)) / (count - half.num_rows)
        size: int = round(whole + each * (self.totals.files - count))
        return self.totals.manifest_bytes + size + self._aggregate_bytes(rows, plan)

    def _aggregate_bytes(self, rows: pa.Table, plan: SketchPlan) -> int:
        """Bytes of the aggregates of partitions, in proportion to their number."""
        partitions = partitions_of(self.files["path"].take(pa.array(row_indices_of_ids(self.files, rows))))
        aggregates = LocalBuilder(self.table.storage, plan).aggregate(
            rows.drop_columns([FILE_ID]).append_column("partition", partitions)
        )
        if aggregates is None or not aggregates.num_rows:
            return 0
        scale = max(1.0, self.totals.partitions / max(len(pc.unique(partitions)), 1))
        return round(stored_size(aggregates) * scale)

    def build_seconds(self, *entries: Entry) -> float:
        """Seconds in which threads of this process would sketch the whole table, measured on some files of the sample.

        Scaled by files where footers are enough, else by bytes. The files were read before, so a store that is slow to
        read from takes longer.
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
            return spent * self.totals.files / len(files)
        size = int(np.sum(files.table.column("size").to_numpy()))
        return float(spent * self.totals.bytes / max(size, 1))

    def _definition(self, entries: Sequence[Entry]) -> Definition:
        return Definition(NAME, tuple(entries), options=self.options)

    def _plan(self, entries: Sequence[Entry]) -> SketchPlan:
        return SketchPlan.for_table(self.table, self._definition(entries))


def chosen_slices(slices: FileSlices, among: npt.NDArray[np.int64], most_files: int) -> npt.NDArray[np.int64]:
    """``(k,)``, ascending: slices drawn from ``among``, with at most so many files together, but one slice at least.

    Every call draws the same slices. They are drawn at random, as evenly spaced ones would leave out neighbours, which
    overlap more than others.
    """
    drawn = np.random.default_rng(0).permutation(among)[:most_files]
    files = np.cumsum([len(one.files) for one in slices.some(drawn)])
    return np.sort(drawn[: max(1, int(np.searchsorted(files, most_files, "right")))])


def take_sample(
    table: Table,
    slices: FileSlices,
    sampled: npt.NDArray[np.int64],
    entries: Sequence[Entry],
    options: Mapping[str, str],
) -> Sample:
    """Sketch the files of the sampled slices, by index. Raises UnsupportedError for a sketch that is not known."""
    all_files, _ = table_files(table)
    some = replace(slices, items=tuple(slices.some(sampled)))
    wanted = pa.array(sorted(path for one in some for path in one.files), pa.string())
    files = with_ids(all_files.take(pc.index_in(wanted, value_set=all_files.column("path")).drop_null()))
    began = time.perf_counter()
    rows, failed = pa.table({FILE_ID: pa.array([], pa.int32())}), {}
    if entries:
        plan = SketchPlan.for_table(table, Definition(NAME, tuple(entries), options=options))
        builder = LocalBuilder(table.storage, plan)
        rows = pa.Table.from_batches(builder.build(NewFiles(files)), plan.schema)
        failed = builder.failed
    return Sample(
        table=table,
        options=dict(options),
        slices=some,
        files=files,
        rows=rows,
        totals=TableTotals.of(all_files),
        seconds=time.perf_counter() - began,
        failed=failed,
    )


def _manifest_bytes(files: pa.Table, most: int = 100_000) -> int:
    some = with_ids(files.slice(0, most)).cast(FILES)
    size: int = round(stored_size(some, ["path"]) * max(1.0, files.num_rows / most))
    return size
