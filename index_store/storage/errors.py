"""The errors of this package. Each names what was read and what is wrong; only the planner turns them into an answer.

``FormatError`` stays inside ``index_store``: a decoder knows the bytes but not the file, so its caller adds the name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from evaluator.language.errors import SargoError

__all__ = ["FormatError", "StatsError", "TableError", "TransientError", "naming_column", "naming_table"]


class TableError(SargoError):
    """A table, its timeline or one of its files cannot be read. ``path`` is the file or table, ``why`` for people."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path}: {why}")
        self.path = path
        self.why = why


class TransientError(TableError):
    """The file system did not answer, or asked to come back later: the same read may succeed when it is tried again."""


class StatsError(SargoError):
    """Statistics cannot be read. ``column`` is empty when the whole file is at fault."""

    def __init__(self, file: str, column: str, why: str) -> None:
        super().__init__(f"{file}{f', column {column}' if column else ''}: {why}")
        self.file = file
        self.column = column
        self.why = why


class FormatError(SargoError):
    """Bytes that do not follow their format, at ``offset`` (-1 when the position is not known)."""

    def __init__(self, why: str, offset: int = -1) -> None:
        super().__init__(f"{why} at byte {offset}" if offset >= 0 else why)
        self.why = why
        self.offset = offset


@contextmanager
def naming_table(path: str) -> Iterator[None]:
    """Turn a ``FormatError`` of the block into a ``TableError`` that names the file."""
    try:
        yield
    except FormatError as error:
        raise TableError(path, str(error)) from error


@contextmanager
def naming_column(file: str, column: str) -> Iterator[None]:
    """Like ``naming_table``, as a ``StatsError``; a ``TableError`` below (a missing file) becomes one too."""
    try:
        yield
    except FormatError as error:
        raise StatsError(file, column, str(error)) from error
    except TableError as error:
        raise StatsError(error.path, column, error.why) from error
