"""The kept slices of a plan, split into those whose footers give the exact value of every aggregate, and the rest.

split = split_aggregates(plan, [Aggregate.parse("count(*)"), Aggregate.parse("max(ts)")])
split.totals                                 of the slices that are answered: (1200, 1764547200000000)
[one.item for one in split.scanned]          the slices to scan
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import field
from functools import cached_property
from typing import Any

from evaluator.language.errors import UnsupportedError
from evaluator.language.records import frozen
from evaluator.language.types import Type
from evaluator.language.value_texts import ordinal_text
from handler.aggregates.aggregate import Aggregate
from handler.aggregates.answers import AnsweredSlice, Answers, ScannedSlice, answer_slices
from handler.planning.plan import Plan, slice_as_dict
from index_store import FileSlice

__all__ = ["AggregateSplit", "scan_all", "split_aggregates"]

#: Reasons in ``str(split)``.
MAX_SHOWN = 8


@frozen(slots=False, eq=False, kw_only=True, shown=False)
class AggregateSplit:
    """How the aggregates of a query are answered.

    table, instant   the table, and the instant of its file slices
    slices           how many file slices the table has
    aggregates       those of the query, in its order; of one that is only scanned its text
    types            of the values, by aggregate; not known of one that is only scanned
    answered         the slices that are not read; values are in ordinal form (``evaluator.statistics.columns``)
    scanned          the slices that are read
    """

    table: str
    instant: str | None
    slices: int
    aggregates: tuple[Aggregate | str, ...]
    types: tuple[Type | None, ...] = field(default=())
    answered: tuple[AnsweredSlice, ...] = ()
    scanned: tuple[ScannedSlice, ...]

    @cached_property
    def totals(self) -> tuple[Any, ...]:
        """The value of each aggregate over all rows of the slices that are answered; empty when none is."""
        known = tuple(one for one in self.aggregates if isinstance(one, Aggregate))
        return Answers(aggregates=known, answered=self.answered).totals

    @cached_property
    def reasons(self) -> tuple[tuple[str, int], ...]:
        """Why slices are scanned, with the number of slices, most slices first."""
        return tuple(Counter(one.reason for one in self.scanned).most_common())

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.aggregates))
        return (
            f"<AggregateSplit of {self.table} as of {self.instant}: {shown}: {len(self.answered)} file slices answered "
            f"by footers, {len(self.scanned)} scanned, {self._skipped} skipped>"
        ).replace("\n", " ")

    def __str__(self) -> str:
        lines = [
            f"{self.table} as of {self.instant or 'no commit'}: {len(self.answered)} of {self.slices} file slices are "
            f"answered by footers, {len(self.scanned)} are scanned, {self._skipped} are skipped"
        ]
        lines += [
            f"  {aggregate}: {'NULL' if value is None else value if of is None else ordinal_text(value, of)} by footers"
            for aggregate, of, value in zip(self.aggregates, self.types, self.totals, strict=False)
        ]
        lines += [f"  {count} scanned: {reason}" for reason, count in self.reasons[:MAX_SHOWN]]
        rest = self.reasons[MAX_SHOWN:]
        if rest:
            lines.append(f"  {sum(count for _, count in rest)} scanned: {len(rest)} other reasons")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON. Values are texts, as they depend on the column's type; NULL is None."""
        values = [
            None if value is None else str(value) if of is None else ordinal_text(value, of)
            for of, value in zip(self.types, self.totals, strict=False)
        ]
        return {
            "table": self.table,
            "instant": self.instant,
            "aggregates": [str(one) for one in self.aggregates],
            "counts": {
                "slices": self.slices,
                "answered": len(self.answered),
                "scanned": len(self.scanned),
                "skipped": self._skipped,
            },
            "answered": [slice_as_dict(one.item) for one in self.answered],
            "values": values,
            "scanned": [{**slice_as_dict(one.item), "reason": one.reason} for one in self.scanned],
        }

    @property
    def _skipped(self) -> int:
        return self.slices - len(self.answered) - len(self.scanned)


def split_aggregates(
    plan: Plan, aggregates: Sequence[Aggregate], kept: Sequence[FileSlice] | None = None
) -> AggregateSplit:
    """Split the slices that a plan keeps, or those given, by whether footers answer all of the aggregates exactly.

    What cannot be read is scanned, with the reason. Raises UnknownColumnError for a column that the table does not
    have, UnsupportedError for one that is not plain, or for a plan without its table.
    """
    if plan.opened is None:
        raise UnsupportedError(f"the plan of {plan.table} has no table: plan again in this process")
    items = plan.kept if kept is None else kept
    found = answer_slices(plan.opened.table, plan.slices, items, frozenset(plan.fully_matched), aggregates)
    return AggregateSplit(
        table=plan.table,
        instant=plan.instant,
        slices=len(plan.slices),
        aggregates=found.aggregates,
        types=found.types,
        answered=found.answered,
        scanned=found.scanned,
    )


def scan_all(
    plan: Plan, aggregates: Sequence[str], reason: str, kept: Sequence[FileSlice] | None = None
) -> AggregateSplit:
    """The split where every kept slice is scanned, for one reason."""
    return AggregateSplit(
        table=plan.table,
        instant=plan.instant,
        slices=len(plan.slices),
        aggregates=tuple(aggregates),
        scanned=tuple(ScannedSlice(item, reason) for item in (plan.kept if kept is None else kept)),
    )
