"""The page with the flame graphs of all hot paths."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tests.bench.compare.ratios import Comparison, shown
from tests.bench.flames.drawing import COLOURS

__all__ = ["Profile", "file_of", "page_of"]

_INTRODUCTION = """# Where the time goes

Flame graphs of the hot paths, of an earlier commit and now. `make flame-graphs BASE=<commit>` draws them and writes
this page. [py-spy](https://github.com/benfred/py-spy) looks 500 times a second which function runs. A box is a
function, as wide as its share of the CPU time, above what it calls; a tooltip has the number. Less than 0.8 % is left
out. Time in numpy and Arrow belongs to the function that calls them. The graphs of one path have different scales:
the times of a call stand above them, CPU of all threads, from rounds in which both checkouts take turns
(`tests/bench/compare`). A path that takes as long as before, within a tenth, has one graph.
"""


@dataclass(frozen=True)
class Profile:
    """A path: its times, and the names of its drawings. ``why``: why there is none of the base."""

    times: Comparison
    before: str
    now: str
    why: str = ""


def file_of(name: str, when: str) -> str:
    """The name of a path's drawing."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + f"-{when}.svg"


def page_of(profiles: Sequence[Profile], machine: str, base: str) -> str:
    """The page in Markdown."""
    colours = ", ".join(
        f'<span style="color:{colour}">■</span> {f"`{folder}`" if folder else "libraries and tests"}'
        for folder, colour in COLOURS.items()
    )
    parts = [_INTRODUCTION, f"{machine}. The earlier commit is `{base}`.\n", f"{colours}\n"]
    for one in profiles:
        parts.append(f"## {one.times.name[0].upper()}{one.times.name[1:]}\n")
        if one.why:
            parts.append(f"The earlier commit cannot run it: {one.why}.\n")
        else:
            before, now = min(one.times.base), min(one.times.head)
            parts.append(f"{shown(before)} before, {shown(now)} now: {one.times.ratio:.2f} x.\n")
        parts += [f"```{{diagram}} ../performance/{drawing}\n```\n" for drawing in (one.before, one.now) if drawing]
    return "\n".join(parts)
