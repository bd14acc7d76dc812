"""Remedies of a plan: an index or a clustering that makes it keep fewer file slices, asked of the data of some files.

    asked                                   of                                    confirmed when
    --------------------------------------  ------------------------------------  ----------------------------------
    an own index of sketches, bounds of     kept slices: what the very index      a slice that the plan keeps would
    an expression, or a secondary index     would hold of their files             be skipped
    clustering by a column                  slices of the whole table, laid out   a fifth of the kept slices or more
                                            in the new order                      would be skipped

Nothing else is proposed. Files are read for a few seconds at most (``seconds``): where that is not enough for an
answer, the answer is that it was not asked.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Literal, cast

import numpy as np

from evaluator.binding.leaves import Lookup
from evaluator.evaluation.evaluate import StatisticsProvider
from evaluator.language.records import frozen
from evaluator.language.schema import Field
from evaluator.language.types import Kind
from handler.advise.advisor import DEFAULT_FILES, Advisor, WorkloadFilter
from handler.advise.commands import create_commands
from handler.advise.sampled_filters import SampledFilter, sample_filter
from handler.advise.what_if import kept_by_bounds
from handler.advise.workload import LoggedFilter, Workload
from handler.indexes.entries import definition_of, known_by_hudi
from handler.planning.plan import Plan
from handler.sql.parsing import Engine
from index_store.own.advice.layout_simulation import SortOrder, sampled_rows, simulate_layout
from index_store.own.advice.sample import Sample, chosen_slices, take_sample
from index_store.own.advice.sampled_entries import sampled_entries
from index_store.own.builders.sketching import ROWS
from index_store.own.definition import SECONDARY_INDEX, Entry
from index_store.own.maintenance.table_files import table_files
from index_store.own.secondary.keys import is_encodable

__all__ = ["NotAskedError", "NothingHelpsError", "Remedy", "RemedySearch"]

#: A table of more slices is not asked: listing its files alone would take that long.
MAX_SLICES = 100_000
#: So many files of so many bytes are read without a trial.
_FEW_FILES, _FEW_BYTES = 16, 16 << 20
#: A sample of fewer files says little.
_MIN_FILES = 4
#: Bytes of one slice for each second, beyond which not even one is read.
_MAX_BYTES_PER_SECOND = 64 << 20
#: The sketches and the columns to cluster by that are proposed, and the rows that are laid out.
MAX_ENTRIES, MAX_COLUMNS, MAX_ROWS = 3, 3, 300_000
#: The share of the slices of which a column's bounds are known today, from which a layout is thought to use them.
_KNOWN = 0.9
#: The share of the kept slices that a new layout may leave: a table is not written again for less than a fifth.
_WORTH_WHILE = 0.8


@frozen(kw_only=True)
class Remedy:
    """Something that makes the filter keep fewer file slices: ``kept`` by itself, about unless ``exact``.

    text      "min_max of city", "clustering by city"
    columns   that it is of
    command   builds an own index; "" for a clustering, which the table's writer does
    """

    kind: Literal["own index", "clustering"]
    text: str
    columns: tuple[str, ...]
    kept: float
    exact: bool
    command: str

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "kind": self.kind,
            "text": self.text,
            "columns": list(self.columns),
            "kept": round(self.kept, 2),
            "exact": self.exact,
            "command": self.command or None,
        }


class NotAskedError(Exception):
    """The data cannot be asked within the time."""


class NothingHelpsError(Exception):
    """No statistics could make the filter keep fewer slices."""


class RemedySearch:
    """A plan's filter on a sample of the files of the slices that it keeps."""

    def __init__(self, plan: Plan, seconds: float) -> None:
        """Raises NotAskedError and NothingHelpsError before a file is read, where that is known."""
        self._plan = plan
        self._deadline = time.perf_counter() + seconds
        _check(plan, seconds)
        self._sizes = _sizes(plan)
        kept_sizes = [self._sizes[row] for row in plan.kept_rows.tolist()]
        if float(np.median(kept_sizes)) > seconds * _MAX_BYTES_PER_SECOND:
            raise NotAskedError(
                f"a file slice has about {np.median(kept_sizes) / 1e6:,.0f} MB, too much to read in {seconds:g} s"
            )
        self.advisor = self._advisor(seconds)
        if not self.advisor.filters:
            raise NothingHelpsError(next(iter(self.advisor.unbound), "the filter cannot be bound"))
        self._filter: WorkloadFilter = self.advisor.filters[0]
        self._sampled: SampledFilter = sample_filter(self.advisor, self._filter)
        self._tried_layouts: list[str] = []

    def _advisor(self, seconds: float) -> Advisor:
        """An advisor whose sample can be read in about half of the time."""
        files = sum(len(self._plan.slices[row].files) for row in range(len(self._plan.slices)))
        if files <= _FEW_FILES and sum(self._sizes) <= _FEW_BYTES:
            return self._with_files(files)
        began = time.perf_counter()
        trial = self._with_files(1)
        spent = (time.perf_counter() - began) / max(trial.sample.files.num_rows, 1)
        affordable = int((self._deadline - time.perf_counter()) / 2 / max(spent, 1e-6))
        wanted = min(files, DEFAULT_FILES)
        if affordable < min(_MIN_FILES, wanted):
            raise NotAskedError(f"reading one file takes {spent:.2g} s, too long for an answer in {seconds:g} s")
        return self._with_files(min(affordable, wanted))

    def _with_files(self, files: int) -> Advisor:
        plan = self._plan
        assert plan.opened is not None
        assert plan.explanation is not None
        logged = LoggedFilter(plan.expression, cast(Engine, plan.engine), plan.time_zone, 1, 1)
        clock = plan.explanation.bound.semantics.clock
        return Advisor(plan.opened, Workload(filters=(logged,), lines=1), files, plan.time_zone, clock=clock)

    # -- the answers

    def remedies(self) -> tuple[Remedy, ...]:
        """What the data confirms: own indexes, those that skip most first, then columns to cluster by."""
        return (*self._indexes(), *self._layouts())

    def _indexes(self) -> tuple[Remedy, ...]:
        """Entries of an own index, each of which skips slices beside those before it."""
        advisor, sampled = self.advisor, self._sampled
        chosen: list[Entry] = []
        providers: list[StatisticsProvider] = list(sampled.existing)
        kept = sampled.before
        while len(chosen) < MAX_ENTRIES:
            best: tuple[int, float, Entry] | None = None
            for entry, offered in self._offered.items():
                gain = int(np.count_nonzero(kept & ~advisor.kept(self._filter, [*providers, offered])))
                if gain and entry not in chosen and (best is None or gain >= best[0]):
                    is_secondary = entry.sketch == SECONDARY_INDEX  # the larger one: it has to skip more
                    size = float("inf") if is_secondary else advisor.sample.index_bytes(entry)
                    if best is None or (gain, -size) > best[:2]:
                        best = gain, -size, entry
            if best is None:
                break
            chosen.append(best[2])
            providers.append(self._offered[best[2]])
            kept = advisor.kept(self._filter, providers)
        return tuple(self._index(entry, chosen) for entry in chosen)

    def _index(self, entry: Entry, chosen: Sequence[Entry]) -> Remedy:
        sampled = self._sampled
        alone = self.advisor.kept(self._filter, [*sampled.existing, self._offered[entry]])
        is_secondary = entry.sketch == SECONDARY_INDEX
        [command] = create_commands(
            self._plan.table,
            [one for one in chosen if one.on == entry.on and (one.sketch == SECONDARY_INDEX) == is_secondary],
            self.advisor.names,
            self.advisor.options,
        )
        return Remedy(
            kind="own index",
            text=f"{entry.sketch} of {entry.on}",
            columns=self._columns_of(entry.on),
            kept=float(len(self._plan.kept_rows) - sampled.saved(sampled.before, alone)),
            exact=self._is_whole,
            command=command,
        )

    @cached_property
    def _offered(self) -> dict[Entry, StatisticsProvider]:
        """The statistics that each sketch and each secondary index would have, of those that the filter can use."""
        offered = dict(self._sampled.offered)
        by_column: dict[str, list[Lookup]] = {}
        for lookup in self._filter.required.keys:
            if not lookup.function and is_encodable(lookup.column.type):
                by_column.setdefault(lookup.column.name, []).append(lookup)
        table = self.advisor.table
        for name, lookups in by_column.items():
            definition = definition_of(table, [(name, SECONDARY_INDEX)])
            deadline = self._deadline - (self._deadline - time.perf_counter()) / 2
            entries = (
                None if known_by_hudi(table, definition) else sampled_entries(self.advisor.sample, lookups, deadline)
            )
            if entries is not None:
                offered[Entry(name, SECONDARY_INDEX)] = entries
        return offered

    def _columns_of(self, on: str) -> tuple[str, ...]:
        """The columns of an entry: one, or those of an expression."""
        column = self.advisor.table.schema.resolve(on, case_sensitive=True)
        if column is not None:
            return (column.name,)
        blockers = self._plan.why_not_more
        return tuple(dict.fromkeys(name for one in blockers if on in one.condition for name in one.columns))

    @property
    def _is_whole(self) -> bool:
        """Whether all slices that the plan keeps were looked at."""
        kept = {item.files for item in self._plan.kept}
        return kept <= {item.files for item in self.advisor.sample.slices}

    def _layouts(self) -> Iterator[Remedy]:
        """Columns to cluster by: those of conditions whose bounds are known and too wide."""
        named = [
            name
            for one in self._plan.why_not_more
            if one.cause == "range"
            for name in one.columns
            if name in self._with_bounds
        ]
        columns = list(dict.fromkeys(named))[:MAX_COLUMNS]
        slices = self._plan.slices
        if not columns or len(slices) < 2:
            return
        sample = self._whole_sample()
        if sample is None:
            return
        fields = tuple(self._with_bounds.values())
        rows = sampled_rows(sample, fields, self._rows(sample), MAX_ROWS)
        complete = rows.stride == 1 and len(sample.slices) == len(slices) and not rows.left_out
        today = (
            kept_by_bounds(self.advisor.table, self._filter, sample.kind(*self._bounds), sample.slices)
            if complete
            else np.zeros(0, np.bool_)
        )
        kept = len(self._plan.kept_rows)
        limit = min(kept, int(today.sum())) if complete else kept
        counts = Counter(item.partition for item in slices)
        for name in columns:
            self._tried_layouts.append(name)
            layout = simulate_layout(sample, rows, SortOrder((name,)), counts)
            then = kept_by_bounds(self.advisor.table, self._filter, layout.kind, layout.slices)
            after = float(layout.weight[then].sum())
            if after <= min(limit * _WORTH_WHILE, kept - 1):
                yield Remedy(
                    kind="clustering",
                    text=f"clustering by {name}",
                    columns=(name,),
                    kept=after,
                    exact=complete,
                    command="",
                )

    @cached_property
    def _with_bounds(self) -> dict[str, Field]:
        """The filter's columns whose bounds are known in nearly all slices today: a layout narrows only these."""
        explanation = self._plan.explanation
        assert explanation is not None
        known = {}
        for column in self._filter.required.columns:
            masks = [
                one.statistics[column.name].lo_known & one.statistics[column.name].hi_known
                for one in explanation.providers
                if column.name in one.statistics
            ]
            has_order = column.type.kind is not Kind.OTHER
            if has_order and masks and float(np.mean(np.logical_or.reduce(masks))) >= _KNOWN:
                known[column.name] = column
        return known

    @property
    def _bounds(self) -> tuple[Entry, ...]:
        return tuple(Entry(name, "min_max") for name in self._with_bounds)

    def _whole_sample(self) -> Sample | None:
        """Slices of the whole table, not only of those that the plan keeps; None when there is no time to read them."""
        advisor = self.advisor
        n = len(advisor.at.slices)
        if len(advisor.sample.slices) == n:
            return advisor.sample
        left = self._deadline - time.perf_counter()
        each = advisor.sample.seconds / max(advisor.sample.files.num_rows, 1)
        files = min(DEFAULT_FILES, int(left / 2 / max(each, 1e-6)))
        if files < min(_MIN_FILES, n):
            return None
        return take_sample(
            advisor.table, advisor.at.slices, chosen_slices(advisor.at.slices, np.arange(n), files), (), {}
        )

    def _rows(self, sample: Sample) -> int:
        """About how many rows the files of a sample have."""
        known = self.advisor.sample
        counts = known.rows[ROWS].to_numpy() if ROWS in known.rows.column_names else np.zeros(0, np.int64)
        counts = counts[counts > 0]
        return int(counts.mean() * sample.files.num_rows) if len(counts) else 0

    # -- why nothing is proposed

    def why_nothing(self) -> str:
        """What was asked in vain."""
        columns_by_sketches: dict[tuple[str, ...], list[str]] = {}
        for on, sketches in self._tried_sketches().items():
            columns_by_sketches.setdefault(tuple(sketches), []).append(on)
        if not columns_by_sketches:
            return "its conditions name no column that an index could be of"
        tried = "; ".join(f"{', '.join(names)} of {', '.join(on)}" for names, on in columns_by_sketches.items())
        which = "all" if self._is_whole else f"{len(self.advisor.sample.slices)} of"
        why = f"by the data of {which} the kept file slices, each would still be kept with {tried}"
        if self._tried_layouts:
            why += f"; clustering by {' or '.join(self._tried_layouts)} would skip less than a fifth of them"
        return why

    def _tried_sketches(self) -> dict[str, list[str]]:
        """By column or expression the sketches that could tell something of the filter."""
        tried: dict[str, list[str]] = {}
        for entry in self._offered:
            tried.setdefault(entry.on, []).append(entry.sketch.partition("(")[0])
        return tried


def _check(plan: Plan, seconds: float) -> None:
    """Raise for a plan whose data is not asked, before a file is read."""
    if plan.opened is None or plan.explanation is None:
        raise NotAskedError("the filter could not be evaluated")
    if not len(plan.kept_rows):
        raise NothingHelpsError("no file slice is kept")
    if len(plan.fully_matched) == len(plan.kept_rows):
        raise NothingHelpsError("every row of the kept file slices matches")
    leaves = plan.explanation.bound.leaves
    reasons = [leaf.reason for leaf in leaves if leaf.reason]
    if len(reasons) == len(leaves):
        raise NothingHelpsError(f"no statistics decide it: {reasons[0]}")
    if not seconds:
        raise NotAskedError("no time was given to read files")
    if len(plan.slices) > MAX_SLICES:
        raise NotAskedError(f"the table has {len(plan.slices):,} file slices: sargo advise takes its time")
    if plan.slices.instant != plan.opened.at().slices.instant:
        raise NotAskedError("the plan is of an earlier instant, and indexes are of the latest")


def _sizes(plan: Plan) -> list[int]:
    """The bytes of each slice."""
    assert plan.opened is not None
    files, _ = table_files(plan.opened.table)
    sizes = dict(zip(files.column("path").to_pylist(), files.column("size").to_pylist(), strict=True))
    return [sum(sizes.get(path, 0) for path in item.files) for item in plan.slices]
