"""Order-preserving two-byte codes of bounds of any type.

Up to 65,000 *edges* are drawn from the bounds of a column. The code of a value is one more than the number of edges
that are not above it, so ``x <= y`` implies ``code(x) <= code(y)``. A comparison of codes decides the comparison of
values unless the codes are equal. Rows of equal code (about one in 65,000) are compared by value, so every answer is
that of the values.

    edges   10   20   30          code(5) = 1    code(10) = code(19) = 2    code(20) = 3    code(99) = 4

    code           stands for
    -------------  ------------------------------------------------------------------
    0              below every value: an unknown lower bound, the upper bound of no value at all
    1 .. 65,001    a known bound
    65,535         above every value: an unknown upper bound, the lower bound of no value at all

Types without a fixed width are coded by an order-preserving key: wide decimals by the nearest double, text and binary
by the bytes after the common prefix of all bounds. Different values may have equal keys, which only adds rows of equal
code.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.arrow_arrays import to_arrow, to_binary, to_numpy
from evaluator.language.records import entity
from evaluator.language.text_order import common_prefix_length
from evaluator.language.types import Kind, Type
from evaluator.statistics.stored_bounds import Bounds, StoredBounds, encode, encoded, is_bytes, is_storable, taken

__all__ = ["ABOVE", "BELOW", "MAX_EDGES", "BoundCodes", "Coder", "Codes", "code_offsets", "sort_keys"]

MAX_EDGES = 65_000
BELOW, ABOVE = np.uint16(0), np.uint16(65_535)
_SAMPLE = 150_000
#: Bytes in the key of a text, after the common prefix: 8 where they distinguish most edges.
_SHORT_KEY, _LONG_KEY = 8, 24

Codes = npt.NDArray[np.uint16]
Rows = npt.NDArray[np.int32]


class Coder:
    """Codes values of one column by fixed edges. ``Coder.of`` draws the edges.

    edges       ``(m,)`` keys, ascending
    prefix      the common prefix of the texts or bytes from which the edges are drawn
    key_bytes   the number of bytes after the prefix that make a key

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
        """A coder with at most ``max_edges`` edges, drawn from these known bounds, ``(m,)``."""
        prefix = _common_prefix(bounds) if is_bytes(column_type) else b""
        if len(bounds) > _SAMPLE:
            bounds = taken(bounds, np.random.default_rng(0).integers(0, len(bounds), _SAMPLE))
        edges, key_bytes = np.unique(_keys(column_type, bounds, prefix, _LONG_KEY)), _LONG_KEY
        if is_bytes(column_type):
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
        """``(n,) uint16`` codes of values, an array or ``StoredBounds``."""
        codes = np.searchsorted(self.edges, _keys(self._type, values, self.prefix, self.key_bytes), side="right")
        codes += 1
        if self.prefix:
            joined = _joined(values)
            foreign = np.flatnonzero(~to_numpy(pc.starts_with(joined, pattern=self.prefix)))
            if len(foreign):
                below = to_numpy(pc.less(joined.take(to_arrow(foreign)), to_binary([self.prefix])[0]))
                codes[foreign] = np.where(below, 1, self.code_count)
        return codes.astype(np.uint16)

    def code(self, value: Any) -> int:
        """The code of one constant, which may be of any size."""
        if not is_bytes(self._type):
            return int(np.searchsorted(self.edges, _number(value, self.edges.dtype), side="right")) + 1
        data = encode(value)
        if not data.startswith(self.prefix):
            return 1 if data < self.prefix else self.code_count
        key: Any = data[len(self.prefix) :][: self.key_bytes]
        if self.key_bytes == _SHORT_KEY:
            key = np.uint64(int.from_bytes(key.ljust(_SHORT_KEY, b"\0"), "big"))
        else:
            key = np.array(key, self.edges.dtype)
        return int(np.searchsorted(self.edges, key, side="right")) + 1


@entity
class BoundCodes:
    """The codes of one bound in all slices, and the slices in order of their code.

    codes    ``(n,) uint16``
    order    ``(n,) int32``: slices sorted by code
    offsets  ``(65,537,) int32``: slices of code c are ``order[offsets[c] : offsets[c + 1]]``
    """

    codes: Codes
    order: Rows
    offsets: Rows

    @classmethod
    def of(cls, codes: Codes) -> BoundCodes:
        """Sort the slices by code, ``(n,) uint16``."""
        return cls(codes, np.argsort(codes, kind="stable").astype(np.int32), code_offsets(codes))

    def of_code(self, code: int) -> Rows:
        """The slices of one code."""
        return self.order[self.offsets[code] : self.offsets[code + 1]]

    def of_codes(self, codes: Codes) -> Rows:
        """The slices of these codes, each code once, in the order of the codes."""
        starts = self.offsets[codes]
        counts = self.offsets[codes.astype(np.intp) + 1] - starts
        ends = np.cumsum(counts)
        rows: Rows = self.order[np.repeat(starts - (ends - counts), counts) + np.arange(ends[-1])]
        return rows

    def count(self, op: str, code: int) -> int:
        """The number of slices with a code up to this one (op ``<`` or ``<=``), or from it on (``>``, ``>=``)."""
        return int(self.offsets[code + 1]) if op in ("<", "<=") else len(self.codes) - int(self.offsets[code])


def code_offsets(codes: Codes) -> Rows:
    """``(65,537,) int32``: how many of the codes are below each code; at the end, how many there are."""
    offsets = np.zeros(int(ABOVE) + 2, np.int32)
    np.cumsum(np.bincount(codes, minlength=int(ABOVE) + 1), out=offsets[1:])
    return offsets


def _key_dtype(column_type: Type, key_bytes: int) -> np.dtype[Any]:
    if is_bytes(column_type):
        if key_bytes not in (_SHORT_KEY, _LONG_KEY):
            raise ValueError(f"keys of {column_type} are {_SHORT_KEY} or {_LONG_KEY} bytes, not {key_bytes}")
        return np.dtype(np.uint64 if key_bytes == _SHORT_KEY else f"S{_LONG_KEY}")
    as_double = column_type.kind.is_fractional or column_type.kind in (Kind.VOID, Kind.OTHER)
    return np.dtype(np.float64 if as_double or is_storable(column_type) else np.int64)


def _number(value: Any, dtype: np.dtype[Any]) -> Any:
    """A constant in the dtype of the edges; a larger one becomes the greatest value, which is beyond all edges."""
    if dtype == np.float64:
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return min(max(value, -(1 << 63)), (1 << 63) - 1)


def sort_keys(column_type: Type, values: Bounds) -> npt.NDArray[Any]:
    """Keys of fixed width in the order of the values; keys of close values may be equal."""
    return _keys(column_type, values, _common_prefix(values) if is_bytes(column_type) else b"", _LONG_KEY)


def _keys(column_type: Type, values: Bounds, prefix: bytes, key_bytes: int) -> npt.NDArray[Any]:
    """Keys of fixed width in the order of the values, or equal; text and binary values start with the prefix."""
    if not is_bytes(column_type):
        if isinstance(values, StoredBounds):
            return values.doubles()
        return values.astype(np.float64) if values.dtype == object else np.asarray(values)
    key_rows = _key_rows(_joined(values), len(prefix), key_bytes)
    if key_bytes == _SHORT_KEY:
        return key_rows.view(">u8").ravel().astype(np.uint64)
    return key_rows.view(f"S{key_bytes}").ravel()


def _key_rows(joined: pa.LargeBinaryArray, skip: int, length: int) -> npt.NDArray[np.uint8]:
    """``(n, length)`` bytes of each value from position ``skip`` on, zero after its end, read from one buffer."""
    _, offsets, content = joined.buffers()
    columns = np.zeros((length, len(joined)), np.uint8)
    if content is not None and len(content):
        edges = np.frombuffer(offsets, np.int64)[joined.offset : joined.offset + len(joined) + 1]
        data, position, end = np.frombuffer(content, np.uint8), edges[:-1] + skip, edges[1:]
        for column in columns:
            inside = position < end
            if inside.all():
                column[:] = data[position]
            elif inside.any():
                column[inside] = data[position[inside]]
            else:
                break
            position = position + 1
    return np.ascontiguousarray(columns.T)


def _joined(values: Bounds) -> pa.LargeBinaryArray:
    return values.array if isinstance(values, StoredBounds) else encoded(np.asarray(values))


def _common_prefix(values: Bounds) -> bytes:
    if not len(values):
        return b""
    smallest, largest = encode(values.min()), encode(values.max())
    return smallest[: common_prefix_length(smallest, largest)]
