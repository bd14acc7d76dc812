"""From statistics of files to statistics of slices: one union per column, and the parts of each slice (C3).

    file    known of it                      parts of its slice
    ------  -------------------------------  --------------------------------------------------
    a       a list: 'oslo', 'rome'; 2 NULLs  ['oslo', 'oslo'], ['rome', 'rome'], NULL
    b       bounds 'bonn' .. 'kiel'          ['bonn', 'kiel']
    c       nothing but NULL                 NULL
    d       no row                           none

Every value of a slice lies in one of its parts (``evaluator.statistics.columns.PartStatistics``), so ``city = 'paris'``
is impossible in a slice of the files a and b, although its bounds are 'bonn' .. 'rome'. A slice all of whose files are
as d has no row: no filter needs it. A slice with a file that is not known, or whose merge makes values that are in no
file, has neither bounds nor parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from evaluator.language.records import frozen
from evaluator.language.schema import Field
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics, PartStatistics
from evaluator.statistics.distrust import Trust
from evaluator.statistics.stored_bounds import concatenated, taken
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.kinds.column_stats.slice_union import unite
from index_store.own.provider.per_file_statistics import PerFileStatistics, fill_of, is_ancient
from index_store.own.provider.slice_filters import SliceFilters
from index_store.own.sketches.base import FileBounds

__all__ = ["IndexedColumn", "might_contain", "ordinal_of"]

Mask = npt.NDArray[np.bool_]
#: Numbers of files among the f files of ``SliceFiles``.
Files = npt.NDArray[np.intp]


@frozen(slots=False, eq=False)
class IndexedColumn:
    """What one index knows of one column: statistics of files, each with the numbers of the files in ``SliceFiles``."""

    column: Field
    per_file: Sequence[tuple[Files, PerFileStatistics]]

    def statistics(self, files: SliceFiles, *, custom_merge: bool) -> ColumnStatistics:
        """Statistics by slice. Some file has to be known."""
        of_files = _file_statistics(self.per_file, self.column.type)
        united = unite(of_files, files, np.zeros(0, np.intp), custom_merge=custom_merge)
        usable = _usable(files, of_files.file_index, custom_merge=custom_merge)
        without_rows = usable & (
            np.bincount(files.slice_of[of_files.file_index[~of_files.empty]], minlength=files.slices) == 0
        )
        return replace(
            united,
            row_count=np.where(without_rows, 0, united.row_count),
            parts=_parts(self.per_file, of_files, files, usable),
        )

    def filters(self, files: SliceFiles, *, custom_merge: bool) -> SliceFilters | None:
        """The filters of the files of the slices; None when there is no filter."""
        if not self.has_filters:
            return None
        all_known = np.concatenate([numbers for numbers, _ in self.per_file])
        usable = _usable(files, all_known, custom_merge=custom_merge)
        return SliceFilters.of(self.per_file, files.slice_of, usable)

    def count_filtered(self, files: SliceFiles, *, custom_merge: bool) -> int:
        """How many slices have a filter of each of their files; a file without rows needs none."""
        if not self.has_filters:
            return 0
        filtered = [numbers for numbers, known in self.per_file if known.filters or not known.row_counts.any()]
        return int(_usable(files, np.concatenate(filtered), custom_merge=custom_merge).sum())

    @property
    def has_filters(self) -> bool:
        """Whether some file has a filter."""
        return any(known.filters for _, known in self.per_file)


def might_contain(filters: SliceFilters, values: Sequence[object], column: Field) -> Mask | None:
    """``(n,) bool``: False for the slices of which no file has one of the values of a look-up.

    None when a reader may make one of the values of another one.
    """
    ordinals = [ordinal for value in values if (ordinal := ordinal_of(value, column)) is not None]
    return None if any(is_ancient(one, column.type) for one in ordinals) else filters.might_contain(ordinals)


def ordinal_of(value: object, column: Field) -> object:
    """A value of a look-up in the form of arrays; None for one that no column of the type holds."""
    kind = column.type.kind
    if kind.is_text or kind is Kind.BINARY:
        return value if isinstance(value, str | bytes) else None
    if not isinstance(value, int | float | Fraction):
        return None
    try:
        if kind.is_fractional:
            return float(value)
        exact = Fraction(value) * (10**column.type.scale if kind is Kind.DECIMAL else 1)
    except OverflowError:
        return None
    limit = 10**column.type.precision if kind is Kind.DECIMAL else 1 << 63
    return int(exact) if exact.denominator == 1 and -limit <= exact < limit else None


def _usable(files: SliceFiles, known: Files, *, custom_merge: bool) -> Mask:
    """``(n,) bool``: all files of the slice are known, and merged rows hold values of theirs."""
    usable: Mask = np.bincount(files.slice_of[np.unique(known)], minlength=files.slices) == files.count
    return usable & ~files.has_logs if custom_merge else usable


def _file_statistics(per_file: Sequence[tuple[Files, PerFileStatistics]], of: Type) -> FileStatistics:
    """The statistics of all files in one row, as those of Hudi's column statistics are."""
    numbers = np.concatenate([numbers for numbers, _ in per_file]).astype(np.intp)
    null_counts = np.concatenate([known.null_counts for _, known in per_file])
    row_counts = np.concatenate([known.row_counts for _, known in per_file])
    trust = np.concatenate([np.full(len(files), known.trust, np.uint8) for files, known in per_file])
    bounds = [known.bounds or _no_bounds(of, len(files)) for files, known in per_file]
    lo_known = np.concatenate([one.lo_known for one in bounds])
    hi_known = np.concatenate([one.hi_known for one in bounds])
    null_only = (null_counts == row_counts) & (row_counts > 0)
    empty = row_counts == 0
    no_bounds = ~lo_known & ~hi_known & ~null_only & ~empty & (trust == Trust.OK)
    return FileStatistics(
        type=of,
        file_index=numbers,
        lo=concatenated([one.lo for one in bounds]),
        hi=concatenated([one.hi for one in bounds]),
        lo_known=lo_known & ~null_only,
        hi_known=hi_known & ~null_only,
        nulls=null_counts,
        rows=row_counts,
        trust=np.where(no_bounds, np.uint8(Trust.NO_BOUNDS), trust),
        empty=empty,
        null_only=null_only,
        size=np.full(len(numbers), UNKNOWN_COUNT, np.int64),
    )


def _no_bounds(of: Type, n: int) -> FileBounds:
    unknown = np.zeros(n, np.bool_)
    return FileBounds(fill_of(of, n), fill_of(of, n), unknown, unknown)


def _taken(bounds: FileBounds, rows: npt.NDArray[np.intp]) -> FileBounds:
    return FileBounds(taken(bounds.lo, rows), taken(bounds.hi, rows), bounds.lo_known[rows], bounds.hi_known[rows])


def _parts(
    per_file: Sequence[tuple[Files, PerFileStatistics]], of_files: FileStatistics, files: SliceFiles, usable: Mask
) -> PartStatistics | None:
    """The parts of the slices that have several files, or a file with parts of its own."""
    has_parts = np.zeros(len(files.paths), np.bool_)
    for numbers, known in per_file:
        if known.parts is not None:
            has_parts[numbers[known.parts.known]] = True
    divided = np.zeros(files.slices, np.bool_)
    divided[files.slice_of[has_parts]] = True
    divided = (divided | (files.count > 1)) & usable
    if not divided.any():
        return None
    wanted = divided[files.slice_of[of_files.file_index]]
    whole = np.flatnonzero(wanted & ~has_parts[of_files.file_index] & ~of_files.null_only & ~of_files.empty)
    with_nulls = np.flatnonzero(wanted & (of_files.nulls != 0) & ~of_files.empty)
    bounds_of_files = FileBounds(of_files.lo, of_files.hi, of_files.lo_known, of_files.hi_known)
    parts = [
        (of_files.file_index[whole], _taken(bounds_of_files, whole)),
        *_parts_of_files(per_file, files, divided),
        (of_files.file_index[with_nulls], _no_bounds(of_files.type, len(with_nulls))),
    ]
    numbers = np.concatenate([one for one, _ in parts])
    bounds = [one for _, one in parts]
    is_null = np.arange(len(numbers)) >= len(numbers) - len(with_nulls)
    statistics = ColumnStatistics(
        type=of_files.type,
        lo=concatenated([one.lo for one in bounds]),
        hi=concatenated([one.hi for one in bounds]),
        lo_known=np.concatenate([one.lo_known for one in bounds]),
        hi_known=np.concatenate([one.hi_known for one in bounds]),
        null_count=np.where(is_null, 1, 0).astype(np.int64),
        row_count=np.where(is_null, 1, UNKNOWN_COUNT).astype(np.int64),
        trust=np.zeros(len(numbers), np.uint8),
    )
    slice_of = files.slice_of[numbers]
    order = np.argsort(slice_of, kind="stable")
    return PartStatistics(statistics.take(order), slice_of[order])


def _parts_of_files(
    per_file: Sequence[tuple[Files, PerFileStatistics]], files: SliceFiles, divided: Mask
) -> Iterator[tuple[Files, FileBounds]]:
    """The parts that sketches know within files of the divided slices: the file of each, and its bounds."""
    for numbers, known in per_file:
        if known.parts is not None:
            file = known.parts.file
            chosen = np.flatnonzero(divided[files.slice_of[numbers[file]]] & known.parts.known[file])
            yield numbers[file[chosen]], _taken(known.parts.bounds, chosen)
