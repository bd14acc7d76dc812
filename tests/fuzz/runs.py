"""Runs fuzzers in processes of their own, a few at a time, and outlives them.

A child writes each case to a file before it checks it. So a case that kills its process, or after which no further one
begins, is known all the same.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.campaign import Finding

__all__ = ["Run", "run_all"]

#: Wall-clock seconds after which a case that does not end is taken for one that never does.
STUCK_SECONDS = 180.0


@dataclass(kw_only=True)
class Run:
    """One fuzzer with one seed; ``finding`` is set when its process died over a case."""

    fuzzer: str
    seed: int
    seconds: float
    folder: Path
    process: subprocess.Popen[bytes] | None = None
    finding: Finding | None = None

    @property
    def current(self) -> Path:
        """The file that holds the case which is being checked."""
        return self.folder / f"{self.fuzzer}-{self.seed}.current"

    def start(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.current.write_bytes(b"")
        command = [sys.executable, "-m", "tests.fuzz", self.fuzzer, "--child", "--seconds", str(self.seconds)]
        command += ["--seed", str(self.seed), "--keep", str(self.folder)]
        self.process = subprocess.Popen(command, start_new_session=True)

    def is_over(self) -> bool:
        """Whether the process has ended; one that is stuck is killed."""
        assert self.process is not None
        if self.process.poll() is not None:
            return True
        if time.time() - self.current.stat().st_mtime < STUCK_SECONDS:
            return False
        self.kill()
        self._find(f"a case does not end within {STUCK_SECONDS:.0f} s")
        return True

    def kill(self) -> None:
        """End the process and those that it started."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def end(self) -> int:
        """0 when nothing was found, 1 for a finding, 2 when the fuzzer itself failed."""
        assert self.process is not None
        status = self.process.wait()
        if self.finding is None and status < 0:
            self._find(f"the process was ended by {signal.Signals(-status).name}")
        if self.finding is None:
            self.current.unlink(missing_ok=True)
            return status if status in (0, 1) else 2
        return 1

    def _find(self, why: str) -> None:
        self.finding = Finding(
            fuzzer=self.fuzzer, seed=self.seed, number=-1, why=why, trace="", case=self.current.read_bytes()
        )


def run_all(runs: list[Run], processes: int) -> int:
    """Start the runs in their order, so many side by side; the worst status of all."""
    waiting, running, worst = list(runs), [], 0
    try:
        while waiting or running:
            while waiting and len(running) < processes:
                running.append(waiting.pop(0))
                running[-1].start()
            for run in [run for run in running if run.is_over()]:
                running.remove(run)
                worst = max(worst, run.end())
            time.sleep(0.2)
    finally:
        for run in running:
            run.kill()
    return worst
