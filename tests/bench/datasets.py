"""Made-up statistics of a table's files, in the sizes of the data sets that RFC-15 timed Hudi's metadata table on.

    C       1,050 files,   719 partitions
    M     384,757 files, 3,615 partitions
    E   2,271,646 files,   493 partitions

The files of a partition stand together, as a table lists them. What else is in order is the layout:

    clustered   id, user and day grow from file to file (keys and dates that grow with time)
    random      each of them in an order of its own: sorting by one column would not help another
    wide        random, and one file in a hundred spans all ids, as a late correction of old rows does

Columns: id, amount and user span about 1/2,000 of their domain in a file, day one to three days of ten years, score
30 % of its domain. One file in 500 has no amount, no score or no user at all: its bounds are null.
All other bounds are known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.types import BIGINT, DATE, DOUBLE, STRING, Kind, Type

__all__ = ["LAYOUTS", "PARTITION", "SIZES", "TYPES", "Column", "Files", "make_files", "user_name"]

#: Files and partitions.
SIZES = {"C": (1_050, 719), "M": (384_757, 3_615), "E": (2_271_646, 493)}
LAYOUTS = ("clustered", "random", "wide")

PARTITION = "region"
TYPES: Mapping[str, Type] = {
    "id": BIGINT,
    "amount": DOUBLE,
    "user": STRING,
    "day": DATE,
    "score": DOUBLE,
    PARTITION: STRING,
}

_IDS = 1_000_000_000
_AMOUNTS, _SCORES = 10_000.0, 1.0
_FIRST_DAY, _DAYS = 15_000, 3_650
_ALL_NULL, _WIDE, _NULLABLE = 0.002, 0.01, 0.3


@dataclass(frozen=True, eq=False)
class Column:
    """Bounds of one column, ``(n,)``; where ``all_null`` is set they mean nothing. Text is an Arrow array."""

    type: Type
    lo: Any
    hi: Any
    all_null: npt.NDArray[np.bool_]
    null_count: npt.NDArray[np.int64]

    def arrow(self) -> tuple[pa.Array, pa.Array]:
        """Lower and upper bounds in Arrow form, null where the file has no value."""
        if self.type.kind is Kind.STRING:
            return self.lo, self.hi
        arrow_type = pa.date32() if self.type.kind is Kind.DATE else None
        mask = self.all_null if self.all_null.any() else None
        return tuple(
            pa.array(bound.astype(np.int32) if arrow_type else bound, arrow_type, mask=mask)
            for bound in (self.lo, self.hi)
        )

    def objects(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Lower and upper bounds of text as numpy arrays of ``str`` (or None); one array when both are the same."""
        lo = self.lo.to_numpy(zero_copy_only=False)
        return lo, lo if self.hi is self.lo else self.hi.to_numpy(zero_copy_only=False)


@dataclass(frozen=True, eq=False)
class Files:
    """Statistics of n files of one table. A partition column is one value per file: its lo and hi are one array."""

    name: str
    layout: str
    columns: Mapping[str, Column]
    row_count: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.row_count)

    def arrow_table(self) -> pa.Table:
        """``file`` (its number), ``<column>_lo`` and ``<column>_hi``, and the partition column under its own name."""
        arrays: dict[str, Any] = {"file": np.arange(len(self), dtype=np.int64)}
        for name, column in self.columns.items():
            lo, hi = column.arrow()
            arrays |= {name: lo} if name == PARTITION else {f"{name}_lo": lo, f"{name}_hi": hi}
        return pa.table(arrays)


def user_name(number: int) -> str:
    """The user with this number: ``user-000000000042``."""
    return f"user-{number:012d}"


def make_files(name: str, layout: str, n: int | None = None, seed: int = 15) -> Files:
    """The files of data set ``name``, always the same for a seed; ``n`` asks for another number of files."""
    files, partitions = SIZES[name]
    n = n or files
    random = np.random.default_rng([seed, n, LAYOUTS.index(layout)])
    row_count = random.integers(1_000, 1_000_000, n)
    narrow = max(1 / 2_000, 3 / n)

    def starts(domain: float, *, ordered: bool) -> Any:
        values = random.random(n) * domain
        return np.sort(values) if ordered and layout == "clustered" else values

    def widths(domain: float) -> Any:
        return random.random(n) * 2 * narrow * domain

    id_lo = starts(_IDS, ordered=True).astype(np.int64)
    id_hi = id_lo + widths(_IDS).astype(np.int64)
    if layout == "wide":
        everything = random.random(n) < _WIDE
        id_lo[everything], id_hi[everything] = 0, 2 * _IDS
    user_lo = starts(_IDS, ordered=True).astype(np.int64)
    user_hi = user_lo + widths(_IDS).astype(np.int64)
    day_lo = (starts(_DAYS, ordered=True) + _FIRST_DAY).astype(np.int64)
    day_hi = day_lo + random.integers(0, 3, n)
    amount_lo = np.round(starts(_AMOUNTS, ordered=False), 2)
    amount_hi = np.round(amount_lo + widths(_AMOUNTS), 2)
    score_lo = random.random(n) * _SCORES * 0.7
    score_hi = score_lo + random.random(n) * _SCORES * 0.6

    def column(name: str, lo: Any, hi: Any, *, nullable: bool = True) -> Column:
        all_null = (random.random(n) < _ALL_NULL) & nullable
        nulls = np.where(random.random(n) < _NULLABLE, random.integers(1, 1_000, n), 0) * nullable
        if TYPES[name].kind is Kind.STRING:
            lo, hi = _users(lo, all_null), _users(hi, all_null)
        return Column(TYPES[name], lo, hi, all_null, np.where(all_null, row_count, nulls))

    columns = {
        "id": column("id", id_lo, id_hi, nullable=False),
        "amount": column("amount", amount_lo, amount_hi),
        "user": column("user", user_lo, user_hi),
        "day": column("day", day_lo, day_hi, nullable=False),
        "score": column("score", score_lo, score_hi),
    }
    region = pa.array([f"region-{number:04d}" for number in range(partitions)]).take(
        pa.array(np.sort(random.integers(0, partitions, n)))
    )
    none = np.zeros(n, np.bool_)
    columns[PARTITION] = Column(STRING, region, region, none, none.astype(np.int64))
    return Files(name, layout, columns, row_count)


def _users(numbers: npt.NDArray[np.int64], missing: npt.NDArray[np.bool_]) -> pa.Array:
    """``user_name`` of each number, in one go: the texts are written digit by digit into one buffer."""
    head = b"user-"
    text = np.empty((len(numbers), len(head) + 12), np.uint8)
    text[:, : len(head)] = np.frombuffer(head, np.uint8)
    rest = numbers.copy()
    for place in range(text.shape[1] - 1, len(head) - 1, -1):
        rest, digit = np.divmod(rest, 10)
        text[:, place] = digit + ord("0")
    offsets = np.arange(len(numbers) + 1, dtype=np.int32) * np.int32(text.shape[1])
    valid = pa.array(~missing).buffers()[1] if missing.any() else None
    return pa.StringArray.from_buffers(len(numbers), pa.py_buffer(offsets), pa.py_buffer(text), valid)
