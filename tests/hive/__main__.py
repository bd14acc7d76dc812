"""`make test-hive`: every Hive test, and the outcome in last_result.txt; with `PART=quick` the part that CI runs.

    python -m tests.hive [quick] [pytest's options]
"""

from __future__ import annotations

import platform
import sys
import time
from collections import Counter
from datetime import datetime, timezone
from pathlib import Path

import pytest

HERE = Path(__file__).parent


class Results:
    """Counts the outcomes by the part of a test's name before its first "-" pair: file, or server and engine."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = {}
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "call" and report.passed:
            return
        file, _, name = report.nodeid.partition("::")
        group = Path(file).stem
        if group == "test_matrix":
            group += " " + "-".join(name.partition("[")[2].split("-")[:2])
        self.counts.setdefault(group, Counter())[report.outcome] += 1
        if report.failed:
            self.failed.append(name)

    def text(self, seconds: float) -> str:
        lines = [f"{datetime.now(timezone.utc):%Y-%m-%d}, Python {platform.python_version()}, "
                 f"{seconds / 60:.0f} minutes, HiveServer2 4.0.1 (Tez and MapReduce) and 3.1.3 (MapReduce), all local, "
                 "Hudi 1.0.2", ""]
        for group, counts in self.counts.items():
            lines.append(f"{group:36s} " + ", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items())))
        total = sum(self.counts.values(), Counter())
        lines.append(f"{'total':36s} " + ", ".join(f"{n} {outcome}" for outcome, n in sorted(total.items())))
        return "\n".join([*lines, *(f"failed: {name}" for name in self.failed)]) + "\n"


def main(*arguments: str) -> int:
    quick = arguments[:1] == ("quick",)
    results = Results()
    begun = time.monotonic()
    chosen = "hive and not hive_full" if quick else "hive"
    code = pytest.main([str(HERE), "-m", chosen, *arguments[int(quick):]], plugins=[results])
    text = results.text(time.monotonic() - begun)
    print(text)
    if not quick:
        (HERE / "last_result.txt").write_text(text)
    return int(code)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
