"""Statistics of files from stored sketches, in the terms of the column as the table has it now (C4, P13, P14, P19).

A row of an index holds what its file has, in the type that the file has. Decoded, it says of the column:

    type in the file         type of the column       bounds and parts          look-ups
    -----------------------  -----------------------  ------------------------  -----------------------
    the same, same unit      the same                 as stored                 as stored
    an integer               a wider integer          as stored                 as stored
    FLOAT                    DOUBLE                   one step outward          none: 0.1 has two doubles
    DECIMAL(p, s)            DECIMAL with more        rescaled                  none
    no such column                                    NULL in every row, if the table says that readers see that
    anything else                                     unknown                   none

Readers may rebase days before 1582 and moments before 1900: such a bound is unknown, and so is such a part.

Pitfalls P13, P14 and P19 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.records import frozen
from evaluator.language.schema import Field
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import array_dtype, filler
from evaluator.statistics.distrust import (
    ANCIENT_DAY,
    ANCIENT_MICROS,
    Trust,
    widen_ancient_bounds,
    widen_float_as_double,
)
from index_store.own.builders.sketching import ROWS, Target, nulls_field, sketch_field, type_field
from index_store.own.sketches.base import FileBounds, FileParts, SketchStatistics, Stored
from index_store.storage.errors import FormatError
from index_store.table.file_types import ABSENT, EMPTY, FileType, fit_of

__all__ = ["PerFileStatistics", "fill_of", "is_ancient", "per_file_statistics"]

Mask = npt.NDArray[np.bool_]
#: Microseconds and days by which a rebased value may come near the cutoff.
_MARGIN_MICROS, _MARGIN_DAYS = 2 * 86_400_000_000, 2


@frozen(eq=False)
class StoredFilters:
    """What a sketch of this name has stored of k files."""

    sketch: str
    stored: Stored


@frozen(slots=False, eq=False, kw_only=True)
class PerFileStatistics:
    """Statistics of one column in k files that have the column in the same type.

    index_rows   ``(k,)``: the rows of the files in the index
    trust        why there are no bounds, if so
    null_counts  ``(k,)``, -1 where not known
    row_counts   ``(k,)``: how many rows each file has, -1 where not known
    bounds       bounds of all values of each file, None when none are known
    parts        bounds of the parts of each file: its single values or its prefixes
    filters      what sketches that are filters have stored of the files
    """

    index_rows: npt.NDArray[np.int64]
    trust: Trust
    null_counts: npt.NDArray[np.int64]
    row_counts: npt.NDArray[np.int64]
    bounds: FileBounds | None = None
    parts: FileParts | None = None
    filters: tuple[StoredFilters, ...] = ()


def per_file_statistics(
    index_rows: npt.NDArray[np.int64],
    columns: pa.Table,
    target: Target,
    column: Field,
    unit: str,
    *,
    absent_is_null: bool,
) -> Iterator[PerFileStatistics]:
    """Decode the stored rows of one target, one result for each type; files of which nothing is known are in none.

    ``column``: the table's, or the canonical key of an expression with the type of its values. ``unit``: of the
    column's timestamps. ``absent_is_null``: readers see NULL where a file does not have the column.
    Raises FormatError for rows that cannot be understood.
    """
    if type_field(target.on) not in columns.column_names:
        return
    types = columns[type_field(target.on)].combine_chunks().cast(pa.string()).dictionary_encode()
    codes = types.indices.fill_null(-1).to_numpy(zero_copy_only=False)
    for code, text in enumerate(types.dictionary.to_pylist()):
        chosen = np.flatnonzero(codes == code)
        rows = columns if len(chosen) == columns.num_rows else columns.take(pa.array(chosen))
        counted = PerFileStatistics(
            index_rows=index_rows[chosen],
            trust=Trust.OK,
            null_counts=_counts(rows, nulls_field(target.on)),
            row_counts=_counts(rows, ROWS),
        )
        file_type = FileType(text)
        if target.expression is not None and file_type.is_known:
            file_type = (
                FileType.of(column.type, unit) if text == column.name else FileType.unknown("another expression")
            )
        if file_type == EMPTY:
            none = np.zeros_like(counted.row_counts)
            yield replace(counted, null_counts=none, row_counts=none)
        elif file_type == ABSENT:
            if absent_is_null:
                yield replace(counted, null_counts=counted.row_counts)
        elif file_type.is_known:
            fit = fit_of(file_type, column.type, unit)
            if isinstance(fit, Trust):
                yield replace(counted, trust=fit)
            else:
                decoded = _decoded(rows, target, file_type)
                sketches = [one for _, one in decoded]
                filters = tuple([of for of, one in decoded if fit and one.might_contain is not None])
                yield replace(_with_bounds(counted, sketches, file_type.type, column.type), filters=filters)


def _counts(columns: pa.Table, name: str) -> npt.NDArray[np.int64]:
    counts: npt.NDArray[np.int64] = columns[name].cast(pa.int64()).fill_null(-1).to_numpy()
    return counts


def _decoded(rows: pa.Table, target: Target, file_type: FileType) -> list[tuple[StoredFilters, SketchStatistics]]:
    """What each sketch of the target has stored of these files, and what that says. Raises FormatError."""
    decoded = []
    for sketch in target.sketches:
        fields = {field.name: sketch_field(target.on, sketch.name, field.name) for field in sketch.fields}
        if all(name in rows.column_names for name in fields.values()):
            try:
                stored = Stored(_arrays(rows, fields), file_type, rows.num_rows)
                decoded.append((StoredFilters(sketch.name, stored), sketch.decode(stored)))
            except (ValueError, KeyError, pa.ArrowException) as error:
                raise FormatError(f"{sketch.name} of {target.on}: {error}") from error
    return decoded


def _with_bounds(
    counted: PerFileStatistics, sketches: Sequence[SketchStatistics], of: Type, wanted: Type
) -> PerFileStatistics:
    """The statistics with what sketches add, from the type of the files to that of the column."""
    bounds = _tightest([_fitted(one.bounds, of, wanted) for one in sketches if one.bounds is not None])
    parts = _best_parts([one.parts for one in sketches if one.parts is not None])
    if parts is not None:
        parts = replace(parts, bounds=_around_ancient(_fitted(parts.bounds, of, wanted), wanted))
    trust = Trust.OK
    if bounds is not None:
        known = bounds.lo_known | bounds.hi_known
        bounds = _around_ancient(bounds, wanted)
        if not (bounds.lo_known | bounds.hi_known)[known].all():
            trust = Trust.ANCIENT
    return replace(counted, trust=trust, bounds=bounds, parts=parts)


def _arrays(columns: pa.Table, fields: Mapping[str, str]) -> dict[str, pa.Array]:
    arrays = {}
    for name, stored in fields.items():
        array = columns[stored].combine_chunks()
        arrays[name] = pa.concat_arrays(array.chunks) if isinstance(array, pa.ChunkedArray) else array
    return arrays


def _fitted(bounds: FileBounds, of: Type, wanted: Type) -> FileBounds:
    """Bounds of values of one type as bounds of the same values in the column's type."""
    if of.kind is Kind.FLOAT and wanted.kind is Kind.DOUBLE:
        low, high = np.asarray(bounds.lo, np.float64), np.asarray(bounds.hi, np.float64)
        return replace(
            bounds,
            lo=np.where(np.isinf(low), low, widen_float_as_double(low, low)[0]),
            hi=np.where(np.isinf(high), high, widen_float_as_double(high, high)[1]),
        )
    if of.kind is Kind.DECIMAL and (of.scale != wanted.scale or of.precision != wanted.precision):
        factor, dtype = 10 ** (wanted.scale - of.scale), array_dtype(wanted)
        lo, hi = ((np.asarray(side).astype(object) * factor).astype(dtype) for side in (bounds.lo, bounds.hi))
        return replace(bounds, lo=lo, hi=hi)
    return bounds


def _cutoff(of: Type) -> int | None:
    return ANCIENT_DAY if of.kind is Kind.DATE else ANCIENT_MICROS if of.kind.is_timestamp else None


def _around_ancient(bounds: FileBounds, of: Type) -> FileBounds:
    """The bounds, of files or of parts of them, as those of values that readers may rebase."""
    (lo, lo_known), (hi, hi_known) = (
        widen_ancient_bounds(side, of, upper=upper) for side, upper in ((bounds.lo, False), (bounds.hi, True))
    )
    return replace(bounds, lo=lo, hi=hi, lo_known=bounds.lo_known & lo_known, hi_known=bounds.hi_known & hi_known)


def is_ancient(value: Any, of: Type) -> bool:
    """Whether a reader may make this value of another one, which was stored."""
    cutoff = _cutoff(of)
    return cutoff is not None and value < cutoff + (_MARGIN_DAYS if of.kind is Kind.DATE else _MARGIN_MICROS)


def _tightest(known: Sequence[FileBounds]) -> FileBounds | None:
    """Bounds of several sketches: for each side of each file the first that is known."""
    if not known:
        return None
    first, *rest = known
    for other in rest:
        sides: list[Any] = []
        for mine, yours, have, offered in (
            (first.lo, other.lo, first.lo_known, other.lo_known),
            (first.hi, other.hi, first.hi_known, other.hi_known),
        ):
            gained = offered & ~have
            if gained.any():
                merged = np.array(mine)
                merged[gained] = np.asarray(yours)[gained]
                mine = merged
            sides.append((mine, have | offered))
        first = FileBounds(sides[0][0], sides[1][0], sides[0][1], sides[1][1])
    return first


def _best_parts(known: Sequence[FileParts]) -> FileParts | None:
    """The parts of the sketch that knows most files: value lists come before prefixes where both know all."""
    return max(known, key=lambda one: int(one.known.sum())) if known else None


def fill_of(of: Type, n: int) -> Any:
    """``(n,)`` bounds that are not known."""
    return np.full(n, filler(of), array_dtype(of))
