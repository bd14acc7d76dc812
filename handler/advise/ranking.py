"""Which indexes of one's own would be worth their bytes: what ``sargo advise`` finds out before anything is built.

    filters of a workload     every sketch of every column that they name, ranked by file slices that it leaves out,
                              over all filters, which nothing that the table has leaves out, per byte of index
    no workload               every sketch of every column, ranked by its score (``own.effectiveness``)

A bounded sample of files is read, once, by the code that builds indexes, and asked by the code that answers filters;
what holds for it is carried over to the table (``own.sample``). What the table's indexes keep is not estimated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.evaluation.evaluate import StatisticsProvider
from handler.advise.advisor import Advisor, Asked
from handler.advise.candidate_scores import score_of, values_of
from handler.advise.workload import LoggedFilter, Workload
from index_store import TableError
from index_store.own.advice.selectivity_score import Effectiveness, of_statistics
from index_store.own.definition import Entry
from index_store.own.sketches import parse_sketch

__all__ = ["Advice", "Candidate", "Remaining", "Step", "advise"]

#: A set of sketches grows while the next one leaves out this share of what is kept.
WORTH, MAX_CHOSEN = 0.01, 6


@dataclass(frozen=True, slots=True)
class Candidate:
    """One sketch of one column or expression, before it is built.

    skipped    file slices that it leaves out and nothing else does, added up over all filters that were asked
    alone      the same if the table had no other index; None without a workload
    filters    of how many distinct filters it leaves out something
    size       bytes of an index of nothing else; ``seconds`` to build it here
    score      how well it tells slices apart; None if that cannot be told
    existing   what the table has that does as much already, or ""
    """

    entry: Entry
    skipped: float
    alone: float | None
    filters: int
    size: int
    seconds: float
    score: Effectiveness | None
    from_footers: bool
    existing: str = ""

    @property
    def per_byte(self) -> float:
        """Slices left out per byte of index."""
        return self.skipped / max(self.size, 1)


@dataclass(frozen=True, slots=True)
class Step:
    """One sketch of the set that is proposed: what it leaves out beside those before it, and what it adds in bytes."""

    entry: Entry
    skipped: float
    size: int


@dataclass(frozen=True, slots=True)
class Remaining:
    """A filter of the workload: slices that it keeps ``now``, and ``after`` the chosen sketches; None: not seen.

    Not seen are filters that keep nothing of the sample.
    """

    filter: LoggedFilter
    now: int
    after: float | None


@dataclass(frozen=True, slots=True)
class Advice:
    """What was found out. ``kept`` and ``slices`` are added up over all filters that were asked.

    sampled     of how many slices the files were read; ``complete``: of all
    candidates  best first; ``chosen``: those that together are worth it; ``remaining``: what filters keep with them
    names       of the indexes that the table has
    undecided   filters that no sketch can help, by the reason
    unbound     the same of filters that do not fit the table
    """

    table: str
    instant: str | None
    slices: int
    sampled: int
    files: int
    all_files: int
    sample_bytes: int
    all_bytes: int
    sample_seconds: float
    failed: Mapping[str, str]
    workload: Workload | None
    asked: int
    kept: float
    candidates: tuple[Candidate, ...]
    chosen: tuple[Step, ...]
    chosen_size: int = 0
    chosen_seconds: float = 0.0
    undecided: Mapping[str, int] = field(default_factory=dict)
    unbound: Mapping[str, int] = field(default_factory=dict)
    remaining: tuple[Remaining, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def unseen(self) -> int:
        """How many distinct filters keep slices, but none of the sample."""
        return sum(one.after is None for one in self.remaining)

    @property
    def complete(self) -> bool:
        return self.sampled == self.slices


@dataclass(frozen=True, eq=False)
class _Gain:
    """What candidates say to one filter: by entry, beside what the table has."""

    asked: Asked
    scale: float  # slices of the table for each kept one of the sample
    existing: list[StatisticsProvider]
    before: npt.NDArray[np.bool_]
    said: dict[Entry, StatisticsProvider]


def advise(advisor: Advisor) -> Advice:
    """Rank the candidates. Raises TableError when the sample cannot be read at all."""
    sample = advisor.sample
    if sample.files.num_rows and len(sample.failed) == sample.files.num_rows:
        path, why = next(iter(sample.failed.items()))
        raise TableError(f"{advisor.opened.path}/{path}", f"no file of the sample can be read: {why}")
    by_workload = advisor.workload is not None
    gains = [_gain_of(advisor, one) for one in advisor.asked]
    measured = _measured(advisor, gains) if by_workload else _scored(advisor)
    chosen, remaining = _chosen(advisor, gains, measured) if by_workload else ([], [])
    entries = [one.entry for one in chosen]
    undecided: dict[str, int] = {}
    for one in advisor.asked:
        if one.why_undecided:
            undecided[one.why_undecided] = undecided.get(one.why_undecided, 0) + one.filter.count
    return Advice(
        advisor.opened.path,
        advisor.at.slices.instant,
        advisor.n,
        len(sample.slices),
        sample.files.num_rows,
        sample.all_files,
        sample.bytes,
        sample.all_bytes,
        sample.seconds,
        dict(sample.failed),
        advisor.workload,
        sum(one.filter.count for one in advisor.asked),
        float(sum(one.filter.count * len(one.kept) for one in advisor.asked)),
        measured,
        tuple(chosen),
        sample.index_bytes(*entries) if entries else 0,
        sample.build_seconds(*entries) if entries else 0.0,
        undecided,
        dict(advisor.unbound),
        tuple(remaining),
        advisor.names,
    )


# -- by the filters of a workload


def _gain_of(advisor: Advisor, asked: Asked) -> _Gain:
    existing = advisor.existing_sources(asked.needs)
    before = advisor.kept_of(asked, existing)
    said = {entry: source for entry in advisor.entries if (source := advisor.source(entry, asked.needs)) is not None}
    return _Gain(asked, len(asked.kept) / before.sum() if before.any() else 0.0, existing, before, said)


def _measured(advisor: Advisor, gains: Sequence[_Gain]) -> tuple[Candidate, ...]:
    values = values_of(advisor.sample, advisor.columns)
    found = []
    for entry in advisor.entries:
        skipped = alone = 0.0
        helped = 0
        for gain in gains:
            source = gain.said.get(entry)
            if source is None:
                continue
            count = gain.asked.filter.count
            after = advisor.kept_of(gain.asked, [*gain.existing, source])
            extra = float(np.count_nonzero(gain.before & ~after)) * gain.scale
            skipped += count * extra
            helped += extra > 0
            by_itself = np.count_nonzero(~advisor.kept_of(gain.asked, [source]))
            alone += count * by_itself * advisor.n / max(len(advisor.sample.slices), 1)
        existing = _existing_of(advisor, gains, entry) if alone > 0 and skipped == 0 else ""
        found.append(_candidate(advisor, entry, values, skipped, alone, helped, existing))
    return tuple(sorted(found, key=lambda one: (-one.per_byte, -(one.alone or 0) / max(one.size, 1))))


def _candidate(
    advisor: Advisor,
    entry: Entry,
    values: Mapping[str, Sequence[tuple[int, object]]],
    skipped: float,
    alone: float | None,
    helped: int,
    existing: str,
) -> Candidate:
    sample = advisor.sample
    score = score_of(sample, entry, advisor.table.schema, values)
    return Candidate(
        entry,
        skipped,
        alone,
        helped,
        sample.index_bytes(entry),
        sample.build_seconds(entry),
        None if score is None else score.scaled(advisor.n),
        parse_sketch(entry.sketch).from_footers
        and advisor.table.schema.resolve(entry.on, case_sensitive=True) is not None,
        existing,
    )


def _existing_of(advisor: Advisor, gains: Sequence[_Gain], entry: Entry) -> str:
    """Which of the table's indexes leave out what the candidate would, those first that leave out most."""
    counts: dict[str, int] = {}
    for gain in gains:
        if entry in gain.said:
            for source in gain.existing:
                skipped = int(np.count_nonzero(~advisor.kept_of(gain.asked, [source])))
                if skipped:
                    counts[source.name] = counts.get(source.name, 0) + skipped
    return ", ".join(sorted(counts, key=lambda name: -counts[name]))


def _chosen(
    advisor: Advisor, gains: Sequence[_Gain], measured: Sequence[Candidate]
) -> tuple[list[Step], list[Remaining]]:
    """Sketches that together leave out most per byte, each counted beside those before it; and what is kept then."""
    enough = WORTH * sum(gain.asked.filter.count * len(gain.asked.kept) for gain in gains)
    left = [one.entry for one in measured if one.skipped > 0]
    steps: list[Step] = []
    now = {id(gain): (list(gain.existing), gain.before) for gain in gains}
    size = 0
    while left and len(steps) < MAX_CHOSEN:
        best: tuple[float, Step] | None = None
        for entry in left:
            added = advisor.sample.index_bytes(*(one.entry for one in steps), entry) - size
            extra = 0.0
            for gain in gains:
                if entry in gain.said and gain.scale:
                    sources, before = now[id(gain)]
                    after = advisor.kept_of(gain.asked, [*sources, gain.said[entry]])
                    extra += gain.asked.filter.count * float(np.count_nonzero(before & ~after)) * gain.scale
            if extra > 0 and extra >= enough and (best is None or extra / max(added, 1) > best[0]):
                best = extra / max(added, 1), Step(entry, extra, added)
        if best is None:
            break
        step = best[1]
        steps.append(step)
        left.remove(step.entry)
        size = advisor.sample.index_bytes(*(one.entry for one in steps))
        for gain in gains:
            if step.entry in gain.said:
                sources = [*now[id(gain)][0], gain.said[step.entry]]
                now[id(gain)] = sources, advisor.kept_of(gain.asked, sources)
    remaining = [
        Remaining(
            gain.asked.filter,
            len(gain.asked.kept),
            float(now[id(gain)][1].sum()) * gain.scale if gain.scale or not len(gain.asked.kept) else None,
        )
        for gain in gains
    ]
    return steps, remaining


# -- by scores alone


def _scored(advisor: Advisor) -> tuple[Candidate, ...]:
    values = values_of(advisor.sample, advisor.columns)
    found = []
    has = _existing_scores(advisor)
    for entry in advisor.entries:
        one = _candidate(advisor, entry, values, 0.0, None, 0, "")
        name, score = has.get(entry.on, ("", 0.0))
        mine = one.score.score if one.score else 0.0
        found.append(replace(one, existing=name if name and mine <= score else ""))
    return tuple(
        sorted(found, key=lambda one: (bool(one.existing), -round(one.score.score if one.score else 0.0), one.size))
    )


def _existing_scores(advisor: Advisor) -> dict[str, tuple[str, float]]:
    """Of each column the table's best index and the score of its statistics."""
    found: dict[str, tuple[str, float]] = {}
    for source in advisor.existing_sources(RequiredStatistics(bounds=advisor.columns)):
        for name, statistics in source.statistics.items():
            if not (statistics.lo_known | statistics.hi_known | ~statistics.may_be_value).any():
                continue
            score = of_statistics(statistics).score
            if name not in found or score > found[name][1]:
                found[name] = source.name, score
    return found
