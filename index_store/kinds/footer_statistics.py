"""Statistics from the Parquet footers of the base files that a filter leaves open for want of other statistics.

``column_stats`` may lack a column, a file, or the whole index, and some of its bounds are distrusted. The files' own
footers have bounds of every plain column. To read them costs a request for each file, so they are read last, and only
for slices that nothing else rules out:

    open slices                                     footers
    ----------------------------------------------  ---------------------------------------------------------
    everything is known of the filter's columns     none is read
    up to ``OPEN_LIMIT``, something is not known    those of the base files, each once for an opened table, or once for
                                                    a folder of snapshots (``remember``)
    more                                            none is read: an index is what such a table lacks

A slice with log files has the footer of its base file, and of its log files what ``column_stats`` says (C3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.language.schema import Field
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics, array_dtype, filler
from evaluator.statistics.distrust import Trust, widen_ancient_bounds, widen_float_as_double
from index_store.kinds.base import Coverage
from index_store.kinds.column_stats.absent_columns import reads_as_null
from index_store.kinds.column_stats.column_stats import ColumnStats
from index_store.kinds.column_stats.column_stats import make as column_stats
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.kinds.column_stats.slice_union import unite
from index_store.storage.errors import FormatError
from index_store.table.file_slices import FileSlices
from index_store.table.file_types import ABSENT, fit_of
from index_store.table.footer_values import FooterValues, footer_values
from index_store.table.merge_rule import merges_to_stored_values
from index_store.table.partition_paths import is_read_from_path
from index_store.table.schema_history import NameHistory, read_name_history

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = ["FOOTERS", "OPEN_LIMIT", "FooterMemory", "FooterStatistics", "make"]

FOOTERS = "footers"
#: The most open slices whose footers are read for one filter.
OPEN_LIMIT = 256
#: For how many seconds the footers of one filter are waited for.
SECONDS = 0.5

Rows = npt.NDArray[np.int64]


def make(table: Table, slices: FileSlices) -> FooterStatistics | None:
    """The kind; None for a bootstrapped table, whose columns are in other files."""
    return None if "hoodie.bootstrap.base.path" in table.properties else FooterStatistics(table, slices)


class FooterMemory(Protocol):
    """Keeps what footers proved, by path and column (None: nothing); it never raises."""

    def read(self) -> dict[tuple[str, str], FooterValues | None]: ...

    def write(self, values: Mapping[tuple[str, str], FooterValues | None]) -> None: ...


class FooterStatistics:
    """What the footers of base files prove of columns. Nothing is read before a filter has left slices open."""

    name = FOOTERS

    def __init__(self, table: Table, slices: FileSlices) -> None:
        self._table = table
        self._slices = slices
        self._column_stats: ColumnStats | None = None
        self._values: dict[tuple[str, str], FooterValues | None] = {}
        self._last: tuple[tuple[str, ...], bytes, StatisticsProvider] | None = None
        self._memory: FooterMemory | None = None
        self._is_recalled = True

    def remember(self, memory: FooterMemory) -> None:
        """Take what was kept by others before a footer is read, and keep what is read."""
        self._memory, self._is_recalled = memory, False

    def requires(self, asked: RequiredStatistics) -> RequiredStatistics:
        """Bounds and nulls of the columns that base files may hold."""
        return RequiredStatistics(
            bounds=tuple([column for column in asked.bounds if self._is_stored(column)]),
            nulls=tuple([column for column in asked.nulls if self._is_stored(column)]),
        )

    def provide(self, required: RequiredStatistics) -> StatisticsProvider:
        """Nothing yet: see ``provide_open``."""
        del required
        return StatisticsProvider(self.name, {})

    def provide_open(self, required: RequiredStatistics, rows: Rows) -> StatisticsProvider | None:
        """Statistics of the columns in the slices of these rows, and nothing of the others; None without any."""
        columns = self.requires(required).columns
        if not columns or not 0 < len(rows) <= OPEN_LIMIT:
            return None
        key = tuple(column.name for column in columns), rows.tobytes()
        if self._last is None or self._last[:2] != key:
            self._last = *key, StatisticsProvider(self.name, self._statistics(columns, rows))
        return self._last[2]

    def coverage(self, columns: Sequence[Field]) -> Coverage:
        """Nothing is covered before a filter asks."""
        del columns
        return Coverage(self.name, self._slices.instant, len(self._slices))

    @cached_property
    def _history(self) -> NameHistory:
        return read_name_history(self._table.storage)

    def _is_stored(self, column: Field) -> bool:
        """Whether base files have the column's own values, if any: not what a reader takes from a path."""
        name = column.name
        return (
            column.type.kind not in (Kind.OTHER, Kind.VOID)
            and name not in self._table.partition_fields
            and not is_read_from_path(name)
        )

    def _statistics(self, columns: Sequence[Field], rows: Rows) -> Mapping[str, ColumnStatistics]:
        slices = FileSlices(self._slices.instant, self._slices.source, tuple(self._slices.some(rows)))
        files = SliceFiles.of(slices)
        base = np.flatnonzero(~files.is_log & ~files.is_other)
        history = self._history
        known = [column for column in columns if column.name not in history.reused]
        self._read([files.paths[place] for place in base.tolist()], known)
        merged = merges_to_stored_values(self._table.properties)
        found = {}
        for column in known:
            is_null = reads_as_null(column, self._table, history.renamed)
            statistics = self._joined(column, files, base, is_null=is_null)
            logged = self._of_logs(column, files, rows)
            if logged is not None:
                statistics = statistics.joined(logged)
            if len(statistics.file_index):
                united = unite(statistics, files, np.array([], np.intp), custom_merge=not merged)
                found[column.name] = united.scattered(rows, len(self._slices), Trust.NO_RECORD)
        return found

    def _read(self, paths: Sequence[str], columns: Sequence[Field]) -> None:
        """Read what the footers of these base files prove, as far as the limits allow."""
        if self._memory is not None and not self._is_recalled:
            self._values.update(self._memory.read())
            self._is_recalled = True
        missing = [path for path in paths if any((path, column.name) not in self._values for column in columns)]
        footers, before = self._table.footers, len(self._values)
        for path in footers.read_within(missing, SECONDS):
            footer = footers.read(path)
            names = [column.name for column in columns if (path, column.name) not in self._values]
            try:
                values = {} if footer is None else footer_values(footer, names)
            except (OSError, pa.ArrowException, FormatError, IndexError, ValueError):
                values = {}
            self._values.update({(path, name): values.get(name) for name in names})
        if self._memory is not None and len(self._values) > before:
            self._memory.write(self._values)

    def _joined(self, column: Field, files: SliceFiles, base: npt.NDArray[np.intp], *, is_null: bool) -> FileStatistics:
        """A row for each base file of which the footer proves something."""
        unit = self._table.columns.units.get(column.name, "")
        rows = [
            (place, row)
            for place in base.tolist()
            if (values := self._values.get((files.paths[place], column.name))) is not None
            and (row := _row_of(values, column.type, unit, is_null=is_null)) is not None
        ]
        m = len(rows)
        bounds = [np.full(m, filler(column.type), array_dtype(column.type)) for _ in range(2)]
        is_bounded = np.zeros(m, np.bool_)
        for number, (_, (_, lo, hi, _)) in enumerate(rows):
            if lo is not None:
                bounds[0][number], bounds[1][number], is_bounded[number] = lo, hi, True
        (lows, lo_known), (highs, hi_known) = (
            widen_ancient_bounds(side, column.type, upper=upper)
            for side, upper in zip(bounds, (False, True), strict=True)
        )
        counts = np.array([row[0] for _, row in rows], np.int64)
        nulls = np.array([row[3] for _, row in rows], np.int64)
        bare = ~is_bounded & (nulls != counts)
        return FileStatistics(
            type=column.type,
            file_index=np.array([place for place, _ in rows], np.intp),
            lo=lows,
            hi=highs,
            lo_known=is_bounded & lo_known,
            hi_known=is_bounded & hi_known,
            nulls=nulls,
            rows=counts,
            trust=np.where(bare, np.uint8(Trust.NO_BOUNDS), np.uint8(Trust.OK)),
            empty=counts == 0,
            null_only=(nulls == counts) & (counts > 0),
            size=np.full(m, UNKNOWN_COUNT, np.int64),
        )

    def _of_logs(self, column: Field, files: SliceFiles, rows: Rows) -> FileStatistics | None:
        """What ``column_stats`` believes of the log files of these slices, as far as it has read the column."""
        if not files.is_log.any():
            return None
        if self._column_stats is None:
            self._column_stats = column_stats(self._table, self._slices)
        found = None if self._column_stats is None else self._column_stats.file_rows(column.name)
        if found is None or self._column_stats is None or found.distrusted or len(found.deleted):
            return None
        every = self._column_stats.files
        place = {path: number for number, path in enumerate(files.paths) if files.is_log[number]}
        chosen = [
            (row, place[path])
            for row in np.flatnonzero(np.isin(every.slice_of[found.rows.file_index], rows)).tolist()
            if (path := every.paths[found.rows.file_index[row]]) in place
        ]
        return found.rows.take(np.array([row for row, _ in chosen], np.intp)).moved(
            np.array([number for _, number in chosen], np.intp)
        )


def _row_of(values: FooterValues, column_type: Type, unit: str, *, is_null: bool) -> tuple[int, Any, Any, int] | None:
    """Rows, bounds and NULLs of a file in the column's type; None when the file's column says nothing of it."""
    if values.type == ABSENT:
        return (values.rows, None, None, values.rows) if is_null else None
    if not values.type.is_known or isinstance(fit_of(values.type, column_type, unit), Trust):
        return None
    lo, hi, of = values.lo, values.hi, values.type.type
    if lo is None:
        return values.rows, None, None, values.nulls
    if of.kind.is_text:
        lo, hi = lo.decode("utf-8"), hi.decode("utf-8")
    elif of.kind is Kind.FLOAT and column_type.kind is Kind.DOUBLE:
        lo = float(widen_float_as_double(np.array([lo]), np.array([lo]))[0][0])
        hi = float(widen_float_as_double(np.array([hi]), np.array([hi]))[1][0])
    elif of.kind is Kind.DECIMAL:
        factor = 10 ** (column_type.scale - of.scale)
        lo, hi = lo * factor, hi * factor
    return values.rows, lo, hi, values.nulls
