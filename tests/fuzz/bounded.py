"""Runs something within bounds: CPU time by a signal, memory by the peak that Linux keeps for a process."""

from __future__ import annotations

import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import TypeVar

from tests.fuzz.fuzzer import Fault

__all__ = ["limit_address_space", "within_bounds"]

T = TypeVar("T")
_STATUS, _CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


class _OutOfTime(BaseException):
    """No ``except Exception`` of the code under test may take it for one of its own."""


def within_bounds(work: Callable[[], T], cpu_seconds: float, memory: int) -> T:
    """The result of ``work``. Raises Fault when it takes more CPU seconds or memory than that."""
    before = _reset_peak()
    try:
        with _cpu_limit(cpu_seconds):
            result = work()
    except _OutOfTime:
        raise Fault(f"it takes more than {cpu_seconds:g} CPU seconds") from None
    grown = _peak() - before
    if grown > memory:
        raise Fault(f"it takes {grown >> 20} MiB of memory; the bound is {memory >> 20} MiB")
    return result


@contextmanager
def _cpu_limit(seconds: float) -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise _OutOfTime

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _reset_peak() -> int:
    """Forget the peak, where the system allows it; the bytes that are held now."""
    with suppress(OSError):
        _CLEAR.write_text("5")
    return _peak()


def _peak() -> int:
    """The most bytes that the process held at once since the peak was forgotten."""
    try:
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) << 10
    except (OSError, StopIteration):
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak << 10


def limit_address_space(size: int) -> None:
    """Let an allocation beyond this fail in the process that makes it, not in the whole machine."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (size, most))
