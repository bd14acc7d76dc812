"""Proof from a Parquet footer that a file's column statistics hide nothing (P1, P2).

Hudi merges the ranges of a file's row groups, and a row group without a range leaves no trace. The footer has them:

    every row group has bounds, or holds only nulls     the merged bounds are those of all values, and no float is NaN
    every row group holds only nulls                    the column is all null

Only files that parquet-mr wrote count: to it a NaN is the greatest value, so it shows as the upper bound (which Hudi
reads as 0.0); other writers leave the NaN out of the bounds.
Reading is bounded and may fail; the bounds of a file without proof stay unknown.

Pitfalls P1 and P2 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as OutOfTime  # another class than the built-in one before Python 3.11
from contextlib import suppress
from dataclasses import field
from typing import Any

import pyarrow as pa

from evaluator.language.records import record
from index_store.formats.bounded.parquet_bounds import read_footer
from index_store.storage.errors import FormatError, TableError
from index_store.storage.storage import AT_ONCE, Storage

__all__ = ["FOOTER_LIMIT", "ColumnProofs", "FooterProofs", "Footers", "Proof"]

#: The most footers that are read of an open table, and for how many seconds. A footer takes a third of a millisecond
#: on a local disk, and a hundred times that in an object store.
FOOTER_LIMIT = 1024
#: Of these the ones that are read before a filter has ruled any file out.
BEFOREHAND = 256
FOOTER_SECONDS = 2.0
#: Bytes of the footers that are kept; in memory they take a few times as much.
FOOTER_BYTES = 32 << 20


@record
class Proof:
    """What a footer proves of one column: that its bounds are whole, that all its values are null.

    ``read``: a footer of parquet-mr with the column was read, whatever it proves.
    """

    bounded: bool = False
    all_null: bool = False
    read: bool = field(default=False, compare=False)


class Footers:
    """Reads Parquet footers of one table: at most ``limit`` of them, each once, and none after ``seconds`` of
    reading.
    """

    def __init__(self, storage: Storage, limit: int = FOOTER_LIMIT, seconds: float = FOOTER_SECONDS) -> None:
        self._storage = storage
        self._limit = limit
        self._seconds = self._given = seconds
        self._footers: dict[str, Any] = {}
        self._bytes = 0
        self._unreadable = 0
        self._first_fault = ""
        self._left_out: set[str] = set()
        self._begun: dict[str, Future[tuple[Any, str]]] = {}

    @property
    def notes(self) -> list[str]:
        """Why footers that were asked for are not known: those that cannot be read, and those beyond the limits."""
        notes = []
        if self._unreadable:
            notes.append(f"{self._unreadable} footers of base files cannot be read, such as {self._first_fault}")
        if self._left_out:
            limits = f"{self._limit} footers, {self._beforehand} of them before a filter, {self._given:g} seconds, "
            limits += f"{FOOTER_BYTES >> 20} MiB"
            notes.append(f"{len(self._left_out)} footers of base files are not read: the limit of {limits} is reached")
        return notes

    @property
    def exhausted(self) -> bool:
        """Whether no further footer is read for files that a filter may rule out."""
        return self._is_exhausted(self._beforehand)

    def read(self, path: str) -> Any:
        """The footer (``pyarrow.parquet.FileMetaData``) of a base file; None when it cannot or may not be read."""
        return self._read(path, self._beforehand)

    @property
    def _beforehand(self) -> int:
        return min(self._limit, BEFOREHAND)

    def _is_exhausted(self, limit: int) -> bool:
        return len(self._footers) >= limit or self._seconds <= 0 or self._bytes >= FOOTER_BYTES

    def _read(self, path: str, limit: int) -> Any:
        if path not in self._footers and path.endswith(".parquet"):
            if self._is_exhausted(limit):
                self._left_out.add(path)
                return None
            start = time.monotonic()
            begun = self._begun.pop(path, None)
            try:
                self._keep(path, *(self._footer(path) if begun is None else begun.result(self._seconds)))
            except OutOfTime:
                self._left_out.add(path)
            self._seconds -= time.monotonic() - start
        return self._footers.get(path)

    def know(self, path: str, footer: Any) -> None:
        """Keep a footer that was read with other parts of its file, within the limits."""
        if path not in self._footers and not self.exhausted:
            self._keep(path, footer, "")

    def begin(self, paths: Sequence[str]) -> None:
        """Start to read the footers of these base files, within the limits; no effect on a local disk."""
        missing = self._missing(paths, self._beforehand)
        if missing:
            pool = ThreadPoolExecutor(min(AT_ONCE, len(missing)), "sargo-footers")
            self._begun.update({path: pool.submit(self._footer, path) for path in missing})
            pool.shutdown(wait=False)

    def expect(self, paths: Sequence[str]) -> None:
        """Read the footers of these base files in parallel, within the limits; no effect on a local disk."""
        self._expect(self._missing(paths, self._beforehand), self._seconds)

    def _expect(self, missing: Sequence[str], seconds: float) -> None:
        if len(missing) < 2:
            return
        start = time.monotonic()
        pool = ThreadPoolExecutor(min(AT_ONCE, len(missing)), "sargo-footers")
        with suppress(OutOfTime):
            found = pool.map(self._footer, missing, timeout=min(self._seconds, seconds))
            for path, footer in zip(missing, found, strict=True):
                self._keep(path, *footer)
        pool.shutdown(wait=False, cancel_futures=True)
        self._seconds -= time.monotonic() - start

    def read_within(self, paths: Sequence[str], seconds: float) -> Iterator[str]:
        """Read the footers of these base files, as many as ``seconds`` and the limits allow; the paths of those known.

        Where not all are left to be read within the limits, only those are given that were read before.
        """
        wanted = [path for path in dict.fromkeys(paths) if path.endswith(".parquet")]
        missing = [path for path in wanted if path not in self._footers]
        if len(self._footers) + len(missing) > self._limit:
            self._left_out.update(missing)
            missing = []
        end = time.monotonic() + seconds
        if len(missing) > 1:
            self._expect(self._missing(missing, self._limit), seconds)
        for path in wanted:
            if path in missing and time.monotonic() < end:
                self._read(path, self._limit)
            if path in self._footers:
                yield path

    def _missing(self, paths: Sequence[str], limit: int) -> list[str]:
        """Those that are neither here nor on their way, as many as the limit allows; none on a local disk."""
        if self._storage.is_local or self._is_exhausted(limit):
            return []
        known = self._footers.keys() | self._begun.keys()
        missing = [path for path in dict.fromkeys(paths) if path not in known and path.endswith(".parquet")]
        return missing[: max(limit - len(known), 0)]

    def _keep(self, path: str, footer: Any, fault: str) -> None:
        self._footers[path] = footer
        self._unreadable += bool(fault)
        self._first_fault = self._first_fault or fault
        self._bytes += 0 if footer is None else footer.serialized_size

    def _footer(self, path: str) -> tuple[Any, str]:
        """The footer, and why there is none."""
        try:
            return self._storage.apply(path, read_footer), ""
        except (FormatError, TableError, OSError, pa.ArrowException) as error:
            why = str(error) if isinstance(error, TableError) else f"{self._storage.absolute(path)}: {error}"
            return None, " ".join(why.split())


@record
class ColumnProofs:
    """The proofs for one column: called with a base file, and able to fetch the footers of many ahead."""

    proofs: FooterProofs
    column: str

    def __call__(self, path: str) -> Proof:
        return self.proofs.proof(path, self.column)

    def expect(self, paths: Sequence[str]) -> None:
        """Fetch the footers of these base files ahead."""
        self.proofs.footers.expect(paths)


class FooterProofs:
    """The proofs of footers, by file and column."""

    def __init__(self, footers: Footers) -> None:
        self.footers = footers
        self._places: dict[str, int] = {}

    def proof(self, path: str, column: str) -> Proof:
        """The proof of a base file's footer for a column; an empty proof when the footer cannot be read."""
        metadata = self.footers.read(path)
        if metadata is None or not str(metadata.created_by or "").startswith("parquet-mr"):
            return Proof()
        try:
            place = self._place(metadata, column)
            groups = [metadata.row_group(i).column(place) for i in range(metadata.num_row_groups)]
            return _of_row_groups(groups) if place >= 0 and groups else Proof()
        except (OSError, pa.ArrowException, IndexError, ValueError):
            return Proof()

    def _place(self, metadata: Any, column: str) -> int:
        """The index of a leaf column, first looked for where the last file had it."""
        schema, guess = metadata.schema, self._places.get(column, -1)
        if 0 <= guess < metadata.num_columns and schema.column(guess).path == column:
            return guess
        place = next((i for i in range(metadata.num_columns) if schema.column(i).path == column), -1)
        self._places[column] = place
        return place


def _of_row_groups(groups: list[Any]) -> Proof:
    bounded = null_only = 0
    for group in groups:
        statistics = group.statistics
        if statistics is None:
            return Proof(read=True)
        if statistics.has_null_count and statistics.null_count == group.num_values:
            null_only += 1
        elif statistics.has_min_max and statistics.min == statistics.min and statistics.max == statistics.max:
            bounded += 1
        else:
            return Proof(read=True)
    return Proof(bounded=bounded > 0, all_null=bounded == 0 and null_only > 0, read=True)
