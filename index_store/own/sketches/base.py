"""What a sketch is: what one file's values of one column leave in an index, and what that says of a leaf later.

A sketch is one file that holds both sides, and one registration in ``sketches/__init__.py``:

    fields                 the columns that it stores, a row for each file
    collect() -> Collector add(batch) for each batch of the file's rows, then stored() -> the values of ``fields``
    tell(stored) -> Told   what the stored rows of many files say: bounds, parts, or whether a value may be there

The contract, with which each is tested: whatever the rows, what is told contains them. A file of which a sketch stored
nothing (too many values, a NaN, text that is none) is unknown to it. Beside what sketches store, each file and column
has its type (``values.FileType``) and its number of NULLs; so no sketch counts NULLs again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from evaluator.language.types import Kind, Type
from evaluator.statistics.stored_bounds import Bounds
from index_store.own.sketches.values import FileType, bytes_of

__all__ = ["Batch", "Collector", "FileBounds", "FileParts", "Sketch", "Stored", "Told", "places_of", "refuse_options"]

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Batch:
    """Some rows of one column of a file, in plain form (``values.plain_array``), and the type that the file has."""

    values: pa.Array
    type: FileType

    @cached_property
    def present(self) -> pa.Array:
        """The values without NULL."""
        return self.values.drop_null() if self.values.null_count else self.values

    @cached_property
    def distinct(self) -> pa.Array:
        """Each value once, in no order; shared by all sketches of the column."""
        return pc.unique(self.present)

    @cached_property
    def distinct_bytes(self) -> pa.Array:
        """The bytes of ``distinct``."""
        return bytes_of(self.distinct)

    @property
    def is_rounded(self) -> bool:
        """Whether values were finer than the plain form: nanoseconds."""
        return self.type.unit == "nanos"


class Collector(Protocol):
    """Collects one file's values of one column for one sketch."""

    def add(self, batch: Batch) -> None:
        """The next rows, all of one type."""
        ...

    def stored(self) -> Mapping[str, Any]:
        """What is stored: a value for each of the sketch's fields."""
        ...


@dataclass(frozen=True, eq=False)
class FileBounds:
    """``(f,)``: ``lo <= x <= hi`` for every value x of a file, where known."""

    lo: Bounds
    hi: Bounds
    lo_known: Mask
    hi_known: Mask


@dataclass(frozen=True, eq=False)
class FileParts:
    """Ranges of which each holds some of a file's values, and together all: ``(k,)``, ``file`` the row of each.

    ``known``: ``(f,)``, for which files there are parts; one that is known and has none has no value but NULL.
    """

    file: npt.NDArray[np.intp]
    bounds: FileBounds
    known: Mask


@dataclass(frozen=True, eq=False)
class Told:
    """What a sketch says of one column in f files: as much of it as it knows.

    ``might_contain(values)``: ``(f,) bool``, False where none of the values, in the form of arrays, is in the file.
    """

    bounds: FileBounds | None = None
    parts: FileParts | None = None
    might_contain: Callable[[Sequence[object]], Mask] | None = None
    nans: npt.NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class Stored:
    """What one sketch stored of files that have one type for the column, as Arrow arrays by field.

    ``of``: the type as the files have it; all that is told is in its terms. Files of which nothing is known are not
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
    """One kind of sketch with its options, which say how it is built and never what it means."""

    #: The name that it is registered under.
    name: str
    #: As a user writes it, with all options: ``bloom_filter(fpp=0.01)``.
    text: str
    #: What is stored of a file.
    fields: tuple[pa.Field, ...]
    #: Whether a file's footer can be enough.
    from_footers: bool
    #: Whether it tells nothing but whether values may be there: then it is not read for any other question.
    is_filter: bool

    def why_not(self, of: Type) -> str:
        """Why columns of this type cannot have the sketch, or ""."""
        ...

    def collect(self) -> Collector:
        """A collector for one file."""
        ...

    def tell(self, stored: Stored) -> Told:
        """What the stored rows say. Raises ValueError when they cannot be understood."""
        ...


def places_of(lists: pa.Array) -> tuple[npt.NDArray[np.intp], pa.Array]:
    """The row of each element of a list column, and the elements."""
    lists = lists.combine_chunks() if isinstance(lists, pa.ChunkedArray) else lists
    counts = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False)
    return np.repeat(np.arange(len(lists)), counts).astype(np.intp), lists.flatten()


def has_nan(batch: Batch) -> bool:
    """Whether a NaN is among the values."""
    return bool(batch.type.type.kind in (Kind.FLOAT, Kind.DOUBLE) and pc.any(pc.is_nan(batch.present)).as_py())


def refuse_options(sketch: str, options: Mapping[str, str]) -> None:
    """Raises ValueError when a sketch that has no options is given some."""
    if options:
        raise ValueError(f"{sketch} has no option {', '.join(options)}")
