"""Statistics that do not fit one machine: the same evaluator as a Spark job, one task for each run of slices.

    list         an executor lists the table's slices and writes them into a shared folder, once for a state
    provide      executors read the statistics that the filter requires, one question each, and store them there
    evaluate     executors read the statistics of a run of slices, evaluate the bound filter, and return one byte for
                 each slice, compressed, and the names of the slices that are kept

The driver opens the table, binds the filter and holds the outcomes: neither slices nor statistics. It looks up keys
(bloom filters, record index and the like) itself, for the slices that statistics keep. The outcomes are those of one
machine, bit for bit, with the two exceptions of ``evaluator.evaluation.layered_evaluation``.

An explanation (what each condition did, why not more was skipped) reads the columns onto the driver.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from platformdirs import user_cache_path

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import Lookup
from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import Declined, FilterMightMatch, Match
from evaluator.evaluation.evaluate import Evaluation, MightContain, StatisticsProvider
from evaluator.language import outcome
from evaluator.language.errors import SargoError
from evaluator.language.expression import Constant
from evaluator.language.records import frozen
from handler.spark.distributed.driver_views import SlicesFromRuns, lazy_providers
from handler.spark.distributed.executor_evaluation import (
    ExecutorEvaluation,
    RunOutcomes,
    evaluate_run,
    joined_leaves,
    joined_outcomes,
)
from handler.spark.distributed.executors import on_executors
from handler.spark.distributed.shared_folder import SharedFolder
from handler.spark.distributed.stored_statistics import (
    StateFolder,
    StoredProviders,
    StoredSlices,
    StoredStatistics,
    name_of,
    write_slices,
    write_statistics,
)
from index_store import FileSlice, FileSlices, IndexKind, Table
from index_store.kinds.base import filter_match_of
from index_store.opened_table import OpenTable, TableAtInstant, TableStatistics
from index_store.storage.errors import TableError
from index_store.table.table_options import check_table_options

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
    check_table_options(options)
    folder = shared_folder or spark.conf.get(_FOLDER_SETTING, "") or _local_folder(spark)
    stored = tuple(sorted((storage_options or {}).items()))
    state_folder = StateFolder(
        path, None, tuple(sorted((options or {}).items())), stored, SharedFolder(folder, stored), slices_per_file
    )
    return DistributedTable(partial(on_executors, spark), state_folder)


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

    def __init__(self, run: Run, state_folder: StateFolder) -> None:
        super().__init__(state_folder.open(), None)
        self._run = run
        self._state_folder = state_folder

    def at(self, as_of: str | None = None, columns: Collection[str] | None = None) -> TableAtInstant:  # noqa: ARG002
        """Slices and kinds at an instant. Raises TableError when the slices cannot be listed."""
        found = self._at.get(as_of)
        if found is None:
            state_folder = replace(self._state_folder, as_of=as_of)
            states = state_folder.of_table(self.table)
            state = state_folder.state(self.table)
            stored = None if state is None else StoredSlices.find(states.below(state))
            if stored is None:
                [written] = self._run([partial(write_slices, state_folder)])
                if written != (state or written):
                    raise TableError(state_folder.path, "the table changed while its slices were listed: open it again")
                stored = StoredSlices.find(states.below(written))
            if stored is None:
                raise TableError(state_folder.folder.path, "what executors write here cannot be read by the driver")
            slices = _slices_of(stored, SlicesFromRuns(stored))
            found = _DistributedAt(
                slices, (), run=self._run, table=self.table, state_folder=state_folder, stored=stored
            )
            self._at[as_of] = found
        return found


def _slices_of(stored: StoredSlices, items: Sequence[FileSlice]) -> FileSlices:
    return FileSlices(stored.instant, stored.source, items, stored.note)


@frozen(kw_only=True)
class _DistributedAt(TableAtInstant):
    run: Run
    table: Table
    state_folder: StateFolder
    stored: StoredSlices

    def provide(self, required: RequiredStatistics, on_failure: Callable[[str, Exception], None]) -> TableStatistics:
        """The stored statistics of every kind; those of a new question are stored by executors first."""
        folder, records, missing = self.stored.folder, list[StoredStatistics](), list[RequiredStatistics]()
        for question in required.parts():
            if question.keys:
                continue
            plain = folder.read_json(f"{name_of(question)}.json")
            if plain is None:
                missing.append(question)
            else:
                records += map(StoredStatistics.from_plain, plain["answers"])
        writing = partial(write_statistics, self.state_folder, self.stored)
        for written in self.run([partial(writing, question) for question in missing]):
            records += written
        for record in records:
            if record.failure:
                on_failure(record.kind, _ExecutorError(record.failure))
        stored = StoredProviders(folder, tuple(record for record in records if not record.failure))
        return _DistributedStatistics(
            lazy_providers(stored), at=self, stored=stored, required=required, on_failure=on_failure
        )


class _ExecutorError(SargoError):
    """A failure on an executor, with the message that it had there."""


@frozen(kw_only=True)
class _DistributedStatistics(TableStatistics):
    at: _DistributedAt
    stored: StoredProviders
    required: RequiredStatistics
    on_failure: Callable[[str, Exception], None]

    def evaluate(self, bound: BoundExpression, n: int) -> Evaluation:
        """The outcome of a filter in the table's n slices, evaluated by executors."""
        stored, with_leaves = self.at.stored, bool(self.required.keys)
        shipped = replace(bound, expression=Constant(True))  # a tree may be too deep to pickle
        evaluating = partial(evaluate_run, stored, self.stored, shipped, with_leaves)
        runs: list[RunOutcomes] = self.at.run([partial(evaluating, number) for number in range(len(stored.files))])
        outcomes = joined_outcomes(runs)
        kept = [kept for run in runs for kept in run.kept_slices()]
        rows = np.flatnonzero(outcomes & outcome.TRUE)
        assert isinstance(self.at.slices.items, SlicesFromRuns)
        self.at.slices.items.remember(rows, kept)
        leaves = joined_leaves(runs, len(bound.leaves)) if with_leaves and runs else None
        sources = {source.name: source for source in self.providers}
        for name, might_contain, filter_might_match in self._kinds_on_the_driver(rows, kept, n):
            sources[name] = replace(
                sources.get(name, StatisticsProvider(name, {})),
                might_contain=might_contain,
                filter_might_match=filter_might_match,
            )
        providers = list(sources.values())
        return Evaluation(bound, ExecutorEvaluation(bound, outcomes, leaves, providers), providers)

    def _kinds_on_the_driver(
        self, rows: Rows, kept: list[FileSlice], n: int
    ) -> Iterator[tuple[str, MightContain | None, FilterMightMatch | None]]:
        """By name of the kind, look-ups of keys and matches of whole filters in the slices that statistics keep."""
        if not kept:
            return
        slices = _slices_of(self.at.stored, kept)
        for kind in self.at.table.kinds(slices):
            try:
                required = kind.requires(self.required)
            except Exception as error:
                self.on_failure(kind.name, error)
                continue
            filter_might_match = filter_match_of(kind) if required else None
            if required.keys or filter_might_match:
                yield (
                    kind.name,
                    self._looking_up(kind, required.keys, rows, n) if required.keys else None,
                    self._matching(kind.name, filter_might_match, rows, n) if filter_might_match else None,
                )

    def _matching(self, name: str, filter_might_match: FilterMightMatch, rows: Rows, n: int) -> FilterMightMatch:
        def match_on_driver(bound: BoundExpression, candidates: Mask) -> Match | None:
            try:
                match = filter_might_match(bound, candidates[rows])
            except Exception as error:
                self.on_failure(name, error)
                return None
            if match is None:
                return None
            might_match: Mask = np.zeros(n, np.bool_)
            might_match[rows] = match.filter_might_match
            return replace(match, filter_might_match=might_match)

        return match_on_driver

    def _looking_up(self, kind: IndexKind, keys: tuple[Lookup, ...], rows: Rows, n: int) -> MightContain:
        def look_up_on_driver(lookup: Lookup, candidates: Mask) -> Mask | Declined | None:
            if lookup not in keys:
                return None
            try:
                look_up = kind.provide(RequiredStatistics(keys=(lookup,))).might_contain
                of_rows = None if look_up is None else look_up(lookup, candidates[rows])
            except Exception as error:
                self.on_failure(kind.name, error)
                return None
            if isinstance(of_rows, Declined):
                return replace(of_rows, might_contain=expanded(of_rows.might_contain))
            return expanded(of_rows)

        def expanded(of_rows: Mask | None) -> Mask | None:
            if of_rows is None:
                return None
            might_contain: Mask = np.zeros(n, np.bool_)
            might_contain[rows] = of_rows
            return might_contain

        return look_up_on_driver
