"""How an engine reads the kept slices with less work: a smaller filter, row counts instead of rows, an order.

    residual groups   slices that share what is left of the filter to check on their rows
    row count         rows of fully matched slices, for ``count(*)`` and LIMIT
    ordered slices    for ``ORDER BY c LIMIT n``: what to read first, and when to stop

A row count is exact only for a slice that is one base file: log files may delete its rows, or add more. It comes from
Hudi's ``column_stats``, whose value count is the number of rows of the file, as far as its columns agree
(docs/facts/hudi-column-stats.md#the-record).
Where a column is all NULL the count is not used: a file's records may have been added up. A table whose files keep
changes (``_hoodie_operation``) holds rows that stand for deletions: nothing is counted there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.evaluation.evaluate import StatisticsProvider
from evaluator.explain.ordering import Nulls, Rank, SliceOrder
from evaluator.language.expression import HudiExpression, to_dict
from evaluator.language.records import frozen
from evaluator.language.schema import Field, Schema
from evaluator.language.sql_text import to_sql
from evaluator.language.types import Kind
from evaluator.language.value_texts import value_text
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics
from index_store import FileSlice, FileSlices
from index_store.kinds.column_stats.column_stats import PARTITION as COLUMN_STATS

__all__ = ["Best", "OrderedSlices", "ReadStatistics", "ResidualGroup", "RowCount", "default_nulls", "exact_row_counts"]

#: Reads the statistics of some columns from every index kind; a kind that cannot be read is left out.
ReadStatistics = Callable[[Sequence[Field]], Sequence[StatisticsProvider]]
RowCounts = npt.NDArray[np.int64]

#: The index whose row counts are those of the files.
#: Columns whose statistics are read for a row count when the filter's columns have none. Hudi indexes them by default.
_LIKELY_INDEXED = ("_hoodie_commit_time", "_hoodie_record_key")
#: The number of columns whose statistics are read for a row count.
MAX_COLUMNS = 5
#: A column of tables whose rows are changes, which may be deletions.
_CHANGE_COLUMN = "_hoodie_operation"


@frozen(eq=False)
class ResidualGroup:
    """Kept slices that share a residual (``explain.residual``): TRUE on their rows exactly where the filter is.

    ``complete`` is False when a part of the filter that was not understood is left: the engine's own filter decides.
    ``text`` is SQL of the engine.
    """

    expression: HudiExpression
    slices: tuple[FileSlice, ...]
    complete: bool
    engine: str = "spark"

    @property
    def text(self) -> str:
        """The residual as SQL that the engine parses, when it is complete."""
        return to_sql(self.expression, self.engine)

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "text": self.text,
            "tree": to_dict(self.expression),
            "complete": self.complete,
            "file_ids": [item.file_id for item in self.slices],
        }


@frozen(eq=False)
class RowCount:
    """``count(*)`` of a filter: ``rows`` in the slices ``counted``; the slices ``to_read`` must be read."""

    rows: int
    counted: tuple[FileSlice, ...]
    to_read: tuple[FileSlice, ...]

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {"rows": self.rows, "counted": len(self.counted), "to_read": len(self.to_read)}


@frozen
class Best:
    """The best position that a row of a slice can have in a sort: the name of a ``Rank`` in lower case.

    ``value`` is the bound of a slice that is "bounded", in the form of ``language.types``; ``text`` the same for
    people.
    """

    rank: str
    value: Any = None
    text: str = ""


@frozen(slots=False, eq=False)
class OrderedSlices:
    """The kept slices in the order in which to read them for ``ORDER BY column LIMIT n``.

    note    why nothing is known of the order, or None
    """

    order: SliceOrder
    slices: tuple[FileSlice, ...]
    note: str | None

    @cached_property
    def best(self) -> tuple[Best, ...]:
        """For each slice the best position of any of its rows; no slice after it contains a better row."""
        best = []
        for position, rank in enumerate(self.order.ranks.tolist()):
            name, value = Rank(rank).name.lower(), self.order.best_value(position)
            best.append(
                Best(name, value, value_text(value, self.order.key.column.type)) if rank == Rank.BOUNDED else Best(name)
            )
        return tuple(best)

    def may_stop(self, read: int, worst: Any, *, ties_matter: bool = False) -> bool:
        """Whether reading may stop after the first ``read`` slices, when they contain n matching rows.

        ``worst`` is the column's value in the worst of these n rows, None for NULL: a Python value (``datetime``,
        ``Decimal``, ...) or one in the form of ``language.types``. ``ties_matter``: there are further sort columns.
        """
        return self.order.may_stop(read, worst, ties_matter=ties_matter)


def default_nulls(engine: str, *, descending: bool) -> Nulls:
    """Where NULL sorts by default. Hive's default changed with Hive 4 (``hive.default.nulls.last``): "either"."""
    return "either" if engine.startswith("hive") else "last" if descending else "first"


def exact_row_counts(
    slices: FileSlices,
    indices: npt.NDArray[np.intp],
    providers: Sequence[StatisticsProvider],
    ask: ReadStatistics | None,
    schema: Schema | None,
) -> RowCounts:
    """``(k,) int64``: the number of rows of the slices at these indices, ``UNKNOWN_COUNT`` where it is not exact."""
    if schema is not None and schema.resolve(_CHANGE_COLUMN, case_sensitive=True) is not None:
        return np.full(len(indices), UNKNOWN_COUNT, np.int64)
    single = np.fromiter((_is_one_base_file(slices.items[i]) for i in indices.tolist()), np.bool_, len(indices))
    statistics = [
        column for provider in providers if provider.name == COLUMN_STATS for column in provider.statistics.values()
    ]
    counts = _agreed_counts(statistics, indices)
    if ask is not None and schema is not None:
        for column in _candidates(schema):
            if not (single & (counts == UNKNOWN_COUNT)).any():
                break
            statistics += [
                provider.statistics[column.name]
                for provider in ask([column])
                if provider.name == COLUMN_STATS and column.name in provider.statistics
            ]
            counts = _agreed_counts(statistics, indices)
    return np.where(single, counts, UNKNOWN_COUNT)


def _is_one_base_file(item: FileSlice) -> bool:
    return item.base_file is not None and not item.log_files


def _candidates(schema: Schema) -> list[Field]:
    """A few columns that the index may contain, the likeliest first."""
    plain = [field for field in schema if field.type.kind is not Kind.OTHER and "." not in field.name]
    return sorted(plain, key=lambda field: field.name not in _LIKELY_INDEXED)[:MAX_COLUMNS]


def _agreed_counts(statistics: Iterable[ColumnStatistics], indices: npt.NDArray[np.intp]) -> RowCounts:
    """The row count of each slice, where all columns that have one agree."""
    counts = np.full(len(indices), UNKNOWN_COUNT, np.int64)
    disputed = np.zeros(len(indices), np.bool_)
    for one in statistics:
        rows, nulls = one.row_count[indices], one.null_count[indices]
        known = (rows != UNKNOWN_COUNT) & ((nulls != rows) | (rows == 0))
        disputed |= known & (counts != UNKNOWN_COUNT) & (counts != rows)
        counts = np.where(known, rows, counts)
    return np.where(disputed, UNKNOWN_COUNT, counts)
