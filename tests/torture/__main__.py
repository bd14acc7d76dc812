"""Damages every byte of the metadata of small real tables, or a sample: ``python -m tests.torture --sample 2000``.

Exits with 1 when a fault was found. A fault is printed with the case that makes it again:
``python -m tests.torture --tables NAME --case PATH:OFFSET:BYTE``.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import islice

from tests.torture.damage import Case, all_cases, some_cases
from tests.torture.tables import TABLES, subject
from tests.torture.verdict import FAULTS, Judge, Verdict

_AT_A_TIME = 500
_judges: dict[tuple[str, int], Judge] = {}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="another seed makes other damage")
    parser.add_argument("--sample", type=int, help="so many bytes of each table; without it every byte")
    parser.add_argument("--tables", default=",".join(TABLES), help="names of tables of tests/data, with commas")
    parser.add_argument("--queries", type=int, default=8, help="filters that are planned on each damaged table")
    parser.add_argument("--only", default="", help="damage only files whose path contains this text")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--case", help="one case only: PATH:OFFSET:BYTE")
    parser.add_argument("--show", type=int, default=20, help="so many faults of each table are printed")
    options = parser.parse_args()
    faults = 0
    for name in options.tables.split(","):
        if options.case:
            path, offset, new = options.case.rsplit(":", 2)
            print(_judge(name, options.queries, [Case(path, int(offset), "case", int(new))]))
            continue
        faults += _run(name, options)
    return 1 if faults else 0


def _run(name: str, options: argparse.Namespace) -> int:
    judge = _judge_of(name, options.queries)
    files = {path: data for path, data in judge.files.items() if options.only in path}
    size = sum(map(len, files.values()))
    cases: Iterable[Case]
    if options.sample is None:
        cases, number = all_cases(files, options.seed), 2 * size
    else:
        cases, number = some_cases(files, options.seed, options.sample), options.sample
    print(f"{name}: {len(files)} files of {size:,} bytes are read; {number:,} cases")
    found: Counter[str] = Counter()
    shown = done = 0
    began = time.monotonic()
    for batch in _judged(name, options, cases):
        for case, verdict in batch:
            found[verdict.kind] += 1
            if verdict.kind in FAULTS:
                shown += 1
                if shown <= options.show:
                    print(f"\r  {verdict.kind}: {case.path}:{case.offset}:{case.new}: {verdict.why}")
        done += len(batch)
        _progress(done, number, found, began)
    if sys.stdout.isatty():
        print()
    print(f"  {', '.join(f'{count:,} {kind}' for kind, count in found.most_common())}")
    return sum(found[kind] for kind in FAULTS)


def _progress(done: int, number: int, found: Counter[str], began: float) -> None:
    if sys.stdout.isatty():
        share = done / max(number, 1)
        left = (time.monotonic() - began) / max(share, 1e-9) * (1 - share)
        bar = "#" * int(30 * share)
        faults = sum(found[kind] for kind in FAULTS)
        print(f"\r  [{bar:30}] {share:4.0%}, {faults} faults, {left / 60:.0f} min left ", end="", flush=True)


def _judged(name: str, options: argparse.Namespace, cases: Iterable[Case]) -> Iterator[list[tuple[Case, Verdict]]]:
    source = iter(cases)
    batches = iter(lambda: list(islice(source, _AT_A_TIME)), [])
    if options.processes < 2:
        for batch in batches:
            yield _judge(name, options.queries, batch)
        return
    with ProcessPoolExecutor(options.processes) as pool:
        while some := list(islice(batches, 4 * options.processes)):
            waiting = [pool.submit(_judge, name, options.queries, batch) for batch in some]
            for one in waiting:
                yield one.result()


def _judge_of(name: str, queries: int) -> Judge:
    if (name, queries) not in _judges:
        _judges[name, queries] = Judge(subject(name, queries))
    return _judges[name, queries]


def _judge(name: str, queries: int, cases: Iterable[Case]) -> list[tuple[Case, Verdict]]:
    judge = _judge_of(name, queries)
    return [(case, judge.judge(case.path, case.apply(judge.subject.files[case.path]))) for case in cases]


if __name__ == "__main__":
    sys.exit(main())
