"""The input of ``sargo advise``: the filters of a workload bound to a table, candidate sketches, and a sample of files.

    filters      bound to the table; the slices that the table's own indexes keep are computed for all of its slices
    candidates   every sketch in ``SKETCHES`` of every column that a filter names (of all columns, without a workload),
                 and bounds of every expression in the filters
    sample       files of slices that some filter keeps; of all slices, when the table has few enough files

The filters take the way of a query (``planning.pipeline``): an index kind that cannot be read is left out (contract
C4), and a filter that fails does not stop the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.evaluation.evaluate import StatisticsProvider
from evaluator.language.clock import Clock
from evaluator.language.errors import SargoError
from evaluator.language.expression import Call, Cast, Column, IsNull, Operand, to_text, walk
from evaluator.language.records import frozen
from evaluator.language.schema import Field
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind
from handler.advise.workload import LoggedFilter, Workload
from handler.indexes.entries import definition_of
from handler.planning.pipeline import (
    BoundFilter,
    bind_filter,
    evaluate_filter,
    ignore_failure,
    kept_mask,
    provide_from_kinds,
    provide_statistics,
)
from handler.sql.parsing import parse
from index_store import IndexKind
from index_store.cached_statistics import CachedStatistics
from index_store.opened_table import OpenTable, TableAtInstant
from index_store.own.advice.sample import chosen_slices, take_sample
from index_store.own.definition import Entry
from index_store.own.provider.kind import OwnSketches
from index_store.own.sketches import parse_sketch
from index_store.own.store.locations import indexes_of
from index_store.table.table_schema import META_COLUMNS

__all__ = ["DEFAULT_FILES", "Advisor", "WorkloadFilter"]

#: The default limit on the number of files that are read.
DEFAULT_FILES = 64
#: The sketches that are tried on each column.
SKETCHES = (
    "min_max",
    "value_list(limit=50)",
    "partition",
    "prefix_set(limit=100, length=16)",
    "bloom_filter(fpp=0.01)",
    "null_count",
)
#: A sketch that every other one includes: no candidate of its own where no filter asks for NULL.
_NULL_COUNT = "null_count"
#: Hudi's own columns are candidates only when a filter names them.
_HUDI_COLUMNS = frozenset(META_COLUMNS)
#: A table of more slices is never read whole, however many files are allowed.
_MAX_SLICES_READ_WHOLE = 10_000


@frozen(slots=False, eq=False)
class WorkloadFilter:
    """A filter of the workload, bound to the table; ``kept`` are the slices that the table's own indexes keep."""

    filter: LoggedFilter
    bound: BoundFilter
    kept: npt.NDArray[np.int64]

    @property
    def required(self) -> RequiredStatistics:
        """The statistics that the filter can use."""
        return self.bound.required

    @cached_property
    def why_undecided(self) -> str:
        """Why no statistics can decide the filter: the first leaf's reason when every leaf has one, else ""."""
        leaves = self.bound.bound.leaves
        reasons = [leaf.reason for leaf in leaves if leaf.reason]
        return reasons[0] if len(reasons) == len(leaves) and reasons else ""


class Advisor:
    """A table, the filters of a workload, and a sample of the table's files."""

    def __init__(
        self,
        opened: OpenTable,
        workload: Workload | None,
        most_files: int = DEFAULT_FILES,
        time_zone: str | None = None,
        also: Sequence[Field] = (),
        clock: Clock | Literal["now"] | None = "now",
    ) -> None:
        """Read the sample: at most ``most_files`` files, with bounds of the columns ``also`` in any case.

        ``clock``: of the filters; by default they run from now on.
        Raises TableError when the table's slices cannot be listed.
        """
        self.opened, self.table = opened, opened.table
        self.workload, self.time_zone = workload, time_zone
        self._clock = Clock.from_now_on(zone_known=time_zone is not None) if clock == "now" else clock
        self.at = opened.at()
        self.n = len(self.at.slices)
        #: Filters that cannot be bound, by the reason: how often they were asked.
        self.unbound: dict[str, int] = {}
        self.filters = tuple(self._bind(workload.filters)) if workload else ()
        self.entries, self.options = self._candidates()
        added = [entry for entry in (Entry(column.name, "min_max") for column in also) if entry not in self.entries]
        self.sample = take_sample(
            self.table, self.at.slices, self._sampled_slices(most_files), (*self.entries, *added), self.options
        )

    # -- the filters

    def _bind(self, filters: Sequence[LoggedFilter]) -> Iterator[WorkloadFilter]:
        for logged in filters:
            try:
                semantics = Semantics.named(logged.engine, logged.time_zone or self.time_zone).at(self._clock)
                bound = bind_filter(logged.expression, self.table.schema, semantics, self.table)
                answers = provide_statistics(bound.required, self.at, ignore_failure).without_footers()
                kept = evaluate_filter(bound, answers, self.n).kept_rows
            except Exception as error:  # as in a query, one filter's fault is not the others'
                why = " ".join(str(error).split())
                self.unbound[why] = self.unbound.get(why, 0) + logged.count
                continue
            yield WorkloadFilter(logged, bound, np.asarray(kept))

    @cached_property
    def columns(self) -> tuple[Field, ...]:
        """The columns that an index could cover: those that the filters name, or all of them without a workload."""

        def has_order(column: Field) -> bool:
            return column.type.kind is not Kind.OTHER

        if self.workload is None:
            parents = {column.name.rpartition(".")[0] for column in self.table.schema}
            return tuple(
                column
                for column in self.table.schema
                if has_order(column) and column.name not in _HUDI_COLUMNS and column.name not in parents
            )
        named = {column.name: column for one in self.filters for column in one.required.columns if has_order(column)}
        return tuple(named.values())

    def _candidates(self) -> tuple[tuple[Entry, ...], Mapping[str, str]]:
        """The entries that an index could have, and the options that its expressions need."""
        sketches = [parse_sketch(text) for text in SKETCHES]
        entries = [
            Entry(column.name, sketch.text)
            for column in self.columns
            for sketch in sketches
            if not sketch.why_not(column.type) and not (self.workload is None and sketch.name == _NULL_COUNT)
        ]
        options: dict[str, str] = {}
        for operand in self._expressions():
            on = to_text(operand)
            try:
                reparsed = parse(f"({on}) IS NULL", "spark")
                if isinstance(reparsed, IsNull) and reparsed.operand == operand:
                    definition = definition_of(self.table, [(on, "min_max")], "", self.time_zone)
                    options |= definition.options
                    entries += [entry for entry in definition.entries if entry not in entries]
            except SargoError:
                continue  # an index cannot cover this expression
        return tuple(entries), options

    def _expressions(self) -> Iterator[Operand]:
        """The expressions over columns in the filters, each once."""
        distinct: dict[Operand, None] = {}
        for one in self.filters:
            if not one.required.functions:
                continue
            for node in walk(one.filter.expression):
                if isinstance(node, Call | Cast) and any(isinstance(part, Column) for part in walk(node)):
                    distinct.setdefault(node)
        yield from distinct

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the table's own indexes."""
        with suppress(SargoError):
            return tuple(index.name for index in indexes_of(self.table))
        return ()

    # -- the sample

    def _sampled_slices(self, most_files: int) -> npt.NDArray[np.int64]:
        """Which slices are sampled: of those that some filter keeps, for no other slice can be skipped by an index."""
        among = np.arange(self.n)
        if self.filters:
            mask = np.zeros(self.n, np.bool_)
            for one in self.filters:
                mask[one.kept] = True
            if mask.any():
                among = np.flatnonzero(mask)
        if (
            self.n <= min(most_files, _MAX_SLICES_READ_WHOLE)
            and sum(len(item.files) for item in self.at.slices) <= most_files
        ):
            among = np.arange(self.n)  # the whole table is read: then nothing is estimated
        return chosen_slices(self.at.slices, among, most_files)

    @cached_property
    def _existing(self) -> TableAtInstant:
        """The sample's slices with the index kinds that the table has."""
        kinds: tuple[IndexKind, ...] = ()
        with suppress(SargoError):
            kinds = self.table.kinds(self.sample.slices)
        return TableAtInstant(self.sample.slices, tuple(CachedStatistics(kind) for kind in kinds))

    def existing_providers(self, required: RequiredStatistics) -> list[StatisticsProvider]:
        """The statistics that the table's indexes have of the sample's slices."""
        return provide_statistics(required, self._existing, ignore_failure).providers

    def provider(self, entry: Entry, required: RequiredStatistics) -> StatisticsProvider | None:
        """The statistics that one sketch would have of the sample's slices; None if it has none of those required."""
        for provider in provide_from_kinds(required, [self._kind(entry)]):
            return replace(provider, name=f"{entry.sketch} of {entry.on}")
        return None

    def _kind(self, entry: Entry) -> OwnSketches:
        if entry not in self._kinds:
            self._kinds[entry] = self.sample.kind(entry)
        return self._kinds[entry]

    @cached_property
    def _kinds(self) -> dict[Entry, OwnSketches]:
        return {}

    def kept(self, one: WorkloadFilter, providers: Sequence[StatisticsProvider]) -> npt.NDArray[np.bool_]:
        """``(k,) bool``: the slices of the sample that a filter keeps by these statistics."""
        return kept_mask(one.bound, len(self.sample.slices), providers)
