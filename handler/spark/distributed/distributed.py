"""Statistics that do not fit one machine: the same evaluator as a Spark job, one task for each run of slices.

    listing      an executor lists the table's slices and writes them into a shared folder, once for a state
    asking       executors ask the index kinds what the filter needs, one question each, and write down the answers
    evaluating   executors read the statistics of a run of slices, evaluate the bound filter, and give back one byte for
                 each slice, compressed, and the names of the slices that are kept

The driver opens the table, binds the filter and holds the answer: neither slices nor statistics. Keys (bloom filters,
record index and the like) are looked up by the driver, for the slices that statistics leave, as they always are. The
answer is that of one machine, bit for bit, with the two exceptions of ``evaluator.evaluation.layered_evaluation``.

What people ask afterwards (what each condition did, why not more was skipped) reads the columns onto the driver then.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from platformdirs import user_cache_path

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import Lookup
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import FilterMightMatch, Match
from evaluator.evaluation.evaluate import Evaluation, LeafOutcomes, MightContain, StatisticsProvider
from evaluator.evaluation.whole_evaluation import WholeEvaluation
from evaluator.language import outcome
from evaluator.language.errors import SargoError
from evaluator.language.expression import Constant
from evaluator.language.outcome import Outcomes
from handler.spark.distributed.chunks import slices_from_arrow, slices_to_arrow
from handler.spark.distributed.driver_views import SlicesFromRuns, lazy_sources
from handler.spark.distributed.executors import on_executors
from handler.spark.distributed.shared_folder import SharedFolder
from handler.spark.distributed.stored_answers import (
    Answer,
    Answers,
    StateFolder,
    StoredSlices,
    name_of,
    write_answers,
    write_slices,
)
from index_store import FileSlice, FileSlices, IndexKind, Table
from index_store.kinds.base import filter_match_of
from index_store.opened_table import OpenTable, TableAtInstant, TableStatistics
from index_store.storage.errors import TableError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["SLICES_PER_FILE", "DistributedTable", "open_distributed"]

Rows = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Run = Callable[[Sequence[Callable[[], Any]]], "list[Any]"]

#: Enough for a vectorised evaluation to be worth a task, few enough for any executor's memory.
SLICES_PER_FILE = 100_000
_FOLDER_SETTING = "spark.sargo.sharedFolder"


def open_distributed(
    spark: SparkSession,
    path: str,
    *,
    options: Mapping[str, str] | None = None,
    storage_options: Mapping[str, str] | None = None,
    shared_folder: str | None = None,
    slices_per_file: int = SLICES_PER_FILE,
) -> DistributedTable:
    """Open a table for ``handler.prune`` whose statistics stay on the executors.

    ``shared_folder``: a path or URI that driver and executors can read and write, with the same storage options; by
    default the setting ``spark.sargo.sharedFolder``, and on a local master the user's cache folder. ``path`` must mean
    the same table on every machine. Raises TableError when there is no table, or no such folder is known.
    """
    folder = shared_folder or spark.conf.get(_FOLDER_SETTING, "") or _local_folder(spark)
    stored = tuple(sorted((storage_options or {}).items()))
    place = StateFolder(
        path, None, tuple(sorted((options or {}).items())), stored, SharedFolder(folder, stored), slices_per_file
    )
    return DistributedTable(partial(on_executors, spark), place)


def _local_folder(spark: SparkSession) -> str:
    if not (spark.conf.get("spark.master", "") or "").startswith("local"):
        raise TableError(
            "distributed=True",
            "name a folder that the driver and all executors can read and write: "
            f"shared_folder=..., or the setting {_FOLDER_SETTING}",
        )
    return str(Path(user_cache_path("sargo")) / "shared")


class DistributedTable(OpenTable):
    """A handle on a table, made by ``open_distributed``; ``handler.prune`` takes it in place of a path.

    ``run`` runs tasks somewhere, each of which can be pickled, and gives their results in order.
    """

    def __init__(self, run: Run, place: StateFolder) -> None:
        super().__init__(place.open(), None)
        self._run = run
        self._place = place

    def at(self, as_of: str | None = None) -> TableAtInstant:
        """Slices and kinds at an instant. Raises TableError when the slices cannot be listed."""
        found = self._at.get(as_of)
        if found is None:
            place = replace(self._place, as_of=as_of)
            states = place.of_table(self.table)
            state = place.state(self.table)
            stored = None if state is None else StoredSlices.find(states.below(state))
            if stored is None:
                [written] = self._run([partial(write_slices, place)])
                if written != (state or written):
                    raise TableError(place.path, "the table changed while its slices were listed: open it again")
                stored = StoredSlices.find(states.below(written))
            if stored is None:
                raise TableError(place.folder.path, "what executors write here cannot be read by the driver")
            slices = _slices_of(stored, SlicesFromRuns(stored))
            found = _DistributedAt(slices, (), run=self._run, table=self.table, place=place, stored=stored)
            self._at[as_of] = found
        return found


def _slices_of(stored: StoredSlices, items: Sequence[FileSlice]) -> FileSlices:
    return FileSlices(stored.instant, stored.source, items, stored.note)


@dataclass(frozen=True, slots=True, kw_only=True)
class _DistributedAt(TableAtInstant):
    run: Run
    table: Table
    place: StateFolder
    stored: StoredSlices

    def provide(self, required: RequiredStatistics, on_failure: Callable[[str, Exception], None]) -> TableStatistics:
        """What every kind says: where that is written down, and the kinds that have keys."""
        questions = [part for part in required.parts() if not part.keys]
        folder = self.stored.folder
        known = {
            number: said
            for number, question in enumerate(questions)
            if (said := folder.read_json(f"{name_of(question)}.json")) is not None
        }
        answers = [Answer.from_plain(plain) for said in known.values() for plain in said["answers"]]
        missing = [question for number, question in enumerate(questions) if number not in known]
        for written in self.run([partial(write_answers, self.place, self.stored, one) for one in missing]):
            answers += written
        for one in answers:
            if one.failure:
                on_failure(one.kind, _ExecutorError(one.failure))
        said_by_kinds = Answers(folder, tuple(one for one in answers if not one.failure))
        return _DistributedAnswers(
            lazy_sources(said_by_kinds), at=self, answers=said_by_kinds, asked=required, on_failure=on_failure
        )


class _ExecutorError(SargoError):
    """What failed on an executor, in the words it had there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _DistributedAnswers(TableStatistics):
    at: _DistributedAt
    answers: Answers
    asked: RequiredStatistics
    on_failure: Callable[[str, Exception], None]

    def evaluate(self, bound: BoundExpression, n: int) -> Evaluation:
        """The outcome of a filter in the table's n slices, worked out by executors."""
        stored, with_leaves = self.at.stored, bool(self.asked.keys)
        shipped = replace(bound, expression=Constant(True))  # a tree may be too deep to travel
        evaluating = partial(_evaluate_run, stored, self.answers, shipped, with_leaves)
        found = self.at.run([partial(evaluating, number) for number in range(len(stored.files))])
        outcomes = np.concatenate(
            [np.frombuffer(zlib.decompress(one.outcomes), np.uint8) for one in found] or [np.zeros(0, np.uint8)]
        )
        kept = [item for one in found for item in slices_from_arrow(pa.ipc.open_stream(one.kept).read_all())]
        rows = np.flatnonzero(outcomes & outcome.TRUE)
        assert isinstance(self.at.slices.items, SlicesFromRuns)
        self.at.slices.items.remember(rows, kept)
        leaves = (
            np.concatenate(
                [np.frombuffer(zlib.decompress(one.leaves), np.uint8).reshape(len(bound.leaves), -1) for one in found],
                axis=1,
            )
            if with_leaves and found
            else None
        )
        sources = {source.name: source for source in self.providers}
        for name, might_contain, filter_might_match in self._kinds_on_the_driver(rows, kept, n):
            sources[name] = replace(
                sources.get(name, StatisticsProvider(name, {})),
                might_contain=might_contain,
                filter_might_match=filter_might_match,
            )
        providers = list(sources.values())
        return Evaluation(bound, _EvaluationOnExecutors(bound, outcomes, leaves, providers), providers)

    def _kinds_on_the_driver(
        self, rows: Rows, kept: list[FileSlice], n: int
    ) -> Iterator[tuple[str, MightContain | None, FilterMightMatch | None]]:
        """The kinds that have keys or match whole filters, made for the slices that statistics leave."""
        if not kept:
            return
        slices = _slices_of(self.at.stored, kept)
        for kind in self.at.table.kinds(slices):
            try:
                needs = kind.requires(self.asked)
            except Exception as error:
                self.on_failure(kind.name, error)
                continue
            filter_might_match = filter_match_of(kind) if needs else None
            if needs.keys or filter_might_match:
                yield (
                    kind.name,
                    self._looking_up(kind, needs.keys, rows, n) if needs.keys else None,
                    self._matching(kind.name, filter_might_match, rows, n) if filter_might_match else None,
                )

    def _matching(self, name: str, filter_might_match: FilterMightMatch, rows: Rows, n: int) -> FilterMightMatch:
        def matched(bound: BoundExpression, candidates: Mask) -> Match | None:
            try:
                said = filter_might_match(bound, candidates[rows])
            except Exception as error:
                self.on_failure(name, error)
                return None
            if said is None:
                return None
            found: Mask = np.zeros(n, np.bool_)
            found[rows] = said.filter_might_match
            return replace(said, filter_might_match=found)

        return matched

    def _looking_up(self, kind: IndexKind, keys: tuple[Lookup, ...], rows: Rows, n: int) -> MightContain:
        def might_contain(lookup: Lookup, candidates: Mask) -> Mask | None:
            if lookup not in keys:
                return None
            try:
                look_up = kind.provide(RequiredStatistics(keys=(lookup,))).might_contain
                said = None if look_up is None else look_up(lookup, candidates[rows])
            except Exception as error:
                self.on_failure(kind.name, error)
                return None
            if said is None:
                return None
            found: Mask = np.zeros(n, np.bool_)
            found[rows] = said
            return found

        return might_contain


class _EvaluationOnExecutors:
    """The outcomes that executors found (see ``StatisticsEvaluation``).

    A question whose answer they did not send is evaluated on the driver, which reads the columns for it.

    outcomes   ``(n,) uint8``
    leaves     ``(leaves, k) uint8``: of each leaf in the slices that statistics keep, if there are keys to look up
    """

    def __init__(
        self, bound: BoundExpression, outcomes: Outcomes, leaves: Outcomes | None, sources: Sequence[StatisticsProvider]
    ) -> None:
        self.n = len(outcomes)
        self.outcomes = outcomes
        self._kept: Rows = np.flatnonzero(outcomes & outcome.TRUE)
        self._leaves_of_kept = leaves
        self._on_driver = WholeEvaluation(bound, self.n, sources)

    @property
    def leaves(self) -> Sequence[LeafOutcomes]:
        """Each leaf of the filter in every slice."""
        return self._on_driver.leaves

    def kept_by_statistics(self) -> Rows:
        """``(k,) int64``, ascending: the slices in which TRUE is possible."""
        return self._kept

    def outcomes_at(self, rows: Rows) -> Outcomes:
        """``(k,) uint8``: the outcomes of some slices."""
        found: Outcomes = self.outcomes[rows]
        return found

    def leaf_at(self, index: int, rows: npt.NDArray[Any]) -> Outcomes:
        """``(k,) uint8``: the outcomes of one leaf in some slices."""
        if self._leaves_of_kept is None or not len(self._kept):
            return self._on_driver.leaf_at(index, rows)
        positions = np.searchsorted(self._kept, rows).clip(max=len(self._kept) - 1)
        if not (self._kept[positions] == rows).all():
            return self._on_driver.leaf_at(index, rows)
        found: Outcomes = self._leaves_of_kept[index, positions]
        return found


# -- what runs on executors


@dataclass(frozen=True, slots=True)
class _Found:
    outcomes: bytes
    leaves: bytes
    kept: bytes


def _evaluate_run(
    stored: StoredSlices,
    answers: Answers,
    bound: BoundExpression,
    with_leaves: bool,
    number: int,
) -> _Found:
    n = min(stored.run, stored.n - number * stored.run)
    evaluation = WholeEvaluation(bound, n, answers.sources(number))
    outcomes = evaluation.outcomes
    rows = np.flatnonzero(outcomes & outcome.TRUE)
    leaves = (
        b"".join(evaluation.leaf_at(index, rows).tobytes() for index in range(len(bound.leaves)))
        if with_leaves
        else b""
    )
    kept = slices_to_arrow([])
    if len(rows):
        kept = stored.folder.read_table(stored.files[number]).take(pa.array(rows))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, kept.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(kept)
    return _Found(zlib.compress(outcomes.tobytes(), 1), zlib.compress(leaves, 1), sink.getvalue().to_pybytes())
