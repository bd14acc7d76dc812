"""The contract of a sketch: what it stores of one file's values of one column, and what that says of them later.

A sketch is one file in this folder that holds both sides, and one line in ``sketches/__init__.py``:

    fields                                  the columns that it stores, a row for each file
    collect() -> Collector                  add(batch) for each batch of the file's rows; stored() gives the fields
    decode(Stored) -> SketchStatistics      bounds, parts or a filter, from the stored rows of many files

    min_max of the values 3, NULL, 9        stored lo = 3, hi = 9        decoded 3 <= x <= 9

The contract, with which each sketch is tested: whatever the rows of a file, every value lies within the decoded
statistics. A file of which a sketch stored nothing (too many values, a NaN, bytes that are not UTF-8) is unknown to it.
Beside the sketches an index keeps for each file and column its type (``values.FileType``) and its number of NULLs, so
no sketch counts NULLs again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.records import frozen
from evaluator.language.types import Kind, Type
from evaluator.statistics.stored_bounds import Bounds
from index_store.own.sketches.values import bytes_of
from index_store.table.file_types import FileType

__all__ = [
    "Batch",
    "Collector",
    "FileBounds",
    "FileParts",
    "Sketch",
    "SketchStatistics",
    "Stored",
    "flatten_lists",
    "has_nan",
    "refuse_options",
]

Mask = npt.NDArray[np.bool_]


@frozen(slots=False)
class Batch:
    """Some rows of one column of a file, in plain form (``values.plain_array``), and the column's type in the file."""

    values: pa.Array
    type: FileType

    @cached_property
    def present(self) -> pa.Array:
        """The values without NULL."""
        return self.values.drop_null() if self.values.null_count else self.values

    @cached_property
    def distinct(self) -> pa.Array:
        """The distinct values, in any order; all sketches of the column share one computation."""
        return pc.unique(self.present)

    @cached_property
    def distinct_bytes(self) -> pa.Array:
        """The bytes of ``distinct``."""
        return bytes_of(self.distinct)

    @property
    def is_rounded(self) -> bool:
        """Whether the plain form has lost precision: nanoseconds were rounded down to microseconds."""
        return self.type.unit == "nanos"


class Collector(Protocol):
    """Collects one file's values of one column for one sketch."""

    def add(self, batch: Batch) -> None:
        """The next rows, all of one type."""
        ...

    def stored(self) -> Mapping[str, Any]:
        """The value of each of the sketch's fields."""
        ...


@frozen(slots=False, eq=False)
class FileBounds:
    """``(f,)`` for f files: ``lo <= x <= hi`` for every value x of a file, where known."""

    lo: Bounds
    hi: Bounds
    lo_known: Mask
    hi_known: Mask


@frozen(slots=False, eq=False)
class FileParts:
    """Parts of files: ``(k,)`` ranges that together hold all values of a file; ``file`` is the file of each, ascending.

    ``known``: ``(f,)``, whether the parts of a file are known. A known file without parts holds nothing but NULL.
    """

    file: npt.NDArray[np.intp]
    bounds: FileBounds
    known: Mask


@frozen(slots=False, eq=False)
class SketchStatistics:
    """What one sketch says of one column in f files; None for what it does not keep.

    bounds           of all values of each file
    parts            of each file, in ranges that together hold all of its values
    might_contain    of values in the form of arrays: ``(f,) bool``, False where the file has none of them
    """

    bounds: FileBounds | None = None
    parts: FileParts | None = None
    might_contain: Callable[[Sequence[object]], Mask] | None = None


@frozen(slots=False, eq=False)
class Stored:
    """What one sketch stored of files that have one type for the column, as Arrow arrays by field.

    ``of``: the type as the files have it; decoded values are of this type. Files of which nothing is known are not
    among them.
    """

    columns: Mapping[str, pa.Array]
    of: FileType
    rows: int

    @property
    def type(self) -> Type:
        return self.of.type

    def __len__(self) -> int:
        return self.rows


class Sketch(Protocol):
    """One kind of sketch with its options. Options change how a sketch is built, never how it is decoded."""

    #: The name that it is registered under.
    name: str
    #: As a user writes it, with all options: ``bloom_filter(fpp=0.01)``.
    text: str
    #: The columns that are stored of a file.
    fields: tuple[pa.Field, ...]
    #: Whether the footer of a file can be enough to build it.
    from_footers: bool
    #: Whether it answers look-ups only: then it is not read for any other question.
    is_filter: bool
    #: Whether filters can skip files by it: one that says nothing of single values is not read for them.
    skips_files: bool

    def why_not(self, of: Type) -> str:
        """Why columns of this type cannot have the sketch, or ""."""
        ...

    def collect(self) -> Collector:
        """A collector for one file."""
        ...

    def decode(self, stored: Stored) -> SketchStatistics:
        """The statistics of the files of the stored rows. Raises ValueError when they cannot be understood."""
        ...


def flatten_lists(lists: pa.Array) -> tuple[npt.NDArray[np.intp], pa.Array]:
    """The row of each element of a column of lists, and the elements."""
    lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
    counts = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
    return np.repeat(np.arange(len(lists)), counts).astype(np.intp), lists.flatten()


def has_nan(batch: Batch) -> bool:
    """Whether a NaN is among the values."""
    return bool(batch.type.type.kind in (Kind.FLOAT, Kind.DOUBLE) and pc.any(pc.is_nan(batch.present)).as_py())


def refuse_options(sketch: str, options: Mapping[str, str]) -> None:
    """Raises ValueError when options are given to a sketch that has none."""
    if options:
        raise ValueError(f"{sketch} has no option {', '.join(options)}")
