"""The plain form of values: one Arrow type for each family of column types, and the bytes of each value.

    type                           plain Arrow array      bytes of one value
    -----------------------------  ---------------------  ----------------------------------------
    BOOLEAN, integers, DATE        int64                  8, little-endian, two's complement
    TIMESTAMP, TIMESTAMP_LTZ       int64, microseconds    8
    DECIMAL(p, s), p up to 18      int64, unscaled        8
    DECIMAL(p, s), p up to 38      decimal128(38, 0)      16, unscaled
    FLOAT, DOUBLE                  float64, no -0.0       8, IEEE 754; one NaN
    STRING                         large_binary, UTF-8    itself
    BINARY                         large_binary           itself

Sketches store values in these bytes, so one column of an index holds values of files that have the column in different
types (P19). Each row names the type in its file (``FileType``), and ``provider.per_file_statistics`` converts it to the
table's type. Text is UTF-8: a text column with other bytes is unknown in that file.

Pitfall P19 is described in docs/facts/pitfalls.md#p19.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evaluator.language.types import Kind, Type
from evaluator.statistics.stored_bounds import StoredBounds
from index_store.table.file_types import FileType

__all__ = [
    "bytes_of",
    "decoded",
    "plain_array",
    "plain_type",
    "python_values",
    "value_bytes",
]

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


def bytes_of(plain: pa.Array) -> pa.Array:
    """The bytes of plain values without NULL: large_binary."""
    if pa.types.is_large_binary(plain.type):
        return plain
    width = plain.type.byte_width
    content = plain.buffers()[1]
    fixed = pa.Array.from_buffers(pa.binary(width), len(plain), [None, content], 0, plain.offset)
    return fixed.cast(pa.binary()).cast(pa.large_binary())


def value_bytes(value: object, of: Type) -> bytes:
    """The bytes of one value in the form of arrays (``evaluator.statistics.columns.to_ordinal``)."""
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    if isinstance(value, bytes):
        return value
    if of.kind.is_fractional:
        return struct.pack("<d", float(value) + 0.0)  # type: ignore[arg-type]
    width = 16 if of.kind is Kind.DECIMAL and of.precision > 18 else 8
    whole = int(value)  # type: ignore[call-overload]
    return bytes(whole.to_bytes(width, "little", signed=True))


def decoded(stored: pa.Array, of: Type) -> Any:
    """The plain values of stored bytes, ``(n,)``, in the form of bounds of ``ColumnStatistics``. No value may be NULL.

    Raises ValueError for bytes of another width.
    """
    stored = stored.cast(pa.large_binary())
    plain = plain_type(of)
    if pa.types.is_large_binary(plain):
        return StoredBounds(stored, of)
    width = plain.byte_width
    _, offsets, content = stored.buffers()
    edges = np.frombuffer(offsets, np.int64)[stored.offset : stored.offset + len(stored) + 1]
    if len(stored) and not bool((np.diff(edges) == width).all()):
        raise ValueError(f"stored values of {of} have {width} bytes")
    start = int(edges[0]) if len(stored) else 0
    held = memoryview(content or b"")[start : start + width * len(stored)]
    if width == 16:
        array = pa.Array.from_buffers(pa.decimal128(38, 0), len(stored), [None, pa.py_buffer(held)], 0)
        return StoredBounds(array, of)
    return np.frombuffer(held, np.float64 if pa.types.is_floating(plain) else np.int64).copy()


def python_values(plain: pa.Array, of: Type) -> Iterable[Any]:
    """Plain values in the form of ``evaluator.language.interval``: text as str, decimals as unscaled integers."""
    if of.kind.is_text:
        return [None if value is None else value.decode("utf-8") for value in plain.to_pylist()]
    if pa.types.is_decimal(plain.type):
        return [None if value is None else int(value) for value in plain.to_pylist()]
    values: list[Any] = plain.to_pylist()
    return values
