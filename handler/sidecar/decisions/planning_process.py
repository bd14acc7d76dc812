"""The process that plans expensive filters: with a low priority, and with limits of its time and memory.

    sidecar                                      planning process
    -------------------------------------------  ----------------------------------------------------------------
    ``ask(job)``                            ──►  opens the table, unless it has it open as of this signature
                                                 checks that its file slices are those of the sidecar's view
    answer, or ``PlanningFailed``           ◄──  plans the filter

Python threads share one interpreter lock. A filter that is planned in a thread delays the answers to everybody else,
and it cannot be ended. This process has a lock of its own, and four limits:

    limit                                  is kept by
    -------------------------------------  ---------------------------------------------------------------------
    CPU seconds of one job                 a timer of the process; the job ends, and the tables are closed
    the same, where no exception ends it   the operating system (RLIMIT_CPU); the process ends
    memory of the process                  the operating system (RLIMIT_DATA); the job ends with MemoryError
    seconds, when the process hangs        the sidecar, which ends the process; the next job starts a new one

The process runs this module alone. ``multiprocessing`` would begin with the main module of the sidecar's process, which
is the user's own script where ``handler.spark.register`` has started a sidecar in it.

The sidecar's view and the process read the table at two moments. A row of the answer means the same slice for both only
if both list the same files in the same order, so their digests are compared (contract C5).
"""

from __future__ import annotations

import contextlib
import gc
import json
import math
import os
import signal
import socket
import subprocess
import sys
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Literal

from pyarrow import fs

from evaluator.language.records import frozen
from handler.sidecar.decisions.planning import (
    FilterQuery,
    PlannedFilter,
    PlanningLimits,
    cut_text,
    explain_filter,
    help_filter,
    plan_filter,
)
from handler.sidecar.request_matching import ViewFiles
from handler.sidecar.roots.sandboxed_file_system import SandboxedFileSystem
from handler.sidecar.sizes import bytes_of
from index_store import Table
from index_store.opened_table import OpenTable
from index_store.snapshots import default_cache
from index_store.storage.storage import Storage

__all__ = ["PlanningFailed", "PlanningJob", "PlanningProcess", "TableSource", "serve"]

#: The tables that the process keeps open.
_MAX_TABLES = 4
#: The share of the process's memory that open tables may hold, and beyond which a new process is started.
_TABLE_SHARE, _RESTART_SHARE = 4, 2
#: Seconds that starting the process and opening a table may take, beside the CPU seconds of the job.
_OPENING_SECONDS = 30.0
#: On a busy machine a process of low priority takes so many seconds for a CPU second.
_SHARE_OF_CORE = 4
#: Others go first, but something is left on a busy machine.
_NICE = 10
#: What the process runs: its end of the connection, its limits and the folders of modules are its arguments.
_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[4])
from handler.sidecar.decisions.planning_process import serve
serve(int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]))
"""
#: CPU seconds after which the timer fires again, if its first exception was lost in a destructor.
_AGAIN_SECONDS = 0.5
#: CPU seconds beyond its limit after which the process is ended, when no exception has ended the job: CPython 3.11
#: without memory for a single number tries for ever to enter an ``except``, and looks at no signal meanwhile.
_GRACE_SECONDS = 2.0


@frozen(kw_only=True)
class TableSource:
    """A table as a view of the sidecar has it.

    root        the folder that contains all local files; None for a table that is not local
    signature   changes with every commit to the table (``tables``): the process opens the table again
    files       the digest of the view's files
    """

    path: str
    root: str | None
    storage_options: Mapping[str, str]
    table_options: Mapping[str, str]
    as_of: str | None
    signature: bytes
    files: bytes


@frozen(kw_only=True)
class PlanningJob:
    """A filter to plan or to explain, or of which to find out what would help."""

    source: TableSource
    query: FilterQuery
    limits: PlanningLimits
    wanted: Literal["plan", "explanation", "help"] = "plan"


_WORK: Mapping[str, Callable[[OpenTable, str | None, FilterQuery, PlanningLimits], PlannedFilter | str]] = {
    "plan": plan_filter,
    "explanation": explain_filter,
    "help": help_filter,
}


class PlanningFailed(Exception):  # noqa: N818 - an answer, not a fault of the caller
    """There is no result. ``why``: the cause; ``is_final``: the same job would fail again."""

    def __init__(self, why: str, is_final: bool = False) -> None:
        super().__init__(why)
        self.why = why
        self.is_final = is_final


class PlanningProcess:
    """Starts the process when it is first asked. ``ask`` is called by one thread at a time."""

    def __init__(self, cpu_seconds: float, max_bytes: int) -> None:
        self._cpu_seconds = cpu_seconds
        self._max_bytes = max_bytes
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None

    @property
    def pid(self) -> int | None:
        """The id of the process while it runs."""
        return None if self._process is None else self._process.pid

    def ask(self, job: PlanningJob) -> PlannedFilter | str:
        """The plan, or the explanation. Raises PlanningFailed."""
        connection = self._running()
        try:
            connection.send(job)
            if not connection.poll(_SHARE_OF_CORE * self._cpu_seconds + _OPENING_SECONDS):
                self.stop()
                raise PlanningFailed("the process that plans expensive filters did not answer and was ended")
            answer, is_last = connection.recv()
        except (EOFError, OSError) as error:
            self.stop()
            raise PlanningFailed("the process that plans expensive filters ended", is_final=True) from error
        if is_last:
            self.stop()
            self.start()
        if isinstance(answer, PlanningFailed):
            raise answer
        result: PlannedFilter | str = answer
        return result

    def start(self) -> None:
        """Start the process, unless it runs."""
        self._running()

    def stop(self) -> None:
        """End the process."""
        process, connection = self._process, self._connection
        self._process = self._connection = None
        if connection is not None:
            connection.close()
        if process is not None:
            process.kill()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)

    def _running(self) -> Connection:
        if self._connection is not None and self._process is not None and self._process.poll() is None:
            return self._connection
        self.stop()
        if os.name != "posix":
            raise PlanningFailed("expensive filters are not planned on this system", is_final=True)
        ours, theirs = socket.socketpair()
        with theirs:
            limits = (str(theirs.fileno()), str(self._cpu_seconds), str(self._max_bytes))
            self._process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, *limits, json.dumps(sys.path)],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
            )
        self._connection = Connection(ours.detach())
        return self._connection


# -- in the process


class _OutOfTime(BaseException):
    """No Exception, so that nothing that skips a failed part of a plan catches it."""


def serve(descriptor: int, cpu_seconds: float, max_bytes: int) -> None:
    """Answer the jobs that come by a socket, until the sidecar closes its end."""
    connection = Connection(descriptor)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with contextlib.suppress(OSError, AttributeError):
        os.nice(_NICE)
    _limit("RLIMIT_DATA", max_bytes)
    _limit("RLIMIT_CORE", 0)  # nobody reads the memory of a process that was ended
    tables = _Tables(max_bytes // _TABLE_SHARE)
    while True:
        try:
            job = connection.recv()
        except EOFError:
            return
        answer = _answer(job, tables, cpu_seconds)
        is_last = _resident_bytes() > max_bytes // _RESTART_SHARE
        try:
            connection.send((answer, is_last))
        except OSError:
            return


def _answer(job: PlanningJob, tables: _Tables, cpu_seconds: float) -> PlannedFilter | str | PlanningFailed:
    try:
        with _cpu_limit(cpu_seconds):
            opened = tables.open(job.source)
            result: PlannedFilter | str = _WORK[job.wanted](opened, job.source.as_of, job.query, job.limits)
            if isinstance(result, PlannedFilter) and not result.is_complete:
                tables.close_one(job.source)  # some failures are remembered as long as the table is open
            return result
    except PlanningFailed as unavailable:
        return unavailable
    except _OutOfTime:
        failed = PlanningFailed(f"the filter takes more than {cpu_seconds:g} CPU seconds (planning_seconds)", True)
    except MemoryError:
        failed = PlanningFailed("the filter takes more memory than planning_bytes", True)
    except Exception as error:
        failed = PlanningFailed(cut_text(f"{type(error).__name__}: {error}", 300))
    tables.close()  # what was interrupted may be incomplete
    gc.collect()
    return failed


class _Tables:
    """The tables that are open in the process: the latest ``_MAX_TABLES``, as long as they fit ``max_bytes``."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._open: OrderedDict[tuple[str, str | None], tuple[bytes, bytes, OpenTable]] = OrderedDict()

    def open(self, source: TableSource) -> OpenTable:
        """The table with the files of ``source``. Raises PlanningFailed when it has others."""
        key = source.path, source.as_of
        signature, files, opened = self._open.get(key, (b"", b"", None))
        if opened is None or signature != source.signature or files != source.files:
            self._open.pop(key, None)
            sandbox = None if source.root is None else fs.PyFileSystem(SandboxedFileSystem(source.root))
            storage = Storage.at(source.path, sandbox, None if sandbox is not None else source.storage_options)
            opened = OpenTable(Table(storage, source.table_options), default_cache())
            files = ViewFiles.of(opened.at(source.as_of).slices).digest
            if files != source.files:
                raise PlanningFailed("the table changed while the filter was evaluated")
            self._open[key] = source.signature, files, opened
        self._open.move_to_end(key)
        while len(self._open) > 1 and (len(self._open) > _MAX_TABLES or bytes_of(self._open) > self._max_bytes):
            self._open.popitem(last=False)
        return opened

    def close_one(self, source: TableSource) -> None:
        self._open.pop((source.path, source.as_of), None)

    def close(self) -> None:
        self._open.clear()


@contextlib.contextmanager
def _cpu_limit(seconds: float) -> Iterator[None]:
    """Raise _OutOfTime in the block when the process has used so many CPU seconds in it."""
    if not hasattr(signal, "setitimer"):  # Windows: the sidecar ends a process that does not answer
        yield
        return

    def stop(number: int, frame: object) -> None:
        del number, frame
        raise _OutOfTime

    signal.signal(signal.SIGPROF, stop)
    _limit("RLIMIT_CPU", math.ceil(time.process_time() + seconds + _GRACE_SECONDS))
    signal.setitimer(signal.ITIMER_PROF, seconds, _AGAIN_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_IGN)
        _limit("RLIMIT_CPU", None)


def _limit(name: str, most: int | None) -> None:
    """Set a limit that the operating system keeps, as far as it may be raised; None: none."""
    try:
        import resource
    except ImportError:  # Windows
        return
    kind: int = getattr(resource, name)
    with contextlib.suppress(ValueError, OSError):  # a system without this limit
        _, hard = resource.getrlimit(kind)
        bounds = [bound for bound in (most, hard) if bound is not None and bound != resource.RLIM_INFINITY]
        resource.setrlimit(kind, (min(bounds, default=resource.RLIM_INFINITY), hard))


def _resident_bytes() -> int:
    """Bytes of memory that this process holds; 0 where /proc does not say it."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 0
