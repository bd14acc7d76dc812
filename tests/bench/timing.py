"""CPU time of calls that take turns, so that whatever else the machine does falls on all of them alike.

The unit is the CPU time of this process over all its threads. A round times each call once (a quick call as often as it
takes to fill two milliseconds); a slow call sits out rounds once its budget is spent, but is timed at least twice.
"""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping

import numpy as np

__all__ = ["copy_bandwidth", "cpu_seconds", "take_turns"]

_BATCH_SECONDS, _LEAST_ROUNDS = 0.002, 2
_COPIED_BYTES = 1 << 28


def cpu_seconds(call: Callable[[], object], calls: int = 1) -> float:
    """CPU seconds of one call, over this many."""
    start = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - start) / calls


def take_turns(calls: Mapping[str, Callable[[], object]], rounds: int, budget: float) -> dict[str, float]:
    """Median CPU seconds of each call, over up to ``rounds`` rounds of at most ``budget`` seconds each call in all."""
    repeats = {name: max(1, int(_BATCH_SECONDS / max(cpu_seconds(call), 1e-7))) for name, call in calls.items()}
    spent: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    gc.disable()
    try:
        for turn in range(rounds):
            for name, call in calls.items():
                if turn < _LEAST_ROUNDS or sum(spent[name]) * repeats[name] < budget:
                    spent[name].append(cpu_seconds(call, repeats[name]))
    finally:
        gc.enable()
    return {name: statistics.median(seconds) for name, seconds in spent.items()}


def copy_bandwidth() -> float:
    """Bytes read and written in a CPU second by a copy that no cache holds: the median of seven copies of 256 MB."""
    source = np.ones(_COPIED_BYTES, np.uint8)
    target = np.ones(_COPIED_BYTES, np.uint8)
    seconds = [cpu_seconds(lambda: np.copyto(target, source)) for _ in range(7)]
    return 2 * _COPIED_BYTES / statistics.median(seconds)
