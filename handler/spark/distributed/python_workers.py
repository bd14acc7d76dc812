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

__all__ = ["SENTENCE", "for_workers", "worker_errors"]

#: What to do about workers without a module; ``python`` is empty, or a space and where their Python is.
SENTENCE = (
    "the Python of Spark's workers{python} has no module {module}: install Sargo there (pip install 'sargo[spark]'), "
    "or set PYSPARK_PYTHON to a Python that has it before the session is started"
)
_SAID = re.compile(re.escape(SENTENCE).replace(r"\{python\}", ".*?").replace(r"\{module\}", ".*?"))

_Batches = Callable[[Iterable[pa.RecordBatch]], Iterable[pa.RecordBatch]]


def for_workers(function: _Batches) -> _Batches:
    """The same function for ``mapInArrow``; where a worker has no Sargo, ModuleNotFoundError says so."""
    dumps: Any = cloudpickle.dumps
    shipped, sentence = dumps(function), SENTENCE

    def run(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
        try:
            loaded: _Batches = pickle.loads(shipped)
        except ModuleNotFoundError as error:
            why = sentence.format(python=f" ({sys.executable})", module=error.name)
            raise ModuleNotFoundError(why, name=error.name) from None
        return loaded(batches)

    return run


@contextmanager
def worker_errors() -> Iterator[None]:
    """Where a job fails because workers lack Sargo, ModuleNotFoundError says so first; Spark's trace is its cause."""
    try:
        yield
    except Exception as error:
        said = _SAID.search(str(error))
        if said is None:
            raise
        raise ModuleNotFoundError(said[0]) from error
