"""Asks Spark for ``data/spark_edges.json.xz``: ``python -m tests.handler.spark.record_edges``. See ``spark_edges``.

With the Python of `.venv/spark35` it asks Spark 3.5 for the moments alone, and writes ``data/spark_edges_3.5.json``: by
zone and mode, the conditions of which 3.5 says otherwise than Spark 4.1.

The conditions are drawn from a seed. Every row of a table is asked by itself: a condition is a column of a SELECT, so
that Spark gives TRUE, FALSE or NULL. Some are also asked as filters, which Spark's optimiser rewrites.
"""

from __future__ import annotations

import json
import lzma
import random
import tempfile
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import expr

_FILE = Path(__file__).parents[1] / "data" / "spark_edges.json.xz"
_P24, _P53, _P63 = 1 << 24, 1 << 53, 1 << 63
_NUMBERS = {
    "i": "int",
    "l": "bigint",
    "f": "float",
    "d": "double",
    "d20": "decimal(20,0)",
    "d18": "decimal(18,2)",
}
_MOMENTS = {"c": "timestamp_ntz", "z": "timestamp", "dt": "date"}
_ROWS = [0, 5, _P24 - 1, _P24, _P24 + 1, _P24 + 2, _P53 - 1, _P53, _P53 + 1, _P53 + 2, -_P24 - 1, -_P53 - 1]
_ROWS += [_P63 - 1, _P63 - 512, _P63 - 513, -_P63]
_EDGES = [0, 5, _P24 - 1, _P24, _P24 + 1, _P24 + 2, _P53 - 1, _P53, _P53 + 1, _P53 + 2, _P53 + 3, _P63 - 1]
_EDGES += [-_P24 - 1, -_P53 - 1, _P63 - 513, _P63 - 512]
_MODES = {"legacy": "false", "ansi": "true"}
_OPS = ("=", "!=", "<", "<=", ">", ">=", "<=>")
#: Wall clocks around the changes of a clock: gaps first, then overlaps.
ZONES = {
    "Europe/Berlin": [
        *(f"2021-03-28 {time}" for time in ("01:59:59", "02:00:00", "02:30:00", "03:00:00", "03:30:00", "04:00:00")),
        *(f"2021-10-31 {time}" for time in ("02:00:00", "02:30:00", "03:00:00")),
        "2021-03-28 00:00:00",
        "2021-10-31 00:00:00",
    ],
    "America/Sao_Paulo": [
        "2018-11-03 23:30:00",
        *(f"2018-11-04 {time}" for time in ("00:00:00", "00:30:00", "01:00:00", "01:30:00", "02:00:00")),
        *("2018-02-17 23:00:00", "2018-02-17 23:30:00", "2018-02-18 00:00:00", "2018-11-05 00:00:00"),
    ],
    "Australia/Lord_Howe": [
        *(f"2021-10-03 {time}" for time in ("01:59:00", "02:00:00", "02:15:00", "02:30:00", "02:45:00", "03:00:00")),
        *("2021-04-04 01:30:00", "2021-04-04 01:45:00", "2021-04-04 02:00:00", "2021-10-03 00:00:00"),
    ],
}


def _number_rows() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for n in _ROWS:
        of_int = n if abs(n) < 1 << 31 else (1 << 31) - 1 if n > 0 else -(1 << 31)
        cents = f"{n}.01" if abs(n) < 10**16 else "9007199254740993.25"
        rows.append({**dict.fromkeys(("l", "f", "d", "d20"), str(n)), "i": str(of_int), "d18": cents})
    return [*rows, dict.fromkeys(_NUMBERS)]


def _number(draw: random.Random) -> str:
    n = draw.choice(_EDGES)
    texts = [str(n) if abs(n) < 1 << 31 else f"{n}L", f"{n}L", f"{n}.0D", f"{n}.0F", f"{n}BD"]
    texts.append(draw.choice(["1.5D", "1e3", "0.5F", "1.5", "0.5BD"]))
    texts.append(draw.choice([f"{n}.5BD", f"{n}.25", "5.00000000000000000001BD", f"{n}.000000000001BD"]))
    nulls = ["NULL", "CAST(NULL AS DOUBLE)", "CAST(NULL AS FLOAT)", "CAST(NULL AS DECIMAL(20,2))"]
    return draw.choice([*texts, draw.choice([*nulls, "1.5D", "0.5F"])])


def _number_conditions(draw: random.Random, count: int) -> list[str]:
    conditions: dict[str, None] = {}
    while len(conditions) < count:
        column = draw.choice(list(_NUMBERS))
        a, b, c = (_number(draw) for _ in range(3))
        op, target = draw.choice(_OPS), draw.choice(["double", "float", "bigint", "decimal(20,0)"])
        forms = [
            *[f"{column} IN ({a}, {b})", f"{column} NOT IN ({a}, {b})", f"{column} IN ({a}, {b}, {c})"],
            *[f"NOT ({column} IN ({a}, {b}, {c}))", f"{column} BETWEEN {a} AND {b}"],
            f"{column} NOT BETWEEN {a} AND {b}",
            f"CASE {column} WHEN {a} THEN 1 WHEN {b} THEN 2 ELSE 3 END = {draw.choice('123')}",
            *(f"{name}({column}, {a}) {op} {b}" for name in ("coalesce", "greatest", "least", "nullif")),
            *[f"CAST({column} AS {target}) IN ({a}, {b})", f"CAST({column} AS {target}) {op} {a}"],
        ]
        conditions[draw.choice(forms)] = None
    return list(conditions)


def _moment_conditions(clocks: list[str], draw: random.Random) -> list[str]:
    conditions: list[str] = []
    for clock in clocks:
        literals = [f"TIMESTAMP '{clock}'", f"TIMESTAMP_NTZ '{clock}'", f"'{clock}'"]
        literals += [f"DATE '{clock[:10]}'"] if clock.endswith("00:00:00") else []
        for literal in literals:
            for column in _MOMENTS:
                other, day = draw.choice(clocks), draw.choice(clocks)[:10]
                conditions += [f"{column} {op} {literal}" for op in _OPS]
                conditions += [
                    f"{column} IN ({literal}, TIMESTAMP '{other}')",
                    f"{column} NOT IN ({literal}, DATE '{day}')",
                    f"{column} BETWEEN {literal} AND TIMESTAMP '{other}'",
                    f"{literal} >= {column}",
                    f"NOT ({column} < {literal})",
                    f"coalesce({column}, {literal}) = {literal}",
                    f"greatest({column}, {literal}) = {literal}",
                ]
    pairs = (("c", "z"), ("z", "c"), ("c", "dt"), ("dt", "z"))
    conditions += [f"{a} {op} {b}" for op in _OPS for a, b in pairs]
    return list(dict.fromkeys(conditions))


def _answers(table: DataFrame, conditions: list[str], rows: int) -> dict[str, str]:
    answers, asked = {}, []
    for condition in conditions:
        try:
            _ = table.filter(condition).schema
            asked.append(condition)
        except PySparkException:
            answers[condition] = ""
    for first in range(0, len(asked), 60):
        part = asked[first : first + 60]
        found = table.select("n", *[expr(text).alias(f"x{k}") for k, text in enumerate(part)]).collect()
        of_row = {row["n"]: row for row in found}
        for k, text in enumerate(part):
            answers[text] = "".join({True: "T", False: "F", None: "N"}[of_row[n][f"x{k}"]] for n in range(rows))
    return answers


def _selected(table: DataFrame, conditions: list[str], rows: int) -> dict[str, str]:
    selected = {text: {row["n"] for row in table.filter(text).select("n").collect()} for text in conditions}
    return {text: "".join("T" if n in kept else "." for n in range(rows)) for text, kept in selected.items()}


def _table(spark: SparkSession, folder: str, rows: list[dict[str, Any]], types: dict[str, str]) -> DataFrame:
    """A table on disk, so that conditions are filters of a scan."""
    spark.conf.set("spark.sql.ansi.enabled", "false")
    texts = spark.createDataFrame(
        [(n, *(row[name] for name in types)) for n, row in enumerate(rows)],
        "n int, " + ", ".join(f"{name} string" for name in types),
    )
    typed = texts.select("n", *[expr(f"CAST({name} AS {of})").alias(name) for name, of in types.items()])
    typed.coalesce(1).write.parquet(folder)
    return spark.read.parquet(folder)


def record(spark: SparkSession, folder: str) -> dict[str, Any]:
    """All answers."""
    rows = _number_rows()
    numbers: dict[str, Any] = {"columns": _NUMBERS, "rows": rows}
    table = _table(spark, f"{folder}/numbers", rows, _NUMBERS)
    conditions = _number_conditions(random.Random(18), 700)
    for mode, ansi in _MODES.items():
        spark.conf.set("spark.sql.ansi.enabled", ansi)
        numbers[mode] = _answers(table, conditions, len(rows))
    return {"spark": spark.version, "numbers": numbers, "moments": moments(spark, folder)}


def moments(spark: SparkSession, folder: str) -> dict[str, Any]:
    """The answers about moments, by zone."""
    found: dict[str, Any] = {}
    for zone, clocks in ZONES.items():
        spark.conf.set("spark.sql.session.timeZone", zone)
        rows = [{"c": clock, "z": clock, "dt": clock[:10]} for clock in clocks] + [dict.fromkeys(_MOMENTS)]
        table = _table(spark, f"{folder}/{zone.replace('/', '_')}", rows, _MOMENTS)
        held = table.orderBy("n").selectExpr("CAST(c AS STRING)", "unix_micros(z)", "CAST(dt AS STRING)").collect()
        conditions = _moment_conditions(clocks, random.Random(zone))
        found[zone] = {"rows": [list(row) for row in held]}
        for mode, ansi in _MODES.items():
            spark.conf.set("spark.sql.ansi.enabled", ansi)
            found[zone][mode] = _answers(table, conditions, len(rows))
        filters = [text for text in conditions if text.startswith("c ") and "TIMESTAMP '" in text]
        found[zone]["selected"] = _selected(table, filters[:60:2], len(rows))
    return found


def differences(spark: SparkSession, folder: str) -> dict[str, Any]:
    """Where the answers about moments are not those on record: by zone and part, by condition."""
    known = json.loads(lzma.decompress(_FILE.read_bytes()))["moments"]
    found = moments(spark, folder)
    for zone, parts in found.items():
        if parts.pop("rows") != known[zone]["rows"]:
            raise ValueError(f"the rows of {zone} are others")
        for part, answers in parts.items():
            if answers.keys() != known[zone][part].keys():
                raise ValueError(f"the conditions of {zone} are others")
            parts[part] = {text: answer for text, answer in answers.items() if answer != known[zone][part][text]}
    return {"spark": spark.version, "differences": found}


if __name__ == "__main__":
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    with tempfile.TemporaryDirectory() as scratch:
        if session.version.startswith("3.5"):
            written = json.dumps(differences(session, scratch)) + "\n"
            _FILE.with_name("spark_edges_3.5.json").write_text(written, "utf-8")
        else:
            _FILE.write_bytes(lzma.compress(json.dumps(record(session, scratch)).encode()))
    session.stop()
