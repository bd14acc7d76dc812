"""The meaning of stored bounds: from wrappers of ``HoodieMetadataColumnStats`` to arrays of a column's type (P12, P19).

    V2 (version 9)   by ``valueType``: 3 INT, 4 LONG, 10 DECIMAL "p,s" unscaled, 12 DATE, 15-17 TIMESTAMP_*, ...
    V1 (6, 8)        by the wrapper's class alone, which depends on the writer's code path: a decimal is a
                     DecimalWrapper or (0.15) a BytesWrapper, both at scale 15; a date a DateWrapper or an IntWrapper;
                     a timestamp a LongWrapper

A bound is used when its meaning fits the column's type as the table has it now. INT on BIGINT is a widened column and
exact; FLOAT on DOUBLE is widened by one step; everything else is WRONG_TYPE and unknown. Source: ``ValueType``,
``HoodieTableMetadataUtil``, docs/facts/hudi-column-stats.md#what-a-stored-bound-means.

Pitfalls P12 and P19 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.records import record
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import array_dtype, filler
from evaluator.statistics.distrust import (
    Trust,
    rescale_unscaled,
    widen_ancient_bounds,
    widen_float_as_double,
    widen_millis,
    widen_nanos,
    widen_unknown_unit,
)
from evaluator.statistics.stored_bounds import StoredBounds, scattered
from index_store.formats.stats_columns import signed_numbers

__all__ = ["Bound", "StoredAs", "read_bounds", "read_groups"]

Rows = npt.NDArray[np.intp]

#: Text and binary of so many files stay in Arrow's buffers.
MIN_IN_ARROW = 500

_V1_DECIMAL_SCALE = 15
_UNITS = {15: "millis", 16: "micros", 17: "nanos", 18: "millis", 19: "micros", 20: "nanos"}
_LOCAL = range(18, 21)
#: Which wrapper carries the primitive of each V2 value type (``ValueType`` ordinals).
_V2_WRAPPER = {
    2: "BooleanWrapper",
    3: "IntWrapper",
    4: "LongWrapper",
    5: "FloatWrapper",
    6: "DoubleWrapper",
    7: "StringWrapper",
    8: "BytesWrapper",
    9: "BytesWrapper",
    10: "BytesWrapper",
    11: "StringWrapper",
    12: "IntWrapper",
    **dict.fromkeys(range(15, 21), "LongWrapper"),
}


class StoredAs(NamedTuple):
    """How one bound is stored: the wrapper's name, the V2 type ordinal (0 for V1) and its additional information."""

    wrapper: str
    ordinal: int
    info: bytes


@record
class Bound:
    """One side's bounds of n files: ``(n,)`` of ``array_dtype(type)``, a mask of known ones, and a Trust for each.

    Text and binary of many files stay in Arrow's buffers (``StoredBounds``).
    """

    values: Any
    known: npt.NDArray[np.bool_]
    trust: npt.NDArray[np.uint8]


@record
class _Column:
    """The column that bounds are read for: its type, its timestamps' unit in the files, the table's version."""

    type: Type
    unit: str
    version: int


def read_bounds(
    values: Sequence[Any],
    stored: Sequence[tuple[str, int, bytes]],
    column_type: Type,
    unit: str,
    version: int,
    *,
    upper: bool,
) -> Bound:
    """The bounds of one side, each by what it is stored as. Null bounds are not known, with trust OK."""

    def groups() -> Iterator[tuple[Rows, StoredAs, Any]]:
        for kind in set(stored):
            rows = np.array([i for i, one in enumerate(stored) if one == kind], np.intp)
            yield rows, StoredAs(*kind), [values[i] for i in rows.tolist()]

    return read_groups(groups(), len(values), column_type, unit, version, upper=upper)


def read_groups(
    groups: Iterable[tuple[Rows, StoredAs, Any]], n: int, column_type: Type, unit: str, version: int, *, upper: bool
) -> Bound:
    """The bounds of one side of n files: rows that are stored alike, and their values: a list, array or Arrow binary.

    Rows that are in no group are not known, with trust OK.
    """
    column = _Column(column_type, unit, version)
    out: Any = np.full(n, filler(column_type), array_dtype(column_type))
    known = np.zeros(n, np.bool_)
    trust = np.zeros(n, np.uint8)
    for rows, how, values in groups:
        if not how.wrapper:
            continue
        found = _read(values, how, column, upper=upper)
        if isinstance(found, Trust):
            trust[rows] = found
            continue
        if isinstance(found, StoredBounds) and not known.any():
            out = scattered(found, rows, n)
        else:
            if isinstance(out, StoredBounds):
                out = np.array(out)
            out[rows] = np.asarray(found)
        known[rows] = True
    if column_type.kind is Kind.DATE or column_type.kind.is_timestamp:
        out, believed = widen_ancient_bounds(out, column_type, upper=upper)
        trust[known & ~believed] = Trust.ANCIENT
        known &= believed
    return Bound(out, known, trust)


def _read(values: Any, how: StoredAs, column: _Column, *, upper: bool) -> npt.NDArray[Any] | StoredBounds | Trust:
    """The values of one group as an array of the column's type, or the Trust why they have no value."""
    if how.ordinal and _V2_WRAPPER.get(how.ordinal) != how.wrapper:
        return Trust.WRONG_TYPE
    try:
        match column.type.kind:
            case Kind.BOOLEAN:
                return np.array(values, np.int64) if _is(how, "BooleanWrapper", 2) else Trust.WRONG_TYPE
            case Kind.TINYINT | Kind.SMALLINT | Kind.INT:
                return np.array(values, np.int64) if _is(how, "IntWrapper", 3) else Trust.WRONG_TYPE
            case Kind.BIGINT:
                fits = _is(how, "LongWrapper", 4) or _is(how, "IntWrapper", 3)
                return np.array(values, np.int64) if fits else Trust.WRONG_TYPE
            case Kind.FLOAT:
                return np.array(values, np.float64) if _is(how, "FloatWrapper", 5) else Trust.WRONG_TYPE
            case Kind.DOUBLE:
                return _double(values, how, upper=upper)
            case Kind.DATE:
                fits = how.wrapper in ("DateWrapper", "LocalDateWrapper", "IntWrapper") and how.ordinal in (0, 12)
                return np.array(values, np.int64) if fits else Trust.WRONG_TYPE
            case Kind.TIMESTAMP | Kind.TIMESTAMP_LTZ:
                return _timestamp(values, how, column, upper=upper)
            case Kind.DECIMAL:
                return _decimal(values, how, column, upper=upper)
            case Kind.STRING | Kind.VARCHAR | Kind.CHAR:
                fits = _is(how, "StringWrapper", 7) or how.ordinal == 11
                return _texts(values, column.type) if fits else Trust.WRONG_TYPE
            case Kind.BINARY:
                fits = how.wrapper == "BytesWrapper" and how.ordinal in (0, 8, 9)
                if not fits:
                    return Trust.WRONG_TYPE
                many = _in_arrow(values)
                return _objects(_listed(values)) if many is None else StoredBounds(many, column.type)
            case _:
                return Trust.WRONG_TYPE
    except (UnicodeDecodeError, pa.ArrowInvalid):
        return Trust.TEXT_ORDER
    except (OverflowError, TypeError, ValueError, AttributeError):
        return Trust.WRONG_TYPE


def _is(how: StoredAs, wrapper: str, ordinal: int) -> bool:
    return how.wrapper == wrapper and how.ordinal in (0, ordinal)


def _listed(values: Any) -> list[Any]:
    listed: list[Any] = values if isinstance(values, list) else values.to_pylist()
    return listed


def _texts(values: Any, column_type: Type) -> npt.NDArray[Any] | StoredBounds:
    if isinstance(values, list):
        return _objects([value.decode("utf-8") for value in values])
    text = values.cast(pa.string())  # raises where it is none
    many = _in_arrow(values)
    if many is not None:
        return StoredBounds(many, column_type)
    found: npt.NDArray[Any] = pa.chunked_array(
        [text] if isinstance(text, pa.Array) else text.chunks, pa.string()
    ).to_numpy()
    return found


def _in_arrow(values: Any) -> pa.Array | None:
    """Many values in one Arrow array; None for a few, which are faster as Python objects."""
    if isinstance(values, list) or len(values) < MIN_IN_ARROW:
        return None
    whole = values.cast(pa.large_binary())
    return whole.combine_chunks() if isinstance(whole, pa.ChunkedArray) else whole


def _objects(values: Sequence[Any]) -> npt.NDArray[Any]:
    out = np.empty(len(values), object)
    out[:] = values
    return out


def _double(values: Any, how: StoredAs, *, upper: bool) -> npt.NDArray[Any] | Trust:
    if _is(how, "DoubleWrapper", 6):
        return np.array(values, np.float64)
    if _is(how, "FloatWrapper", 5):
        narrow = np.array(values, np.float64)
        return widen_float_as_double(narrow, narrow)[upper]
    return Trust.WRONG_TYPE


def _timestamp(values: Any, how: StoredAs, column: _Column, *, upper: bool) -> npt.NDArray[Any] | Trust:
    if how.ordinal == 0:
        if how.wrapper not in ("LongWrapper", "TimestampMicrosWrapper"):
            return Trust.WRONG_TYPE
        # hudi#9884: V1 does not say the unit.
        return widen_unknown_unit(np.array(values, np.int64), upper=upper) if column.unit == "micros" else Trust.UNIT
    unit = _UNITS.get(how.ordinal)
    if unit is None or (how.ordinal in _LOCAL) != (column.type.kind is Kind.TIMESTAMP):
        return Trust.WRONG_TYPE
    if unit != column.unit:
        return Trust.UNIT
    bounds = np.array(values, np.int64)
    if unit == "micros":
        return bounds
    if unit == "nanos":
        return widen_nanos(bounds, upper=upper)
    if abs(bounds).max(initial=0) > (1 << 62) // 1000:
        return Trust.WRONG_TYPE
    return widen_millis(bounds, upper=upper)


def _decimal(values: Any, how: StoredAs, column: _Column, *, upper: bool) -> npt.NDArray[Any] | Trust:
    if how.ordinal == 10:
        scale = int(how.info.partition(b",")[2])
    elif how.ordinal == 0 and how.wrapper in (
        ("DecimalWrapper", "BytesWrapper") if column.version < 8 else ("DecimalWrapper",)
    ):
        scale = _V1_DECIMAL_SCALE
    else:
        return Trust.WRONG_TYPE
    if not 0 <= scale <= 38:
        return Trust.WRONG_TYPE
    wanted = column.type.scale
    if not isinstance(values, list):
        numbers = signed_numbers(values) if array_dtype(column.type) == np.int64 and scale == wanted else None
        if numbers is not None:
            most = 10**column.type.precision
            return numbers if ((numbers >= -most) & (numbers <= most)).all() else Trust.WRONG_TYPE
    unscaled = (int.from_bytes(value, "big", signed=True) for value in _listed(values))
    bounds = [rescale_unscaled(value, scale, wanted, upper=upper) for value in unscaled]
    if any(abs(bound) > 10**column.type.precision for bound in bounds):
        return Trust.WRONG_TYPE  # more digits than the column has: another scale
    return np.array(bounds, np.int64) if array_dtype(column.type) == np.int64 else _objects(bounds)
