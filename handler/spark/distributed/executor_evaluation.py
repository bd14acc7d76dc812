"""The evaluation of a filter by Spark executors: one task for each run of slices, and its results on the driver.

task    reads the statistics of a run, evaluates the bound filter by them, and returns a ``RunOutcomes``
driver  joins these to an ``ExecutorEvaluation``, on which ``evaluation.evaluate.Evaluation`` looks up keys
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.evaluation.judged_by_file import judged_by_file
from evaluator.evaluation.statistics_evaluation import LeafOutcomes, RowIndices
from evaluator.evaluation.whole_evaluation import WholeEvaluation
from evaluator.language import outcome
from evaluator.language.outcome import Outcomes
from evaluator.language.records import frozen
from handler.spark.distributed.chunks import slices_from_arrow, slices_to_arrow
from handler.spark.distributed.stored_statistics import StoredProviders, StoredSlices
from index_store import FileSlice

__all__ = ["ExecutorEvaluation", "RunOutcomes", "evaluate_run", "joined_leaves", "joined_outcomes"]


@frozen
class RunOutcomes:
    """The outcomes of one run of slices, compressed for the way to the driver.

    outcomes   a byte for each slice
    leaves     leaf by leaf, a byte for each kept slice; empty unless the driver looks up keys
    kept       the kept slices, as an Arrow stream
    """

    outcomes: bytes
    leaves: bytes
    kept: bytes

    def kept_slices(self) -> list[FileSlice]:
        """The slices of the run that statistics keep."""
        return slices_from_arrow(pa.ipc.open_stream(self.kept).read_all())


def evaluate_run(
    stored: StoredSlices, providers: StoredProviders, bound: BoundExpression, with_leaves: bool, number: int
) -> RunOutcomes:
    """Evaluate a filter in one run of slices; runs on an executor."""
    n = min(stored.run, stored.n - number * stored.run)
    of_run = providers.providers(number)
    judged = judged_by_file(bound, of_run)
    evaluation = WholeEvaluation(judged, n, of_run)
    outcomes = evaluation.outcomes
    rows = np.flatnonzero(outcomes & outcome.TRUE)
    leaves = b""
    if with_leaves:
        of_leaves = evaluation if judged is bound else WholeEvaluation(bound, n, of_run)
        leaves = b"".join(of_leaves.leaf_at(index, rows).tobytes() for index in range(len(bound.leaves)))
    kept = slices_to_arrow([])
    if len(rows):
        kept = stored.named(number).take(pa.array(rows))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, kept.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(kept)
    return RunOutcomes(zlib.compress(outcomes.tobytes(), 1), zlib.compress(leaves, 1), sink.getvalue().to_pybytes())


def joined_outcomes(runs: Sequence[RunOutcomes]) -> Outcomes:
    """``(n,) uint8``: the outcomes of all slices."""
    return np.concatenate(
        [np.frombuffer(zlib.decompress(run.outcomes), np.uint8) for run in runs] or [np.zeros(0, np.uint8)]
    )


def joined_leaves(runs: Sequence[RunOutcomes], leaves: int) -> Outcomes:
    """``(leaves, k) uint8``: the outcomes of each leaf in the kept slices of at least one run."""
    of_runs = [np.frombuffer(zlib.decompress(run.leaves), np.uint8).reshape(leaves, -1) for run in runs]
    return np.concatenate(of_runs, axis=1)


class ExecutorEvaluation:
    """The outcomes by statistics, as executors sent them (see ``evaluation.statistics_evaluation``).

    Outcomes that they did not send are evaluated on the driver, which reads the columns for that.

    outcomes   ``(n,) uint8``
    leaves     ``(leaves, k) uint8``: of each leaf in the slices that statistics keep, if there are keys to look up
    """

    def __init__(
        self,
        bound: BoundExpression,
        outcomes: Outcomes,
        leaves: Outcomes | None,
        providers: Sequence[StatisticsProvider],
    ) -> None:
        self.n = len(outcomes)
        self.outcomes = outcomes
        self._kept: RowIndices = np.flatnonzero(outcomes & outcome.TRUE)
        self._leaves_of_kept = leaves
        self._on_driver = WholeEvaluation(bound, self.n, providers)

    @property
    def leaves(self) -> Sequence[LeafOutcomes]:
        """Each leaf of the filter in every slice."""
        return self._on_driver.leaves

    def kept_by_statistics(self) -> RowIndices:
        """``(k,) int64``, ascending: the slices in which TRUE is possible."""
        return self._kept

    def outcomes_at(self, rows: RowIndices) -> Outcomes:
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
