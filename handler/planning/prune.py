"""The one place where a filter, a table and its index kinds meet (contracts C4, C6).

    open -> read the filter -> bind -> ask the kinds for what they need for it -> evaluate -> Plan

Whatever fails on the way becomes a reason, and the answer is "skip nothing" for as much as it concerns: the whole
filter if that cannot be read, one column of one index kind if that cannot be read. ``strict`` raises instead. Only a
table that cannot be opened always raises: there is nothing that could be kept.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from evaluator.binding.bind import bind
from evaluator.binding.required_statistics import RequiredStatistics, required_statistics_of
from evaluator.language.errors import SargoError
from evaluator.language.expression import Unknown
from evaluator.language.semantics import Semantics, process_time_zone
from handler.planning.explanation import Explanation
from handler.planning.filters import Filter, default_engine, read_filter
from handler.planning.implied_keys import with_record_keys
from handler.planning.plan import Plan, Reason
from handler.sql.parsing import Engine
from index_store.kinds.record_keys.record_keys import composite_key
from index_store.opened_table import OpenTable, open_table

__all__ = ["prune"]

Openable = OpenTable | str | os.PathLike[str]
_Fail = Callable[[str, str, Exception], None]


class _Stopwatch:
    """Seconds per phase, in the order in which the phases end."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, phase: str) -> None:
        now = time.perf_counter()
        self.seconds[phase] = now - self._last
        self._last = now


def prune(
    table: Openable,
    filter: Filter,  # noqa: A002
    engine: Engine | None = None,
    as_of: str | None = None,
    strict: bool = False,
    time_zone: str | None = None,
) -> Plan:
    """Which file slices of a table a filter needs.

    table       a path, or what ``open_table`` gave, which keeps statistics for the next filter
    filter      SQL text (the condition only), a Hive filter (bytes or Base64), or a HudiExpression
    engine      whose rules hold, one of ``language.semantics.ENGINES``: "hive" or "spark" when the version or the ANSI
                setting is not known; by default Hive's for a Hive filter and Spark's otherwise
    as_of       answer for the table as of this instant; by default the latest
    strict      raise what fails instead of skipping nothing
    time_zone   session zone of the query (IANA name); by default the zone of this process

    Raises TableError when the table cannot be opened or its slices cannot be listed; with ``strict`` also SqlError,
    DecodeError, StatsError and the like.
    """
    watch = _Stopwatch()
    opened = table if isinstance(table, OpenTable) else open_table(table)
    at = opened.at(as_of)
    watch.lap("open")
    reasons: list[Reason] = []

    def fail(scope: str, what: str, error: Exception) -> None:
        if strict:
            raise error
        reasons.append(Reason(scope, f"{what}: {_describe(error)}"))

    if at.slices.note:
        reasons.append(Reason("store", at.slices.note))
    if at.failure is not None:
        fail("store", "the indexes cannot be read", at.failure)
    chosen: Engine = engine or default_engine(filter)
    try:
        expression = read_filter(filter, chosen)
    except Exception as error:
        fail("filter", "the filter cannot be read", error)
        expression = Unknown(reasons[-1].text)
    watch.lap("filter")
    n = len(at.slices)
    explanation = None
    kept: npt.NDArray[np.int64] | None = None
    try:
        schema, semantics = opened.table.schema_at(at.slices.instant), Semantics.named(chosen, time_zone)
        key = composite_key(opened.table)
        asked = expression if key is None else with_record_keys(expression, key, schema, semantics)
        bound = bind(asked, schema, semantics)
        watch.lap("bind")
        answers = at.ask(
            required_statistics_of(bound.leaves), lambda kind, error: fail("store", f"{kind} cannot be read", error)
        )
        watch.lap("statistics")
        evaluation = answers.evaluate(bound, n)
        kept = evaluation.kept_rows
        watch.lap("evaluate")
    except Exception as error:
        fail("filter", "the filter cannot be evaluated", error)
    else:
        explanation = Explanation(bound, evaluation, answers.sources, n)
        said = {reason.text for reason in reasons}
        reasons += [
            Reason("leaf", _why_unknown(leaf.text, leaf.reason))
            for leaf in bound.leaves
            if leaf.reason and leaf.reason not in said
        ]
    zone = time_zone or process_time_zone()
    if kept is None:
        kept = np.arange(n)
    return Plan(
        opened.path,
        at.slices.instant,
        expression,
        chosen,
        zone,
        at.slices,
        kept,
        tuple(dict.fromkeys(reasons)),
        watch.seconds,
        explanation,
        tuple(k.kind for k in at.knowledge),
        None if explanation is None else opened.table.schema,
        lambda columns: at.ask(RequiredStatistics(bounds=tuple(columns)), _say_nothing).sources,
    )


def _say_nothing(kind: str, error: Exception) -> None:
    """What is asked for after the answer can only be left out (C4)."""
    del kind, error


def _why_unknown(text: str, reason: str) -> str:
    return reason if text == f"?({reason})" else f"{text}: {reason}"


def _describe(error: Exception) -> str:
    """One line for people; an error that is not ours is named, for it points to a fault here."""
    text = " ".join(str(error).split())
    return text if isinstance(error, SargoError) else f"{type(error).__name__} {text}".strip()
