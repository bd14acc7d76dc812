"""Bounds of text, binary and wide decimals in Arrow form; Python objects are made of the requested rows only.

Two million texts as Python objects take a tenth of a second and 150 MB to make. As an Arrow array, which may be a file
mapped into memory, they take neither. ``StoredBounds`` replaces an array of objects in ``ColumnStatistics``:

    operation                              objects that it makes
    -------------------------------------  -----------------------------------------------------
    ``bounds[7]``                          one value
    ``bounds[rows]``, a slice, a mask      an object array of these rows
    ``taken(bounds, rows)``                none: the result is ``StoredBounds``
    ``bounds < "b"``, ``min()``, codes     none: Arrow compares
    ``np.asarray(bounds)``, any other use  an object array of all rows, kept for the next use

    type                             Arrow type               value
    -------------------------------  -----------------------  --------------------------------------
    STRING, VARCHAR, CHAR            large_binary             ``str``; lone surrogates are kept
    BINARY                           large_binary             ``bytes``
    DECIMAL(p, s), p > 18            decimal128, decimal256   ``int``: unscaled, so the Arrow scale is 0

Text is stored as UTF-8, a lone surrogate like any other code point: the order of the bytes is Python's order of texts.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.arrow_arrays import binary_at, to_arrow, to_binary, to_numpy
from evaluator.language.types import Kind, Type
from evaluator.statistics.packed_numbers import PackedNumbers
from evaluator.statistics.packed_texts import PackedDecimals, PackedTexts

__all__ = [
    "Bounds",
    "StoredBounds",
    "concatenated",
    "encode",
    "encoded",
    "is_bytes",
    "is_storable",
    "plain_value",
    "scattered",
    "taken",
]

#: Up to so many rows, values are read from the buffers one by one, which is faster than a call of Arrow.
_FEW_ROWS = 256
_OPERATORS = {
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
    "equal": operator.eq,
    "not_equal": operator.ne,
}


class StoredBounds:
    """``(n,)`` bounds of one type in an Arrow array without nulls, with the interface of a numpy array of objects.

    The array may be packed: then it is made when all of it is used. Raises ValueError for an array that cannot hold
    bounds of this type.
    """

    __slots__ = ("_array", "_packed", "_whole", "type")

    dtype = np.dtype(object)
    __array_priority__ = 1.0  # a comparison with a numpy array on the left calls the methods below
    __hash__ = None  # type: ignore[assignment]  # like an array's

    def __init__(self, array: pa.Array | PackedTexts | PackedDecimals, column_type: Type) -> None:
        self._packed = array if isinstance(array, PackedTexts | PackedDecimals) else None
        self._array = None if self._packed is not None else _checked(array, column_type)
        self.type = column_type
        self._whole: npt.NDArray[Any] | None = None
        if self._packed is not None and (
            not is_storable(column_type) or isinstance(array, PackedTexts) is not is_bytes(column_type)
        ):
            raise ValueError(f"bounds of {column_type} are not stored as {type(array).__name__}")

    @property
    def array(self) -> pa.Array:
        """All bounds as an Arrow array."""
        if self._array is None and self._packed is not None:
            self._array = self._packed.arrow()
        return self._array

    @classmethod
    def of(cls, values: npt.NDArray[Any], column_type: Type) -> StoredBounds:
        """The Arrow form of an array of ``str``, ``bytes`` or ``int``. Raises ValueError for another type."""
        if not is_storable(column_type):
            raise ValueError(f"bounds of {column_type} are stored as numbers")
        if is_bytes(column_type):
            return cls(encoded(values), column_type)
        whole = values.tolist()
        widest = max(map(abs, whole), default=0)
        return cls(pa.array(whole, pa.decimal128(38, 0) if widest < 10**38 else pa.decimal256(76, 0)), column_type)

    def __len__(self) -> int:
        return len(self.array if self._packed is None else self._packed)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.tolist())

    def __repr__(self) -> str:
        return f"StoredBounds({len(self)} of {self.type})"

    @property
    def shape(self) -> tuple[int]:
        return (len(self),)

    def __getitem__(self, where: Any) -> Any:
        """One value, or an object array of some rows by slice, row numbers or mask."""
        if self._whole is not None:
            return self._whole[where]
        if isinstance(where, int | np.integer):
            return self._few(np.array([range(len(self))[int(where)]]))[0]
        if isinstance(where, np.ndarray) and where.dtype != np.bool_ and len(where) <= _FEW_ROWS:
            return self._few(self._row_numbers(where))
        return _decoded(self._taken(where), self.type)

    def _few(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        if isinstance(self._packed, PackedTexts) and self._array is None:
            return _objects(self._packed.at(rows), is_text=self.type.kind.is_text)
        if is_bytes(self.type):
            return _objects(binary_at(self.array, rows), is_text=self.type.kind.is_text)
        return _decoded(self._taken(rows), self.type)

    def _row_numbers(self, rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Row numbers, negative ones counted from the end. Raises IndexError for one that does not exist."""
        if len(rows) and rows.min() < 0:
            rows = np.where(rows < 0, rows + len(self), rows)
        if len(rows) and not 0 <= rows.min() <= rows.max() < len(self):
            raise IndexError(f"row {rows.max()} of {len(self)} bounds")
        return rows

    def take(self, where: Any) -> StoredBounds:
        """Some rows by slice, row numbers or mask, in Arrow form."""
        return StoredBounds(self._taken(where), self.type)

    def _taken(self, where: Any) -> pa.Array:
        if isinstance(where, slice):
            start, stop, step = where.indices(len(self))
            if step == 1:
                return self.array.slice(start, max(stop - start, 0))
            where = np.arange(start, stop, step)
        where = np.asarray(where)
        if where.dtype == np.bool_:
            if len(where) != len(self):
                raise IndexError(f"a mask of {len(where)} for {len(self)} bounds")
            return self.array.filter(to_arrow(where))
        if self._packed is not None and self._array is None:
            return self._packed.arrow(self._row_numbers(where))
        return self.array.take(to_arrow(self._row_numbers(where))) if len(where) else self.array.slice(0, 0)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """All rows as objects, made once; read only."""
        if self._whole is None:
            whole = _decoded(self.array, self.type)
            whole.setflags(write=False)
            self._whole = whole
        if dtype is None or np.dtype(dtype) == self.dtype:
            return self._whole.copy() if copy else self._whole
        return self._whole.astype(dtype)

    def astype(self, dtype: Any) -> npt.NDArray[Any]:
        """All rows as an array of another type."""
        return np.array(self, dtype=dtype)

    def tolist(self) -> list[Any]:
        """All rows as Python values."""
        objects: list[Any] = (_decoded(self.array, self.type) if self._whole is None else self._whole).tolist()
        return objects

    def min(self) -> Any:
        """The least value. Raises ValueError for zero rows."""
        return self._extreme("min")

    def max(self) -> Any:
        """The greatest value. Raises ValueError for zero rows."""
        return self._extreme("max")

    def _extreme(self, which: str) -> Any:
        if not len(self):
            raise ValueError(f"no {which} of no bounds")
        least_or_greatest = pc.min_max(self.array)[which]
        value = least_or_greatest.as_py()
        one = to_binary([value]) if is_bytes(self.type) else pa.array([value], self.array.type)
        return _decoded(one, self.type)[0]

    def is_ascii(self) -> bool:
        """Whether all text is ASCII. Raises ValueError for decimals."""
        if not is_bytes(self.type):
            raise ValueError("a number is no text")
        _, offsets, content = self.array.buffers()
        if content is None or not len(self):
            return True
        edges = np.frombuffer(offsets, np.int64)[[self.array.offset, self.array.offset + len(self)]]
        return bool((np.frombuffer(content, np.uint8)[edges[0] : edges[1]] < 0x80).all())

    def doubles(self) -> npt.NDArray[np.float64]:
        """``(n,) float64``: ``float(value)`` of each decimal, without an object per value."""
        words = _words(self.array)
        if words.shape[1] > 2:
            return np.asarray(self).astype(np.float64)
        return words[:, 0].view(np.int64).astype(np.float64) if words.shape[1] == 1 else _nearest_doubles(words)

    # -- comparisons: ``(n,) bool``

    def __lt__(self, other: Any) -> Any:
        return self._compared("less", other)

    def __le__(self, other: Any) -> Any:
        return self._compared("less_equal", other)

    def __gt__(self, other: Any) -> Any:
        return self._compared("greater", other)

    def __ge__(self, other: Any) -> Any:
        return self._compared("greater_equal", other)

    def __eq__(self, other: Any) -> Any:
        return self._compared("equal", other)

    def __ne__(self, other: Any) -> Any:
        return self._compared("not_equal", other)

    def _compared(self, operation: str, other: Any) -> Any:
        """Compare in Arrow where it compares as Python does, else by numpy's rules for arrays of objects."""
        in_arrow = self._in_arrow(other)
        if in_arrow is None:
            return _OPERATORS[operation](np.asarray(self), other)
        return to_numpy(pc.call_function(operation, [self.array, in_arrow]))

    def _in_arrow(self, other: Any) -> pa.Array | pa.Scalar | None:
        if isinstance(other, StoredBounds):
            same = other.array.type == self.array.type and other.type.kind.is_text == self.type.kind.is_text
            return other.array if same and len(other) == len(self) else None
        if isinstance(other, np.ndarray) and other.ndim == 0:
            other = other.item()
        if isinstance(other, str if self.type.kind.is_text else bytes) and is_bytes(self.type):
            return to_binary([encode(other)])[0]
        return None


Bounds = npt.NDArray[Any] | PackedNumbers | StoredBounds


def is_storable(column_type: Type) -> bool:
    """True for the types whose values are Python objects in arrays."""
    return is_bytes(column_type) or (column_type.kind is Kind.DECIMAL and column_type.precision > 18)


def plain_value(value: Any) -> Any:
    """An element of bounds as a Python value: arrays of numbers give numpy scalars."""
    return value.item() if isinstance(value, np.generic) else value


def taken(bounds: Bounds, where: Any) -> Bounds:
    """Some rows of bounds, in the same form: an array or ``StoredBounds``."""
    return bounds.take(where) if isinstance(bounds, StoredBounds) else bounds[where]


def scattered(bounds: StoredBounds, rows: npt.NDArray[np.intp], n: int) -> StoredBounds:
    """``(n,)``: bound j at row ``rows[j]``; rows are distinct. The other rows hold arbitrary values of the type.

    Raises ValueError for zero bounds, unless n is 0 too.
    """
    if len(bounds) == n and bool((rows[1:] > rows[:-1]).all()):
        return bounds
    if not len(bounds):
        raise ValueError("nothing to spread")
    sources = np.zeros(n, np.intp)
    sources[rows] = np.arange(len(bounds))
    return bounds.take(sources)


def concatenated(parts: Sequence[Bounds]) -> Bounds:
    """Bounds of one type, concatenated; in Arrow form where any of them is."""
    stored = next((part for part in parts if isinstance(part, StoredBounds)), None)
    if stored is None:
        joined: npt.NDArray[Any] = np.concatenate(parts)
        return joined
    arrays = [
        (part if isinstance(part, StoredBounds) else StoredBounds.of(np.asarray(part), stored.type)).array
        for part in parts
    ]
    if len({array.type for array in arrays}) > 1:
        arrays = [array.cast(pa.decimal256(76, 0)) for array in arrays]
    return StoredBounds(pa.concat_arrays(arrays), stored.type)


def encoded(values: npt.NDArray[Any]) -> pa.LargeBinaryArray:
    """Texts as UTF-8, or bytes, in one Arrow array."""
    try:
        return pa.array(values, pa.large_binary())
    except (pa.ArrowException, UnicodeError):
        return pa.array([encode(value) for value in values.tolist()], pa.large_binary())  # lone surrogates


def encode(value: str | bytes) -> bytes:
    """The bytes of a text, lone surrogates included; bytes as they are."""
    return value if isinstance(value, bytes) else value.encode("utf-8", "surrogatepass")


def is_bytes(column_type: Type) -> bool:
    """True for text and binary: the types that are stored as bytes."""
    return column_type.kind.is_text or column_type.kind is Kind.BINARY


def _is_binary_like(arrow_type: pa.DataType) -> bool:
    return any(
        is_a(arrow_type)
        for is_a in (pa.types.is_large_binary, pa.types.is_binary, pa.types.is_large_string, pa.types.is_string)
    )


def _checked(array: pa.Array, column_type: Type) -> pa.Array:
    if not isinstance(array, pa.Array) or array.null_count or not is_storable(column_type):
        raise ValueError(f"bounds of {column_type} are an Arrow array without nulls, not {type(array).__name__}")
    if is_bytes(column_type):
        if not _is_binary_like(array.type):
            raise ValueError(f"bounds of {column_type} are stored as large_binary, not as {array.type}")
        return array.cast(pa.large_binary())
    if not (pa.types.is_decimal128(array.type) or pa.types.is_decimal256(array.type)) or array.type.scale:
        raise ValueError(f"bounds of {column_type} are stored as decimals of scale 0, not as {array.type}")
    return array


def _decoded(array: pa.Array, column_type: Type) -> npt.NDArray[Any]:
    """``(k,)`` Python objects of all rows."""
    if is_bytes(column_type) and len(array) <= _FEW_ROWS:
        return _objects(binary_at(array, range(len(array))), is_text=column_type.kind.is_text)
    return _many_objects(array, column_type)


def _many_objects(array: pa.Array, column_type: Type) -> npt.NDArray[Any]:
    objects = np.empty(len(array), object)
    if not is_bytes(column_type):
        words = _words(array)
        values = words[:, -1].view(np.int64).astype(object)
        for word in range(words.shape[1] - 2, -1, -1):
            values = (values << 64) + words[:, word].astype(object)
        objects[:] = values
    elif column_type.kind.is_text:
        try:
            texts: npt.NDArray[Any] = array.cast(pa.large_string()).to_numpy(zero_copy_only=False)
            return texts
        except pa.ArrowInvalid:
            objects[:] = [value.decode("utf-8", "surrogatepass") for value in array.to_pylist()]
    else:
        objects[:] = array.to_pylist()
    return objects


def _objects(parts: Sequence[bytes | memoryview], *, is_text: bool) -> npt.NDArray[Any]:
    """``(k,)`` Python objects of the bytes of a few bounds."""
    objects = np.empty(len(parts), object)
    objects[:] = [str(part, "utf-8", "surrogatepass") for part in parts] if is_text else [bytes(part) for part in parts]
    return objects


def _words(array: pa.Array) -> npt.NDArray[np.uint64]:
    """``(k, words) uint64``: the decimals in two's complement, lowest word first, in as few words as contain all."""
    width = array.type.byte_width // 8
    content = array.buffers()[1]
    if content is None or not len(array):
        return np.zeros((0, 1), np.uint64)
    words = np.frombuffer(content, np.uint64)[array.offset * width : (array.offset + len(array)) * width]
    words = words.reshape(-1, width)
    while words.shape[1] > 1 and (words[:, -1].view(np.int64) == words[:, -2].view(np.int64) >> 63).all():
        words = words[:, :-1]
    return words


def _nearest_doubles(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.float64]:
    """Integers of two words as doubles, rounded once, as ``float`` does.

    The 64 bits from the highest set bit on are converted. The lowest of them is set where any lower bit is: it is too
    low to be kept by a double, but distinguishes a half from more than a half.
    """
    low, high = words[:, 0], words[:, 1]
    negative = high.view(np.int64) < 0
    low, high = np.where(negative, ~low + np.uint64(1), low), np.where(negative, ~high + (low == 0), high)
    bits = np.clip(np.frexp(high.astype(np.float64))[1], 1, 64)
    bits -= high >> (bits - 1).astype(np.uint64) == 0
    shift = (64 - bits).astype(np.uint64)  # 64 where the upper word is 0
    narrow_shift = np.minimum(shift, np.uint64(63))
    top = (high << narrow_shift) | ((low >> np.uint64(1)) >> (np.uint64(63) - narrow_shift))
    top |= ((low << narrow_shift) != 0).astype(np.uint64)
    doubles = np.where(high == 0, low.astype(np.float64), np.ldexp(top.astype(np.float64), bits))
    return np.where(negative, -doubles, doubles)
