"""Stacks of a hot path and how often each was seen, as py-spy samples them (https://github.com/benfred/py-spy)."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tests.bench.timing import compiling_environment

__all__ = ["Stack", "recorded", "stacks_in"]

#: The functions of a stack from the outermost on, each as ``name (file:line)``.
Stack = tuple[str, ...]

_LOOPING = Path(__file__).with_name("looping.py")
_PY_SPY = Path(sys.executable).with_name("py-spy")
#: Looks a second. py-spy stops the process for each.
_RATE = 500


def recorded(checkout: Path, name: str, seconds: float) -> Counter[Stack]:
    """The stacks of a path in a checkout. Raises RuntimeError when it cannot run there, or not be looked at."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "stacks.txt"
        looking = [_PY_SPY, "record", "--rate", str(_RATE), "--function", "--format", "raw", "--output", out, "--"]
        ran = subprocess.run(
            [*looking, sys.executable, _LOOPING, name, str(seconds)],
            cwd=checkout,
            env=compiling_environment() | {"PYTHONPATH": str(checkout), "PYTHONHASHSEED": "0"},
            capture_output=True,
            text=True,
            check=False,
        )
        stacks = stacks_in(out.read_text("utf-8").splitlines()) if out.exists() else Counter()
    if not stacks:
        raise RuntimeError(f"{name}: {ran.stderr.strip()[-300:] or 'nothing was seen'}")
    return stacks


def stacks_in(lines: Iterable[str]) -> Counter[Stack]:
    """What py-spy wrote: frames joined by semicolons, and how often. Only what the loop has called counts."""
    found: Counter[Stack] = Counter()
    for line in lines:
        text, _, count = line.rpartition(" ")
        frames = text.split(";")
        at = next((place for place, frame in enumerate(frames) if frame.startswith("repeated (")), None)
        if at is not None and frames[at + 1 :]:
            found[tuple(frames[at + 1 :])] += int(count)
    return found
