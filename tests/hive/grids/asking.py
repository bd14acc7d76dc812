"""Questions to a HiveServer2: answers as texts, and errors as answers."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.hive.server import Server

#: Simple queries run in HiveServer2 itself, and nothing filters but Hive's own expressions.
SETTINGS = {
    "hive.execution.engine": "mr",
    "hive.fetch.task.conversion": "more",
    "hive.fetch.task.conversion.threshold": "-1",
    "hive.optimize.index.filter": "false",
    "hive.strict.checks.type.safety": "false",
    "sargo.enabled": "false",
}
LETTERS = {True: "T", False: "F", None: "N"}


class HiveError(Exception):
    """Hive's own words for why a statement failed."""


class Session:
    """A connection that is made anew after a statement has broken it."""

    def __init__(self, server: Server, settings: Mapping[str, str] | None = None) -> None:
        self._server = server
        self._settings = {**SETTINGS, **(settings or {})}
        self._connection: Any = None

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """The rows of a query, or none for a statement. Raises HiveError."""
        return self.table(sql)[1]

    def table(self, sql: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """The names of the columns' types (``decimal``), and the rows. Raises HiveError."""
        try:
            if self._connection is None:
                self._connection = self._server.connect(self._settings)
            cursor = self._connection.cursor()
            cursor.execute(sql)
            types = [column[1].removesuffix("_TYPE").lower() for column in cursor.description or ()]
            return types, list(cursor.fetchall()) if types else []
        except Exception as error:
            status = getattr(error.args[0] if error.args else None, "status", None)
            if status is None:
                self.close()
            raise HiveError(_reason(getattr(status, "errorMessage", None) or str(error))) from error

    def close(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(Exception):
                self._connection.close()
        self._connection = None


def _reason(message: str) -> str:
    """The innermost exception that a message names, without the values in it."""
    first = message.split("\n")[0]
    found = [part for part in first.split(": ") if part.endswith(("Exception", "Error"))]
    return (found[-1].rpartition(".")[2] if found else first)[:120]


def write_texts(home: Path, given: Sequence[str]) -> None:
    """A file of numbered texts, for ``asking_of_texts``."""
    pq.write_table(pa.table({"n": list(range(len(given))), "s": given}), home / "a.parquet")


def asking_of_texts(server: Server, home: Path, settings: Mapping[str, str]) -> Session:
    """A session with the table ``texts (n int, s string)`` over the file in a folder."""
    session = Session(server, settings)
    session.rows("DROP TABLE IF EXISTS texts")
    session.rows(f"CREATE EXTERNAL TABLE texts (n int, s string) STORED AS PARQUET LOCATION 'file://{home}'")
    return session


def texts(values: Iterable[Any]) -> list[str | None]:
    """Values of a column in the form that ``tests.evaluator.conversion_grid.value_of_text`` reads."""
    return [None if value is None else _text(value) for value in values]


def _text(value: Any) -> str:
    match value:
        case bool():
            return str(value).lower()
        case bytes():
            return value.decode("latin-1")
        case Decimal():
            return format(value, "f")
        case datetime.datetime():
            return value.isoformat(sep=" ")
        case _:
            return str(value)


def answers(session: Session, table: str, key: str, conditions: Sequence[str], at_once: int = 160) -> dict[str, Any]:
    """Condition -> {key: letter} for each row, or Hive's error. A list that fails is halved."""
    result: dict[str, Any] = {}
    parts = [list(conditions[n : n + at_once]) for n in range(0, len(conditions), at_once)]
    while parts:
        part = parts.pop()
        columns = ", ".join(f"({sql}) AS x{n}" for n, sql in enumerate(part))
        try:
            found = session.rows(f"SELECT {key}, {columns} FROM {table}")
        except HiveError as error:
            if len(part) == 1:
                result[part[0]] = str(error)
            else:
                parts += [part[: len(part) // 2], part[len(part) // 2 :]]
            continue
        for n, sql in enumerate(part):
            result[sql] = {row[0]: LETTERS[row[n + 1]] for row in found}
    return result
