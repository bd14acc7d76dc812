"""The report of a run: its cases, its coverage, the share of skippable slices that are skipped, and every failure."""

from __future__ import annotations

import datetime
import platform
import subprocess
from collections.abc import Iterator
from importlib.metadata import version

from tests.prove.coverage import Coverage, listed
from tests.prove.rounds import SEMANTICS, Result

__all__ = ["Total", "head", "text"]

COLUMNS = ("cases", "decided", "rows with a value")


class Total:
    """The sum of many rounds."""

    def __init__(self) -> None:
        self.rounds = self.cases = self.skippable = self.skipped = self.rows = self.rows_without_value = 0
        self.filters: set[int] = set()
        self.coverage = Coverage()
        self.failures: list[str] = []

    def add(self, result: Result) -> None:
        self.rounds += 1
        self.cases += result.cases
        self.skippable += result.skippable
        self.skipped += result.skipped
        self.rows += result.rows
        self.rows_without_value += result.rows_without_value
        self.filters |= result.filters
        self.coverage.merge(result.coverage)
        self.failures += result.failures

    def holes(self) -> list[str]:
        """Features that no case covered."""
        return self.coverage.holes(listed(SEMANTICS))


def head() -> str:
    """The time, the commit and the versions of the run."""
    now = datetime.datetime.now(datetime.timezone.utc)
    return f"{now:%Y-%m-%d %H:%M} UTC, commit {_commit()}, Python {platform.python_version()}, numpy {version('numpy')}"


def _commit() -> str:
    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], capture_output=True, text=True, check=False).stdout.strip()

    changed = git("status", "--porcelain", "--untracked-files=no", "--", "evaluator", "index_store", "tests/prove")
    return (git("rev-parse", "--short", "HEAD") or "unknown") + (" with changes" if changed else "")


def text(total: Total, first_seed: int, seconds: float) -> str:
    """The report, as printed and as stored."""
    last = first_seed + total.rounds - 1
    lines = [
        f"{total.cases:,} cases (filter x slice) in {total.rounds:,} rounds, seeds {first_seed} to {last}, "
        f"{seconds:,.0f} s",
        f"{len(total.filters):,} distinct filters, {total.rows - total.rows_without_value:,} values of rows from the "
        f"oracle ({total.rows_without_value / max(total.rows, 1):.0%} of the rows have none)",
        f"of {total.skippable:,} slices without a matching row, {total.skipped / max(total.skippable, 1):.1%} "
        "were skipped",
        f"failures: {len(total.failures)}",
        *total.failures[:20],
        "",
    ]
    holes = total.holes()
    lines += [f"not covered: {len(holes)}", *holes, ""]
    lines += _table(total.coverage)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _table(coverage: Coverage) -> Iterator[str]:
    for group, names in listed(SEMANTICS).items():
        yield f"{group:<34}" + "".join(f"{column:>18}" for column in COLUMNS)
        for name in names:
            counts = (coverage.cases[group, name], coverage.decided[group, name], coverage.valued[group, name])
            yield f"  {name:<32}" + "".join(f"{count:>18,}" if count else f"{'':>18}" for count in counts)
        yield ""
