"""The filters of a workload, read from lines of the sidecar's filter log or of SQL text; equal lines are counted once.

    {"table": "/warehouse/trips", "engine": "hive4", "time_zone": "UTC", "filter": Base64 as Hive sent it, ...}
    {"table": "/warehouse/trips", "engine": "spark-ansi", "time_zone": "UTC", "filter": JSON as Spark sent it, ...}
    {"table": "/warehouse/trips", "filter": "city = 'oslo'"}
    city = 'oslo' AND fare > 50
    -- a comment

A line that cannot be read is counted and reported; the others are still used. Lines of other tables are counted. What
an engine sent to the sidecar is read as the sidecar reads it (``planning.engine_filters``).
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from evaluator.language.errors import SargoError
from evaluator.language.expression import HudiExpression, to_text
from evaluator.language.records import frozen
from evaluator.language.schema import Schema
from evaluator.language.semantics import ENGINES, Semantics
from handler.planning.engine_filters import filter_form, read_engine_filter
from handler.planning.filters import is_hive_filter, named_by_table, read_condition
from handler.sql.parsing import Engine
from index_store.storage.file_systems import local_path

__all__ = ["MAX_FILTERS", "LoggedFilter", "UnreadLine", "Workload", "read_workload"]

#: At most so many distinct filters are used, those that were asked most often; so many unread lines are reported.
MAX_FILTERS, MAX_UNREAD = 500, 20
_HIVE: Engine = "hive"
_SPARK: Engine = "spark"


@frozen
class LoggedFilter:
    """A filter, the engine whose rules it follows, how often it was asked, and the first line that holds it."""

    expression: HudiExpression
    engine: Engine
    time_zone: str | None
    count: int
    line: int

    @property
    def text(self) -> str:
        """For people."""
        return to_text(self.expression)


@frozen
class UnreadLine:
    """The number of a line that cannot be read, and the reason."""

    line: int
    why: str


@frozen(kw_only=True)
class Workload:
    """The filters of one table, those first that were asked most often.

    lines          the number of lines that are neither empty nor comments
    unread         how many of them hold no filter; ``unread_lines``: the first of these
    others         how many are of other tables; ``other_tables``: the most frequent of these
    left_out       how many hold filters beyond MAX_FILTERS
    """

    filters: tuple[LoggedFilter, ...]
    lines: int
    unread: int = 0
    unread_lines: tuple[UnreadLine, ...] = ()
    others: int = 0
    other_tables: tuple[str, ...] = ()
    left_out: int = 0


class _Line(NamedTuple):
    """The content of a line: a filter as text, the engine whose rules it follows, and its session's zone."""

    filter: str
    engine: str
    time_zone: str | None


def read_workload(
    lines: Iterable[str],
    table: str,
    schema: Schema,
    engine: Engine | None = None,
    time_zone: str | None = None,
    *,
    max_filters: int = MAX_FILTERS,
    alias: str | None = None,
) -> Workload:
    """Read the filters of one table. ``engine`` and ``time_zone``: of lines that name none; default as in ``prune``.

    ``alias``: the table's name in the queries, for columns such as ``o.fare``; by default the one that a line uses.
    """
    if isinstance(lines, str | bytes) or not isinstance(lines, Iterable):
        raise TypeError(f"a workload is its lines, such as an open file, not {type(lines).__name__}")
    if engine is not None and engine not in ENGINES:
        raise ValueError(f"engine is one of {', '.join(ENGINES)}, not {engine!r:.60}")
    counts: Counter[_Line] = Counter()
    first_line: dict[_Line, int] = {}
    unread_lines: list[UnreadLine] = []
    other_tables: Counter[str] = Counter()
    location, total = _location(table), 0
    for number, raw in enumerate(lines, 1):
        text = raw.strip()
        if not text or text.startswith("--"):
            continue
        total += 1
        try:
            line, line_table = _parse_line(text, engine, time_zone)
            is_other = line_table is not None and _location(line_table) != location
        except ValueError as error:
            unread_lines.append(UnreadLine(number, str(error)))
            continue
        if line_table is not None and is_other:
            other_tables[line_table] += 1
            continue
        counts[line] += 1
        first_line.setdefault(line, number)
    filters = []
    unread = len(unread_lines)
    used = counts.most_common(max_filters)
    for line, count in used:
        try:
            expression = _expression(line, schema, alias)
        except Exception as error:  # one line's fault is not the others'
            message = " ".join(str(error).split())
            is_ours = isinstance(error, SargoError | ValueError)
            unread_lines.append(
                UnreadLine(first_line[line], message if is_ours else f"{type(error).__name__} {message}")
            )
            unread += count
        else:
            filters.append(LoggedFilter(expression, cast(Engine, line.engine), line.time_zone, count, first_line[line]))
    unread_lines.sort(key=lambda one: one.line)
    return Workload(
        filters=tuple(filters),
        lines=total,
        unread=unread,
        unread_lines=tuple(unread_lines[:MAX_UNREAD]),
        others=sum(other_tables.values()),
        other_tables=tuple(name for name, _ in other_tables.most_common(3)),
        left_out=sum(counts.values()) - sum(count for _, count in used),
    )


def _parse_line(text: str, engine: Engine | None, time_zone: str | None) -> tuple[_Line, str | None]:
    """A line's content and the table that it names, if any. Raises ValueError."""
    if not text.startswith("{"):
        return _Line(text, engine or (_HIVE if is_hive_filter(text) else _SPARK), time_zone), None
    try:
        document: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no JSON: {error}") from error
    filter_ = document.get("filter")
    if not isinstance(filter_, str) or not filter_.strip():
        raise ValueError('a JSON line without "filter"')
    rules = document.get("engine") or engine or (_HIVE if is_hive_filter(filter_) else _SPARK)
    if rules not in ENGINES:
        raise ValueError(f"engine {rules!r} is not known")
    zone, table = document.get("time_zone", time_zone), document.get("table")
    return _Line(filter_, rules, None if zone is None else str(zone)), None if table is None else str(table)


def _expression(line: _Line, schema: Schema, alias: str | None) -> HudiExpression:
    semantics = Semantics.named(line.engine, line.time_zone)
    if is_hive_filter(line.filter):
        return read_engine_filter("".join(line.filter.split()).encode(), _HIVE, schema, line.time_zone)
    if line.filter.startswith("{") and filter_form(cast(Engine, line.engine)) == "spark":
        return read_engine_filter(line.filter.encode(), cast(Engine, line.engine), schema, line.time_zone)
    read = read_condition(line.filter, cast(Engine, line.engine))
    return named_by_table(read, schema, alias, case_sensitive=semantics.case_sensitive).expression


def _location(table: str) -> str:
    """A table's location in one form: a local path without scheme and links, any other URI without a last slash."""
    local = local_path(table)
    return table.rstrip("/") if local is None else os.path.realpath(local)
