"""Keeps the indexes of Hudi tables current: brings them up to date, merges what many refreshes left, and clears up.

    python maintenance.py /data/trips s3://lake/orders

Run it after commits, or by a timer. Files that came after the last refresh are read by every query, so nothing gets
lost in between, and two runs at once are safe. A table that fails does not stop the others. The exit code is 1 when one
failed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from datetime import timedelta

from sargo import IndexWork, SargoError

#: Refreshes leave files of their own; readers open those of each.
MERGE_AT = 10


def maintain(table: str, keep: timedelta) -> Iterator[str]:
    """What was done, a line for each step. Raises SargoError; what was done before stays done."""
    work = IndexWork(table)
    if not work.locations(work.open()):
        yield "has no index: see 'sargo advise'"
        return
    for report in work.refresh():
        change = report.change
        if change is None or not change.committed:
            yield f"{report.name} is up to date"
            continue
        yield f"{report.name}: {change.built} files added, {change.gone} gone, in {change.seconds:.1f} s"
        for path, why in report.unread.items():
            yield f"{report.name}: {path} could not be read, so queries read it: {why}"
        version = change.version
        if max(len(version.builds), len(version.generations)) >= MERGE_AT:
            work.optimize(report.name)
            yield f"{report.name}: merged"
    for report in work.vacuum(retention=keep):
        if report.removed is not None and report.removed.files:
            yield f"{report.name}: {report.removed.files} old files removed"


def main(arguments: Sequence[str] | None = None) -> int:
    """Maintain the tables of the arguments; the exit code."""
    parser = argparse.ArgumentParser(description="Refreshes, merges and clears up the indexes of Hudi tables.")
    parser.add_argument("tables", nargs="+", metavar="TABLE", help="path or URI of a table")
    parser.add_argument("--keep-hours", type=float, default=168, help="old versions stay for queries that use them")
    given = parser.parse_args(arguments)
    failed = 0
    for table in given.tables:
        try:
            for line in maintain(table, timedelta(hours=given.keep_hours)):
                print(f"{table}: {line}", flush=True)
        except SargoError as error:
            failed += 1
            print(f"{table}: failed: {error}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
