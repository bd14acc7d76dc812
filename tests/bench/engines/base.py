"""An engine of the bench: it has the statistics in its own resident form, and answers with the files to keep."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from tests.bench.datasets import Files
from tests.bench.shapes import Shape

__all__ = ["Engine", "FileNumbers", "NotOffered", "Query"]

FileNumbers = npt.NDArray[np.int64]

#: Runs a filter; the numbers of the kept files, in any order.
Query = Callable[[], FileNumbers]


class NotOffered(Exception):  # noqa: N818 - not an error: a cell of the table
    """The engine does not decide filters of this shape; the text says why."""


class Engine(ABC):
    """One engine over one data set. ``sample``: the files it looks at, if not all: its time is then extrapolated."""

    name: str
    sample: FileNumbers | None = None

    @abstractmethod
    def __init__(self, files: Files) -> None: ...

    @staticmethod
    @abstractmethod
    def version() -> str:
        """Name and version of the library."""

    @abstractmethod
    def prepare(self, shape: Shape) -> Query:
        """Everything that does not depend on the data is done here: binding, parsing, planning. Raises NotOffered."""

    def unprepared(self, shape: Shape) -> Query:
        """As a planner meets a filter: binding or planning is part of every run."""
        return self.prepare(shape)
