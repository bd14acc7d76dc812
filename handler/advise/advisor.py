"""What ``sargo advise`` works on: the filters of a workload, what the table's indexes keep of each, and a sample.

filters      bound to the table; what its own indexes keep is found out for all of its file slices
candidates   every sketch of every column that the filters name (all columns, without a workload), and bounds of
             every expression in them
sample       of slices that some filter keeps; of all, when all their files are few enough
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from evaluator.binding.bind import BoundExpression, bind
from evaluator.binding.required_statistics import RequiredStatistics, required_statistics_of
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language.errors import SargoError
from evaluator.language.expression import Call, Cast, Column, IsNull, Operand, to_text, walk
from evaluator.language.schema import Field
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind
from handler.advise.workload import LoggedFilter, Workload
from handler.indexes.entries import definition_of
from handler.planning.implied_keys import with_record_keys
from handler.sql.parsing import parse
from index_store import IndexKind
from index_store.kinds.record_keys.record_keys import composite_key
from index_store.opened_table import CachedStatistics, OpenTable, TableAt
from index_store.own.advice.sample import chosen_slices, take_sample
from index_store.own.definition import Entry
from index_store.own.provider.kind import OwnSketches
from index_store.own.sketches import parse_sketch
from index_store.own.store.locations import indexes_of
from index_store.table.table_schema import META_COLUMNS

__all__ = ["DEFAULT_FILES", "Advisor", "Asked"]

#: How many files are read.
DEFAULT_FILES = 64
#: What is proposed of each column.
SKETCHES = (
    "min_max",
    "value_list(limit=50)",
    "partition",
    "prefix_set(limit=100, length=16)",
    "bloom_filter(fpp=0.01)",
    "null_count",
)
#: Kept beside every sketch, so it is no choice where no filter asks for it.
_COUNTS = "null_count"
#: Columns of which nobody makes an index, unless a filter names them.
_OWN_NAMES = frozenset(META_COLUMNS)
#: Larger tables are never read whole.
_COUNTED = 10_000


@dataclass(frozen=True, eq=False)
class Asked:
    """A filter as it is answered: what it asks of indexes, and what the table's own indexes keep."""

    filter: LoggedFilter
    bound: BoundExpression
    needs: RequiredStatistics
    kept: npt.NDArray[np.int64]

    @cached_property
    def why_undecided(self) -> str:
        """Why no statistics can decide the filter, or ""."""
        reasons = [leaf.reason for leaf in self.bound.leaves if leaf.reason]
        return reasons[0] if len(reasons) == len(self.bound.leaves) and reasons else ""


class Advisor:
    """Filters, the table that they are asked of, and a sample of its files."""

    def __init__(
        self,
        opened: OpenTable,
        workload: Workload | None,
        most_files: int = DEFAULT_FILES,
        time_zone: str | None = None,
        also: Sequence[Field] = (),
    ) -> None:
        """``also``: columns of which bounds are wanted in any case. Raises TableError."""
        self.opened, self.table = opened, opened.table
        self.workload, self.time_zone = workload, time_zone
        self.at = opened.at()
        self.n = len(self.at.slices)
        self.unbound: dict[str, int] = {}
        self.asked = tuple(self._bound(workload.filters)) if workload else ()
        self.entries, self.options = self._candidates()
        wanted = [one for one in (Entry(column.name, "min_max") for column in also) if one not in self.entries]
        self.sample = take_sample(
            self.table, self.at.slices, self._places(most_files), (*self.entries, *wanted), self.options
        )

    # -- the filters

    def _bound(self, filters: Sequence[LoggedFilter]) -> Iterator[Asked]:
        key, schema = composite_key(self.table), self.table.schema
        for one in filters:
            try:
                semantics = Semantics.named(one.engine, one.time_zone or self.time_zone)
                whole = one.expression if key is None else with_record_keys(one.expression, key, schema, semantics)
                bound = bind(whole, schema, semantics)
                needs = required_statistics_of(bound.leaves)
                kept = self.at.ask(needs, _say_nothing).evaluate(bound, self.n).kept_rows
            except Exception as error:  # as in a query: what one filter is, is not the others'
                why = " ".join(str(error).split())
                self.unbound[why] = self.unbound.get(why, 0) + one.count
                continue
            yield Asked(one, bound, needs, np.asarray(kept))

    @cached_property
    def columns(self) -> tuple[Field, ...]:
        """The columns that an index could be of: those that the filters name, or all, without a workload."""

        def usable(one: Field) -> bool:
            return one.type.kind is not Kind.OTHER

        if self.workload is None:
            parents = {one.name.rpartition(".")[0] for one in self.table.schema}
            return tuple(
                one
                for one in self.table.schema
                if usable(one) and one.name not in _OWN_NAMES and one.name not in parents
            )
        found = {column.name: column for one in self.asked for column in one.needs.columns if usable(column)}
        return tuple(found.values())

    def _candidates(self) -> tuple[tuple[Entry, ...], Mapping[str, str]]:
        sketches = [parse_sketch(text) for text in SKETCHES]
        found = [
            Entry(column.name, one.text)
            for column in self.columns
            for one in sketches
            if not one.why_not(column.type) and not (self.workload is None and one.name == _COUNTS)
        ]
        options: dict[str, str] = {}
        for operand in self._expressions():
            on = to_text(operand)
            try:
                same = parse(f"({on}) IS NULL", "spark")
                if isinstance(same, IsNull) and same.operand == operand:
                    definition = definition_of(self.table, [(on, "min_max")], "", self.time_zone)
                    options |= definition.options
                    found += [one for one in definition.entries if one not in found]
            except SargoError:
                continue  # no index can be of it
        return tuple(found), options

    def _expressions(self) -> Iterator[Operand]:
        seen: dict[Operand, None] = {}
        for one in self.asked:
            if not one.needs.functions:
                continue
            for node in walk(one.filter.expression):
                if isinstance(node, Call | Cast) and any(isinstance(part, Column) for part in walk(node)):
                    seen.setdefault(node)
        yield from seen

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the table's own indexes."""
        with suppress(SargoError):
            return tuple(one.name for one in indexes_of(self.table))
        return ()

    # -- the sample

    def _places(self, most_files: int) -> npt.NDArray[np.int64]:
        """Slices of which some filter keeps one are those that matter."""
        among = np.arange(self.n)
        if self.asked:
            mask = np.zeros(self.n, np.bool_)
            for one in self.asked:
                mask[one.kept] = True
            if mask.any():
                among = np.flatnonzero(mask)
        if self.n <= min(most_files, _COUNTED) and sum(len(one.files) for one in self.at.slices) <= most_files:
            among = np.arange(self.n)  # all of them: then nothing is estimated
        return chosen_slices(self.at.slices, among, most_files)

    @cached_property
    def _existing(self) -> TableAt:
        """What the table has, of the sample's slices."""
        kinds: tuple[IndexKind, ...] = ()
        with suppress(SargoError):
            kinds = self.table.kinds(self.sample.slices)
        return TableAt(self.sample.slices, tuple(CachedStatistics(kind) for kind in kinds))

    def existing_sources(self, needs: RequiredStatistics) -> list[StatisticsProvider]:
        """What the table's indexes say of the sample's slices."""
        return self._existing.ask(needs, _say_nothing).sources

    def source(self, entry: Entry, needs: RequiredStatistics) -> StatisticsProvider | None:
        """What one sketch would say, None if it has nothing to say to these questions."""
        kind = self._kind(entry)
        asked = kind.requires(needs)
        if not asked:
            return None
        return replace(kind.provide(asked), name=f"{entry.sketch} of {entry.on}")

    def _kind(self, entry: Entry) -> OwnSketches:
        if entry not in self._kinds:
            self._kinds[entry] = self.sample.kind(entry)
        return self._kinds[entry]

    @cached_property
    def _kinds(self) -> dict[Entry, OwnSketches]:
        return {}

    def kept_of(self, asked: Asked, sources: Sequence[StatisticsProvider]) -> npt.NDArray[np.bool_]:
        """``(k,)``: which slices of the sample a filter keeps by these."""
        return evaluate(asked.bound, len(self.sample.slices), list(sources)).keep


def _say_nothing(kind: str, error: Exception) -> None:
    """What an index cannot say, it does not say: as in a query (C4)."""
    del kind, error
