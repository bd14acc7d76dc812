"""Real tables as they were after each of their commits: later instants are taken out of both timelines.

In the metadata table's they stay as pending ones: log files of version 6, which are appended to, hold their blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

_INSTANT = re.compile(r"(\d{17})\d*(?:_\d+)?\.[a-z]+(?:\.(?:requested|inflight))?|(\d{17})\.inflight")


def timelines(table: Path) -> list[Path]:
    """The directories of the table's timeline and of its metadata table's."""
    found = []
    for root in (table, *filter(Path.exists, [table / ".hoodie" / "metadata"])):
        directory = root / ".hoodie" / "timeline"
        found.append(directory if directory.is_dir() else root / ".hoodie")
    return found


def instants(table: Path) -> list[str]:
    """The completed instants of the table, in order."""
    names = {
        match[1]
        for path in timelines(table)[0].iterdir()
        if path.suffix != ".inflight" and (match := re.fullmatch(r"(\d{17})(?:_\d+)?\.[a-z]+", path.name))
    }
    return sorted(names)


def take_away(table: Path, aside: Path) -> None:
    """Move every instant out of the timelines."""
    for number, directory in enumerate(timelines(table)):
        target = aside / str(number)
        target.mkdir(parents=True)
        for path in list(directory.iterdir()):
            pending = path.suffix in (".requested", ".inflight")
            if path.is_file() and _INSTANT.fullmatch(path.name) and not (number and pending):
                path.rename(target / path.name)


def bring_back(table: Path, aside: Path, until: str) -> None:
    """Move the instants up to one of them back in."""
    for number, directory in enumerate(timelines(table)):
        for path in list((aside / str(number)).iterdir()):
            match = _INSTANT.fullmatch(path.name)
            assert match is not None
            if (match[1] or match[2]) <= until:
                path.rename(directory / path.name)


def commit_by_commit(table: Path, aside: Path) -> Iterator[str]:
    """Take a table back to its first commit, and then on, one instant at a time; the name of each."""
    names = instants(table)
    take_away(table, aside)
    for name in names:
        bring_back(table, aside, name)
        yield name


def write_by_write(table: Path, aside: Path) -> Iterator[str]:
    """The same in the order in which instants ended (from table version 8 on), with those pending that had begun."""
    ends = {name: end for name, end in map(_begun_and_ended, timelines(table)[0].iterdir()) if end}
    take_away(table, aside)
    for last in sorted(ends, key=lambda name: ends[name]):
        for number, directory in enumerate(timelines(table)):
            for path in list((aside / str(number)).iterdir()):
                begun, end = _begun_and_ended(path)
                moment = ends[begun] if end and begun in ends else begun
                if moment <= ends[last]:
                    path.rename(directory / path.name)
        yield last


def _begun_and_ended(path: Path) -> tuple[str, str]:
    """When an instant was requested, and when it ended; "" for one that has not."""
    match = re.fullmatch(r"(\d{17})\d*(?:_(\d{17}))?\..*", path.name)
    return ("", "") if match is None else (match[1], match[2] or "")
