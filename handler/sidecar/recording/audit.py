"""Audits: read files that an answer allowed to skip, and evaluate the filter on each row.

The row-level reference (``evaluator.reference.row_oracle``) decides. It shares no code with the rules that skipped the
file (contract C9).

    verdict     meaning
    ---------   -------------------------------------------------------------------------------------
    passed      no row matches
    failed      a row matches: the file was skipped wrongly
    undecided   the reference does not support a condition, the file cannot be read, or the audit takes too long
    unread      no reader for such files: not Parquet, or log files that ``merged`` does not read

Audits run one after the other in a separate process with the lowest priority, so that they take only disk bandwidth
from the answers.
"""

from __future__ import annotations

import asyncio
import datetime
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from pyarrow import fs, parquet

from evaluator.language.errors import SargoError, UnsupportedError
from evaluator.language.expression import HudiExpression, column_names
from evaluator.language.records import frozen
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics
from evaluator.reference.row_oracle import value_of
from handler.planning.engine_filters import read_engine_filter
from handler.planning.hive_filter import without_columns
from handler.sidecar.decisions.planning import FilterQuery
from handler.sidecar.merged import Unread, merged_batches
from handler.sidecar.names import FileIndices
from handler.sidecar.request_matching import ViewFiles
from handler.sidecar.roots.sandboxed_file_system import SandboxedFileSystem
from index_store import FileSlice
from index_store.storage.storage import Storage

__all__ = ["VERDICTS", "Audits", "SkippedFile", "Verdict", "audit_file", "choose_slices"]

Verdict = Literal["passed", "undecided", "failed", "unread"]
VERDICTS: tuple[Verdict, ...] = ("passed", "undecided", "failed", "unread")
#: The number of answers that wait for their audit; further answers are not audited.
_MAX_WAITING = 4
_BATCH = 10_000
#: CPU seconds of the audit of one file. A filter that costs more is not decided, and the next audit begins.
MAX_SECONDS = 30.0
_UTC_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MICROSECOND = datetime.timedelta(microseconds=1)


@frozen(kw_only=True)
class SkippedFile:
    """A file slice to read, and the filter that no row of it may satisfy.

    root        the folder that contains all local files; None for a table that is not local
    path        its base file, relative to the table; None if it has log files only
    expression  the filter, or the bytes that the engine sent: they are read by the process of the audits
    log_files   the log files to merge with the base file; none where the query reads base files only
    semantics   the engine's rules for the filter
    from_paths  columns, in lower case, whose values the engine may take from the partition's path: conditions on them
                are not decided
    max_rows    how many rows are read
    """

    table: str
    root: str | None
    storage_options: Mapping[str, str]
    path: str | None
    expression: HudiExpression | FilterQuery
    schema: Schema
    semantics: Semantics
    max_rows: int
    log_files: tuple[str, ...] = ()
    from_paths: frozenset[str] = frozenset()


def choose_slices(files: ViewFiles, skipped: FileIndices, count: int) -> list[FileSlice]:
    """At most ``count`` random slices of these files, given by their indices."""
    slices = np.unique(files.slice_of[skipped]).tolist()
    return [files.slices[number] for number in random.sample(slices, min(count, len(slices)))]


def audit_file(file: SkippedFile) -> Verdict:
    """Read the first ``max_rows`` rows of a file slice and evaluate the filter on each distinct one."""
    started = time.process_time()
    try:
        expression = _expression_of(file)
        distinct: set[tuple[Any, ...]] = set()
        for row in _rows(file, column_names(expression)):
            values = tuple(row.values())
            if values in distinct:
                continue
            if time.process_time() - started > MAX_SECONDS:
                return "undecided"
            distinct.add(values)
            if value_of(expression, row, file.schema, file.semantics) is True:
                return "failed"
    except Unread:
        return "unread"
    except (SargoError, OSError, ArithmeticError, ValueError, TypeError, pa.ArrowException):
        return "undecided"
    return "passed"


def _expression_of(file: SkippedFile) -> HudiExpression:
    read = file.expression
    if isinstance(read, FilterQuery):
        read = read_engine_filter(read.filter, read.engine, file.schema, read.time_zone)
    return without_columns(read, file.from_paths, "the engine takes this column from the path")


def _rows(file: SkippedFile, names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The rows in the value form of ``evaluator.language.types``, the filter's columns only."""
    sandbox = None if file.root is None else fs.PyFileSystem(SandboxedFileSystem(file.root))
    storage = Storage.at(file.table, sandbox, None if sandbox is not None else file.storage_options)
    wanted = {}
    for name in names:
        field = file.schema.resolve(name)
        if field is None:
            raise UnsupportedError(f"column {name} is not in the table, or its name is ambiguous")
        wanted[field.name] = field.name.partition(".")[0]
    columns = sorted(set(wanted.values()))
    remaining = file.max_rows
    for batch in _batches(file, storage, columns):
        for row in batch.slice(0, remaining).to_pylist():
            yield {name: _value(row[top], name.split(".")[1:]) for name, top in wanted.items()}
        remaining -= len(batch)
        if remaining <= 0:
            return


def _batches(file: SkippedFile, storage: Storage, columns: list[str]) -> Iterator[pa.RecordBatch]:
    if file.log_files:
        yield from merged_batches(file.table, file.root, file.path, file.log_files, columns)
        return
    if file.path is None or not file.path.endswith(".parquet"):
        raise Unread("not a Parquet file")
    with storage.input_file(file.path) as stream:
        opened = parquet.ParquetFile(stream)
        if not set(columns) <= set(opened.schema_arrow.names):
            raise UnsupportedError("a column of the filter is not in the file")
        yield from opened.iter_batches(min(_BATCH, file.max_rows), columns=columns)


def _value(value: Any, path: list[str]) -> Any:
    for name in path:
        value = None if value is None else value[name]
    if isinstance(value, datetime.datetime):
        moment = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
        return (moment - _UTC_EPOCH) // _MICROSECOND
    if isinstance(value, datetime.date):
        return (value - _UTC_EPOCH.date()).days
    return value


class Audits:
    """Runs audits in the background. ``on_verdict`` is called with every verdict, on the event loop."""

    def __init__(self, on_verdict: Callable[[SkippedFile, Verdict], None]) -> None:
        self._on_verdict = on_verdict
        self._pool: ProcessPoolExecutor | None = None
        self._waiting: set[asyncio.Task[None]] = set()

    def audit(self, files: list[SkippedFile]) -> None:
        """Audit these files after those that wait; not at all when ``_MAX_WAITING`` wait already."""
        if not files or len(self._waiting) >= _MAX_WAITING:
            return
        task = asyncio.ensure_future(self._audit(files))
        self._waiting.add(task)
        task.add_done_callback(self._waiting.discard)

    async def _audit(self, files: list[SkippedFile]) -> None:
        if self._pool is None:
            self._pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _begin)
        for file in files:
            try:
                verdict: Verdict = await asyncio.get_running_loop().run_in_executor(self._pool, audit_file, file)
            except Exception:  # the process ended, or a filter cannot be sent to it
                self._pool, verdict = None, "undecided"
            self._on_verdict(file, verdict)
            if self._pool is None:
                return

    def close(self) -> None:
        """Cancel the waiting audits and stop the process."""
        for task in self._waiting:
            task.cancel()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(19)
