"""What the jar says of each listing in the log: how many files were listed, how many skipped, and why not."""

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
    for found in _LINE.finditer(log):
        n = int(found["listed"] or found["all"])
        yield Listing(n, n - int(found["skipped"] or 0), found["reason"] or "", found["query"])
