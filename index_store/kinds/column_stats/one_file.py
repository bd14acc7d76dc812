"""A filter on the files of merged slices, one by one: a merged row is that of one of its slice's files.

    slice        base: 1 <= i <= 9, 5 <= l <= 6        log: i = 20, l = 1
    i > 10 AND l > 4    by the slice: 1 <= i <= 20, 1 <= l <= 6: kept        by file: none of the two can match

This holds where the table merges whole records. A log file of partial updates has the columns of an update only, and a
row may have the others from another file. So a column of a log file counts where none of its values is NULL: it is
not known whether a NULL was written, or means that the column was left out. Hudi's own columns do not count.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.statistics_provider import Match, StatisticsProvider
from evaluator.evaluation.evaluate import evaluate
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics
from index_store.kinds.column_stats.file_reading import FileRows
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.kinds.column_stats.slice_union import unite

__all__ = ["match_in_one_file"]

Mask = npt.NDArray[np.bool_]


def match_in_one_file(
    kind: str, bound: BoundExpression, candidates: Mask, files: SliceFiles, known: Mapping[str, FileRows]
) -> Match | None:
    """Where one file of a candidate with log files might hold a row that matches; other slices might match.

    ``known``: statistics of files by column. None when they say nothing about two conditions at once.
    """
    columns = {column for leaf in bound.leaves for column in leaf.columns if not column.startswith("_hoodie_")}
    usable = {column: known[column] for column in columns if column in known and not known[column].distrusted}
    merged = (candidates & files.has_logs)[files.slice_of]
    if len(bound.leaves) < 2 or not usable or not merged.any():
        return None
    chosen = np.flatnonzero(merged & ~_is_empty(list(usable.values()), files))
    statistics = {column: _of_files(rows, files).take(chosen) for column, rows in usable.items()}
    kept = evaluate(bound, len(chosen), [StatisticsProvider(kind, statistics)]).kept_rows
    might_match = np.ones(files.slices, np.bool_)
    might_match[files.slice_of[merged]] = False
    might_match[files.slice_of[chosen[kept]]] = True
    return Match(might_match, tuple(range(len(bound.leaves))))


def _is_empty(known: Sequence[FileRows], files: SliceFiles) -> Mask:
    """Log files that hold no row by the statistics of every column: deletions only."""
    is_empty: Mask = files.is_log.copy()
    for one in known:
        holds_none = np.zeros(len(files.paths), np.bool_)
        holds_none[one.rows.file_index[one.rows.empty]] = True
        holds_none[one.rows.file_index[~one.rows.empty]] = False
        holds_none[one.deleted] = False
        is_empty &= holds_none
    return is_empty


def _of_files(known: FileRows, files: SliceFiles) -> ColumnStatistics:
    """The statistics of each file by itself, as far as they are certain for one row of it."""
    f = len(files.paths)
    apart = SliceFiles(files.paths, files.partitions, np.arange(f), files.is_log, np.ones(f, np.intp))
    found = unite(known.rows, apart, known.deleted, custom_merge=False)
    doubtful = files.is_log & (found.null_count != 0)
    return ColumnStatistics(
        found.type,
        found.lo,
        found.hi,
        lo_known=found.lo_known & ~doubtful,
        hi_known=found.hi_known & ~doubtful,
        null_count=np.where(doubtful, UNKNOWN_COUNT, found.null_count),
        row_count=np.where(doubtful, UNKNOWN_COUNT, found.row_count),
        trust=found.trust,
    )
