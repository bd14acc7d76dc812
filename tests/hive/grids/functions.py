"""What functions and casts of a column give in Hive, row by row and in batches: ``tests.evaluator.function_grid``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tests.evaluator.function_grid import ROWS, TABLE, ZONES, calls
from tests.hive.grids.asking import HiveError, Session, texts
from tests.hive.grids.edges import make
from tests.hive.server import HIVE_4, Server

_AT_ONCE = 120
#: A job that reads batches of rows, with row-by-row functions among them where Hive has no other.
BATCHES = {
    "hive.fetch.task.conversion": "none",
    "hive.vectorized.execution.enabled": "true",
    "hive.vectorized.adaptor.usage.mode": "all",
    "hive.cbo.enable": "false",
}


def ask(server: Server, home: Path) -> Iterator[dict[str, dict[str, Any]]]:
    """Engine -> zone -> call -> [type, values], as far as they are known."""
    name = "hive4" if server.stack is HIVE_4 else "hive3"
    result: dict[str, dict[str, Any]] = {name: {}, f"{name} batch": {}}
    first = Session(server)
    make(first, home, "functions", {name: of for name, (of, _) in TABLE.items()}, _rows())
    first.rows("DROP TABLE IF EXISTS functions_parquet")
    columns = ", ".join(f"{name} {of}" for name, (of, _) in TABLE.items())
    first.rows(
        f"CREATE EXTERNAL TABLE functions_parquet (n int, {columns}) STORED AS PARQUET LOCATION 'file://{home}/parquet'"
    )
    first.rows("INSERT INTO functions_parquet SELECT * FROM functions")
    first.close()
    for zone in ZONES:
        asked = [call for column, call in calls() if zone == "UTC" or column in ("dt", "ts", "i", "l")]
        for engine, table, settings in ((name, "functions", {}), (f"{name} batch", "functions_parquet", BATCHES)):
            session = Session(server, {"hive.local.time.zone": zone, **settings})
            result[engine][zone] = dict(_values(session, table, asked))
            session.close()
            print(f"{engine}, {zone}: {len(result[engine][zone])} of {len(asked)} calls", flush=True)
            yield result


def _rows() -> list[dict[str, str | None]]:
    return [{name: values[number] for name, (_, values) in TABLE.items()} for number in range(ROWS)]


def _values(session: Session, table: str, asked: Sequence[str]) -> Iterator[tuple[str, list[Any]]]:
    """A list that fails is halved, down to a call for which Hive has no answer."""
    parts = [list(asked[n : n + _AT_ONCE]) for n in range(0, len(asked), _AT_ONCE)]
    while parts:
        part = parts.pop()
        columns = ", ".join(f"({call}) AS x{n}" for n, call in enumerate(part))
        try:
            types, found = session.table(f"SELECT n, {columns} FROM {table}")
            if sorted(row[0] for row in found) != list(range(ROWS)):
                raise HiveError("rows are lost")
        except HiveError:
            if len(part) > 1:
                parts += [part[: len(part) // 2], part[len(part) // 2 :]]
            continue
        found.sort(key=lambda row: row[0])
        for n, call in enumerate(part, 1):
            yield call, [types[n], texts(row[n] for row in found)]
