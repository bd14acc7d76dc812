"""Runs functions on Spark's executors, as many at once as these have cores. The results come in their order.

A task of Spark costs more than most of these functions: one task runs several, one after the other.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from evaluator.language.records import frozen
from handler.spark.distributed.python_workers import for_workers, worker_errors
from index_store.storage.errors import TableError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["on_executors"]

_RESULTS = pa.schema([("number", pa.int64()), ("found", pa.binary())])


def on_executors(spark: SparkSession, tasks: Sequence[Callable[[], Any]]) -> list[Any]:
    """The results of some tasks. Raises TableError with what a task failed with."""
    if not tasks:
        return []
    shipped = list(tasks)

    def run(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                try:
                    found: object = shipped[number]()
                except Exception as error:
                    found = _failure_of(error)
                yield pa.record_batch(
                    [pa.array([number]), pa.array([pickle.dumps(found)], pa.binary())], schema=_RESULTS
                )

    context = getattr(spark, "sparkContext", None)  # a client of Spark Connect has none
    at_once = len(tasks) if context is None else min(len(tasks), context.defaultParallelism)
    numbers = spark.range(0, len(tasks), 1, at_once)
    with worker_errors():
        rows = numbers.mapInArrow(for_workers(run), "number long, found binary").collect()
    results: list[Any] = [None] * len(tasks)
    for row in rows:
        results[row["number"]] = pickle.loads(row["found"])
    for result in results:
        if isinstance(result, _Failure):
            raise TableError(result.path, result.why)
    return results


@frozen
class _Failure:
    path: str
    why: str


def _failure_of(error: Exception) -> _Failure:
    if isinstance(error, TableError):
        return _Failure(error.path, error.why)
    return _Failure("an executor failed", f"{type(error).__name__} {error}")
