"""From what is known of files to what is known of slices: one union per column, and the parts of each slice (C3).

    file    known of it                      parts of its slice
    ------  -------------------------------  --------------------------------------------------
    a       a list: 'oslo', 'rome'; 2 NULLs  ['oslo', 'oslo'], ['rome', 'rome'], NULL
    b       bounds 'bonn' .. 'kiel'          ['bonn', 'kiel']
    c       nothing but NULL                 NULL
    d       no row                           none

A leaf over this one column is what it is in one of the parts (``statistics.columns.Parts``). A slice of which some file
is not known, or whose merge makes values of its own, has neither bounds nor parts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language.schema import Field
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics, PartStatistics
from evaluator.statistics.distrust import Trust
from evaluator.statistics.stored_bounds import concatenated, taken
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.kinds.column_stats.slice_union import unite
from index_store.own.provider.sketch_statistics import Piece, fill_of, is_ancient
from index_store.own.sketches.base import FileBounds

__all__ = ["KnownColumn", "ordinal_of"]

Mask = npt.NDArray[np.bool_]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class KnownColumn:
    """What one index knows of one column: pieces, each with the places of its files among those of some slices."""

    column: Field
    pieces: Sequence[tuple[Places, Piece]]

    def statistics(self, files: SliceFiles, *, custom_merge: bool) -> ColumnStatistics:
        """Statistics by slice. There has to be a piece."""
        rows = _file_statistics(self.pieces, self.column.type)
        united = unite(rows, files, np.zeros(0, np.intp), custom_merge=custom_merge)
        usable = _usable(files, rows.place, custom_merge=custom_merge)
        return replace(united, parts=_parts(self.pieces, rows, files, usable))

    def might_contain(self, values: Sequence[object], files: SliceFiles, *, custom_merge: bool) -> Mask | None:
        """``(n,) bool``: False for the slices of which no file has one of the values of a look-up.

        None when there is no filter, or a reader may make one of the values of another one.
        """
        asked = [value for one in values if (value := ordinal_of(one, self.column)) is not None]
        if not any(piece.holds for _, piece in self.pieces) or any(is_ancient(one, self.column.type) for one in asked):
            return None
        in_file = np.ones(len(files.paths), np.bool_)
        for places, piece in self.pieces:
            for holds in piece.holds:
                in_file[places] &= holds(asked)
            in_file[places[piece.counts == 0]] = False
        known = np.concatenate([places for places, _ in self.pieces])
        found = ~_usable(files, known, custom_merge=custom_merge)
        found[files.slice_of[in_file]] = True
        return found

    def filtered(self, files: SliceFiles, *, custom_merge: bool) -> int:
        """How many slices have a filter of each of their files."""
        places = [places for places, piece in self.pieces if piece.holds or not piece.counts.any()]
        if not any(piece.holds for _, piece in self.pieces):
            return 0
        return int(_usable(files, np.concatenate(places), custom_merge=custom_merge).sum())


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


def _usable(files: SliceFiles, known: Places, *, custom_merge: bool) -> Mask:
    """``(n,) bool``: all files are known, and merged rows hold values of theirs."""
    usable: Mask = np.bincount(files.slice_of[np.unique(known)], minlength=files.slices) == files.count
    return usable & ~files.has_logs if custom_merge else usable


def _file_statistics(pieces: Sequence[tuple[Places, Piece]], of: Type) -> FileStatistics:
    nulls, counts = (np.concatenate([getattr(piece, name) for _, piece in pieces]) for name in ("nulls", "counts"))
    place = np.concatenate([places for places, _ in pieces]).astype(np.intp)
    bounds = [piece.bounds or _no_bounds(of, len(places)) for places, piece in pieces]
    trust = np.concatenate([np.full(len(places), piece.trust, np.uint8) for places, piece in pieces])
    lo_known, hi_known = (np.concatenate([getattr(one, name) for one in bounds]) for name in ("lo_known", "hi_known"))
    null_only = (nulls == counts) & (counts > 0)
    empty = counts == 0
    bare = ~lo_known & ~hi_known & ~null_only & ~empty & (trust == Trust.OK)
    return FileStatistics(
        of,
        place,
        concatenated([one.lo for one in bounds]),
        concatenated([one.hi for one in bounds]),
        lo_known & ~null_only,
        hi_known & ~null_only,
        nulls,
        counts,
        np.where(bare, np.uint8(Trust.NO_BOUNDS), trust),
        empty,
        null_only,
        np.full(len(place), UNKNOWN_COUNT, np.int64),
    )


def _no_bounds(of: Type, n: int) -> FileBounds:
    no = np.zeros(n, np.bool_)
    return FileBounds(fill_of(of, n), fill_of(of, n), no, no)


def _parts(
    pieces: Sequence[tuple[Places, Piece]], rows: FileStatistics, files: SliceFiles, usable: Mask
) -> PartStatistics | None:
    """The parts of the slices that have a file with parts, or several files."""
    in_parts = np.zeros(len(files.paths), np.bool_)
    for places, piece in pieces:
        if piece.parts is not None:
            in_parts[places[piece.parts.known]] = True
    divided = np.zeros(files.slices, np.bool_)
    divided[files.slice_of[in_parts]] = True
    divided = (divided | (files.count > 1)) & usable
    if not divided.any():
        return None
    wanted = divided[files.slice_of[rows.place]]
    plain = np.flatnonzero(wanted & ~in_parts[rows.place] & ~rows.null_only & ~rows.empty)
    null = np.flatnonzero(wanted & (rows.nulls != 0) & ~rows.empty)
    found: list[tuple[Places, Any, Any, Mask, Mask]] = [
        (rows.place[plain], taken(rows.lo, plain), taken(rows.hi, plain), rows.lo_known[plain], rows.hi_known[plain])
    ]
    for places, piece in pieces:
        if piece.parts is not None:
            bounds, file = piece.parts.bounds, piece.parts.file
            chosen = np.flatnonzero(divided[files.slice_of[places[file]]] & piece.parts.known[file])
            found.append(
                (
                    places[file[chosen]],
                    taken(bounds.lo, chosen),
                    taken(bounds.hi, chosen),
                    bounds.lo_known[chosen],
                    bounds.hi_known[chosen],
                )
            )
    no = np.zeros(len(null), np.bool_)
    found.append((rows.place[null], fill_of(rows.type, len(null)), fill_of(rows.type, len(null)), no, no))
    place = np.concatenate([one[0] for one in found])
    is_null = np.zeros(len(place), np.bool_)
    is_null[len(place) - len(null) :] = True
    statistics = ColumnStatistics(
        rows.type,
        concatenated([one[1] for one in found]),
        concatenated([one[2] for one in found]),
        np.concatenate([one[3] for one in found]),
        np.concatenate([one[4] for one in found]),
        np.where(is_null, 1, 0).astype(np.int64),
        np.where(is_null, 1, UNKNOWN_COUNT).astype(np.int64),
        np.zeros(len(place), np.uint8),
    )
    of = files.slice_of[place]
    order = np.argsort(of, kind="stable")
    return PartStatistics(statistics.take(order), of[order])
