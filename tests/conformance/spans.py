"""Sets of row numbers as short text: ``0-3,7`` is {0, 1, 2, 3, 7}."""

from __future__ import annotations

from collections.abc import Iterable


def to_text(numbers: Iterable[int]) -> str:
    spans: list[list[int]] = []
    for n in sorted(set(numbers)):
        if spans and n == spans[-1][1] + 1:
            spans[-1][1] = n
        else:
            spans.append([n, n])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)


def from_text(text: str) -> frozenset[int]:
    numbers: set[int] = set()
    for span in filter(None, text.split(",")):
        first, _, last = span.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return frozenset(numbers)
