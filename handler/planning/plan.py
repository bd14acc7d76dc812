"""A plan: the file slices that a query must read, those that it may skip, and why (contracts C1, C4, C5).

    plan.kept                       the slices to read
    plan.residuals                  for each of them, the rest of the filter that must be checked on its rows
    plan.row_count, order_slices    how to read less for ``count(*)``, LIMIT and ORDER BY
    plan.reasons, why_not_more      what could not be used, and what keeps the kept slices

Residuals, row counts, coverage and dictionaries are computed when they are read, so a query planner that reads only
``kept`` pays for nothing else.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import field, replace
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evaluator.language.column_resolution import resolve_column, with_near_names
from evaluator.language.errors import UnknownColumnError, UnsupportedError
from evaluator.language.expression import Constant, HudiExpression, to_dict, to_text
from evaluator.language.outcome import TRUE, UNKNOWN, Outcomes
from evaluator.language.records import frozen
from evaluator.language.schema import Field, Schema
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import UNKNOWN_COUNT
from evaluator.statistics.distrust import reason
from handler.planning.clocks import PlanMoment
from handler.planning.explanation import Explanation, MatchReport
from handler.planning.plan_pages import PlanPages
from handler.planning.plan_rows import PlanRows
from handler.planning.slice_sets import SliceSets
from index_store import Coverage, FileSlice, FileSlices, IndexKind
from index_store.opened_table import OpenTable

if TYPE_CHECKING:
    from evaluator.explain.pruning_blockers import PruningBlocker
    from evaluator.explain.residual import Residuals
    from handler.engines.residual import Residual
    from handler.planning.leaf_reports import LeafReport
    from handler.planning.reading import OrderedSlices, ReadStatistics, ResidualGroup, RowCount

__all__ = ["Plan", "Reason", "coverage_as_dict", "slice_as_dict"]

#: Stands for all kept slices.
_ALL: Any = object()
#: Characters of a filter in ``repr(plan)``.
MAX_SHOWN = 80
#: What stays in the process that made a plan, and what of it is worked out before a plan is pickled.
_NOT_PICKLED = frozenset({"explanation", "kinds", "ask", "replan", "_full_counts", "kept", "skipped", "fully_matched"})
_PICKLED_RESULTS = ("outcomes", "_full_rows", "_residuals", "leaves", "matches", "why_not_more", "coverage")


@frozen
class Reason:
    """Something that could not be used, so that fewer slices may have been skipped.

    ``scope`` is "filter" (it was not understood), "store" (statistics could not be read) or "leaf" (one condition of
    the filter cannot be decided); ``text`` is a sentence for people.
    """

    scope: str
    text: str


@frozen(slots=False, eq=False, kw_only=True, shown=False)
class Plan(SliceSets, PlanRows, PlanPages):
    """The answer of ``prune`` for one table, filter and instant.

    table         path of the table
    instant       the answer holds for the file slices of this instant; None if the table has no commit
    expression    the filter as it was understood
    engine        the engine whose rules the filter follows, such as "hive" or "spark", in ``time_zone``
    moment        when the query runs for which the plan holds, if the filter reads the clock; otherwise None
    slices        all file slices of the instant; arrays of a plan are in their order
    kept_rows     ``(k,) int``, ascending: which of ``slices`` are kept
    reasons       what could not be understood, read or decided, most general first
    seconds       seconds for each phase: open, filter, bind, statistics, evaluate
    explanation   the outcomes of the conditions; None when the filter could not be evaluated
    kinds         the index kinds of the table
    schema        the columns of the table; None when the filter could not be evaluated
    ask           reads the statistics of columns that the filter does not name
    opened        the table, for questions about its data (``what_helps``), and to read its rows
    replan        makes the plan of another filter in the same circumstances

    A plan pickles without the statistics behind it, and with what they said: the plan that comes back has the same
    sets, residuals and reports. ``order_slices`` and rows that are not counted yet need the plan that was made here.
    Its table pickles as ``OpenTable`` does, with the secrets among the options of the file system.
    """

    table: str
    instant: str | None
    expression: HudiExpression
    engine: str
    time_zone: str
    slices: FileSlices
    kept_rows: npt.NDArray[np.int64]
    reasons: tuple[Reason, ...]
    seconds: Mapping[str, float]
    moment: PlanMoment | None = None
    explanation: Explanation | None = field(default=None, repr=False)
    kinds: tuple[IndexKind, ...] = field(default=(), repr=False)
    schema: Schema | None = field(default=None, repr=False)
    ask: ReadStatistics | None = field(default=None, repr=False)
    opened: OpenTable | None = field(default=None, repr=False)
    replan: Callable[[HudiExpression], Plan] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        shown = to_text(self.expression)
        shown = shown if len(shown) <= MAX_SHOWN else f"{shown[: MAX_SHOWN - 3]}..."
        counts = f"{len(self.kept_rows)} of {len(self.slices)} file slices kept"
        return f"<Plan of {self.table} as of {self.instant}: {shown}: {counts}>".replace("\n", " ")

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in self.__dict__.items() if name not in _NOT_PICKLED}
        state |= {name: getattr(self, name) for name in _PICKLED_RESULTS}
        state["seconds"] = dict(self.seconds)
        try:
            state["opened"] = None if self.opened is None or self.opened.opening is None else self.opened
        except UnsupportedError:  # another process cannot open it, and most of a plan needs no table
            state["opened"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state["seconds"] = MappingProxyType(state["seconds"])
        self.__dict__.update({**dict.fromkeys(("explanation", "ask", "replan")), "kinds": (), **state})

    def with_outcomes(self, outcomes: Outcomes) -> Plan:
        """The same plan where the filter can be no more than this in each slice."""
        left: Outcomes = self.outcomes & outcomes
        made = replace(self, kept_rows=np.flatnonzero(left & TRUE).astype(np.int64, copy=False))
        made.__dict__.update(outcomes=left, _full_rows=np.flatnonzero(left == TRUE).astype(np.int64, copy=False))
        return made

    def __post_init__(self) -> None:
        object.__setattr__(self, "seconds", MappingProxyType(dict(self.seconds)))

    @cached_property
    def kept(self) -> tuple[FileSlice, ...]:
        """The slices that the query must read."""
        return self._at(self.kept_rows)

    @cached_property
    def skipped(self) -> tuple[FileSlice, ...]:
        """The slices that hold no row for which the filter is TRUE."""
        mask = np.ones(len(self.slices), np.bool_)
        mask[self.kept_rows] = False
        return self._at(np.flatnonzero(mask))

    @cached_property
    def fully_matched(self) -> tuple[FileSlice, ...]:
        """The kept slices of which every row satisfies the filter."""
        return self._at(self._full_rows)

    @cached_property
    def outcomes(self) -> Outcomes:
        """``(n,) uint8``: one outcome (C1) per slice of ``slices``."""
        if self.explanation is None:
            return np.full(len(self.slices), UNKNOWN, np.uint8)
        return self.explanation.evaluation.outcomes

    @cached_property
    def coverage(self) -> tuple[Coverage, ...]:
        """The coverage of the filter's columns by each index kind (C5); a kind that cannot be read is left out."""
        columns = () if self.explanation is None else self.explanation.bound.columns
        coverage: list[Coverage] = []
        for kind in self.kinds:
            with suppress(Exception):  # its failure is among the reasons already (C4)
                coverage.append(kind.coverage(columns))
        return tuple(coverage)

    @cached_property
    def leaves(self) -> tuple[LeafReport, ...]:
        """The effect of each condition of the filter."""
        return () if self.explanation is None else self.explanation.leaves

    @cached_property
    def matches(self) -> tuple[MatchReport, ...]:
        """The slices that indexes of whole rows skip and no single condition rules out."""
        return () if self.explanation is None else self.explanation.matches

    @cached_property
    def why_not_more(self) -> tuple[PruningBlocker, ...]:
        """Why the kept slices are kept: each condition and cause, those first that keep most slices by themselves."""
        return () if self.explanation is None else self.explanation.pruning_blockers

    # -- reading the kept slices with less work

    @cached_property
    def residual_groups(self) -> tuple[ResidualGroup, ...]:
        """The kept slices by what is left of the filter to check on their rows, most slices first.

        A group whose expression is TRUE holds the fully matched slices: they need no filter.
        """
        from evaluator.explain.residual import is_complete
        from handler.planning.reading import ResidualGroup

        residuals = self._residuals
        members: list[list[FileSlice]] = [[] for _ in residuals.expressions]
        for item, group in zip(self.kept, residuals.group_of.tolist(), strict=True):
            members[group].append(item)
        groups = [
            ResidualGroup(left, tuple(items), is_complete(left), self.engine)
            for left, items in zip(residuals.expressions, members, strict=True)
        ]
        return tuple(sorted(groups, key=lambda group: -len(group.slices)))

    @cached_property
    def residuals(self) -> tuple[HudiExpression, ...]:
        """For each slice of ``kept`` the rest of the filter: TRUE on its rows exactly where the filter is TRUE.

        For a WHERE clause only: where the filter is FALSE the residual may be NULL, and the other way round.
        """
        return tuple(self._residuals.expressions[group] for group in self._residuals.group_of.tolist())

    def residual(self, item: FileSlice | int = _ALL) -> Residual:
        """The residual of one slice, given itself or by its index in ``slices``; FALSE if it is skipped.

        Without a slice: what is left on the rows of every kept slice, which is the filter unless all share a residual.
        ``.to_sql(dialect)``, ``.to_pyarrow()`` and ``.to_polars()`` are its forms for engines.
        Raises ValueError for a slice of another plan, IndexError and TypeError for an index that is none.
        """
        if item is _ALL:
            left = self._residuals.expressions
            return self._residual_of(left[0] if len(left) == 1 else self.expression)
        index = self.slices.items.index(item) if isinstance(item, FileSlice) else operator.index(item)
        if not 0 <= index < len(self.slices):
            raise IndexError(f"the plan has {len(self.slices)} slices, from 0 on: {index} is none")
        position = int(np.searchsorted(self.kept_rows, index))
        if position == len(self.kept_rows) or self.kept_rows[position] != index:
            return self._residual_of(Constant(False))
        return self._residual_of(self._residuals.expressions[int(self._residuals.group_of[position])])

    @cached_property
    def row_count(self) -> RowCount:
        """The part of ``count(*)`` with this filter that row counts give: the rows of fully matched slices."""
        from handler.planning.reading import RowCount

        counts = self._full_counts
        known = counts != UNKNOWN_COUNT
        counted = self._full_rows[known]
        return RowCount(int(counts[known].sum()), self._at(counted), self._at(_without(self.kept_rows, counted)))

    def slices_for_limit(self, n: int) -> tuple[FileSlice, ...]:
        """The fewest kept slices that surely hold n matching rows; all kept ones, those first, if none surely do.

        Raises TypeError when n is no number of rows.
        """
        n = operator.index(n)
        counts = self._full_counts
        order = np.argsort(-counts, kind="stable")
        order = order[counts[order] > 0]
        reached = np.cumsum(counts[order])
        if n <= 0:
            return ()
        if len(reached) and reached[-1] >= n:
            return self._at(self._full_rows[order[: int(np.searchsorted(reached, n)) + 1]])
        first = self._full_rows[order]
        return (*self._at(first), *self._at(_without(self.kept_rows, first)))

    def order_slices(self, by: str, descending: bool = False, nulls_first: bool | None = None) -> OrderedSlices:
        """The kept slices in the order in which to read them for ``ORDER BY by LIMIT n``, and when to stop.

        ``nulls_first``: where NULL sorts; by default as Spark does, first when ascending. Hive's default differs by
        version: when it is not given, slices that may hold NULL come first and no NULL ends the reading.
        """
        from evaluator.explain.ordering import SortKey, order_slices, rejects_null
        from handler.planning.reading import OrderedSlices, default_nulls

        if not isinstance(by, str):
            raise TypeError(f"by is the name of a column, not {type(by).__name__}")
        if not isinstance(descending, bool) or not isinstance(nulls_first, bool | None):
            raise TypeError("descending and nulls_first are True or False")
        column, note = self._sort_column(by)
        nulls = default_nulls(self.engine, descending=descending)
        if nulls_first is not None:
            nulls = "first" if nulls_first else "last"
        providers = () if note or self.ask is None else self.ask([column])
        statistics = [one.statistics[column.name] for one in providers if column.name in one.statistics]
        if not statistics and note is None:
            note = f"no index has statistics of column {column.name}"
        without_null = self.explanation is not None and rejects_null(self.explanation.bound, column)
        order = order_slices(SortKey(column, descending, nulls), statistics, self.kept_rows, without_null=without_null)
        return OrderedSlices(order, self._at(order.slices), note)

    def _sort_column(self, by: str) -> tuple[Field, str | None]:
        """The column, and why its bounds give no order, or None."""
        from evaluator.explain.ordering import why_unordered

        unknown = Field(by, Type(Kind.OTHER, name="unknown"))
        if self.schema is None or self.explanation is None:
            return unknown, "the filter could not be evaluated"
        semantics = self.explanation.bound.semantics
        try:
            column = resolve_column(by, self.schema, case_sensitive=semantics.case_sensitive)
        except UnknownColumnError as error:
            return unknown, str(with_near_names(error, self.schema))
        except UnsupportedError as error:
            return unknown, str(error)
        return column, why_unordered(column, semantics)

    @cached_property
    def _full_rows(self) -> npt.NDArray[np.int64]:
        if self.explanation is None:
            return np.zeros(0, np.int64)
        return self.explanation.evaluation.fully_matched_rows

    @cached_property
    def _full_counts(self) -> npt.NDArray[np.int64]:
        """The exact row count of each fully matched slice, where it is known."""
        from handler.planning.reading import exact_row_counts

        providers = () if self.explanation is None else self.explanation.providers
        return exact_row_counts(self.slices, self._full_rows, providers, self.ask, self.schema)

    @cached_property
    def _residuals(self) -> Residuals:
        if self.explanation is None:
            from evaluator.explain.residual import Residuals

            whole = (self.expression,) if len(self.kept_rows) else ()
            return Residuals(whole, np.zeros(len(self.kept_rows), np.intp))
        return self.explanation.residuals(self.kept_rows)

    def _at(self, rows: npt.NDArray[Any]) -> tuple[FileSlice, ...]:
        return tuple(self.slices.some(rows))

    def to_dict(self) -> dict[str, object]:
        """The plan as plain dicts and lists, ready for JSON (docs/reference/json.md)."""
        return {
            "table": self.table,
            "instant": self.instant,
            "engine": self.engine,
            "time_zone": self.time_zone,
            "moment": None if self.moment is None else self.moment.to_dict(),
            "filter": {"text": to_text(self.expression), "tree": to_dict(self.expression)},
            "counts": {
                "slices": len(self.slices),
                "kept": len(self.kept_rows),
                "skipped": len(self.slices) - len(self.kept_rows),
                "fully_matched": len(self._full_rows),
            },
            "kept": [slice_as_dict(item) for item in self.kept],
            "skipped": [slice_as_dict(item) for item in self.skipped],
            "fully_matched": [item.file_id for item in self.fully_matched],
            "residuals": [group.to_dict() for group in self.residual_groups],
            "row_count": self.row_count.to_dict(),
            "leaves": [leaf.to_dict() for leaf in self.leaves],
            "matches": [one.to_dict() for one in self.matches],
            "why_not_more": [one.to_dict() for one in self.why_not_more],
            "reasons": [{"scope": reason.scope, "text": reason.text} for reason in self.reasons],
            "coverage": [coverage_as_dict(covered) for covered in self.coverage],
            "seconds": {phase: round(spent, 6) for phase, spent in self.seconds.items()},
        }


def _without(rows: npt.NDArray[np.int64], others: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    return np.setdiff1d(rows, others, assume_unique=True)


def slice_as_dict(item: FileSlice) -> dict[str, object]:
    """A file slice as plain values for JSON."""
    return {
        "partition": item.partition,
        "file_id": item.file_id,
        "base_file": item.base_file,
        "log_files": list(item.log_files),
    }


def coverage_as_dict(coverage: Coverage) -> dict[str, object]:
    """The coverage of one index kind as plain values for JSON: by column the usable slices, the others by reason."""
    columns = {
        name: {"usable": known.usable, "reasons": {reason(t): n for t, n in known.reasons.items() if t}}
        for name, known in coverage.columns.items()
    }
    return {"kind": coverage.kind, "instant": coverage.instant, "slices": coverage.slices, "columns": columns}
