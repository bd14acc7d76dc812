"""The plain form of values: one Arrow type for each family of column types.

    type                           plain Arrow array
    -----------------------------  ---------------------------
    BOOLEAN, integers, DATE        int64
    TIMESTAMP, TIMESTAMP_LTZ       int64, microseconds
    DECIMAL(p, s), p up to 18      int64, unscaled
    DECIMAL(p, s), p up to 38      decimal128(38, 0)
    FLOAT, DOUBLE                  float64, no -0.0
    STRING                         large_binary, UTF-8
    BINARY                         large_binary

Text is UTF-8: a text column with other bytes is unknown in that file.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.types import Kind, Type
from index_store.table.file_types import FileType

__all__ = ["plain_array", "plain_type"]

#: Milliseconds beyond this have no microseconds in 64 bits.
_MAX_MILLIS = (1 << 63) // 1000 - 1


def plain_type(of: Type) -> pa.DataType:
    """The Arrow type of the plain form."""
    match of.kind:
        case Kind.FLOAT | Kind.DOUBLE:
            return pa.float64()
        case Kind.DECIMAL if of.precision > 18:
            return pa.decimal128(38, 0)
        case Kind.STRING | Kind.CHAR | Kind.VARCHAR | Kind.BINARY:
            return pa.large_binary()
        case _:
            return pa.int64()


def plain_array(array: pa.Array, of: FileType) -> pa.Array:
    """The plain form of values as pyarrow reads them. Raises ``pa.ArrowInvalid`` for values that have none.

    Nanoseconds are rounded down to microseconds; an upper bound of them has to be raised (``FileType.unit``).
    """
    column_type = of.type
    match column_type.kind:
        case Kind.FLOAT | Kind.DOUBLE:
            values = array.cast(pa.float64())
            zeros = pc.equal(values, 0.0)
            return pc.if_else(zeros, pa.scalar(0.0), values) if pc.any(zeros).as_py() else values
        case Kind.DECIMAL:
            return _unscaled(array, column_type)
        case Kind.STRING | Kind.CHAR | Kind.VARCHAR:
            return _bytes_array(
                array
                if pa.types.is_large_string(array.type) or pa.types.is_string(array.type)
                else array.cast(pa.large_binary()),
                text=True,
            )
        case Kind.BINARY:
            return _bytes_array(array, text=False)
        case Kind.DATE:
            return array.cast(pa.int32()).cast(pa.int64()) if pa.types.is_date(array.type) else array.cast(pa.int64())
        case Kind.TIMESTAMP | Kind.TIMESTAMP_LTZ:
            return _micros(array, of.unit)
        case Kind.BOOLEAN:
            return array.cast(pa.int8()).cast(pa.int64())
        case _:
            return array.cast(pa.int64())


def _bytes_array(array: pa.Array, *, text: bool) -> pa.Array:
    if text:
        array = array.cast(pa.large_string())  # from binary: raises for what is not UTF-8
        array.validate(full=True)
    return array.cast(pa.large_binary())


def _micros(array: pa.Array, unit: str) -> pa.Array:
    values = array.cast(pa.int64())
    if unit == "micros":
        return values
    if unit == "nanos":
        floor = np.floor_divide(values.fill_null(0).to_numpy(zero_copy_only=False), 1000)
        return _with_nulls_of(floor, values)
    least, most = (pc.min_max(values)[end].as_py() for end in ("min", "max"))
    if least is not None and not -_MAX_MILLIS < least <= most < _MAX_MILLIS:
        raise pa.ArrowInvalid("milliseconds beyond any timestamp")
    return pc.multiply(values, 1000)


def _unscaled(array: pa.Array, column_type: Type) -> pa.Array:
    """The unscaled integers of decimals, from their words in memory."""
    array = array.cast(pa.decimal128(column_type.precision, column_type.scale))
    if column_type.precision > 18:
        return pa.Array.from_buffers(pa.decimal128(38, 0), len(array), array.buffers(), -1, array.offset)
    words = np.frombuffer(array.buffers()[1] or b"", np.int64)
    low = words[2 * array.offset : 2 * (array.offset + len(array)) : 2]
    return _with_nulls_of(np.ascontiguousarray(low), array)


def _with_nulls_of(values: npt.NDArray[Any], array: pa.Array) -> pa.Array:
    return pa.array(values, mask=array.is_null().to_numpy(zero_copy_only=False) if array.null_count else None)
