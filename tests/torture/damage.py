"""How a byte is damaged, and which bytes of a table there are to damage."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

__all__ = ["PATTERNS", "Case", "all_cases", "some_cases"]

_DIGITS, _LOWER, _UPPER = range(48, 58), range(97, 123), range(65, 91)


def _alike(value: int, rnd: random.Random) -> int:
    """Another byte of the same sort: a digit for a digit, a letter for a letter; else any other byte."""
    for sort in (_DIGITS, _LOWER, _UPPER):
        if value in sort:
            return rnd.choice([other for other in sort if other != value])
    return value ^ rnd.randint(1, 255)


def _bit(value: int, rnd: random.Random) -> int:
    return value ^ 1 << rnd.randrange(8)


#: The patterns by name. The first makes damage that is still well-formed, the second is what a memory or disk does.
PATTERNS: Mapping[str, Callable[[int, random.Random], int]] = {"alike": _alike, "bit": _bit}


@dataclass(frozen=True, slots=True)
class Case:
    """One byte of one file, and what it becomes."""

    path: str
    offset: int
    pattern: str
    new: int

    def apply(self, data: bytes) -> bytes:
        """The file with that byte changed."""
        return data[: self.offset] + bytes((self.new,)) + data[self.offset + 1 :]


def _case(path: str, data: bytes, offset: int, pattern: str, seed: int) -> Case:
    rnd = random.Random(f"{seed} {path} {offset} {pattern}")
    return Case(path, offset, pattern, PATTERNS[pattern](data[offset], rnd))


def all_cases(files: Mapping[str, bytes], seed: int) -> Iterator[Case]:
    """Every byte of these files with every pattern."""
    for path, data in files.items():
        for offset in range(len(data)):
            for pattern in PATTERNS:
                yield _case(path, data, offset, pattern, seed)


def some_cases(files: Mapping[str, bytes], seed: int, number: int) -> Iterator[Case]:
    """A seeded sample: every file is drawn as often as any other, however small it is."""
    rnd = random.Random(seed)
    paths = [path for path, data in files.items() if data]
    for _ in range(number):
        path = rnd.choice(paths)
        data = files[path]
        yield _case(path, data, rnd.randrange(len(data)), rnd.choice(list(PATTERNS)), rnd.randrange(1 << 32))
