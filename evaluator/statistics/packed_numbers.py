"""Numbers in fewer bytes than their dtype has, which may lie in a file mapped into memory; read without loss.

    value[i] = start + slope * i + step * code[i] + beside[i]         modulo 2 ** 64
    code[i]  = planes[0][i] + (planes[1][i] << width of planes[0]) + ...

    1767225600000000, 1767225600007000, 1767225601000000   ->   start 1767225600000000, step 1000, codes 0, 7, 1000
    0, 1, 2, 3, 4                                          ->   slope 1, no planes
    the upper bounds of [1, 4], [7, 10], [9, 12]           ->   start 3, beside the lower bounds, no planes

Or the codes are positions in a ``table`` of a few distinct values. A double is packed as the integer of its bits, so
NaN and -0.0 are what they were. The values of some rows are made of these rows only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

__all__ = ["Numbers", "PackedNumbers", "Words", "to_words"]

#: ``(n,) uint64``: the bits of numbers of any dtype, sign-extended.
Words = npt.NDArray[np.uint64]
_MASK = (1 << 64) - 1


class PackedNumbers(NDArrayOperatorsMixin):
    """``(n,)`` numbers with the interface of a read-only numpy array, as far as bounds and counts need it."""

    __slots__ = ("_n", "_whole", "beside", "dtype", "planes", "slope", "start", "step", "table")
    __hash__ = None  # type: ignore[assignment]  # like an array's

    def __init__(
        self,
        dtype: np.dtype[Any],
        n: int,
        planes: Sequence[npt.NDArray[Any]] = (),
        *,
        start: int = 0,
        slope: int = 0,
        step: int = 1,
        beside: Numbers | None = None,
        table: npt.NDArray[Any] | None = None,
    ) -> None:
        """``planes`` are unsigned, ``(n,)`` each, lowest bits first. Raises ValueError for arrays of another length."""
        parts = [*planes, *([] if beside is None else [beside])]
        if any(len(part) != n for part in parts) or any(plane.dtype.kind != "u" for plane in planes):
            raise ValueError(f"planes of {n:,} numbers are as many unsigned integers")
        self.dtype = dtype
        self.planes = tuple(planes)
        self.start, self.slope, self.step = start, slope, step
        self.beside = beside
        self.table = table
        self._n = n
        self._whole: npt.NDArray[Any] | None = None

    def __len__(self) -> int:
        return self._n

    def __iter__(self) -> Iterator[Any]:
        return iter(np.asarray(self))

    def __repr__(self) -> str:
        return f"PackedNumbers({self._n} of {self.dtype})"

    @property
    def shape(self) -> tuple[int]:
        return (self._n,)

    @property
    def nbytes(self) -> int:
        """Bytes of the planes and of the table."""
        return sum(plane.nbytes for plane in self.planes) + (0 if self.table is None else self.table.nbytes)

    def __getitem__(self, where: Any) -> Any:
        """One value, or an array of some rows by slice, row numbers or mask."""
        if self._whole is not None:
            return self._whole[where]
        if isinstance(where, int | np.integer):
            return self._at(np.array([range(self._n)[int(where)]]))[0]
        rows = np.asarray(where) if not isinstance(where, slice) else where
        if not isinstance(rows, slice) and rows.dtype == np.bool_:
            if len(rows) != self._n:
                raise IndexError(f"a mask of {len(rows)} for {self._n} numbers")
            rows = np.flatnonzero(rows)
        return self._at(rows)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """All values, made once; read only."""
        if self._whole is None:
            whole = self._at(slice(None))
            whole.setflags(write=False)
            self._whole = whole
        if dtype is None or np.dtype(dtype) == self.dtype:
            return self._whole.copy() if copy else self._whole
        return self._whole.astype(dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(one) if isinstance(one, PackedNumbers) else one for one in inputs]
        return getattr(ufunc, method)(*plain, **options)

    def astype(self, dtype: Any) -> npt.NDArray[Any]:
        """All values as an array of another type."""
        return np.array(self, dtype=dtype)

    def tolist(self) -> list[Any]:
        """All values as Python numbers."""
        values: list[Any] = np.asarray(self).tolist()
        return values

    def min(self) -> Any:
        """The least value; NaN if there is one. Raises ValueError for zero rows."""
        return np.asarray(self).min()

    def max(self) -> Any:
        """The greatest value; NaN if there is one. Raises ValueError for zero rows."""
        return np.asarray(self).max()

    def sum(self) -> Any:
        """The sum of all values."""
        return np.asarray(self).sum()

    def _at(self, where: Any) -> npt.NDArray[Any]:
        """The values at a slice, or at row numbers."""
        if self.table is not None:
            values: npt.NDArray[Any] = self.table[self.planes[0][where]]
            return values
        words = self._words_at(where)
        signed = words.view(np.int64)
        return signed.astype(self.dtype) if self.dtype.itemsize < 8 else signed.view(self.dtype)

    def _words_at(self, where: Any) -> Words:
        words: Words
        if self.planes:
            words, shift = self.planes[0][where].astype(np.uint64), 8 * self.planes[0].itemsize
            for plane in self.planes[1:]:
                words |= plane[where].astype(np.uint64) << np.uint64(shift)
                shift += 8 * plane.itemsize
            if self.step != 1:
                words *= np.uint64(self.step & _MASK)
        else:
            count = len(range(self._n)[where]) if isinstance(where, slice) else len(where)
            words = np.zeros(count, np.uint64)
        if self.start:
            words += np.uint64(self.start & _MASK)
        if self.slope:
            rows = (
                np.arange(self._n)[where] if isinstance(where, slice) else np.where(where < 0, where + self._n, where)
            )
            words += rows.astype(np.uint64) * np.uint64(self.slope & _MASK)
        if self.beside is not None:
            words += to_words(self.beside[where])
        return words


#: Numbers as an array, or packed.
Numbers = npt.NDArray[Any] | PackedNumbers


def to_words(values: npt.NDArray[Any]) -> Words:
    """The bits of integers or doubles, ``(n,) uint64``; a double's are those of its form in memory."""
    if values.dtype == np.float64:
        return values.view(np.uint64)
    return values.astype(np.int64).view(np.uint64)
