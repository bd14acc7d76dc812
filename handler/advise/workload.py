"""The filters that a table was asked: lines of the sidecar's log of filters, or of SQL text, each of a kind once.

    {"table": "/warehouse/trips", "engine": "hive4", "time_zone": "UTC", "filter": Base64 as Hive sent it, ...}
    {"table": "/warehouse/trips", "filter": "city = 'oslo'"}
    city = 'oslo' AND fare > 50
    -- a comment

A line that cannot be read is counted and named, and never stops the others. Lines of other tables are counted. What the
sidecar understood of a filter is what is understood here (``planning.hive_filter``).
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import unquote, urlsplit

from evaluator.language.errors import SargoError
from evaluator.language.expression import HudiExpression, to_text
from evaluator.language.schema import Schema
from evaluator.language.semantics import ENGINES, Semantics
from handler.planning.filters import is_hive_filter
from handler.planning.hive_filter import read_hive_filter
from handler.sql.parsing import Engine, parse

__all__ = ["MAX_FILTERS", "LoggedFilter", "UnreadLine", "Workload", "read_workload"]

#: Distinct filters that are looked at, those that were asked most often; how many unread lines are named.
MAX_FILTERS, MAX_UNREAD = 500, 20
_HIVE, _SPARK = "hive", "spark"


@dataclass(frozen=True, slots=True)
class LoggedFilter:
    """A filter, how often it was asked, and under whose rules. ``line`` is the first one that holds it."""

    expression: HudiExpression
    engine: Engine
    time_zone: str | None
    count: int
    line: int

    @property
    def text(self) -> str:
        """For people."""
        return to_text(self.expression)


@dataclass(frozen=True, slots=True)
class UnreadLine:
    """A line that is no filter, and why."""

    line: int
    why: str


@dataclass(frozen=True, slots=True)
class Workload:
    """Filters of one table, most often asked first.

    lines    that are not empty; ``unread`` of them hold no filter (``named``: the first ones), ``others`` are of other
             tables (``tables``: some of them), and ``left_out`` hold filters beyond MAX_FILTERS
    """

    filters: tuple[LoggedFilter, ...]
    lines: int
    unread: int = 0
    named: tuple[UnreadLine, ...] = ()
    others: int = 0
    tables: tuple[str, ...] = ()
    left_out: int = 0


_Key = tuple[str, str, "str | None"]


def read_workload(
    lines: Iterable[str],
    table: str,
    schema: Schema,
    engine: Engine | None = None,
    time_zone: str | None = None,
    most: int = MAX_FILTERS,
) -> Workload:
    """Read lines. ``engine`` and ``time_zone`` hold where a line does not say its own; default as in ``prune``."""
    counts: Counter[_Key] = Counter()
    first: dict[_Key, int] = {}
    unread: list[UnreadLine] = []
    others: Counter[str] = Counter()
    wanted, seen = _place(table), 0
    for number, raw in enumerate(lines, 1):
        text = raw.strip()
        if not text or text.startswith("--"):
            continue
        seen += 1
        try:
            key, of = _key(text, engine, time_zone)
        except ValueError as error:
            unread.append(UnreadLine(number, str(error)))
            continue
        if of is not None and _place(of) != wanted:
            others[of] += 1
            continue
        counts[key] += 1
        first.setdefault(key, number)
    found = []
    unread_lines = len(unread)
    for key, count in counts.most_common(most):
        try:
            found.append(LoggedFilter(_expression(key, schema), cast(Engine, key[1]), key[2], count, first[key]))
        except Exception as error:  # whatever is wrong with one line, the others count
            said = " ".join(str(error).split())
            unread.append(
                UnreadLine(
                    first[key], said if isinstance(error, SargoError | ValueError) else f"{type(error).__name__} {said}"
                )
            )
            unread_lines += count
    unread.sort(key=lambda one: one.line)
    return Workload(
        tuple(found),
        seen,
        unread_lines,
        tuple(unread[:MAX_UNREAD]),
        sum(others.values()),
        tuple(name for name, _ in others.most_common(3)),
        sum(counts.values()) - sum(count for _, count in counts.most_common(most)),
    )


def _key(text: str, engine: Engine | None, time_zone: str | None) -> tuple[_Key, str | None]:
    """What a line holds: filter, engine and zone, and its table. Raises ValueError."""
    if not text.startswith("{"):
        return (text, engine or (_HIVE if is_hive_filter(text) else _SPARK), time_zone), None
    try:
        line: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON: {error}") from error
    given = line.get("filter")
    if not isinstance(given, str) or not given.strip():
        raise ValueError('a JSON line without "filter"')
    said = line.get("engine") or engine or (_HIVE if is_hive_filter(given) else _SPARK)
    if said not in ENGINES:
        raise ValueError(f"engine {said!r} is not known")
    zone, of = line.get("time_zone", time_zone), line.get("table")
    return (given, said, None if zone is None else str(zone)), None if of is None else str(of)


def _expression(key: _Key, schema: Schema) -> HudiExpression:
    text, engine, zone = key
    Semantics.named(engine, zone)
    if is_hive_filter(text):
        return read_hive_filter("".join(text.split()), schema, zone_known=zone is not None)
    return parse(text, cast(Engine, engine))


def _place(table: str) -> str:
    """A table's path in one form: local ones without scheme and links, other ones as they are."""
    parts = urlsplit(table)
    if parts.scheme in ("", "file"):
        return os.path.realpath(unquote(parts.path) if parts.scheme else table)
    return table.rstrip("/")
