"""``prune`` and ``plan_expression``: run the pipeline for a filter, and record the result as a Plan (contracts C4, C6).

    read_filter ─► open_table ─► bind_filter ─► provide_statistics ─► evaluate_filter ─► Plan      (``pipeline``)

``prune`` is what a Python program calls. A mistake in its arguments raises before the table is opened.
``plan_expression`` is what the sidecar, Spark's data source and ``handler.spark`` call: their filter is an expression,
in which ``Unknown`` stands for what they could not read, so that it skips nothing.

A doubt about data is a reason of the plan, and nothing is skipped by the part that failed:

    what fails                            what is not used for skipping
    the filter cannot be bound            the whole filter
    a column of the filter is unknown     each condition on it
    one column of one index kind          that column of that kind
    ``OnFailure.RAISE``, ``strict``       the failure is raised instead
    the table cannot be opened            always raised: without its slices nothing can be kept
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator
from enum import Enum
from itertools import islice

import numpy as np
import numpy.typing as npt

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.language.clock import Clock
from evaluator.language.errors import SargoError, UnknownColumnError
from evaluator.language.expression import Constant, HudiExpression, to_text
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics, process_time_zone
from handler.planning.arguments import check_alias, check_filter, check_session, check_table
from handler.planning.clocks import CLOCK_SKEW, AsOfClock, PlanMoment, check_clock, clock_of
from handler.planning.explanation import Explanation
from handler.planning.filters import (
    Filter,
    ReadFilter,
    default_engine,
    is_of_hive,
    named_by_table,
    read_named_filter,
)
from handler.planning.metastore_values import without_metastore_values
from handler.planning.pipeline import (
    BoundFilter,
    bind_filter,
    evaluate_filter,
    ignore_failure,
    provide_statistics,
    schema_as_read,
)
from handler.planning.plan import Plan, Reason
from handler.planning.qualified_names import TwoTablesError
from handler.planning.tree_facts import facts_of
from handler.planning.unknown_columns import unknown_columns
from handler.sql.parsing import Engine
from index_store import StatsError, TableError
from index_store.opened_table import OpenTable, Rows, open_table

__all__ = ["OnFailure", "plan_expression", "prune"]

#: So many unknown columns of undecided parts are among the reasons.
_MAX_UNKNOWN = 20
_LOGGER = logging.getLogger("sargo.planning")

Openable = OpenTable | str | os.PathLike[str]


#: The order in which a plan's seconds are listed.
_PHASES = ("open", "filter", "bind", "statistics", "evaluate")


class _Stopwatch:
    """Seconds per phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.perf_counter()

    def lap(self, phase: str) -> None:
        now = time.perf_counter()
        self.seconds[phase] = now - self._last
        self._last = now


class OnFailure(Enum):
    """What a plan does with statistics or conditions that cannot be used."""

    SKIP_NOTHING = "skip nothing by them, and say why in the plan's reasons"
    RAISE_UNKNOWN_COLUMNS = "raise for a column that the table does not have, and skip nothing by the rest"
    RAISE = "raise the failure"


def prune(
    table: Openable,
    filter: Filter,  # noqa: A002
    engine: Engine | None = None,
    as_of: str | None = None,
    strict: bool = False,
    time_zone: str | None = None,
    as_of_clock: AsOfClock | None = None,
    clock_skew: float = CLOCK_SKEW,
    alias: str | None = None,
) -> Plan:
    """Decide which file slices of a table a filter needs.

        plan = prune("/data/trips", "fare > 50 AND city = 'sf'")
        print(len(plan.kept), "of", len(plan.slices), "file slices as of", plan.instant)

    table        a path, or what ``open_table`` gave, which keeps statistics for the next filter
    filter       SQL text (the condition only), a Hive filter (bytes or Base64), or a HudiExpression
    engine       whose rules hold: "hive", "spark", or more exactly "hive3" (3.1), "hive4", "spark-ansi" or
                 "spark-legacy"; "spark-try" is "spark-ansi" with errors of rows hidden: a text that is no date is NULL;
                 by default Hive's rules hold for a Hive filter and Spark's for the rest
    as_of        answer for the table as of this instant or date; by default the latest instant
    strict       raise what cannot be used instead of skipping nothing by it
    time_zone    session zone of the query (IANA name); by default the zone of this process
    as_of_clock  the moment at which the query runs (ISO text or a datetime), where the filter reads the clock; by
                 default now or later: ``dt >= current_date() - interval 7 days`` skips what is too old already
    clock_skew   by how many seconds the clock of the query may be behind this machine's
    alias        the table's name or alias in the query, for columns such as ``o.fare``; by default the one that the SQL
                 text uses

    A mistake in the call always raises: TypeError for an argument of a wrong type, ValueError for an engine that is not
    known, SqlError for SQL text that is not one condition, DecodeError for a Hive filter that cannot be read,
    UnsupportedError for a time zone that is not known, and for columns of two tables without an alias. TableError is
    raised when the table cannot be opened or its slices cannot be listed.

    What fails beyond that skips nothing and is in ``plan.reasons``. With ``strict`` it is raised:
    UnknownColumnError for a column that the table does not have or whose name is ambiguous, StatsError or TableError
    for an index or a list of files that the table has and that cannot be used, and any failure of the evaluation.
    A condition that statistics cannot decide, such as a user's function, is no failure.
    """
    check_table(table)
    check_filter(filter)
    check_session(engine, as_of, strict, time_zone)
    check_clock(as_of_clock, clock_skew)
    check_alias(alias)
    watch = _Stopwatch()
    rules: Engine = engine or default_engine(filter)
    read = read_named_filter(filter, rules)
    clock = None if as_of_clock is None and is_of_hive(filter) else clock_of(as_of_clock, clock_skew, time_zone)
    watch.lap("filter")
    opened = table if isinstance(table, OpenTable) else open_table(table)
    on_failure = OnFailure.RAISE if strict else OnFailure.SKIP_NOTHING
    return _plan(opened, read, rules, as_of, time_zone, clock, on_failure, watch, alias)


def plan_expression(
    opened: OpenTable,
    filter: HudiExpression | ReadFilter,  # noqa: A002
    engine: Engine,
    as_of: str | None = None,
    time_zone: str | None = None,
    *,
    clock: Clock | None = None,
    on_failure: OnFailure,
    alias: str | None = None,
    rows: Rows = "merged",
) -> Plan:
    """The plan of a filter that was read before. ``Unknown`` in it stands for what the caller could not read.

    ``clock``: when the query runs (``handler.planning.clocks``); None: nothing is known of it. ``rows``: whether it
    shows merged rows alone.

    With ``OnFailure.SKIP_NOTHING`` only the failure to list the table's slices is raised (TableError), and
    TwoTablesError.
    """
    watch = _started()
    read = filter if isinstance(filter, ReadFilter) else ReadFilter(filter)
    return _plan(opened, read, engine, as_of, time_zone, clock, on_failure, watch, alias, rows)


def _plan(
    opened: OpenTable,
    read: ReadFilter,
    rules: Engine,
    as_of: str | None,
    time_zone: str | None,
    clock: Clock | None,
    on_failure: OnFailure,
    watch: _Stopwatch,
    alias: str | None,
    rows: Rows = "merged",
) -> Plan:
    at = opened.at(as_of, read.columns or None)
    if rows == "stored":
        at = at.of_stored_rows()
    watch.lap("open")
    strict = on_failure is OnFailure.RAISE
    reasons: list[Reason] = []

    def fail(scope: str, what: str, error: Exception) -> None:
        if strict:
            raise error
        reasons.append(Reason(scope, f"{what}: {_describe(error)}"))

    if at.slices.note:
        if strict:
            raise TableError(opened.path, at.slices.note)
        reasons.append(Reason("store", at.slices.note))
    if at.failure is not None:
        fail("store", "the indexes cannot be read", at.failure)
    n = len(at.slices)
    explanation = None
    kept: npt.NDArray[np.int64] | None = None
    seen: Schema | None = None
    try:
        schema, semantics = opened.table.schema_at(at.slices.instant), Semantics.named(rules, time_zone).at(clock)
        read = named_by_table(read, schema, alias, case_sensitive=semantics.case_sensitive)
        if on_failure is not OnFailure.SKIP_NOTHING:
            for unknown in unknown_columns(read.expression, read.columns, schema, semantics):
                if strict or alias is None or "." not in unknown.name:  # otherwise perhaps of another table
                    raise unknown
        if read.of_hive:
            read = without_metastore_values(read, opened.table, at.slices)
        filter_ = bind_filter(read.expression, schema, semantics, opened.table, at.slices)
        if filter_.doubt:
            fail("store", "record keys are not looked up", StatsError(opened.path, "", filter_.doubt))
        watch.lap("bind")
        answers = provide_statistics(
            filter_.required, at, lambda kind, error: fail("store", f"{kind} cannot be read", error)
        )
        watch.lap("statistics")
        evaluation = evaluate_filter(filter_, answers, n)
        kept = evaluation.kept_rows
        watch.lap("evaluate")
    except TwoTablesError:
        raise
    except Exception as error:
        if isinstance(error, UnknownColumnError) and on_failure is not OnFailure.SKIP_NOTHING:
            raise
        fail("filter", "the filter cannot be evaluated", error)
    else:
        seen = schema_as_read(opened.table.schema, semantics, opened.table, at.slices)
        explanation = Explanation(evaluation, evaluation.providers, n, schema)
        known = {reason.text for reason in reasons}
        reasons += [
            Reason("leaf", _why_unknown(leaf.text, leaf.reason))
            for leaf in filter_.bound.leaves
            if leaf.reason and leaf.reason not in known
        ]
        reasons += [
            Reason(
                "leaf",
                f"{filter_.bound.leaves[leaf].text}: {kind} is "
                f"{'used in part' if evaluation.was_looked_up(leaf, kind) else 'not used'}: {why}",
            )
            for (leaf, kind), why in evaluation.declined.items()
        ]
        reasons += _unknown_in_undecided(read, filter_, schema, semantics)
        reasons += [Reason("store", note) for note in opened.table.notes if note not in known]
    plan = Plan(
        table=opened.path,
        instant=at.slices.instant,
        expression=read.expression,
        engine=rules,
        time_zone=time_zone or process_time_zone(),
        moment=None if clock is None or not facts_of(read.expression).reads_clock else PlanMoment.of(clock),
        slices=at.slices,
        kept_rows=np.arange(n) if kept is None else kept,
        reasons=tuple(dict.fromkeys(reasons)),
        seconds={phase: watch.seconds[phase] for phase in _PHASES if phase in watch.seconds},
        explanation=explanation,
        kinds=tuple(cached.kind for cached in at.cached),
        schema=seen,
        ask=lambda columns: provide_statistics(RequiredStatistics(bounds=tuple(columns)), at, ignore_failure).providers,
        opened=opened,
        replan=lambda expression: _plan(
            opened, ReadFilter(expression), rules, as_of, time_zone, clock, on_failure, _started(), None, rows
        ),
    )
    _log(plan)
    return plan


def _log(plan: Plan) -> None:
    """One line. The filter and the reasons, whose values may be confidential, are told at DEBUG."""
    if _LOGGER.isEnabledFor(logging.INFO):
        _LOGGER.info(
            "%s as of %s, rules of %s: %d of %d file slices kept, in %.1f ms; %d reasons",
            ascii(plan.table),
            plan.instant or "no commit",
            plan.engine,
            len(plan.kept_rows),
            len(plan.slices),
            1000 * sum(plan.seconds.values()),
            len(plan.reasons),
        )
    if _LOGGER.isEnabledFor(logging.DEBUG):
        _LOGGER.debug("filter: %s", ascii(to_text(plan.expression)))
        for reason in plan.reasons:
            _LOGGER.debug("%s: %s", reason.scope, ascii(reason.text))


def _started() -> _Stopwatch:
    watch = _Stopwatch()
    watch.lap("filter")
    return watch


def _unknown_in_undecided(
    read: ReadFilter, filter_: BoundFilter, schema: Schema, semantics: Semantics
) -> Iterator[Reason]:
    """The unknown columns in parts of the filter that no leaf names, such as ``nope[0] = 1``."""
    told = {leaf.reason for leaf in filter_.bound.leaves if leaf.reason}
    for error in islice(unknown_columns(Constant(True), read.columns, schema, semantics), _MAX_UNKNOWN):
        if not any(error.why in reason for reason in told):
            yield Reason("leaf", str(error))


def _why_unknown(text: str, reason: str) -> str:
    return reason if text == f"?({reason})" else f"{text}: {reason}"


def _describe(error: Exception) -> str:
    """One line for people; an error that is not ours is named, for it points to a fault here."""
    text = " ".join(str(error).split())
    return text if isinstance(error, SargoError) else f"{type(error).__name__} {text}".strip()
