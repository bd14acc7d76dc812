"""CPU time of calls that take turns, so that other work of the machine affects all of them alike.

The unit is the CPU time of this process over all its threads. In its turn a call runs once untimed, so that code and
data are as warm as they can be, then as often as it takes to fill a millisecond. A slow call (20 ms) needs no warming,
and sits out turns once its budget is spent, but is timed at least twice.
"""

from __future__ import annotations

import gc
import os
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

__all__ = ["Bandwidth", "compiling_environment", "cpu_seconds", "measure_bandwidth", "take_turns"]

_BATCH_SECONDS, _SLOW_SECONDS, _LEAST_ROUNDS = 0.001, 0.02, 2
_STREAMED_BYTES = 1 << 28  # beyond every cache


def compiling_environment() -> dict[str, str]:
    """The environment of a process that keeps the bytecode it compiles, as an installed package has it."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def cpu_seconds(call: Callable[[], object], calls: int = 1) -> float:
    """CPU seconds of one call, over this many."""
    start = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - start) / calls


def take_turns(calls: Mapping[str, Callable[[], object]], rounds: int, budget: float) -> dict[str, float]:
    """Median CPU seconds of each call, over up to ``rounds`` rounds of at most ``budget`` seconds each call in all."""
    expected = {name: min(cpu_seconds(call), cpu_seconds(call)) for name, call in calls.items()}
    spent: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            for name, call in calls.items():
                if turn >= _LEAST_ROUNDS and turn * expected[name] > budget:
                    continue
                if expected[name] < _SLOW_SECONDS:
                    call()
                spent[name].append(cpu_seconds(call, max(1, int(_BATCH_SECONDS / max(expected[name], 1e-7)))))
    finally:
        gc.enable()
    return {name: statistics.median(seconds) for name, seconds in spent.items()}


@dataclass(frozen=True)
class Bandwidth:
    """Bytes that one core moves in a CPU second: ``copy`` reads and writes (both count), ``read`` only reads, for the
    greatest of 8-byte integers.
    """

    copy: float
    read: float


def measure_bandwidth() -> Bandwidth:
    """Medians over seven passes of 256 MB."""
    source = np.ones(_STREAMED_BYTES // 8, np.int64)
    target = np.ones(_STREAMED_BYTES // 8, np.int64)

    def of(call: Callable[[], object]) -> float:
        return _STREAMED_BYTES / statistics.median(cpu_seconds(call) for _ in range(7))

    return Bandwidth(2 * of(lambda: np.copyto(target, source)), of(source.max))
