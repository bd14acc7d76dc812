"""Many keys as one array: the members of a list too long for a literal each, such as the keys of a join.

    type of the keys                              array
    --------------------------------------------  --------------------------------------------
    integers, date, timestamps                    int64: as values are in ``language.types``
    decimal of up to 18 digits                    int64, unscaled
    string, varchar                               large_string

As a sequence a key set yields the values that a look-up has: integers, fractions for decimals, and text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, overload

import numpy as np
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.types import Kind, Type

__all__ = ["KeySet", "has_key_sets"]

#: So many keys are objects at a time while a key set is iterated over.
_AT_ONCE = 1 << 16


def has_key_sets(of: Type) -> bool:
    """Whether keys of a type can be a key set."""
    if of.kind is Kind.DECIMAL:
        return of.precision <= 18
    return of.kind.is_integer or of.kind.is_timestamp or of.kind in (Kind.DATE, Kind.STRING, Kind.VARCHAR)


class KeySet(Sequence[object]):
    """Distinct keys of one type in ascending order, without NULL. A key set is equal to itself only."""

    __slots__ = ("array", "type")

    def __init__(self, of: Type, array: pa.Array) -> None:
        """``array``: as in the table above, ascending. Raises TypeError, and ValueError when it is not."""
        expected = pa.large_string() if of.kind.is_text else pa.int64()
        if not has_key_sets(of) or array.type != expected:
            raise TypeError(f"keys of type {of} are no array of {array.type}")
        if array.null_count or (len(array) > 1 and not pc.all(pc.less(array[:-1], array[1:])).as_py()):
            raise ValueError("keys are not distinct and ascending")
        self.type, self.array = of, array

    @classmethod
    def of(cls, of: Type, values: pa.Array | Sequence[Any]) -> KeySet:
        """The distinct non-null values. ``values``: as the array of a key set, in any order."""
        array = values if isinstance(values, pa.Array) else pa.array(values, _array_type(of))
        array = array.drop_null()
        if pa.types.is_int64(array.type):
            return cls(of, pa.array(np.unique(array.to_numpy())))
        ordered = array.take(pc.sort_indices(array))
        if len(ordered) > 1:
            differs = pc.not_equal(ordered[1:], ordered[:-1]).to_numpy(zero_copy_only=False)
            ordered = ordered if differs.all() else ordered.filter(pa.array(np.append(True, differs)))
        return cls(of, ordered)

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, number: int) -> object: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[object]: ...
    def __getitem__(self, number: int | slice) -> object:
        if isinstance(number, slice):
            return [self._value(one.as_py()) for one in self.array[number]]
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        return self._value(self.array[number % len(self)].as_py())

    def __iter__(self) -> Iterator[object]:
        for start in range(0, len(self), _AT_ONCE):
            values = self.array[start : start + _AT_ONCE].to_pylist()
            yield from map(self._value, values) if self.type.kind is Kind.DECIMAL else values

    def __repr__(self) -> str:
        return f"KeySet({self.type}, {len(self):,} keys)"

    def _value(self, plain: Any) -> object:
        return Fraction(plain, 10**self.type.scale) if self.type.kind is Kind.DECIMAL else plain


def _array_type(of: Type) -> pa.DataType:
    return pa.large_string() if of.kind.is_text else pa.int64()
