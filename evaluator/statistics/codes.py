"""Order-preserving integer codes of bounds: two bytes stand for a value of any type; few values are looked at again.

Up to 65,000 *edges* are drawn from the bounds of a column. The code of a value is one more than the number of edges
that are not above it, so ``x <= y`` implies ``code(x) <= code(y)``, and comparing codes decides a comparison of values
unless the codes are equal. The rows of equal code (about one in 65,000) are compared exactly: the answers are those of
the values.

    code           stands for
    -------------  ------------------------------------------------------------------
    0              below every value: an unknown lower bound, the upper bound of no value at all
    1 .. 65,001    a known bound
    65,535         above every value: an unknown upper bound, the lower bound of no value at all

Where a type has no fixed width, its values are coded by an order-preserving key: wide decimals by the nearest double,
text and binary by the bytes behind the prefix that all bounds share. Keys may be equal for different values, which only
means more rows of equal code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evaluator.language.types import Kind, Type
from evaluator.statistics.stored_bounds import Bounds, StoredBounds, encoded, is_storable, taken

__all__ = ["ABOVE", "BELOW", "MAX_EDGES", "BoundCodes", "Coder", "Codes", "sort_keys"]

MAX_EDGES = 65_000
BELOW, ABOVE = np.uint16(0), np.uint16(65_535)
_SAMPLE = 150_000
#: Bytes of a text that take part in its key, behind the common prefix: 8 if they tell most edges apart.
_SHORT_KEY, _LONG_KEY = 8, 24

Codes = npt.NDArray[np.uint16]
Rows = npt.NDArray[np.int32]


class Coder:
    """Turns values of one column into codes, by edges that stay fixed. Made by ``Coder.of``, or from its own parts.

    edges       ``(m,)`` keys, ascending
    prefix      what all the texts or bytes that the edges are drawn from begin with
    key_bytes   how many bytes behind it are a key

    Raises ValueError for edges that are not keys of this type.
    """

    def __init__(self, column_type: Type, edges: npt.NDArray[Any], prefix: bytes, key_bytes: int) -> None:
        wanted = _key_dtype(column_type, key_bytes)
        if edges.ndim != 1 or edges.dtype != wanted or len(edges) > MAX_EDGES:
            raise ValueError(
                f"edges of {column_type} are up to {MAX_EDGES:,} of {wanted}, not {len(edges):,} of {edges.dtype}"
            )
        self._type = column_type
        self.edges = edges
        self.prefix = prefix
        self.key_bytes = key_bytes

    @classmethod
    def of(cls, column_type: Type, bounds: Bounds, max_edges: int = MAX_EDGES) -> Coder:
        """A coder with edges drawn from these known bounds, ``(m,)``."""
        prefix = _common_prefix(bounds) if _is_bytes(column_type) else b""
        if len(bounds) > _SAMPLE:
            bounds = taken(bounds, np.random.default_rng(0).integers(0, len(bounds), _SAMPLE))
        edges, key_bytes = np.unique(_keys(column_type, bounds, prefix, _LONG_KEY)), _LONG_KEY
        if _is_bytes(column_type):
            short = np.unique(_keys(column_type, bounds, prefix, _SHORT_KEY))
            if len(short) * 10 >= len(edges) * 9:
                edges, key_bytes = short, _SHORT_KEY
        if len(edges) > max_edges:
            edges = edges[np.linspace(0, len(edges) - 1, max_edges).astype(np.intp)]
        return cls(column_type, edges, prefix, key_bytes)

    @property
    def code_count(self) -> int:
        """Codes of values are 1 .. code_count."""
        return len(self.edges) + 1

    def codes(self, values: Bounds) -> Codes:
        """``(n,) uint16`` codes of values in array form, or stored."""
        found = np.searchsorted(self.edges, _keys(self._type, values, self.prefix, self.key_bytes), side="right")
        found += 1
        if self.prefix:
            joined = _joined(values)
            foreign = np.flatnonzero(~np.asarray(pc.starts_with(joined, pattern=self.prefix)))
            if len(foreign):
                below = np.asarray(pc.less(joined.take(foreign), pa.scalar(self.prefix, pa.large_binary())))
                found[foreign] = np.where(below, 1, self.code_count)
        return found.astype(np.uint16)

    def code(self, value: Any) -> int:
        """The code of one constant, which may be of any size."""
        if not _is_bytes(self._type):
            return int(np.searchsorted(self.edges, _number(value, self.edges.dtype), side="right")) + 1
        encoded = _encode(value)
        if not encoded.startswith(self.prefix):
            return 1 if encoded < self.prefix else self.code_count
        key: Any = encoded[len(self.prefix) :][: self.key_bytes]
        if self.key_bytes == _SHORT_KEY:
            key = np.uint64(int.from_bytes(key.ljust(_SHORT_KEY, b"\0"), "big"))
        else:
            key = np.array(key, self.edges.dtype)
        return int(np.searchsorted(self.edges, key, side="right")) + 1


@dataclass(frozen=True, slots=True, eq=False)
class BoundCodes:
    """The codes of one bound in all slices, and the slices in order of their code.

    codes    ``(n,) uint16``
    order    ``(n,) int32``: slices sorted by code
    offsets  ``(65,537,) int64``: slices of code c are ``order[offsets[c] : offsets[c + 1]]``
    """

    codes: Codes
    order: Rows
    offsets: npt.NDArray[np.int64]

    @classmethod
    def of(cls, codes: Codes) -> BoundCodes:
        """Sort once."""
        offsets = np.zeros(int(ABOVE) + 2, np.int64)
        np.cumsum(np.bincount(codes, minlength=int(ABOVE) + 1), out=offsets[1:])
        return cls(codes, np.argsort(codes, kind="stable").astype(np.int32), offsets)

    def of_code(self, code: int) -> Rows:
        """The slices of one code."""
        return self.order[self.offsets[code] : self.offsets[code + 1]]

    def count(self, op: str, code: int) -> int:
        """How many slices have a code that is less (or greater) than this one, or the same."""
        return int(self.offsets[code + 1]) if op in ("<", "<=") else len(self.codes) - int(self.offsets[code])


def _key_dtype(column_type: Type, key_bytes: int) -> np.dtype[Any]:
    if _is_bytes(column_type):
        if key_bytes not in (_SHORT_KEY, _LONG_KEY):
            raise ValueError(f"keys of {column_type} are {_SHORT_KEY} or {_LONG_KEY} bytes, not {key_bytes}")
        return np.dtype(np.uint64 if key_bytes == _SHORT_KEY else f"S{_LONG_KEY}")
    as_double = column_type.kind.is_fractional or column_type.kind in (Kind.VOID, Kind.OTHER)
    return np.dtype(np.float64 if as_double or is_storable(column_type) else np.int64)


def _is_bytes(column_type: Type) -> bool:
    return column_type.kind.is_text or column_type.kind is Kind.BINARY


def _number(value: Any, dtype: np.dtype[Any]) -> Any:
    """A constant in the dtype of the edges, held within it: what lies beyond is beyond all edges."""
    if dtype == np.float64:
        return float(value)
    return min(max(value, -(1 << 63)), (1 << 63) - 1)


def sort_keys(column_type: Type, values: Bounds) -> npt.NDArray[Any]:
    """Something of fixed width that sorts like the values, except that close ones may be equal."""
    return _keys(column_type, values, _common_prefix(values) if _is_bytes(column_type) else b"", _LONG_KEY)


def _keys(column_type: Type, values: Bounds, prefix: bytes, key_bytes: int) -> npt.NDArray[Any]:
    """Values of fixed width in the same order, or equal; text and binary must have the prefix."""
    if not _is_bytes(column_type):
        if isinstance(values, StoredBounds):
            return values.doubles()
        return values.astype(np.float64) if values.dtype == object else values
    stretches = _stretches(_joined(values), len(prefix), key_bytes)
    return (
        stretches.view(">u8").ravel().astype(np.uint64)
        if key_bytes == _SHORT_KEY
        else (stretches.view(f"S{key_bytes}").ravel())
    )


def _stretches(joined: pa.LargeBinaryArray, skip: int, length: int) -> npt.NDArray[np.uint8]:
    """``(n, length)`` bytes of each value from ``skip`` on, zero behind its end; all at once from one buffer."""
    _, offsets, content = joined.buffers()
    found = np.zeros((length, len(joined)), np.uint8)
    if content is not None and len(content):
        edges = np.frombuffer(offsets, np.int64)[joined.offset : joined.offset + len(joined) + 1]
        data, place, end = np.frombuffer(content, np.uint8), edges[:-1] + skip, edges[1:]
        for row in found:
            inside = place < end
            if inside.all():
                row[:] = data[place]
            elif inside.any():
                row[inside] = data[place[inside]]
            else:
                break
            place = place + 1
    return np.ascontiguousarray(found.T)


def _joined(values: Bounds) -> pa.LargeBinaryArray:
    return values.array if isinstance(values, StoredBounds) else encoded(values)


def _encode(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")


def _common_prefix(values: Bounds) -> bytes:
    if not len(values):
        return b""
    smallest, largest = _encode(values.min()), _encode(values.max())
    length = next(
        (i for i, (a, b) in enumerate(zip(smallest, largest, strict=False)) if a != b), min(len(smallest), len(largest))
    )
    return smallest[:length]
