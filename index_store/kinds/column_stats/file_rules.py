"""The rules by which statistics of single files are believed: ``statistics.distrust``, applied to records of a column.

A row is one record of one file (two when a later record widened an earlier one). Base files are Parquet, and their
bounds come from the footer with its gaps; log files are Avro, and their bounds were compared in Java, value by value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language.records import frozen
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import UNKNOWN_COUNT, array_dtype, filler
from evaluator.statistics.distrust import (
    ROWS_IN_ONE_ROW_GROUP,
    Trust,
    all_null,
    believe_short_text,
    distrust_float_spanning_zero,
    distrust_impossible_counts,
    distrust_inverted_bounds,
    distrust_nan_bounds,
    distrust_nan_zero_bounds,
    distrust_null_bounds_of_text,
    distrust_reordered_text,
    distrust_text_beside_nulls,
    holds_nothing,
    ignore_bounds_of_all_null,
)
from evaluator.statistics.stored_bounds import concatenated, taken
from index_store.formats.avro_columns import StatsRecord
from index_store.formats.parquet_footers import ColumnProofs, Proof
from index_store.formats.stats_columns import NO_COUNT, Side, StatsColumns
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.kinds.column_stats.stats_values import Bound, StoredAs, read_bounds, read_groups

__all__ = ["FileStatistics", "believe"]

#: How many files are looked at for a claim that is almost always true.
SAMPLES = 8

Mask = npt.NDArray[np.bool_]
Counts = npt.NDArray[np.int64]


@frozen(eq=False, kw_only=True)
class FileStatistics:
    """Statistics of one column, a row for each record: ``(m,)`` arrays, ``file_index`` the file in ``SliceFiles``.

    ``empty``: the file holds no row of its own. ``null_only``: all its values are null. ``size``: in bytes before
    compression.
    """

    type: Type
    file_index: npt.NDArray[np.intp]
    lo: Any
    hi: Any
    lo_known: Mask
    hi_known: Mask
    nulls: Counts
    rows: Counts
    trust: npt.NDArray[np.uint8]
    empty: Mask
    null_only: Mask
    size: Counts

    @classmethod
    def of(
        cls,
        records: Sequence[StatsRecord],
        file_index: npt.NDArray[np.intp],
        column_type: Type,
        unit: str,
        version: int,
    ) -> FileStatistics:
        """Records of one column in the column's type; nothing is believed or doubted yet but the type."""
        m = len(records)
        columns: tuple[Sequence[Any], ...] = tuple(zip(*records, strict=True)) if m else ((),) * 13
        _, _, lo_wrapper, lo, hi_wrapper, hi, rows, nulls, _, _, ordinal, info, size = columns
        lo_kinds, hi_kinds = (list(zip(side, ordinal, info, strict=True)) for side in (lo_wrapper, hi_wrapper))
        low = read_bounds(lo, lo_kinds, column_type, unit, version, upper=False)
        high = read_bounds(hi, hi_kinds, column_type, unit, version, upper=True)
        return cls._undoubted(
            low, high, file_index, column_type, nulls=_counts(nulls), rows=_counts(rows), size=_counts(size)
        )

    @classmethod
    def of_columns(
        cls, columns: StatsColumns, file_index: npt.NDArray[np.intp], column_type: Type, unit: str, version: int
    ) -> FileStatistics:
        """The same as ``of``, for many records at once."""

        def side(one: Side, upper: bool) -> Bound:
            groups = (
                (rows, StoredAs(wrapper, ordinal, info), one.values(rows, kind))
                for rows, wrapper, ordinal, info, kind in columns.kinds(one)
            )
            return read_groups(groups, len(columns), column_type, unit, version, upper=upper)

        def counts(values: Counts) -> Counts:
            return np.where(values == NO_COUNT, UNKNOWN_COUNT, values)

        low, high = side(columns.lo, False), side(columns.hi, True)
        return cls._undoubted(
            low,
            high,
            file_index,
            column_type,
            nulls=counts(columns.nulls),
            rows=counts(columns.rows),
            size=counts(columns.size),
        )

    @classmethod
    def _undoubted(
        cls,
        low: Bound,
        high: Bound,
        file_index: npt.NDArray[np.intp],
        column_type: Type,
        *,
        nulls: Counts,
        rows: Counts,
        size: Counts,
    ) -> FileStatistics:
        """Statistics as stored: no rule has been applied yet, so no file counts as empty or all null."""
        no = np.zeros(len(file_index), np.bool_)
        return cls(
            type=column_type,
            file_index=file_index,
            lo=low.values,
            hi=high.values,
            lo_known=low.known,
            hi_known=high.known,
            nulls=nulls,
            rows=rows,
            trust=np.maximum(low.trust, high.trust),
            empty=no,
            null_only=no,
            size=size,
        )

    def distrusting(self, mask: Mask, trust: Trust, *, counts_too: bool = False) -> FileStatistics:
        """Forget the bounds where the mask says so (and the counts, which takes back "all null" and "empty")."""
        if not mask.any():
            return self
        trusted = replace(
            self,
            lo_known=self.lo_known & ~mask,
            hi_known=self.hi_known & ~mask,
            trust=np.where(mask, np.uint8(trust), self.trust),
        )
        if counts_too:
            trusted = replace(
                trusted,
                nulls=np.where(mask, UNKNOWN_COUNT, self.nulls),
                empty=self.empty & ~mask,
                rows=np.where(mask, UNKNOWN_COUNT, self.rows),
                null_only=self.null_only & ~mask,
            )
        return trusted

    def take(self, chosen: npt.NDArray[np.intp]) -> FileStatistics:
        """Some of the rows."""
        return FileStatistics(
            type=self.type,
            file_index=self.file_index[chosen],
            lo=taken(self.lo, chosen),
            hi=taken(self.hi, chosen),
            lo_known=self.lo_known[chosen],
            hi_known=self.hi_known[chosen],
            nulls=self.nulls[chosen],
            rows=self.rows[chosen],
            trust=self.trust[chosen],
            empty=self.empty[chosen],
            null_only=self.null_only[chosen],
            size=self.size[chosen],
        )

    def moved(self, file_index: npt.NDArray[np.intp]) -> FileStatistics:
        """The same rows of files that have these indices elsewhere."""
        return replace(self, file_index=file_index)

    def joined(self, other: FileStatistics) -> FileStatistics:
        """The rows of both, which are of one column."""

        def both(name: str) -> Any:
            return np.concatenate([getattr(self, name), getattr(other, name)])

        return FileStatistics(
            type=self.type,
            file_index=both("file_index"),
            lo=concatenated([self.lo, other.lo]),
            hi=concatenated([self.hi, other.hi]),
            lo_known=both("lo_known"),
            hi_known=both("hi_known"),
            nulls=both("nulls"),
            rows=both("rows"),
            trust=both("trust"),
            empty=both("empty"),
            null_only=both("null_only"),
            size=both("size"),
        )

    def with_nulls(self, file_indices: npt.NDArray[np.intp], counts: Counts) -> FileStatistics:
        """Rows added for files of which all ``counts`` values are null."""
        m = len(file_indices)
        bounds = np.full(m, filler(self.type), array_dtype(self.type))
        no = np.zeros(m, np.bool_)
        nulls = FileStatistics(
            type=self.type,
            file_index=file_indices,
            lo=bounds,
            hi=bounds,
            lo_known=no,
            hi_known=no,
            nulls=counts,
            rows=counts,
            trust=np.zeros(m, np.uint8),
            empty=counts == 0,
            null_only=counts > 0,
            size=np.full(m, UNKNOWN_COUNT, np.int64),
        )
        return self.joined(nulls)


def _counts(values: Sequence[int | None]) -> Counts:
    try:
        return np.array([UNKNOWN_COUNT if value is None else value for value in values], np.int64)
    except OverflowError:
        return np.full(len(values), UNKNOWN_COUNT, np.int64)


def believe(rows: FileStatistics, files: SliceFiles, proof: Callable[[str], Proof]) -> FileStatistics:
    """Apply every rule; ``proof`` reads a base file's footer where it can settle the doubt of a rule."""
    is_log = files.is_log[rows.file_index]
    stored_lo, stored_hi = rows.lo_known, rows.hi_known
    rows = rows.distrusting(distrust_impossible_counts(rows.nulls, rows.rows), Trust.COUNTS, counts_too=True)
    empty = holds_nothing(stored_lo, stored_hi, rows.nulls, rows.rows) & (rows.trust == Trust.OK)
    null_only = all_null(rows.nulls, rows.rows) & (rows.trust == Trust.OK)
    is_text = rows.type.kind.is_text or rows.type.kind is Kind.BINARY
    doubtful = distrust_null_bounds_of_text(stored_lo, stored_hi, rows.nulls, rows.rows)
    if not is_text:  # all null is stored as zeros: these had no bounds (INT96)
        doubtful &= ~is_log
    elif (~is_log & (stored_lo | stored_hi)).any():  # the writer does write bounds of the column
        doubtful &= is_log | ~believe_short_text(rows.size)
    proven = _ask(doubtful & ~is_log, rows, files, proof, lambda found: found.all_null)
    if _is_refuted(null_only & ~doubtful & ~is_log, rows, files, proof):
        doubtful = doubtful | null_only & ~is_log
    null_only &= ~doubtful | proven
    rows = replace(rows, empty=empty, null_only=null_only)
    counted = rows.rows  # how many rows there are is not in doubt
    why = Trust.LONG_STRING if is_text else Trust.NO_BOUNDS
    rows = replace(rows.distrusting(doubtful & ~proven, why, counts_too=True), rows=counted)
    rows = rows.distrusting(files.is_other[rows.file_index], Trust.NOT_PARQUET, counts_too=True)
    ignored = ignore_bounds_of_all_null(rows.nulls, rows.rows)
    rows = replace(rows, lo_known=rows.lo_known & ~ignored, hi_known=rows.hi_known & ~ignored)
    if rows.type.kind.is_fractional:
        rows = _believe_floats(rows, files, is_log, proof)
    elif rows.type.kind.is_text or rows.type.kind is Kind.BINARY:
        rows = _believe_text(rows, files, is_log, proof)
    both = rows.lo_known & rows.hi_known
    inverted = np.zeros(len(both), np.bool_)
    inverted[both] = distrust_inverted_bounds(taken(rows.lo, both), taken(rows.hi, both))
    rows = rows.distrusting(inverted, Trust.INVERTED)
    bare = ~rows.lo_known & ~rows.hi_known & ~rows.empty & ~rows.null_only & (rows.trust == Trust.OK)
    return replace(rows, trust=np.where(bare, np.uint8(Trust.NO_BOUNDS), rows.trust))


def _believe_floats(
    rows: FileStatistics, files: SliceFiles, is_log: Mask, proof: Callable[[str], Proof]
) -> FileStatistics:
    bounded = rows.lo_known | rows.hi_known
    zero = bounded & distrust_nan_zero_bounds(rows.lo, rows.hi)
    spanning = bounded & ~zero & ~is_log & distrust_float_spanning_zero(rows.lo, rows.hi, rows.rows)
    proven = _ask((zero | spanning) & ~is_log, rows, files, proof, lambda found: found.bounded)
    rows = rows.distrusting(spanning & ~proven, Trust.NAN_HIDDEN).distrusting(zero & ~proven, Trust.NAN_ZERO)
    return rows.distrusting(bounded & distrust_nan_bounds(rows.lo, rows.hi), Trust.NAN_BOUND)


def _believe_text(
    rows: FileStatistics, files: SliceFiles, is_log: Mask, proof: Callable[[str], Proof]
) -> FileStatistics:
    beside = (rows.lo_known | rows.hi_known) & ~is_log & distrust_text_beside_nulls(rows.nulls, rows.rows)
    beside &= ~believe_short_text(rows.size)
    proven = _ask(beside, rows, files, proof, lambda found: found.bounded)
    rows = rows.distrusting(beside & ~proven, Trust.LONG_STRING)
    if rows.type.kind is Kind.BINARY:
        return rows
    in_java = is_log | (rows.rows > ROWS_IN_ONE_ROW_GROUP) | (rows.rows == UNKNOWN_COUNT)
    lo_bad = rows.lo_known & in_java & distrust_reordered_text(rows.lo, upper=False)
    hi_bad = rows.hi_known & in_java & distrust_reordered_text(rows.hi, upper=True)
    return replace(
        rows,
        lo_known=rows.lo_known & ~lo_bad,
        hi_known=rows.hi_known & ~hi_bad,
        trust=np.where(lo_bad | hi_bad, np.uint8(Trust.TEXT_ORDER), rows.trust),
    )


def _is_refuted(claims: Mask, rows: FileStatistics, files: SliceFiles, proof: Callable[[str], Proof]) -> bool:
    """Whether a footer contradicts "all null" in one of a few samples.

    Hudi also stores zeros with nulls = rows for a file that was written without statistics. A writer is configured so
    for a table or a column, not for one file; after one contradiction no such claim of the column is believed.
    """
    claimed = np.flatnonzero(claims)
    if not len(claimed):
        return False
    chosen = claimed[np.unique(np.linspace(0, len(claimed) - 1, SAMPLES).astype(np.intp))]
    proofs = [proof(files.paths[rows.file_index[row]]) for row in chosen.tolist()]
    return any(one.read and not one.all_null for one in proofs)


def _ask(
    doubtful: Mask,
    rows: FileStatistics,
    files: SliceFiles,
    proof: Callable[[str], Proof],
    settles: Callable[[Proof], bool],
) -> Mask:
    """``(m,) bool``: the doubts that a footer settles."""
    settled = np.zeros(len(doubtful), np.bool_)
    doubtful_rows = np.flatnonzero(doubtful).tolist()
    paths = [files.paths[rows.file_index[row]] for row in doubtful_rows]
    if isinstance(proof, ColumnProofs):
        proof.expect(paths)
    for row, path in zip(doubtful_rows, paths, strict=True):
        settled[row] = settles(proof(path))
    return settled
