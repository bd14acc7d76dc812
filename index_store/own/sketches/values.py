"""The bytes of each value in its plain form (``index_store.table.plain_values``).

    plain Arrow array      bytes of one value
    ---------------------  ----------------------------------------
    int64                  8, little-endian, two's complement
    decimal128(38, 0)      16, unscaled
    float64                8, IEEE 754; one NaN
    large_binary           itself

Sketches store values in these bytes, so one column of an index holds values of files that have the column in different
types (P19). Each row names the type in its file (``FileType``), and ``provider.per_file_statistics`` converts it to the
table's type.

Pitfall P19 is described in docs/facts/pitfalls.md#p19.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from evaluator.language.types import Kind, Type
from evaluator.statistics.stored_bounds import StoredBounds
from index_store.table.plain_values import plain_type

__all__ = ["bytes_of", "decoded", "python_values", "value_bytes"]


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
