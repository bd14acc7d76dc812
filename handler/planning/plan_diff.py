"""Two plans of one table beside each other: which file slices only one of them keeps, and why the other does not.

The plans differ in their filter, in the instant, or in the engine's rules. A file slice is the same in both when it has
the same partition and file id; between two instants its files may differ.
"""

from __future__ import annotations

from evaluator.language.records import frozen
from handler.planning.plan import Plan, slice_as_dict
from index_store import FileSlice

__all__ = ["NOT_THERE", "SKIPPED", "OneSided", "PlanDiff"]

#: Why the other plan does not keep a slice.
SKIPPED, NOT_THERE = "skipped", "not in the table"


@frozen
class OneSided:
    """A slice that one plan keeps. ``other``: SKIPPED by the other plan, or NOT_THERE at its instant."""

    file_slice: FileSlice
    other: str

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {**slice_as_dict(self.file_slice), "other": self.other}


@frozen(slots=False)
class PlanDiff:
    """The kept slices of two plans.

    both      kept by both, as the second plan has them; ``changed``: those of them with other files in the first
    first     kept by the first plan only, ``second`` by the second only, in the order of their plan
    """

    plans: tuple[Plan, Plan]
    both: tuple[FileSlice, ...]
    changed: tuple[FileSlice, ...]
    first: tuple[OneSided, ...]
    second: tuple[OneSided, ...]

    @classmethod
    def of(cls, first: Plan, second: Plan) -> PlanDiff:
        """The difference of two plans of one table. Raises ValueError for plans of two tables."""
        if first.table != second.table:
            raise ValueError(f"two plans of one table are expected, not of {first.table} and {second.table}")
        kept = {_key(one): one for one in first.kept}
        both = [one for one in second.kept if _key(one) in kept]
        return cls(
            (first, second),
            tuple(both),
            tuple(one for one in both if one.files != kept[_key(one)].files),
            _only(first, second),
            _only(second, first),
        )

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON (docs/reference/json.md)."""
        return {
            "table": self.plans[0].table,
            "plans": [_head(plan) for plan in self.plans],
            "kept_by_both": [slice_as_dict(one) for one in self.both],
            "changed": [one.file_id for one in self.changed],
            "kept_by_first_only": [one.to_dict() for one in self.first],
            "kept_by_second_only": [one.to_dict() for one in self.second],
        }


def _key(file_slice: FileSlice) -> tuple[str, str]:
    return file_slice.partition, file_slice.file_id


def _only(one: Plan, other: Plan) -> tuple[OneSided, ...]:
    kept, skipped = {_key(item) for item in other.kept}, {_key(item) for item in other.skipped}
    return tuple(
        OneSided(item, SKIPPED if _key(item) in skipped else NOT_THERE) for item in one.kept if _key(item) not in kept
    )


def _head(plan: Plan) -> dict[str, object]:
    document = plan.to_dict()
    return {name: document[name] for name in ("instant", "engine", "time_zone", "moment", "filter", "counts")}
