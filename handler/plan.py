"""A plan: which file slices a query must read, which it may skip, and why (contracts C1, C4, C5).

Everything that people read (leaves, coverage, dictionaries) is computed when it is asked for: a query planner that only
takes ``kept`` pays for nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from evaluator.bounds import reason
from evaluator.expression import HudiExpression, to_dict, to_text
from evaluator.outcome import TRUE, Outcomes
from handler.explanation import Explanation
from handler.leaf_reports import LeafReport
from index_store import Coverage, FileSlice, FileSlices, IndexKind

__all__ = ["Plan", "Reason", "coverage_as_dict", "slice_as_dict"]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why less was skipped than might have been.

    ``scope`` is "filter" (it was not understood), "store" (statistics could not be read) or "leaf" (one condition of
    the filter cannot be decided); ``text`` is for people.
    """

    scope: str
    text: str


@dataclass(frozen=True, eq=False)
class Plan:
    """The answer of ``prune`` for one table, filter and instant.

    table         path of the table
    instant       the answer holds for the file slices of this instant; None if the table has no commit
    expression    the filter as it was understood
    engine        whose rules were followed, "hive" or "spark", in ``time_zone``
    outcomes      ``(n,) uint8``, one outcome (C1) per slice of ``slices``
    reasons       why not more was skipped, most general first
    seconds       time per phase
    explanation   the answers of the conditions, unless the filter could not be evaluated
    kinds         the index kinds that answered
    """

    table: str
    instant: str | None
    expression: HudiExpression
    engine: str
    time_zone: str
    slices: FileSlices
    outcomes: Outcomes
    reasons: tuple[Reason, ...]
    seconds: Mapping[str, float]
    explanation: Explanation | None = field(default=None, repr=False)
    kinds: tuple[IndexKind, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "seconds", MappingProxyType(dict(self.seconds)))

    @cached_property
    def kept(self) -> tuple[FileSlice, ...]:
        """The slices that the query must read."""
        return self._where([bool(o & TRUE) for o in self.outcomes.tolist()])

    @cached_property
    def skipped(self) -> tuple[FileSlice, ...]:
        """The slices that hold no row for which the filter is TRUE."""
        return self._where([not o & TRUE for o in self.outcomes.tolist()])

    @cached_property
    def fully_matched(self) -> tuple[FileSlice, ...]:
        """The kept slices of which every row satisfies the filter."""
        return self._where([o == TRUE for o in self.outcomes.tolist()])

    @cached_property
    def coverage(self) -> tuple[Coverage, ...]:
        """What each index kind knows of the columns that the filter needs; a kind that cannot be read is left out."""
        columns = () if self.explanation is None else self.explanation.bound.columns
        found: list[Coverage] = []
        for kind in self.kinds:
            with suppress(Exception):  # its failure is among the reasons already (C4)
                found.append(kind.coverage(columns))
        return tuple(found)

    @cached_property
    def leaves(self) -> tuple[LeafReport, ...]:
        """What each condition of the filter did."""
        return () if self.explanation is None else self.explanation.leaves

    def _where(self, mask: list[bool]) -> tuple[FileSlice, ...]:
        return tuple(item for item, chosen in zip(self.slices.items, mask, strict=True) if chosen)

    def to_dict(self) -> dict[str, object]:
        """The plan as plain dicts and lists, ready for JSON (README, "JSON")."""
        return {
            "table": self.table,
            "instant": self.instant,
            "engine": self.engine,
            "time_zone": self.time_zone,
            "filter": {"text": to_text(self.expression), "tree": to_dict(self.expression)},
            "counts": {"slices": len(self.slices), "kept": len(self.kept), "skipped": len(self.skipped),
                       "fully_matched": len(self.fully_matched)},
            "kept": [slice_as_dict(item) for item in self.kept],
            "skipped": [slice_as_dict(item) for item in self.skipped],
            "fully_matched": [item.file_id for item in self.fully_matched],
            "leaves": [leaf.to_dict() for leaf in self.leaves],
            "reasons": [{"scope": reason.scope, "text": reason.text} for reason in self.reasons],
            "coverage": [coverage_as_dict(covered) for covered in self.coverage],
            "seconds": {phase: round(spent, 6) for phase, spent in self.seconds.items()},
        }


def slice_as_dict(item: FileSlice) -> dict[str, object]:
    """A file slice as plain values for JSON."""
    return {"partition": item.partition, "file_id": item.file_id, "base_file": item.base_file,
            "log_files": list(item.log_files)}


def coverage_as_dict(coverage: Coverage) -> dict[str, object]:
    """What a kind covers as plain values for JSON: per column the usable slices, and the others by reason."""
    columns = {name: {"usable": known.usable, "reasons": {reason(t): n for t, n in known.reasons.items() if t}}
               for name, known in coverage.columns.items()}
    return {"kind": coverage.kind, "instant": coverage.instant, "slices": coverage.slices, "columns": columns}
