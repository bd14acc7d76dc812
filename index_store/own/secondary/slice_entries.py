"""The entries of one file slice: the secondary keys of its rows, with their record keys (C3).

    base file    every row
    log files    every row of their data blocks, also of rolled-back ones; deletions remove no entry

    base (oslo, r1)    log file (rome, r1)      entries (oslo, r1), (rome, r1)

The entries of a slice are the union over its files. A merged row has its values from one of the files, so its entry is
among them. Until compaction an updated row keeps its old entry beside the new one: a filter may read a slice in vain,
and never misses a row. No rule of merging is needed, and the entries follow from the files alone, so an incremental
refresh, a full one, a thread and a Spark worker give the same entries.

A slice is unknown (``About.why``), and every filter reads it, when one of its files has partial updates, a column whose
values are unknown (``build.file_rows``), columns of other types than its other files, or rows without a record key.
"""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa

from evaluator.language.records import frozen
from evaluator.language.types import BIGINT, Type
from index_store.own.builders.sketching import SketchPlan, sketch_rows
from index_store.own.definition import Definition
from index_store.own.secondary.keys import encode, is_encodable
from index_store.storage.errors import FormatError, StatsError, TableError
from index_store.storage.storage import Storage
from index_store.table.file_rows import RowBatch, read_rows
from index_store.table.file_types import ABSENT, FileType
from index_store.table.table_schema import RECORD_KEY

if TYPE_CHECKING:
    from index_store.table.table import Table

__all__ = [
    "RAW",
    "SLICES",
    "About",
    "LocalReader",
    "MakeReader",
    "SliceReader",
    "check_batch",
    "files_in",
    "key_columns",
    "read_slice",
    "statistics_plan",
]

#: Slices to be read. ``files`` has a line for each file: its path, and for a log file that may grow a tab and its size.
#: ``bytes`` is the size of all files together.
SLICES = pa.schema(
    [pa.field("slice", pa.int32(), False), pa.field("files", pa.string(), False), pa.field("bytes", pa.int64(), False)]
)
#: The output of readers: entries of slices, and after the last entry of a slice a row with ``about`` only.
RAW = pa.schema(
    [
        pa.field("slice", pa.int32(), False),
        pa.field("key", pa.binary()),
        pa.field("record", pa.binary()),
        pa.field("about", pa.string()),
    ]
)
#: How many rows are encoded at once.
_AT_ONCE = 1 << 15

Emit = Callable[[pa.RecordBatch], None]


class _NotKnownError(Exception):
    """The entries of the slice are unknown."""


@frozen
class About:
    """What is known of a slice beside its entries: statistics by name (``build.sketching``), or why it is unknown."""

    statistics: Mapping[str, Any]
    why: str = ""

    def to_text(self) -> str:
        """JSON for a column of text, with bytes in hexadecimal digits."""
        plain = {
            name: {"hex": value.hex()} if isinstance(value, bytes) else value for name, value in self.statistics.items()
        }
        return json.dumps({"why": self.why, "statistics": plain})

    @classmethod
    def from_text(cls, text: str) -> About:
        """The reverse of ``to_text``."""
        plain = json.loads(text)
        return cls(
            {
                name: bytes.fromhex(value["hex"]) if isinstance(value, dict) else value
                for name, value in plain["statistics"].items()
            },
            plain["why"],
        )


def statistics_plan(columns: Sequence[str]) -> SketchPlan:
    """The statistics that are kept of each slice beside its entries: bounds, NULLs and the type of each column."""
    return SketchPlan.of([(name, "min_max") for name in columns])


def files_in(lines: str) -> list[str]:
    """The paths of a slice's files, from the lines of ``SLICES``."""
    return [line.partition("\t")[0] for line in lines.split("\n")] if lines else []


def read_slice(storage: Storage, number: int, files: Sequence[str], columns: Sequence[str], emit: Emit) -> None:
    """Pass the entries of the slice of these files to ``emit``, in batches of RAW, the last one with ``about``.

    An entry may be passed several times. A slice may turn out to be unknown after some of its entries were passed.
    """
    names = list(dict.fromkeys((*columns, RECORD_KEY)))
    types: dict[str, FileType] = {}

    def rows() -> Iterator[RowBatch]:
        for path in files:
            for batch in read_rows(storage, path, names):
                if batch.rows:
                    _check(path, batch, types)
                    for start in range(0, batch.rows, _AT_ONCE):
                        emit(_entries(path, number, batch, columns, start))
                yield batch

    try:
        about = About(sketch_rows(rows(), statistics_plan(columns).targets))
    except TableError as error:
        about = About({}, f"{error.path}: {error.why}")
    except _NotKnownError as error:
        about = About({}, str(error))
    none = pa.nulls(1, pa.binary())
    emit(
        pa.RecordBatch.from_arrays(
            [pa.array([number], pa.int32()), none, none, pa.array([about.to_text()])], schema=RAW
        )
    )


def _check(path: str, batch: RowBatch, types: dict[str, FileType]) -> None:
    """Raises _NotKnownError for rows whose entries are unknown. ``types``: of the columns in the batches before."""
    for name, column in batch.columns.items():
        before = types.setdefault(name, column.type)
        if column.type != before:
            raise _NotKnownError(f"{path}: {name}: {column.type.text} beside {before.text}")
        if column.type == ABSENT and name != RECORD_KEY:
            continue
        if column.values is None:
            raise _NotKnownError(f"{path}: {name}: {column.type.why or 'no such column'}")
        if name == RECORD_KEY and column.values.null_count:
            raise _NotKnownError(f"{path}: a row without a record key")
        if not is_encodable(column.type.type):
            raise _NotKnownError(f"{path}: {name}: type {column.type.text}")


def _entries(path: str, number: int, batch: RowBatch, columns: Sequence[str], start: int) -> pa.RecordBatch:
    n = min(_AT_ONCE, batch.rows - start)
    arrays: list[pa.Array] = []
    types: list[Type] = []
    for name in columns:
        column = batch.columns[name]
        values = column.values
        arrays.append(pa.nulls(n, pa.int64()) if values is None else values.slice(start, n))
        types.append(BIGINT if values is None else column.type.type)
    try:
        keys = encode(arrays, types)
    except FormatError as error:
        raise _NotKnownError(f"{path}: {error}") from error
    record = batch.columns[RECORD_KEY].values
    assert record is not None
    return pa.RecordBatch.from_arrays(
        [
            pa.array(np.full(n, number, np.int32)),
            keys,
            record.slice(start, n).cast(pa.binary()),
            pa.nulls(n, pa.string()),
        ],
        schema=RAW,
    )


class SliceReader(Protocol):
    """Reads the entries of slices."""

    def read(self, slices: pa.Table) -> Iterator[pa.RecordBatch]:
        """Batches of RAW for slices (the schema SLICES), in any order. Each slice ends with its row of ``about``."""
        ...


#: Makes the reader of an index's slices for a table, as it is now. Raises SargoError when the table cannot be read.
MakeReader = Callable[["Table", Definition], SliceReader]


def key_columns(definition: Definition) -> tuple[str, ...]:
    """The columns of the key of a secondary index, in order."""
    return tuple(entry.on for entry in definition.entries)


class LocalReader:
    """Reads slices in parallel, in threads of this process."""

    def __init__(self, storage: Storage, columns: Sequence[str], threads: int | None = None) -> None:
        self._storage, self._columns = storage, tuple(columns)
        self._threads = threads or storage.readers

    def read(self, slices: pa.Table) -> Iterator[pa.RecordBatch]:
        """The entries; batches of several slices alternate."""
        tasks = iter(zip(slices.column("slice").to_pylist(), slices.column("files").to_pylist(), strict=True))
        lock, stop = threading.Lock(), threading.Event()
        given: queue.Queue[pa.RecordBatch | BaseException | None] = queue.Queue(2 * self._threads)

        def emit(one: pa.RecordBatch | BaseException | None) -> None:
            while True:
                with suppress(queue.Full):
                    given.put(one, timeout=0.1)
                    return
                if stop.is_set():
                    raise _StoppedError

        def work() -> None:
            with suppress(_StoppedError):
                try:
                    while True:
                        with lock:
                            task = None if stop.is_set() else next(tasks, None)
                        if task is None:
                            break
                        read_slice(self._storage, task[0], files_in(task[1]), self._columns, emit)
                except _StoppedError:
                    raise
                except BaseException as error:
                    emit(error)
                emit(None)

        threads = [
            threading.Thread(target=work, name="sargo-entries", daemon=True)
            for _ in range(min(self._threads, slices.num_rows))
        ]
        for thread in threads:
            thread.start()
        try:
            left = len(threads)
            while left:
                one = given.get()
                if isinstance(one, BaseException):
                    raise one
                if one is None:
                    left -= 1
                else:
                    yield one
        finally:
            stop.set()
            for thread in threads:
                thread.join()


class _StoppedError(Exception):
    """The consumer has stopped: no further batches are wanted."""


def check_batch(batch: pa.RecordBatch, slices: int, path: str) -> None:
    """Raises StatsError for a batch that a correct reader of these slices never gives."""
    if not batch.schema.equals(RAW):
        raise StatsError(path, "", f"the reader gave {batch.schema.names} instead of entries")
    numbers = batch.column(0).to_numpy()
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < slices:
        raise StatsError(path, "slice", "the reader gave entries of slices that it was not asked for")
