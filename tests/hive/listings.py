"""The jar's log line for each listing: how many files were listed and skipped, or the reason why none was.

A line of the log and its Listing:

    sargo: asked, listed=20 skipped=19 ... query=...            Listing(20, 1, "", ...)
    sargo: kept all, listed=20 reason=NO_FILTER ... query=...   Listing(20, 20, "NO_FILTER", ...)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE = re.compile(
    r"sargo: (?:asked, listed=(?P<listed>\d+) skipped=(?P<skipped>\d+)"
    r"|kept all, listed=(?P<all>\d+) reason=(?P<reason>\w+)).*? query=(?P<query>\S+)"
)


@dataclass(frozen=True, order=True)
class Listing:
    listed: int
    kept: int
    reason: str
    query: str


def listings(log: str) -> Iterator[Listing]:
    for match in _LINE.finditer(log):
        n = int(match["listed"] or match["all"])
        yield Listing(n, n - int(match["skipped"] or 0), match["reason"] or "", match["query"])
