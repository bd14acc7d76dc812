"""``python -m tests.prove``: rounds until the cases are reached, then the report; exit code 1 on any failure or hole.

--cases 10000000   how many cases at least
--seed 1           the first round's seed; the next rounds take the next numbers
--rounds 1         exactly so many rounds instead, without looking for holes: to run one seed again
--processes 1      rounds side by side
--keep             write the report to tests/prove/last_result.txt
"""

from __future__ import annotations

import argparse
import multiprocessing
import pathlib
import sys
import time
from collections.abc import Iterator

from tests.prove.report import Total, head, text
from tests.prove.rounds import CASES_PER_ROUND, Result, run

LAST_RESULT = pathlib.Path(__file__).parent / "last_result.txt"
ENOUGH_FAILURES = 20


def main() -> int:
    options = _options()
    count = options.rounds or -(-options.cases // CASES_PER_ROUND)
    seeds = range(options.seed, options.seed + count)
    print(f"{count * CASES_PER_ROUND:,} cases: seeds {seeds[0]} to {seeds[-1]}", flush=True)
    started = time.monotonic()
    total = Total()
    shown = 0.0
    for result in _results(seeds, options.processes):
        total.add(result)
        for failure in result.failures:
            print(failure, flush=True)
        if time.monotonic() - shown > 30:
            shown = time.monotonic()
            print(
                f"  up to seed {result.seed}: {total.cases:,} cases, {len(total.failures)} failures, "
                f"{shown - started:,.0f} s",
                flush=True,
            )
        if len(total.failures) >= ENOUGH_FAILURES:
            break
    report = f"{head()}\n{text(total, options.seed, time.monotonic() - started)}"
    print(report)
    if options.keep:
        LAST_RESULT.write_text(report, encoding="utf-8")
    return 1 if total.failures or (total.holes() and not options.rounds) else 0


def _results(seeds: range, processes: int) -> Iterator[Result]:
    if processes == 1:
        yield from map(run, seeds)
        return
    with multiprocessing.Pool(processes) as pool:
        yield from pool.imap(run, seeds)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.prove")
    parser.add_argument("--cases", type=int, default=10_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--keep", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
