"""From files to slices: one union per column, before any expression is evaluated (C3).

    lo, hi       least and greatest over the files; unknown as soon as one file's is unknown or has no record
    null count   the sum over the files (an upper bound for merged rows; 0 is exact); unknown if one is
    row count    that of a slice that is one base file; for more files only when all of them are all null
    no rows      a log file of deletions adds nothing; a file of nulls adds its nulls
    parts        beside the union, each file by itself: a leaf over one column is decided file by file

Everything is reduced at once, so that the cost does not depend on the number of slices.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics, PartStatistics, array_dtype, filler
from evaluator.statistics.distrust import Trust
from evaluator.statistics.stored_bounds import StoredBounds, scattered
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.kinds.column_stats.slice_files import SliceFiles

__all__ = ["unite"]


def unite(
    rows: FileStatistics, files: SliceFiles, deleted: npt.NDArray[np.intp], *, custom_merge: bool
) -> ColumnStatistics:
    """One column's statistics per slice. ``deleted``: files whose statistics are marked as deleted."""
    n = files.slices
    of = files.slice_of[rows.file_index]
    file_indices = np.flatnonzero(np.bincount(rows.file_index))  # distinct
    complete = np.bincount(files.slice_of[file_indices], minlength=n) == files.count
    lo, lo_known = _extreme(np.minimum, rows, of, rows.lo, rows.lo_known, n)
    hi, hi_known = _extreme(np.maximum, rows, of, rows.hi, rows.hi_known, n)
    counted = complete & (_worst(of, rows.nulls == UNKNOWN_COUNT, n) == 0)
    nulls = np.where(counted, _nulls_of_files(rows, files, file_indices), UNKNOWN_COUNT)
    all_null = counted & (_worst(of, ~(rows.null_only | rows.empty), n) == 0) & (_worst(of, rows.null_only, n) == 1)
    row_count = np.full(n, UNKNOWN_COUNT, np.int64)
    row_count[all_null] = nulls[all_null]
    _count_single_files(row_count, rows, files, of)
    row_count[(row_count == nulls) & (nulls > 0) & ~all_null] = UNKNOWN_COUNT
    trust = _worst(of, rows.trust, n).astype(np.uint8)
    trust[~complete] = Trust.NO_RECORD
    trust[files.slice_of[deleted]] = Trust.TOMBSTONE
    usable = complete.copy()
    usable[files.slice_of[deleted]] = False
    if custom_merge:
        usable &= ~files.has_logs
        trust[files.has_logs] = Trust.CUSTOM_MERGE
    return ColumnStatistics(
        rows.type,
        lo,
        hi,
        lo_known=lo_known & usable,
        hi_known=hi_known & usable,
        null_count=np.where(usable, nulls, UNKNOWN_COUNT),
        row_count=np.where(usable, row_count, UNKNOWN_COUNT),
        trust=trust,
        parts=_by_file(rows, of, usable & (files.count > 1)),
    )


def _by_file(rows: FileStatistics, of: npt.NDArray[np.intp], wanted: npt.NDArray[np.bool_]) -> PartStatistics | None:
    """The statistics of each file of the wanted slices, all of whose files have some.

    A merged value comes from one of the files, and two records of one file bound it only together: then there are none.
    """
    chosen = np.flatnonzero(wanted[of] & ~rows.empty)
    if not len(chosen) or len(np.unique(rows.file_index[chosen])) < len(chosen):
        return None
    chosen = chosen[np.argsort(of[chosen], kind="stable")]
    files = ColumnStatistics(
        rows.type,
        rows.lo,
        rows.hi,
        lo_known=rows.lo_known,
        hi_known=rows.hi_known,
        null_count=rows.nulls,
        row_count=rows.rows,
        trust=rows.trust,
    )
    return PartStatistics(files.take(chosen), of[chosen])


def _extreme(
    reduce: np.ufunc, rows: FileStatistics, of: npt.NDArray[np.intp], bound: Any, known: npt.NDArray[np.bool_], n: int
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """The least or greatest bound of each slice, and where it is known: every file has one or holds no value."""
    out: Any = np.full(n, filler(rows.type), array_dtype(rows.type))
    bounded = np.zeros(n, np.bool_)
    chosen = np.flatnonzero(known)
    slices = of[chosen]
    if len(chosen):
        bounded[slices] = True
        if np.count_nonzero(bounded) < len(chosen):
            chosen = chosen[np.argsort(slices, kind="stable")]
            slices, starts = np.unique(of[chosen], return_index=True)
            out[slices] = reduce.reduceat(bound[chosen], starts)
        elif isinstance(bound, StoredBounds):
            out = scattered(bound if len(chosen) == len(bound) else bound.take(chosen), slices, n)
        else:
            out[slices] = bound[chosen]
    gap = _worst(of, ~(known | rows.empty | rows.null_only), n) > 0
    return out, bounded & ~gap


def _worst(of: npt.NDArray[np.intp], values: npt.NDArray[Any], n: int) -> npt.NDArray[np.int64]:
    """The greatest value of each slice, 0 where it has none."""
    found = np.zeros(n, np.int64)
    np.maximum.at(found, of, values.astype(np.int64))
    return found


def _nulls_of_files(
    rows: FileStatistics, files: SliceFiles, file_indices: npt.NDArray[np.intp]
) -> npt.NDArray[np.int64]:
    """How many nulls the files of each slice hold at most: records of one file count the same rows, not more."""
    of_file = np.full(len(files.paths), UNKNOWN_COUNT, np.int64)
    np.maximum.at(of_file, rows.file_index, rows.nulls)
    found = np.zeros(files.slices, np.int64)
    np.add.at(found, files.slice_of[file_indices], of_file[file_indices])
    return found


def _count_single_files(
    row_count: npt.NDArray[np.int64], rows: FileStatistics, files: SliceFiles, of: npt.NDArray[np.intp]
) -> None:
    """The row count of slices that are one base file. Records that widened each other agree on it, or it is unknown."""
    single = (files.count[of] == 1) & ~files.is_log[rows.file_index] & ~rows.null_only
    low = np.full(len(row_count), np.iinfo(np.int64).max)
    high = np.full(len(row_count), UNKNOWN_COUNT, np.int64)
    np.minimum.at(low, of[single], rows.rows[single])
    np.maximum.at(high, of[single], rows.rows[single])
    agree = low == high
    row_count[agree] = high[agree]
