"""`make test-hive`: every Hive test, or a part of them.

    python -m tests.hive [PART ...] [pytest's options]

PART is "quick" for what CI runs, or a group: a file ("test_modes") or a lane of the matrix ("401-tez-rows"). Each group
that ran to its end, without options, is a line of last_result.txt, with the day of its last run.
"""

from __future__ import annotations

import itertools
import re
import sys
from collections import Counter
from collections.abc import Collection
from datetime import datetime, timezone
from pathlib import Path

import pytest

RESULT = Path(__file__).with_name("last_result.txt")
HEAD = "Each group when it last ran: HiveServer2 4.0.1 (Tez, MapReduce) and 3.1.3 (MapReduce), all local, Hudi 1.0.2"
LINE = re.compile(r"(?P<day>[\d-]+) +(?P<minutes>\d+) min  (?P<group>\S+) +(?P<counts>.*)")


def group_of(test: str) -> str:
    """The lane of a test of the matrix, otherwise the file."""
    file, _, name = test.partition("::")
    match = re.search(r"\[(.+?)-(?:native|stored)-", name)
    return match[1] if match and Path(file).stem == "test_matrix" else Path(file).stem


class Results:
    """Counts outcomes by group; with groups, only their tests run."""

    def __init__(self, only: Collection[str] = ()) -> None:
        self.only = only
        self.counts: dict[str, Counter[str]] = {}
        self.seconds: Counter[str] = Counter()
        self.failed: dict[str, list[str]] = {}

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        others = [item for item in items if self.only and group_of(item.nodeid) not in self.only]
        config.hook.pytest_deselected(items=others)
        items[:] = [item for item in items if item not in others]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        group = group_of(report.nodeid)
        self.seconds[group] += report.duration
        if report.when == "call" or not report.passed:
            self.counts.setdefault(group, Counter())[report.outcome] += 1
        if report.failed:
            self.failed.setdefault(group, []).append(report.nodeid.partition("::")[2])

    def text(self, before: str = "") -> str:
        """The lines of these groups, and those of the others as they were before."""
        day = f"{datetime.now(timezone.utc):%Y-%m-%d}"
        lines = {match["group"]: match[0] for match in LINE.finditer(before)}
        failed = {
            group: [match[0] for match in re.finditer(rf"failed, {re.escape(group)}: .*", before)] for group in lines
        }
        for group, counts in self.counts.items():
            shown = ", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items()))
            lines[group] = f"{day} {self.seconds[group] / 60:4.0f} min  {group:20s} {shown}"
            failed[group] = [f"failed, {group}: {name}" for name in self.failed.get(group, ())]
        return (
            "\n".join(
                [
                    HEAD,
                    "",
                    *(lines[group] for group in sorted(lines)),
                    *(line for group in sorted(failed) for line in failed[group]),
                ]
            )
            + "\n"
        )


def main(*arguments: str) -> int:
    parts = list(itertools.takewhile(lambda argument: not argument.startswith("-"), arguments))
    options = arguments[len(parts) :]
    quick = parts == ["quick"]
    results = Results(() if quick else parts)
    chosen = "hive and not hive_full" if quick else "hive"
    code = pytest.main([str(RESULT.parent), "-m", chosen, *options], plugins=[results])
    if quick or options or code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        print(results.text())
    else:
        RESULT.write_text(results.text(RESULT.read_text() if RESULT.exists() else ""))
        print(RESULT.read_text())
    return int(code)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
