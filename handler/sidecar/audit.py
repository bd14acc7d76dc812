"""Audits: files that an answer allowed to skip are read, and every row is held against the filter.

The row-level reference (``reference.row_oracle``) decides, which shares nothing with the rules that skipped the file.

    passed      no row matches
    failed      a row matches: a wrong skip
    undecided   the reference has no form for a condition, or the file cannot be read
    unread      nobody here reads such files: not Parquet, or log files without a reader (``merged.py``)

Audits run one after the other in a process of their own, with the least priority: they cost the answers nothing but
the disk.
"""

from __future__ import annotations

import asyncio
import datetime
import multiprocessing
import os
import random
import signal
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import fs, parquet

from evaluator.language.errors import SargoError, UnsupportedError
from evaluator.language.expression import HudiExpression, column_names
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics
from evaluator.reference.row_oracle import value_of
from handler.sidecar.merged import Unread, merged_batches
from handler.sidecar.names import Places
from handler.sidecar.request_matching import ViewFiles
from handler.sidecar.sandboxed_file_system import SandboxedFileSystem
from index_store import FileSlice
from index_store.storage.storage import Storage

__all__ = ["VERDICTS", "Audits", "SkippedFile", "Verdict", "audit_file", "choose_slices"]

Verdict = Literal["passed", "undecided", "failed", "unread"]
VERDICTS: tuple[Verdict, ...] = ("passed", "undecided", "failed", "unread")
#: Audits that wait; an answer that would add one more is not audited.
_MAX_WAITING = 4
_BATCH = 10_000
_UTC_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MICROSECOND = datetime.timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file slice to read, and what no row of it may satisfy.

    root        the folder that local files must lie below, None for a table that is not local
    path        its base file, relative to the table; None if it has log files only
    log_files   the log files to merge with it; none where the query reads base files only
    semantics   whose rules hold for the filter
    """

    table: str
    root: str | None
    storage_options: Mapping[str, str]
    path: str | None
    expression: HudiExpression
    schema: Schema
    semantics: Semantics
    most_rows: int
    log_files: tuple[str, ...] = ()


def choose_slices(files: ViewFiles, may_skip: npt.NDArray[np.bool_], places: Places, most: int) -> list[FileSlice]:
    """Up to so many of the file slices of which files may be skipped, drawn by lot."""
    found = np.unique(files.slice_of[places[may_skip]]).tolist()
    return [files.slices[number] for number in random.sample(found, min(most, len(found)))]


def audit_file(file: SkippedFile) -> Verdict:
    """Read a file slice and hold its first ``most_rows`` rows against the filter."""
    try:
        seen: set[tuple[Any, ...]] = set()
        for row in _rows(file):
            values = tuple(row.values())
            if values in seen:
                continue
            seen.add(values)
            if value_of(file.expression, row, file.schema, file.semantics) is True:
                return "failed"
    except Unread:
        return "unread"
    except (SargoError, OSError, ArithmeticError, ValueError, TypeError, pa.ArrowException):
        return "undecided"
    return "passed"


def _rows(file: SkippedFile) -> Iterator[dict[str, Any]]:
    """The rows in the value form of ``evaluator.language.types``, the filter's columns only."""
    confined = None if file.root is None else fs.PyFileSystem(SandboxedFileSystem(file.root))
    storage = Storage.at(file.table, confined, None if confined is not None else file.storage_options)
    wanted = {}
    for name in column_names(file.expression):
        field = file.schema.resolve(name)
        if field is None:
            raise UnsupportedError(f"column {name} is not in the table, or its name is ambiguous")
        wanted[field.name] = field.name.partition(".")[0]
    columns = sorted(set(wanted.values()))
    left = file.most_rows
    for batch in _batches(file, storage, columns):
        for row in batch.slice(0, left).to_pylist():
            yield {name: _value(row[top], name.split(".")[1:]) for name, top in wanted.items()}
        left -= len(batch)
        if left <= 0:
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
        yield from opened.iter_batches(min(_BATCH, file.most_rows), columns=columns)


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
    """Runs audits in the background. ``heard`` is told every verdict, on the event loop."""

    def __init__(self, heard: Callable[[SkippedFile, Verdict], None]) -> None:
        self._heard = heard
        self._pool: ProcessPoolExecutor | None = None
        self._waiting: set[asyncio.Task[None]] = set()

    def audit(self, files: list[SkippedFile]) -> None:
        """Audit these files when their turn comes; not at all when too many wait already."""
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
            self._heard(file, verdict)
            if self._pool is None:
                return

    def close(self) -> None:
        """Audit no more."""
        for task in self._waiting:
            task.cancel()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(19)
