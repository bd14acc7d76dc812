"""The rows on which each predicate is TRUE in real Hive, where Hive gives it another meaning than Spark.

    python -m tests.conformance.hive_truth OUT        OUT has the Parquet files of `full_scan rows`

A HiveServer2 of its own reads the very rows that Spark read of the tables, as Parquet files, one partition a table,
and evaluates the predicates as columns. Writes hive_rows.json.xz: "filters": Hive's version -> SQL -> {"error": why}
or, for the tables where Hive's rows are others than Spark's without ANSI, table -> [keys only Hive finds, keys only
Spark finds].
"""

from __future__ import annotations

import json
import lzma
import shutil
import sys
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.conformance.hive_filters import HIVE_COLUMNS, VERSIONS, stored
from tests.conformance.stored_truth import TABLES, Truth, truth_of
from tests.hive.server import Server

STORED = Path(__file__).parent / "hive_rows.json.xz"
AT_ONCE = 30
Rows = dict[str, set[str]]


@lru_cache
def hive_rows() -> dict[str, dict[str, Any]]:
    with lzma.open(STORED, "rt", encoding="utf-8") as file:
        document: dict[str, dict[str, dict[str, Any]]] = json.load(file)
    return document["filters"]


def hive_keys(truth: Truth, sql: str, version: str) -> set[str] | None:
    """The record keys of the rows where the predicate is TRUE in this Hive; None when it fails."""
    differing = hive_rows()[version].get(sql, {})
    if "error" in differing:
        return None
    more, fewer = differing.get(truth.name, ((), ()))
    return truth.keys(sql, "legacy") - set(fewer) | set(more)


def register(cursor: Any, out: Path, home: Path) -> None:
    cursor.execute(
        f"CREATE EXTERNAL TABLE all_rows ({HIVE_COLUMNS}) PARTITIONED BY (`_table` string) "
        f"STORED AS PARQUET LOCATION 'file://{home}/all_rows'"
    )
    for name in TABLES:
        folder = home / "all_rows" / name
        folder.mkdir(parents=True)
        shutil.copy(out / f"{name}.parquet", folder)
        cursor.execute(f"ALTER TABLE all_rows ADD PARTITION (`_table`='{name}') LOCATION 'file://{folder}'")


def evaluated(cursor: Any, conditions: list[str]) -> dict[str, Rows | str]:
    """SQL -> table -> keys, or the error; a list that fails is halved until the failing predicate is found."""
    columns = ", ".join(f"({sql}) as c{n}" for n, sql in enumerate(conditions))
    try:
        cursor.execute(f"SELECT `_table`, `_hoodie_record_key`, {columns} FROM all_rows")
        keys: dict[str, Rows | str] = {sql: {} for sql in conditions}
        for table, key, *values in cursor.fetchall():
            for sql, value in zip(conditions, values, strict=True):
                if value is True:
                    keys[sql].setdefault(table, set()).add(key)
        return keys
    except Exception as error:
        if len(conditions) == 1:
            return {conditions[0]: str(error)[:300]}
        middle = len(conditions) // 2
        return {**evaluated(cursor, conditions[:middle]), **evaluated(cursor, conditions[middle:])}


def differences(sql: str, answer: Rows | str, truths: dict[str, Truth]) -> dict[str, Any]:
    """The part of an answer to store: nothing when Hive and Spark return the same rows."""
    if isinstance(answer, str):
        return {"error": answer}
    by_table = {}
    for name, truth in truths.items():
        if sql in truth.predicates:
            by_spark, by_hive = truth.keys(sql, "legacy"), answer.get(name, set())
            if by_spark != by_hive:
                by_table[name] = [sorted(by_hive - by_spark), sorted(by_spark - by_hive)]
    return by_table


def main(out: str) -> None:
    truths = {name: truth_of(name) for name in TABLES}
    answers = {}
    for version, stack in VERSIONS.items():
        conditions = [sql for sql, answer in stored()["filters"][version].items() if "error" not in answer]
        with tempfile.TemporaryDirectory(prefix="sargo-rows-") as folder:
            server = Server(
                stack,
                Path(folder),
                {
                    "hive.local.time.zone": "UTC",
                    "hive.fetch.task.conversion": "more",
                    "hive.fetch.task.conversion.threshold": "-1",
                },
            )
            server.start()
            try:
                with server.connect({"hive.execution.engine": "mr"}) as connection:
                    cursor = connection.cursor()
                    register(cursor, Path(out), Path(folder))
                    evaluations: dict[str, Rows | str] = {}
                    for start in range(0, len(conditions), AT_ONCE):
                        evaluations |= evaluated(cursor, conditions[start : start + AT_ONCE])
            finally:
                server.stop()
        by_sql = {sql: differences(sql, answer, truths) for sql, answer in evaluations.items()}
        answers[version] = {sql: answer for sql, answer in by_sql.items() if answer}
        print(
            f"Hive {version}: {len(conditions)} predicates, {len(answers[version])} of them mean something else or "
            "fail",
            flush=True,
        )
    with lzma.open(STORED, "wt", encoding="utf-8", preset=9) as file:
        json.dump({"filters": answers}, file, ensure_ascii=False, indent=0)


if __name__ == "__main__":
    main(*sys.argv[1:])
