"""Planning the filter of a query on an open table within limits, and the small result that is kept of it.

    limit           protects against                                   beyond it
    ------------    ------------------------------------------------   ----------------------------------------------
    filter_bytes    reading the bytes under all of Hive's profiles      of the small limits: ``TooExpensive``
    nodes           back-references that expand                         of the last limits: nothing is skipped
    objects         bytes of Hive that no profile reads to the end
    evaluations     parts of the filter times file slices; a function counts as many parts

Filters within ``SMALL`` take milliseconds and are planned in a thread of the sidecar. All others are planned in a
process of their own (``planning_process``).

A ``PlannedFilter`` holds no tree: two bits for each file slice, and texts of a limited length. So it can be sent from
one process to another, and many may be kept.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Iterable
from contextlib import suppress

from bitarray import frozenbitarray
from rich.console import Console

from evaluator.binding.required_statistics import required_statistics_of
from evaluator.functions.conversions import keeps_value
from evaluator.language.expression import Call, Cast, Column, HudiExpression, If, Literal, Unknown, to_text, walk
from evaluator.language.records import frozen
from evaluator.language.types import Type
from handler.advise.remedies import what_helps
from handler.planning.engine_filters import (
    BYTES_FOR_ONE,
    TOO_LARGE,
    clock_of_engine,
    filter_form,
    read_engine_filter,
)
from handler.planning.plan import Plan
from handler.planning.prune import OnFailure, plan_expression
from handler.sql.parsing import Engine
from handler.views.explain import show_explanation, show_what_helps
from index_store.kinds.column_stats.column_stats import PARTITION as COLUMN_STATS
from index_store.kinds.footer_statistics import FOOTERS
from index_store.opened_table import OpenTable, Rows
from index_store.storage.errors import StatsError, TableError
from sarg import Limits

__all__ = [
    "EXPLAINED_AT_ONCE",
    "MAX_REASONS",
    "MAX_REASON_LENGTH",
    "SMALL",
    "FilterQuery",
    "PlannedFilter",
    "PlanningLimits",
    "TooExpensive",
    "cut_text",
    "cut_texts",
    "explain_filter",
    "help_filter",
    "nothing_planned",
    "plan_at_once",
    "plan_filter",
]

#: The reasons that are kept of a plan: their number and their length.
MAX_REASONS, MAX_REASON_LENGTH = 16, 300
#: The characters that are kept of a filter's text, and of an explanation.
_MAX_FILTER_TEXT, _MAX_EXPLANATION = 4_000, 200_000
#: The conditions whose columns are looked up in the indexes.
_MAX_LEAVES = 64
#: How long data files are read to find out what would help.
_HELP_SECONDS = 1.5
#: A function of a column costs a slice about as much as so many comparisons.
_FUNCTION_PARTS = 800
#: Objects of Kryo for each node: a comparison of a column and a constant, three nodes, has some 15.
_OBJECTS_PER_NODE = 32


@frozen
class FilterQuery:
    """A filter as the engine sent it, the engine whose rules it follows, and the session's time zone or None.

    The engine says which form the filter has (``planning.engine_filters``). ``rows``: those that the engine shows.
    """

    filter: bytes
    engine: Engine
    time_zone: str | None
    rows: Rows = "stored"

    @property
    def filter_bytes(self) -> int:
        """The length of the filter, as ``PlanningLimits`` counts it: in bytes of Hive's form."""
        return len(self.filter) // BYTES_FOR_ONE[filter_form(self.engine)]

    @property
    def text(self) -> str:
        """The filter as text, for a log."""
        return self.filter.decode("utf-8", "replace")

    @property
    def key(self) -> bytes:
        """16 bytes that identify the query."""
        parts = (self.engine.encode(), (self.time_zone or "").encode(), self.rows.encode(), self.filter)
        return hashlib.blake2b(b"\0".join(parts), digest_size=16).digest()


@frozen(kw_only=True)
class PlanningLimits:
    """What planning one filter may cost. ``is_last``: a filter beyond them skips nothing; else TooExpensive is raised.

    filter_bytes      the length of the filter (``FilterQuery.filter_bytes``)
    nodes             its nodes when every shared subtree is written out
    max_evaluations   its parts, constants left out, times the file slices of the table: more skip nothing
    evaluations       the same, with functions counted as ``_FUNCTION_PARTS``: for limits that are not the last ones
    """

    filter_bytes: int
    nodes: int
    max_evaluations: int = 1 << 62
    evaluations: int = 1 << 62
    is_last: bool = True

    @property
    def decoding(self) -> Limits:
        """The same for ``sarg.decode_detailed``."""
        return Limits(nodes=self.nodes, objects=min(self.nodes * _OBJECTS_PER_NODE, Limits().objects))


#: Filters within these limits take some 20 ms on a table of any size.
SMALL = PlanningLimits(filter_bytes=16 << 10, nodes=512, evaluations=16_000_000, is_last=False)


#: Filters within these limits are explained there in some 50 ms; reports on conditions take more than outcomes.
EXPLAINED_AT_ONCE = PlanningLimits(filter_bytes=4 << 10, nodes=64, evaluations=1_000_000, is_last=False)


class TooExpensive(Exception):  # noqa: N818 - a choice of the way, not a fault
    """The filter exceeds limits that are not the last ones."""


@frozen(kw_only=True)
class PlannedFilter:
    """What a plan says of the n slices of a table.

    is_read        whether the filter could be read
    is_too_large   whether it was not evaluated because of its size
    is_evaluated   whether it was evaluated, or stands for the filter that is unknown
    is_complete    whether all statistics could be read: the same filter would be planned alike again
    skipped        bit i: the plan skips slice i
    full           bit i: every row of slice i matches
    reasons        what could not be used, cut
    text           the filter for people, cut
    unindexed      columns of conditions for which no index of the table has statistics
    """

    is_read: bool
    is_too_large: bool
    is_evaluated: bool
    is_complete: bool
    skipped: frozenbitarray
    full: frozenbitarray
    reasons: tuple[str, ...]
    text: str = ""
    unindexed: tuple[str, ...] = ()


def plan_filter(opened: OpenTable, as_of: str | None, query: FilterQuery, limits: PlanningLimits) -> PlannedFilter:
    """Plan a filter. One that cannot be read or evaluated skips nothing. Raises TooExpensive, and MemoryError where
    that ends the reading: the filter may well be readable.
    """
    plan, is_read, is_too_large, is_doubted = _plan(opened, as_of, query, limits)
    return PlannedFilter(
        is_read=is_read,
        is_too_large=is_too_large,
        is_evaluated=plan.explanation is not None,
        is_complete=not (is_doubted or any(reason.scope == "store" for reason in plan.reasons)),
        skipped=~plan.kept_bits,
        full=plan.matched_bits,
        reasons=cut_texts(reason.text for reason in plan.reasons),
        text=cut_text(to_text(plan.expression), _MAX_FILTER_TEXT),
        unindexed=_unindexed(plan),
    )


def plan_at_once(opened: OpenTable, as_of: str | None, query: FilterQuery, limits: PlanningLimits) -> Plan:
    """The plan itself, for a page. Raises TooExpensive. For the thread that owns the table."""
    return _plan(opened, as_of, query, limits)[0]


def _unindexed(plan: Plan) -> tuple[str, ...]:
    """The columns of the conditions that no index has statistics for: of column statistics, what was read says so."""
    if plan.explanation is None or not len(plan.slices):
        return ()
    bound = plan.explanation.bound
    covered: set[str] = set()
    names: dict[str, None] = {}
    with suppress(Exception):  # a kind that fails is among the plan's reasons
        for kind in plan.kinds:
            if kind.name == COLUMN_STATS:
                columns = kind.coverage(bound.columns).columns
                covered |= {name for name, column in columns.items() if column.usable}
        others = [kind for kind in plan.kinds if kind.name not in (COLUMN_STATS, FOOTERS)]
        for leaf in bound.leaves[:_MAX_LEAVES]:
            asked = required_statistics_of([leaf])
            if asked and not covered.issuperset(leaf.columns) and not any(kind.requires(asked) for kind in others):
                names |= dict.fromkeys(name for name in leaf.columns if name not in covered)
    return tuple(names)[:MAX_REASONS]


def nothing_planned(n: int, why: str) -> PlannedFilter:
    """The result for a filter that was given up: no slice of n is skipped. It is kept like any other."""
    none = frozenbitarray(n)
    return PlannedFilter(
        is_read=True,
        is_too_large=True,
        is_evaluated=True,
        is_complete=True,
        skipped=none,
        full=none,
        reasons=(why,),
    )


def explain_filter(opened: OpenTable, as_of: str | None, query: FilterQuery, limits: PlanningLimits) -> str:
    """The explanation of a filter's plan as ``sargo explain`` prints it, cut. Raises TooExpensive."""
    plan, *_ = _plan(opened, as_of, query, limits)
    return _page(lambda console: show_explanation(plan, console))


def help_filter(opened: OpenTable, as_of: str | None, query: FilterQuery, limits: PlanningLimits) -> str:
    """What would make the filter's plan keep fewer slices, as ``sargo explain`` prints it, cut. It reads data files."""
    plan, *_ = _plan(opened, as_of, query, limits)
    return _page(lambda console: show_what_helps(what_helps(plan, _HELP_SECONDS), console))


def _page(show: Callable[[Console], None]) -> str:
    page = io.StringIO()
    show(Console(file=page, width=120, highlight=False, color_system=None))
    return cut_text(page.getvalue().strip("\n").rstrip(), _MAX_EXPLANATION)


def _plan(
    opened: OpenTable, as_of: str | None, query: FilterQuery, limits: PlanningLimits
) -> tuple[Plan, bool, bool, bool]:
    """The plan, and whether the filter could be read, was too large, and met a failure that may pass."""
    n = len(opened.at(as_of).slices)
    is_read = is_too_large = is_doubted = False
    try:
        expression = _read(opened, query, limits)
        is_read = True
    except TOO_LARGE as error:
        if not limits.is_last:
            raise TooExpensive from error
        is_too_large = True
        expression = Unknown(f"the filter is too large: {error}")
    except (TooExpensive, MemoryError):
        raise
    except Exception as error:
        is_doubted = isinstance(error, TableError | StatsError)  # the table's schema, and not the filter
        expression = Unknown(f"the filter cannot be read: {type(error).__name__}: {error}")
    parts, functions = _count_parts(expression)
    if parts * n <= limits.max_evaluations:
        if not limits.is_last and (parts + _FUNCTION_PARTS * functions) * n > limits.evaluations:
            raise TooExpensive
    else:
        is_too_large = True
        expression = Unknown(f"{parts} parts of the filter on {n} file slices: more than max_evaluations")
    zone = query.time_zone or "UTC"
    clock = clock_of_engine(query.engine, query.time_zone)
    plan = plan_expression(
        opened,
        expression,
        query.engine,
        as_of,
        zone,
        clock=clock,
        on_failure=OnFailure.SKIP_NOTHING,
        rows=_rows(opened, query),
    )
    return plan, is_read, is_too_large, is_doubted or plan.explanation is None


def _rows(opened: OpenTable, query: FilterQuery) -> Rows:
    """The rows that count.

    In table version 6 a reader of an older instant shows what a later block of a log file hides. From version 8 on a
    list of files holds no log file of an instant that its reader leaves out.
    """
    return query.rows if opened.table.version >= 8 else "stored"


def _count_parts(expression: HudiExpression) -> tuple[int, int]:
    """The nodes of a filter without constants, and how many of them are evaluated slice by slice in Python."""
    parts = functions = 0
    for node in walk(expression):
        match node:
            case Literal():
                continue
            case Cast(operand=Column(type=Type() as source), type=target) if keeps_value(source, target):
                pass  # binding looks through it
            case Cast() | Call() | If():
                functions += 1
        parts += 1
    return parts, functions


def _read(opened: OpenTable, query: FilterQuery, limits: PlanningLimits) -> HudiExpression:
    if query.filter_bytes > limits.filter_bytes:
        raise TooExpensive
    return read_engine_filter(query.filter, query.engine, opened.table.schema, query.time_zone, limits.decoding)


def cut_texts(texts: Iterable[str]) -> tuple[str, ...]:
    """The first ``MAX_REASONS`` of these texts, each cut, and how many more there are."""
    kept: list[str] = []
    more = 0
    for text in texts:
        if len(kept) < MAX_REASONS:
            kept.append(cut_text(text, MAX_REASON_LENGTH))
        else:
            more += 1
    return (*kept, f"... and {more} more reasons") if more else tuple(kept)


def cut_text(text: str, length: int) -> str:
    """The text itself, or its beginning as a text of its own: a slice of memory that holds nothing else."""
    return text if len(text) <= length else text[: length - 4] + " ..."
