"""Functions for the Python workers of Spark, which may lack Sargo: then their error says what to do.

Spark's own error is a traceback of its deserialiser that ends with ``No module named 'handler'``. So a function travels
as bytes inside one that names no module of Sargo, and that one tells.
"""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle

__all__ = ["WHAT_TO_DO", "for_workers", "worker_errors"]

#: After "... has no module X: ".
WHAT_TO_DO = (
    "install Sargo there (pip install 'sargo[spark]'), or set PYSPARK_PYTHON to a Python that has it before the "
    "session is started"
)

_SENTENCE = re.compile(f"the Python of Spark's workers .*? has no module .*?: {re.escape(WHAT_TO_DO)}")

_Batches = Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]


def for_workers(function: _Batches) -> _Batches:
    """The same function for ``mapInArrow``; where a worker has no Sargo, ModuleNotFoundError says so."""
    dumps: Any = cloudpickle.dumps
    shipped, what_to_do = dumps(function), WHAT_TO_DO

    def run(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        try:
            loaded: _Batches = pickle.loads(shipped)
        except ModuleNotFoundError as error:
            why = f"the Python of Spark's workers ({sys.executable}) has no module {error.name}: {what_to_do}"
            raise ModuleNotFoundError(why, name=error.name) from None
        return loaded(batches)

    return run


@contextmanager
def worker_errors() -> Iterator[None]:
    """Where a job fails because workers lack Sargo, ModuleNotFoundError says so first; Spark's trace is its cause."""
    try:
        yield
    except Exception as error:
        said = _SENTENCE.search(str(error))
        if said is None:
            raise
        raise ModuleNotFoundError(said[0]) from error
