"""The process of one checkout: prepares the hot paths, then times one whenever it is asked to.

It is started in the folder of the checkout, and reads lines:

    prepare NAME    answers "ready", or "cannot " and why
    time NAME       answers the CPU seconds of a call: this process, all threads, and the processes that it starts

In a turn a call is repeated for ``_TURN_SECONDS``.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

_TURN_SECONDS = 0.02


def cpu_seconds() -> float:
    """Spent so far."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


def timed(call: Callable[[], object]) -> float:
    """CPU seconds of a call in a turn; the first call of the turn, which finds caches cold, does not count."""
    began = cpu_seconds()
    call()
    first = cpu_seconds() - began
    if first > _TURN_SECONDS:
        return first
    calls = max(1, int(_TURN_SECONDS / max(first, 1e-6)))
    began = cpu_seconds()
    for _ in range(calls):
        call()
    return (cpu_seconds() - began) / calls


def main() -> None:
    """``worker.py`` of the checkout that asks, which has ``hot_paths.py`` beside it."""
    checkout = Path.cwd()
    evaluator = importlib.util.find_spec("evaluator")
    if evaluator is None or not Path(evaluator.origin or "").is_relative_to(checkout):
        raise SystemExit(f"the packages are not those of {checkout}")
    spec = importlib.util.spec_from_file_location("hot_paths", Path(__file__).with_name("hot_paths.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    calls: dict[str, Callable[[], object]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            what, _, name = line.rstrip("\n").partition(" ")
            if what == "time":
                answer = repr(timed(calls[name]))
            else:
                place = Path(tempfile.mkdtemp(dir=folder))
                try:
                    calls[name] = module.HOT_PATHS[name](place)
                    timed(calls[name])
                    answer = "ready"
                except Exception as error:  # a checkout may be without what a path needs
                    answer = f"cannot {type(error).__name__}: {error}".replace("\n", " ")
            print(answer, flush=True)
    os._exit(0)  # what the paths have started, such as a sidecar, is not taken down


if __name__ == "__main__":
    main()
