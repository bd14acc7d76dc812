"""``python -m tests.fuzz [FUZZER ...]``: exit code 1 for a finding, with the input and the command that repeats it.

FUZZER            kryo, sql, table, frames, index; all of them without one
--seconds 60      how long each of them runs
--seed 1          the same seed draws the same cases
--processes 2     fuzzers side by side
--keep FOLDER     where findings are written
--repeat INPUT    check one input again instead: a file or Base64
"""

from __future__ import annotations

import argparse
import base64
import os
import sys
import tempfile
from pathlib import Path

from tests.fuzz.bounded import limit_address_space
from tests.fuzz.campaign import MAX_ON_COMMAND_LINE, Finding, command, input_of, run, try_case
from tests.fuzz.fuzzers import NAMES, named
from tests.fuzz.runs import Run, run_all

_FOUND = Path("build/fuzz")
_ADDRESS_SPACE = 12 << 30


def main() -> int:
    options = _options()
    os.environ["SARGO_CACHE"] = "off"
    if options.repeat is not None:
        return _repeat(options.fuzzers[0], options.repeat)
    if options.child:
        return _child(options.fuzzers[0], options.seed, options.seconds, options.keep)
    names = options.fuzzers or NAMES
    # Two runs of half the time keep two processes busy to the end, where the number of fuzzers is odd.
    parts = 2 if len(names) > 1 else 1
    runs = [
        Run(fuzzer=name, seed=2 * options.seed + part if parts > 1 else options.seed, seconds=options.seconds / parts,
            folder=options.keep)
        for part in range(parts)
        for name in names
    ]  # fmt: skip
    status = run_all(runs, options.processes)
    for one in runs:
        if one.finding is not None:
            _tell(one.finding, options.keep)
    print({0: f"nothing found by {', '.join(names)}", 1: "FOUND: see above"}.get(status, "a fuzzer failed: see above"))
    return status


def _child(name: str, seed: int, seconds: float, keep: Path) -> int:
    limit_address_space(_ADDRESS_SPACE)
    with open(keep / f"{name}-{seed}.current", "r+b", buffering=0) as current:

        def about_to(case: bytes) -> None:
            current.seek(0)
            current.write(case)
            current.truncate()

        campaign = run(named(name), seed, seconds, say=lambda text: print(text, flush=True), about_to=about_to)
    print(campaign.line(), flush=True)
    for finding in campaign.findings:
        _tell(finding, keep)
    return 1 if campaign.findings else 0


def _tell(finding: Finding, keep: Path) -> None:
    keep.mkdir(parents=True, exist_ok=True)
    file = keep / f"{finding.fuzzer}-{finding.seed}-{finding.number}.bin"
    file.write_bytes(finding.case)
    text = base64.urlsafe_b64encode(finding.case).decode()
    print(
        f"\nFOUND by {finding.fuzzer}, seed {finding.seed}, case {finding.number}: {finding.why}\n{finding.trace}"
        f"  input    {len(finding.case):,} bytes, {file}"
        + (f"\n  Base64   {text}" if len(text) <= MAX_ON_COMMAND_LINE else "")
        + f"\n  again    {command(finding, file)}",
        flush=True,
    )


def _repeat(name: str, given: str) -> int:
    limit_address_space(_ADDRESS_SPACE)
    fuzzer = named(name)
    with tempfile.TemporaryDirectory(prefix="sargo-fuzz-") as folder, fuzzer.prepared(Path(folder)):
        end, error = try_case(fuzzer, fuzzer.load(input_of(given)))
    if error is None:
        print(f"no fault: {end}")
        return 0
    import traceback

    traceback.print_exception(error)
    return 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.fuzz")
    parser.add_argument("fuzzers", nargs="*", choices=[*NAMES, []], metavar="FUZZER")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--keep", type=Path, default=_FOUND)
    parser.add_argument("--repeat")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if (options.repeat or options.child) and len(options.fuzzers) != 1:
        parser.error("name one fuzzer")
    return options


if __name__ == "__main__":
    sys.exit(main())
