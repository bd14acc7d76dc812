"""``advise``: which new indexes would skip most for their size, found out before any is built.

    with a workload      every sketch of every column that its filters name, ranked by the file slices per byte of index
                         that it skips over all filters and that the table's own indexes do not skip already
    without a workload   every sketch of every column, ranked by its score (``own.advice.selectivity_score``)

The sample of files is read once, with the code that builds indexes, and evaluated with the code that answers queries.
What is measured on it is scaled to the table by the number of slices (``own.advice.sample``). What the table's own
indexes keep is exact: it is evaluated on all slices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

import numpy as np

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.language.records import frozen
from handler.advise.advisor import Advisor
from handler.advise.candidate_scores import score_of, values_of
from handler.advise.sampled_filters import SampledFilter, sample_filter
from handler.advise.workload import LoggedFilter, Workload
from handler.planning.plan_pages import shown_in_notebook
from index_store import TableError
from index_store.own.advice.selectivity_score import SelectivityScore, score_of_statistics
from index_store.own.definition import Entry
from index_store.own.sketches import parse_sketch

__all__ = ["Advice", "Candidate", "ChosenEntry", "Proposal", "Remaining", "SampleSize", "WorkloadSummary", "advise"]

#: An entry is added to the proposal while it skips at least this share of the slices that are kept now.
MIN_GAIN, MAX_CHOSEN = 0.01, 6


@frozen(kw_only=True)
class Candidate:
    """One sketch of one column or expression, before it is built.

    skipped        file slices that it skips and the table's indexes do not, added up over all filters as often as asked
    alone          the same if the table had no other index; None without a workload
    filters        the number of distinct filters that skip more with it
    size           bytes of an index of this entry alone; ``seconds`` to build it in this process
    score          how well it tells slices apart; None if that cannot be computed
    from_footers   whether footers suffice to build it
    existing       the table's own indexes that skip as much already, or ""
    """

    entry: Entry
    skipped: float
    alone: float | None
    filters: int
    size: int
    seconds: float
    score: SelectivityScore | None
    from_footers: bool
    existing: str = ""

    @property
    def per_byte(self) -> float:
        """Slices skipped per byte of index."""
        return self.skipped / max(self.size, 1)


@frozen
class ChosenEntry:
    """An entry of the proposed index: what it skips beside the entries before it, and the bytes that it adds."""

    entry: Entry
    skipped: float
    size: int


@frozen
class Remaining:
    """A filter of the workload: slices that it keeps ``now``, and ``after`` the proposed index is built.

    ``after`` is None for a filter that keeps slices of the table but none of the sample.
    """

    filter: LoggedFilter
    now: int
    after: float | None


@frozen
class Proposal:
    """The entries that are worth an index together, its size in bytes and the seconds to build it, and its effect."""

    entries: tuple[ChosenEntry, ...] = ()
    size: int = 0
    seconds: float = 0.0
    remaining: tuple[Remaining, ...] = ()


@frozen
class SampleSize:
    """The files that were read, of ``slices`` file slices: how many of the table's, their bytes, and the time.

    failed   the files that cannot be read, and why
    """

    slices: int
    files: int
    all_files: int
    bytes: int
    seconds: float
    failed: Mapping[str, str]


@frozen
class WorkloadSummary:
    """The filters that were bound to the table, each counted as often as it was asked.

    asked       how often all of them were asked
    kept        the file slices that they keep now, added up
    undecided   filters that no statistics can decide, by the reason
    unbound     filters that do not fit the table, by the reason
    """

    asked: int
    kept: float
    undecided: Mapping[str, int]
    unbound: Mapping[str, int]


@frozen(kw_only=True)
class Advice:
    """The result of ``advise`` for a table of ``slices`` file slices at ``instant``.

    workload     the filters that were read; None: candidates are ranked by their score
    summary      of the filters of the workload
    candidates   best first
    names        of the indexes that the table has
    options      of the definition of the candidates: the trees of expressions, and their zone
    """

    table: str
    instant: str | None
    slices: int
    sample: SampleSize
    workload: Workload | None
    summary: WorkloadSummary
    candidates: tuple[Candidate, ...]
    proposal: Proposal
    names: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def unseen(self) -> int:
        """How many distinct filters keep slices of the table, but none of the sample."""
        return sum(one.after is None for one in self.proposal.remaining)

    def _repr_html_(self) -> str | None:
        return shown_in_notebook(self)

    @property
    def complete(self) -> bool:
        """Whether the sample is the whole table, so that nothing is estimated."""
        return self.sample.slices == self.slices


def advise(advisor: Advisor) -> Advice:
    """Rank the candidates. Raises TableError when the sample cannot be read at all."""
    sample = advisor.sample
    if sample.files.num_rows and len(sample.failed) == sample.files.num_rows:
        path, why = next(iter(sample.failed.items()))
        raise TableError(f"{advisor.opened.path}/{path}", f"no file of the sample can be read: {why}")
    if advisor.workload is not None:
        filters = [sample_filter(advisor, one) for one in advisor.filters]
        candidates = _rank_by_workload(advisor, filters)
        proposal = _propose(advisor, filters, candidates)
    else:
        candidates, proposal = _rank_by_score(advisor), Proposal()
    return Advice(
        table=advisor.opened.path,
        instant=advisor.at.slices.instant,
        slices=advisor.n,
        sample=SampleSize(
            len(sample.slices),
            sample.files.num_rows,
            sample.totals.files,
            sample.bytes,
            sample.seconds,
            dict(sample.failed),
        ),
        workload=advisor.workload,
        summary=_summary(advisor),
        candidates=candidates,
        proposal=proposal,
        names=advisor.names,
        options=advisor.options,
    )


def _summary(advisor: Advisor) -> WorkloadSummary:
    undecided: dict[str, int] = {}
    for one in advisor.filters:
        if one.why_undecided:
            undecided[one.why_undecided] = undecided.get(one.why_undecided, 0) + one.filter.count
    return WorkloadSummary(
        sum(one.filter.count for one in advisor.filters),
        float(sum(one.filter.count * len(one.kept) for one in advisor.filters)),
        undecided,
        dict(advisor.unbound),
    )


# -- by the filters of a workload


def _rank_by_workload(advisor: Advisor, filters: Sequence[SampledFilter]) -> tuple[Candidate, ...]:
    values = values_of(advisor.sample, advisor.columns)
    candidates = []
    for entry in advisor.entries:
        skipped = alone = 0.0
        helped = 0
        for one in filters:
            provider = one.offered.get(entry)
            if provider is None:
                continue
            extra = one.saved(one.before, advisor.kept(one.filter, [*one.existing, provider]))
            skipped += one.count * extra
            helped += extra > 0
            by_itself = np.count_nonzero(~advisor.kept(one.filter, [provider]))
            alone += one.count * by_itself * advisor.n / max(len(advisor.sample.slices), 1)
        existing = _existing_of(advisor, filters, entry) if alone > 0 and skipped == 0 else ""
        candidates.append(
            replace(_unused(advisor, entry, values), skipped=skipped, alone=alone, filters=helped, existing=existing)
        )
    return tuple(sorted(candidates, key=lambda one: (-one.per_byte, -(one.alone or 0) / max(one.size, 1))))


def _unused(advisor: Advisor, entry: Entry, values: Mapping[str, Sequence[tuple[int, object]]]) -> Candidate:
    """An entry with its cost and score, as if no filter used it."""
    sample, schema = advisor.sample, advisor.table.schema
    score = score_of(sample, entry, schema, values)
    return Candidate(
        entry=entry,
        skipped=0.0,
        alone=None,
        filters=0,
        size=sample.index_bytes(entry),
        seconds=sample.build_seconds(entry),
        score=None if score is None else score.scaled(advisor.n),
        from_footers=parse_sketch(entry.sketch).from_footers
        and schema.resolve(entry.on, case_sensitive=True) is not None,
    )


def _existing_of(advisor: Advisor, filters: Sequence[SampledFilter], entry: Entry) -> str:
    """The table's own indexes that skip slices for the filters that the entry serves, those first that skip most."""
    counts: dict[str, int] = {}
    for one in filters:
        if entry in one.offered:
            for provider in one.existing:
                skipped = int(np.count_nonzero(~advisor.kept(one.filter, [provider])))
                if skipped:
                    counts[provider.name] = counts.get(provider.name, 0) + skipped
    return ", ".join(sorted(counts, key=lambda name: -counts[name]))


def _propose(advisor: Advisor, filters: Sequence[SampledFilter], candidates: Sequence[Candidate]) -> Proposal:
    """Choose entries one by one: each time the one that skips most per byte beside those chosen before it."""
    min_gain = MIN_GAIN * sum(one.count * len(one.filter.kept) for one in filters)
    left = [candidate.entry for candidate in candidates if candidate.skipped > 0]
    chosen: list[ChosenEntry] = []
    #: By filter: the statistics so far, and what it keeps by them.
    states = [(list(one.existing), one.before) for one in filters]
    size = 0
    while left and len(chosen) < MAX_CHOSEN:
        best: tuple[float, ChosenEntry] | None = None
        for entry in left:
            added = advisor.sample.index_bytes(*(step.entry for step in chosen), entry) - size
            extra = 0.0
            for one, (providers, kept) in zip(filters, states, strict=True):
                if entry in one.offered and one.scale:
                    extra += one.count * one.saved(kept, advisor.kept(one.filter, [*providers, one.offered[entry]]))
            if extra > 0 and extra >= min_gain and (best is None or extra / max(added, 1) > best[0]):
                best = extra / max(added, 1), ChosenEntry(entry, extra, added)
        if best is None:
            break
        step = best[1]
        chosen.append(step)
        left.remove(step.entry)
        size = advisor.sample.index_bytes(*(one.entry for one in chosen))
        for place, one in enumerate(filters):
            if step.entry in one.offered:
                providers = [*states[place][0], one.offered[step.entry]]
                states[place] = providers, advisor.kept(one.filter, providers)
    remaining = tuple(
        Remaining(
            one.filter.filter,
            len(one.filter.kept),
            float(kept.sum()) * one.scale if one.scale or not len(one.filter.kept) else None,
        )
        for one, (_, kept) in zip(filters, states, strict=True)
    )
    entries = [step.entry for step in chosen]
    seconds = advisor.sample.build_seconds(*entries) if entries else 0.0
    return Proposal(tuple(chosen), size, seconds, remaining)


# -- by scores alone


def _rank_by_score(advisor: Advisor) -> tuple[Candidate, ...]:
    values = values_of(advisor.sample, advisor.columns)
    existing_scores = _existing_scores(advisor)
    candidates = []
    for entry in advisor.entries:
        candidate = _unused(advisor, entry, values)
        name, existing = existing_scores.get(entry.on, ("", 0.0))
        candidates.append(replace(candidate, existing=name if name and _score(candidate) <= existing else ""))
    return tuple(sorted(candidates, key=lambda one: (bool(one.existing), -round(_score(one)), one.size)))


def _score(candidate: Candidate) -> float:
    return candidate.score.score if candidate.score else 0.0


def _existing_scores(advisor: Advisor) -> dict[str, tuple[str, float]]:
    """By column the table's own index with the best score, and that score."""
    best: dict[str, tuple[str, float]] = {}
    for provider in advisor.existing_providers(RequiredStatistics(bounds=advisor.columns)):
        for name, statistics in provider.statistics.items():
            if not (statistics.lo_known | statistics.hi_known | ~statistics.may_be_value).any():
                continue
            score = score_of_statistics(statistics).score
            if name not in best or score > best[name][1]:
                best[name] = provider.name, score
    return best
