"""Operations on an own index, in a process that is killed at one of its calls or at any moment.

``after_calls`` counts the calls of the package's own functions, so such a death can be repeated.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import FrameType
from typing import Any
from unittest import mock

from handler.indexes.entries import definition_of
from index_store import open_table
from index_store.own.builders.local import build_locally
from index_store.own.maintenance import operations as of_sketches
from index_store.own.secondary import operations as of_keys
from index_store.own.secondary.slice_entries import LocalReader, key_columns
from index_store.own.store.folder import Folder

__all__ = ["OPERATIONS", "calls_of", "few_entries_per_shard", "killed"]

_OWN = f"{os.sep}index_store{os.sep}"
_SKETCHES = (("id", "min_max"), ("i", "min_max"), ("i", "null_count"), ("s", "bloom_filter"), ("s", "value_list"))
_KEYS = (("s", "secondary_index"), ("i", "secondary_index"))
#: A writer that has not ended by then never does.
_STUCK_SECONDS = 60.0
Operation = Callable[[Folder, Path], object]


def _local(table: Any, definition: Any) -> LocalReader:
    return LocalReader(table.storage, key_columns(definition), threads=2)


def _operation(module: Any, uses: Sequence[tuple[str, str]], build: Any, name: str, **options: Any) -> Operation:
    """Create or refresh an index of these uses by the operations of a module."""

    def run(folder: Folder, path: Path) -> object:
        table = open_table(path)
        if name == "create":
            return module.create(folder, table, definition_of(table, uses, "it"), build)
        return module.refresh(folder, table, build, **options)

    return run


_of_sketches = partial(_operation, of_sketches, _SKETCHES, build_locally)
_of_keys = partial(_operation, of_keys, _KEYS, _local)
_SHARED: Mapping[str, Operation] = {
    "vacuum": lambda folder, _: of_sketches.vacuum(folder, timedelta(0)),
    "drop": lambda folder, _: of_sketches.drop(folder),
}
#: By the kind of the index and the name of the operation.
OPERATIONS: Mapping[str, Mapping[str, Operation]] = {
    "sketches": {
        "create": _of_sketches("create"),
        "refresh": _of_sketches("refresh"),
        "full refresh": _of_sketches("refresh", full=True),
        "optimize": lambda folder, _: of_sketches.optimize(folder),
        **_SHARED,
    },
    "keys": {
        "create": _of_keys("create"),
        "refresh": _of_keys("refresh"),
        "full refresh": _of_keys("refresh", full=True),
        "optimize": lambda folder, _: of_keys.optimize(folder),
        **_SHARED,
    },
}


@contextmanager
def few_entries_per_shard() -> Iterator[None]:
    """Small tables get several shards."""
    with mock.patch("index_store.own.secondary.shards.ENTRIES_PER_SHARD", 25):
        yield


class _Counted:
    """Counts calls of functions of ``index_store`` in this thread; kills the process at one of them."""

    def __init__(self, last: int = 0) -> None:
        self.calls = 0
        self._last = last

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        if event != "call" or _OWN not in frame.f_code.co_filename:
            return
        self.calls += 1
        if self.calls == self._last:
            os.kill(os.getpid(), signal.SIGKILL)


def calls_of(kind: str, operation: str, folder: Path, table: Path) -> int:
    """Run the operation here; how many calls it took."""
    counted = _Counted()
    sys.setprofile(counted)
    try:
        OPERATIONS[kind][operation](Folder.at(folder), table)
    finally:
        sys.setprofile(None)
    return counted.calls


def _write(kind: str, operation: str, folder: Path, table: Path, after_calls: int, ready: Any) -> None:
    ready.send(True)
    with few_entries_per_shard():
        if after_calls:
            sys.setprofile(_Counted(after_calls))
        OPERATIONS[kind][operation](Folder.at(folder), table)


def killed(
    kind: str,
    operation: str,
    folder: Path,
    table: Path,
    *,
    after_calls: int = 0,
    after: float = 0.0,
    beside: bool = False,
) -> bool:
    """Run the operation in a process and kill it after so many calls, or seconds. Whether it died before its end.

    ``beside``: another process runs the same operation at the same time, to its end.
    """
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(_started(kind, operation, folder, table, 0)) if beside else None
        process, ready = stack.enter_context(_started(kind, operation, folder, table, after_calls))
        if not after_calls and ready.poll(_STUCK_SECONDS):
            time.sleep(after)
            process.kill()
        died = _end(operation, process)
        if other is not None and _end(operation, other[0]):
            raise RuntimeError(f"{operation} of {kind} beside a killed one was killed, too")
        return died


@contextmanager
def _started(
    kind: str, operation: str, folder: Path, table: Path, after_calls: int
) -> Iterator[tuple[BaseProcess, Connection]]:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__])
    ready, other = context.Pipe(duplex=False)
    process = context.Process(target=_write, args=(kind, operation, folder, table, after_calls, other))
    process.start()
    other.close()
    try:
        yield process, ready
    finally:
        process.kill()
        process.join()
        ready.close()


def _end(operation: str, process: BaseProcess) -> bool:
    """Wait for its end; whether it was killed."""
    process.join(_STUCK_SECONDS)
    if process.is_alive():
        raise TimeoutError(f"{operation} does not end within {_STUCK_SECONDS:.0f} s")
    if process.exitcode not in (0, -signal.SIGKILL):
        raise RuntimeError(f"{operation} ended with {process.exitcode}")
    return process.exitcode != 0
