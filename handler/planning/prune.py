"""``prune``: open a table, read a filter, run the pipeline, and record the result as a Plan (contracts C4, C6).

    open_table ─► read_filter ─► bind_filter ─► provide_statistics ─► evaluate_filter ─► Plan      (``pipeline``)

A failure becomes a reason of the plan, and nothing is skipped by the part that failed:

    what fails                            what is not used for skipping
    the filter cannot be read or bound    the whole filter
    one column of one index kind          that column of that kind
    ``strict=True``                       the failure is raised instead
    the table cannot be opened            always raised: without its slices nothing can be kept
"""

from __future__ import annotations

import os
import time

import numpy as np
import numpy.typing as npt

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.language.errors import SargoError
from evaluator.language.expression import Unknown
from evaluator.language.semantics import Semantics, process_time_zone
from handler.planning.explanation import Explanation
from handler.planning.filters import Filter, default_engine, read_filter
from handler.planning.pipeline import bind_filter, evaluate_filter, ignore_failure, provide_statistics
from handler.planning.plan import Plan, Reason
from handler.sql.parsing import Engine
from index_store.opened_table import OpenTable, open_table

__all__ = ["prune"]

Openable = OpenTable | str | os.PathLike[str]


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
    """Decide which file slices of a table a filter needs.

        plan = prune("/data/trips", "fare > 50 AND city = 'sf'")
        print(len(plan.kept), "of", len(plan.slices), "file slices as of", plan.instant)

    table       a path, or what ``open_table`` gave, which keeps statistics for the next filter
    filter      SQL text (the condition only), a Hive filter (bytes or Base64), or a HudiExpression
    engine      whose rules hold: "hive", "spark", or more exactly "hive3" (3.1), "hive4", "spark-ansi" or
                "spark-legacy"; by default Hive's rules hold for a Hive filter and Spark's for the rest
    as_of       answer for the table as of this instant or date; by default the latest instant
    strict      raise what fails instead of skipping nothing
    time_zone   session zone of the query (IANA name); by default the zone of this process

    Raises TableError when the table cannot be opened or its slices cannot be listed. With ``strict`` it also raises
    SqlError, DecodeError, StatsError and the like. Without it a failure skips nothing and is in ``plan.reasons``.
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
    rules: Engine = engine or default_engine(filter)
    try:
        expression = read_filter(filter, rules)
    except Exception as error:
        fail("filter", "the filter cannot be read", error)
        expression = Unknown(reasons[-1].text)
    watch.lap("filter")
    n = len(at.slices)
    explanation = None
    kept: npt.NDArray[np.int64] | None = None
    try:
        schema, semantics = opened.table.schema_at(at.slices.instant), Semantics.named(rules, time_zone)
        filter_ = bind_filter(expression, schema, semantics, opened.table)
        watch.lap("bind")
        answers = provide_statistics(
            filter_.required, at, lambda kind, error: fail("store", f"{kind} cannot be read", error)
        )
        watch.lap("statistics")
        evaluation = evaluate_filter(filter_, answers, n)
        kept = evaluation.kept_rows
        watch.lap("evaluate")
    except Exception as error:
        fail("filter", "the filter cannot be evaluated", error)
    else:
        explanation = Explanation(filter_.bound, evaluation, answers.providers, n)
        known = {reason.text for reason in reasons}
        reasons += [
            Reason("leaf", _why_unknown(leaf.text, leaf.reason))
            for leaf in filter_.bound.leaves
            if leaf.reason and leaf.reason not in known
        ]
    return Plan(
        table=opened.path,
        instant=at.slices.instant,
        expression=expression,
        engine=rules,
        time_zone=time_zone or process_time_zone(),
        slices=at.slices,
        kept_rows=np.arange(n) if kept is None else kept,
        reasons=tuple(dict.fromkeys(reasons)),
        seconds=watch.seconds,
        explanation=explanation,
        kinds=tuple(cached.kind for cached in at.cached),
        schema=None if explanation is None else opened.table.schema,
        ask=lambda columns: provide_statistics(RequiredStatistics(bounds=tuple(columns)), at, ignore_failure).providers,
    )


def _why_unknown(text: str, reason: str) -> str:
    return reason if text == f"?({reason})" else f"{text}: {reason}"


def _describe(error: Exception) -> str:
    """One line for people; an error that is not ours is named, for it points to a fault here."""
    text = " ".join(str(error).split())
    return text if isinstance(error, SargoError) else f"{type(error).__name__} {text}".strip()
