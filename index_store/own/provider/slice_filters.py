"""The Bloom filters of one column in one index, by file, as arrays: which slices have none of some values.

    usable          (n,)     all files of the slice are known, and merged rows hold values of theirs
    slice_of        (f,)     the slice of each file
    empty           (e,)     files without rows
    <i>.file        (k,)     the files of part i, which have the column in one type: each has a filter
    <i>.<field>     (k,)     what the sketch has stored of each, of which its filters are made

A file that is in no part may have any value. The arrays are kept in snapshots (``kinds.statistics_memory``) and mapped:
a look-up reads the bits that it asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.arrow_arrays import to_arrow, to_numpy
from evaluator.language.records import frozen
from index_store.kinds.statistics_memory import KeptArrays
from index_store.own.provider.per_file_statistics import PerFileStatistics
from index_store.own.sketches import parse_sketch
from index_store.own.sketches.base import Stored
from index_store.storage.errors import FormatError
from index_store.table.file_types import FileType

__all__ = ["SliceFilters"]

Mask = npt.NDArray[np.bool_]
#: Numbers of files among the f files of ``SliceFiles``.
Files = npt.NDArray[Any]
_PARTS = "parts"


@frozen(slots=False, eq=False)
class _Part:
    """The filters of k files: ``file`` (k,), the name of their sketch, and what it has stored of them."""

    file: Files
    sketch: str
    stored: Stored

    def filter(self) -> Callable[[Sequence[object]], Mask]:
        """Raises FormatError for what is no filter."""
        found = parse_sketch(self.sketch).decode(self.stored).might_contain
        if found is None:
            raise FormatError(f"{self.sketch} is no filter")
        return found


@frozen(slots=False, eq=False)
class SliceFilters:
    """The filters of the files of n slices."""

    usable: Mask
    slice_of: Files
    empty: Files
    parts: tuple[_Part, ...]

    @classmethod
    def of(cls, per_file: Iterable[tuple[Files, PerFileStatistics]], slice_of: Files, usable: Mask) -> SliceFilters:
        """The filters among what is known of the files, each with its numbers."""
        empty, parts = [np.zeros(0, np.int32)], []
        for numbers, known in per_file:
            empty.append(numbers[known.row_counts == 0].astype(np.int32))
            for one in known.filters:
                valid = np.ones(len(numbers), np.bool_)
                for array in one.stored.columns.values():
                    valid &= array.is_valid().to_numpy(zero_copy_only=False)
                rows = np.flatnonzero(valid)
                columns = one.stored.columns
                if len(rows) < len(numbers):
                    columns = {name: array.take(to_arrow(rows)) for name, array in columns.items()}
                stored = Stored(columns, one.stored.of, len(rows))
                parts.append(_Part(numbers[rows].astype(np.int32), one.sketch, stored))
        return cls(usable, slice_of.astype(np.int32), np.concatenate(empty), tuple(parts))

    def might_contain(self, values: Sequence[object]) -> Mask:
        """``(n,) bool``: False for the slices of which no file has one of the values, in the form of arrays."""
        file_might_contain = np.ones(len(self.slice_of), np.bool_)
        for part in self.parts:
            file_might_contain[part.file] &= part.filter()(values)
        file_might_contain[self.empty] = False
        slice_might_contain = ~self.usable
        slice_might_contain[self.slice_of[file_might_contain]] = True
        return slice_might_contain

    def to_arrays(self) -> KeptArrays:
        """The filters as arrays."""
        arrays: dict[str, Any] = {"usable": self.usable, "slice_of": self.slice_of, "empty": self.empty}
        for number, part in enumerate(self.parts):
            arrays[f"{number}.file"] = part.file
            for name, array in part.stored.columns.items():
                is_binary = pa.types.is_large_binary(array.type)
                arrays[f"{number}.{name}"] = array if is_binary else to_numpy(array)
        about = [[part.sketch, part.stored.of.text, list(part.stored.columns)] for part in self.parts]
        return KeptArrays(arrays, {_PARTS: about})

    @classmethod
    def from_arrays(cls, kept: KeptArrays) -> SliceFilters:
        """The reverse of ``to_arrays``. Raises KeyError, TypeError or ValueError."""
        arrays, parts = kept.arrays, []
        for number, (sketch, of, names) in enumerate(kept.about[_PARTS]):
            found = {name: arrays[f"{number}.{name}"] for name in names}
            columns = {name: to_arrow(one) if isinstance(one, np.ndarray) else one for name, one in found.items()}
            file = arrays[f"{number}.file"]
            if any(len(one) != len(file) for one in columns.values()):
                raise ValueError("arrays do not fit together")
            parts.append(_Part(file, sketch, Stored(columns, FileType(of), len(file))))
        return cls(arrays["usable"].view(np.bool_), arrays["slice_of"], arrays["empty"], tuple(parts))
