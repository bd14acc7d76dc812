"""Turns of two processes, one of each checkout, over the same paths."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from tests.bench.compare.ratios import Comparison
from tests.bench.timing import compiling_environment

__all__ = ["LEAST_ROUNDS", "Worker", "compared"]

#: However short the time is, and however long a path takes.
LEAST_ROUNDS = 5
_WORKER = Path(__file__).with_name("worker.py")
#: The folder of the checkout stands first in the path of the modules.
_START = "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')"


class Worker:
    """The process of a checkout."""

    def __init__(self, checkout: Path, script: Path) -> None:
        environment = compiling_environment() | {"PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0"}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(script)],
            cwd=checkout,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()  # it ends with its input

    def prepare(self, name: str) -> str:
        """Why the path cannot be timed, or ""."""
        answer = self._ask(f"prepare {name}")
        return "" if answer == "ready" else answer.removeprefix("cannot ")

    def time(self, name: str) -> float:
        """CPU seconds of one call of a path, in one turn."""
        return float(self._ask(f"time {name}"))

    def _ask(self, line: str) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the process ended: {line}")
        return answer.rstrip("\n")


def compared(base: Path, head: Path, names: Sequence[str], seconds: float, script: Path = _WORKER) -> list[Comparison]:
    """The paths in rounds for about so many seconds, without the preparation.

    A path that has spent its share of the seconds sits out. Raises RuntimeError when the head cannot run a path.
    """
    with Worker(base, script) as before, Worker(head, script) as after:
        why = {name: before.prepare(name) for name in names}
        for name in names:
            if fault := after.prepare(name):
                raise RuntimeError(f"{name}: {fault}")
        times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in names if not why[name]}
        turns, end = 0, time.monotonic() + seconds
        while times and (turns < LEAST_ROUNDS or time.monotonic() < end):
            for name, (old, new) in times.items():
                if turns >= LEAST_ROUNDS and sum(old) + sum(new) > seconds / len(times):
                    continue
                order = [(before, old), (after, new)]
                for worker, taken in order if turns % 2 else order[::-1]:
                    taken.append(worker.time(name))
            turns += 1
    return [Comparison(name, *times.get(name, ([], [])), why=why[name]) for name in names]
