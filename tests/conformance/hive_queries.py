"""The predicates as queries on a real HiveServer2 that asks a real sidecar, on tables that Hive can read.

For each query, the rows are those that Hive returns without Sargo (``hive_truth``), and Hive reads as many files as
``handler.prune`` keeps for the stored filter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.hive_filters import HUDI_COLUMNS, SYNCED, stored
from tests.conformance.hive_truth import hive_keys
from tests.conformance.paths import Kept
from tests.conformance.stored_truth import TABLES, truth_of
from tests.hive.listings import listings
from tests.hive.playground import PATIENT
from tests.hive.server import HIVE_4, Server
from tests.hive.sidecars import Sidecar

#: COPY_ON_WRITE before version 9: Hive's reader is that of Hudi 1.0.2, which cannot merge DATE columns under Hive 4,
#: nor read a table with a struct (NoSuchMethodError): the tables here are registered without `st`. Nor does it read `t`
#: as a timestamp (ClassCastException).
READABLE = tuple(name for name in TABLES if not name.startswith("1.2.0") and name.endswith("_cow"))
COLUMNS = HUDI_COLUMNS + ", " + ", ".join(f"`{name}` {kind}" for name, kind in SYNCED.items() if name != "st")
SETTINGS = {
    "hive.execution.engine": "mr",
    "hive.local.time.zone": "UTC",
    "hive.fetch.task.conversion": "more",
    "hive.fetch.task.conversion.threshold": "-1",
}


@dataclass(frozen=True)
class Answer:
    """`listed` and `read`: files, over all scans of the query; None when no scan asked. `error`: why it failed."""

    table: str
    sql: str
    keys: frozenset[str]
    listed: int | None
    read: int | None
    error: str = ""


def answers(folders: dict[str, Path], home: Path, predicates: list[str]) -> Iterator[Answer]:
    """Each predicate on one of the tables, in turn. `folders`: the tables' own directories, all below one."""
    root = next(iter(folders.values())).parent
    sidecar = Sidecar(root, home / "sidecar.log").start()
    server = Server(HIVE_4, home, {"sargo.sidecar.address": sidecar.address, **PATIENT})
    try:
        server.start()
        with server.connect(SETTINGS) as connection:
            cursor = connection.cursor()
            for name in READABLE:
                cursor.execute(
                    f"CREATE EXTERNAL TABLE {_in_hive(name)} ({COLUMNS}) STORED BY "
                    f"'io.sargo.hive.HudiStorageHandler' LOCATION 'file://{folders[name]}'"
                )
            for n, sql in enumerate(predicates):
                yield _answer(server, cursor, READABLE[n % len(READABLE)], sql)
    finally:
        server.stop()
        sidecar.stop()


def _in_hive(name: str) -> str:
    return "t_" + name.replace(".", "_")


def _answer(server: Server, cursor: Any, name: str, sql: str) -> Answer:
    before = len(server.log())
    try:
        cursor.execute(f"SELECT `_hoodie_record_key` FROM {_in_hive(name)} WHERE {sql}")
        keys = frozenset(row[0] for row in cursor.fetchall())
    except Exception as error:
        return Answer(name, sql, frozenset(), None, None, str(getattr(error.args[0], "errorMessage", error))[:200])
    seen = list(listings(server.log()[before:]))
    seen = [listing for listing in seen if listing.query == seen[-1].query]  # the log of the query before may come late
    return Answer(
        name,
        sql,
        keys,
        sum(listing.listed for listing in seen) if seen else None,
        sum(listing.kept for listing in seen) if seen else None,
    )


def wrong_answers(folders: dict[str, Path], home: Path, kept: Kept, every: int = 1) -> tuple[int, dict[str, str]]:
    """How many queries ran, and "table: SQL" -> what is wrong; with every `every`-th predicate."""
    filters = stored()["filters"]["4.0.1"]
    asked = [sql for sql, pushed in filters.items() if "filter" in pushed]
    asked = [sql for sql in asked[::every] if not re.search(r"\b(st|t)\b", sql, re.IGNORECASE)]
    wrong: dict[str, str] = {}
    n = 0
    for answer in answers(folders, home, asked):
        n += 1
        truth = truth_of(answer.table)
        wanted = hive_keys(truth, answer.sql, "4.0.1")
        expected = kept.hive(answer.table, answer.sql, "4.0.1")
        case = f"{answer.table}: {answer.sql}"
        # of a file that was read, Hive's own Parquet filter may lose zeros of the other sign; a skipped file is ours
        lost = {truth.group_of_key(key) for key in (wanted or set()) - answer.keys}
        if answer.error:
            wrong[case] = f"fails: {answer.error}"
        elif wanted is not None and (answer.keys - wanted or lost - (expected or lost)):
            wrong[case] = f"rows more {sorted(answer.keys - wanted)[:3]}, fewer {sorted(wanted - answer.keys)[:3]}"
        if expected is not None and answer.read is not None and answer.read != len(expected):
            wrong[case] = f"{answer.read} of {answer.listed} files read, {len(expected)} expected"
    return n, wrong
