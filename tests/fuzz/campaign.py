"""Cases of one fuzzer until its time is over; of those that fail, one of each kind is made as small as it gets.

Case number n of a seed is drawn from (seed, n) alone, so a finding does not depend on how fast the machine is.
"""

from __future__ import annotations

import base64
import random
import shutil
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.bounded import within_bounds
from tests.fuzz.fuzzer import Fault, Fuzzer

__all__ = ["MAX_ON_COMMAND_LINE", "Campaign", "Finding", "command", "input_of", "run", "try_case"]

SHRINK_SECONDS, PROGRESS_SECONDS, ENOUGH_FINDINGS = 30.0, 15.0, 8
#: Base64 of up to so many characters stands in the command that repeats a finding; a longer one is a file.
MAX_ON_COMMAND_LINE = 2000


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A case that broke an invariant, made smaller; ``why`` is the fault, ``trace`` where it comes from."""

    fuzzer: str
    seed: int
    number: int
    why: str
    trace: str
    case: bytes


@dataclass(kw_only=True)
class Campaign:
    """What was done: cases by how they ended, and one finding of each kind."""

    fuzzer: str
    seed: int
    cases: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def line(self) -> str:
        """One line for people."""
        ends = ", ".join(f"{count:,} {end}" for end, count in self.ends.most_common(8))
        return f"{self.fuzzer}, seed {self.seed}: {self.cases:,} cases" + (f" ({ends})" if ends else "")


def run(
    fuzzer: Fuzzer,
    seed: int,
    seconds: float,
    *,
    say: Callable[[str], None] = print,
    about_to: Callable[[bytes], None] = lambda _: None,
    enough: int = ENOUGH_FINDINGS,
    shrink_seconds: float = SHRINK_SECONDS,
) -> Campaign:
    """Draw and check cases. ``about_to`` gets each case before it is checked, for whoever outlives this process."""
    campaign = Campaign(fuzzer=fuzzer.name, seed=seed)
    places: set[tuple[object, ...]] = set()
    began = said = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix=f"sargo-fuzz-{fuzzer.name}-"))
    try:
        with fuzzer.prepared(folder):
            number = 0
            while time.monotonic() - began < seconds and len(places) < enough:
                case = fuzzer.draw(random.Random(f"{seed} {number}"))
                about_to(fuzzer.dump(case))
                end, error = try_case(fuzzer, case)
                campaign.cases += 1
                campaign.ends[end] += 1
                if error is not None and _place(error) not in places:
                    places.add(_place(error))
                    say(f"{campaign.line()}: FOUND in case {number}: {_why(error)[:200]}; making it smaller")
                    small, error = _smallest(fuzzer, case, error, shrink_seconds, about_to)
                    campaign.findings.append(_finding(fuzzer, small, error, seed, number))
                number += 1
                if time.monotonic() - said > PROGRESS_SECONDS:
                    said = time.monotonic()
                    say(f"{campaign.line()}, {said - began:.0f} of {seconds:.0f} s")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return campaign


def try_case(fuzzer: Fuzzer, case: Any) -> tuple[str, Exception | None]:
    """How the case ended, or the fault."""
    try:
        return within_bounds(lambda: fuzzer.check(case), fuzzer.cpu_seconds, fuzzer.memory), None
    except Exception as error:
        return "FAILED", error


def _smallest(
    fuzzer: Fuzzer, case: Any, error: Exception, seconds: float, about_to: Callable[[bytes], None]
) -> tuple[Any, Exception]:
    """Take the first smaller case that fails in the same way, as long as there is one and time for it."""
    ends = time.monotonic() + seconds
    smaller = True
    while smaller and time.monotonic() < ends:
        smaller = False
        for candidate in fuzzer.smaller(case):
            if time.monotonic() > ends:
                break
            about_to(fuzzer.dump(candidate))
            _, again = try_case(fuzzer, candidate)
            if again is not None and _place(again) == _place(error):
                case, error, smaller = candidate, again, True
                break
    return case, error


def _finding(fuzzer: Fuzzer, case: Any, error: Exception, seed: int, number: int) -> Finding:
    return Finding(
        fuzzer=fuzzer.name,
        seed=seed,
        number=number,
        why=_why(error),
        trace="".join(traceback.format_exception(error)[-12:]),
        case=fuzzer.dump(case),
    )


def _why(error: Exception) -> str:
    text = " ".join(str(error).split())
    text = text if len(text) <= 2000 else f"{text[:2000]}..."
    return text if isinstance(error, Fault) else f"{type(error).__name__}: {text}"


def _place(error: Exception) -> tuple[object, ...]:
    """What two cases share that fail in the same way: the class, and the place or the first words of a fault."""
    if isinstance(error, Fault):
        return (Fault, str(error).partition(":")[0].rstrip("0123456789 "))
    last = traceback.extract_tb(error.__traceback__)[-1]
    return (type(error), last.filename, last.lineno)


def command(finding: Finding, file: Path | None) -> str:
    """What repeats a finding."""
    text = base64.urlsafe_b64encode(finding.case).decode()
    given = text if len(text) <= MAX_ON_COMMAND_LINE or file is None else str(file)
    return f".venv/bin/python -m tests.fuzz {finding.fuzzer} --repeat={given}"


def input_of(given: str) -> bytes:
    """The case that ``--repeat`` names: a file, or Base64."""
    with suppress(OSError):  # Base64 is too long for the name of a file
        if Path(given).is_file():
            return Path(given).read_bytes()
    return base64.b64decode(given, altchars=b"-_", validate=True)
