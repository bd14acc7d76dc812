"""Files whose columns have other types than the table: the same rows through every engine, with the right values."""

from __future__ import annotations

import datetime
import json
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from handler import open_table, scan
from tests.handler.engines.test_true_rows import rows
from tests.handler.plain_table import INSTANT, plain_table
from tests.handler.spark.true_rows import counted

ENGINES = ("batches", "dataset", "polars", "duckdb", "tasks")
UTC = datetime.timezone.utc
DAY = datetime.datetime(2026, 1, 31, 12, 30, 15, 123000, UTC)
TS = {"type": "long", "logicalType": "timestamp-micros"}
DEC = {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 4}
TYPES = [
    ("id", "string"),
    ("n", "long"),
    ("x", "double"),
    ("t", TS),
    ("w", {**TS, "logicalType": "local-timestamp-micros"}),
]
TYPES += [
    ("dec", DEC),
    ("d", {"type": "int", "logicalType": "date"}),
    ("s", "string"),
    ("b", "bytes"),
    ("day", "string"),
]
SCHEMA = {
    "type": "record",
    "name": "r",
    "fields": [{"name": n, "type": ["null", t], "default": None} for n, t in TYPES],
}
CURRENT = {
    "id": (["a", "b", "c"], pa.string()),
    "n": ([2**40, None, -1], pa.int64()),
    "x": ([float("nan"), -0.0, None], pa.float64()),
    "t": ([DAY, None, DAY.replace(year=1900)], pa.timestamp("us", "UTC")),
    "w": ([DAY.replace(tzinfo=None), None, None], pa.timestamp("us")),
    "dec": ([Decimal("12345678.9012"), None, Decimal("-0.0001")], pa.decimal128(12, 4)),
    "d": ([DAY.date(), None, datetime.date(1, 1, 1)], pa.date32()),
    "s": (["é", "", None], pa.string()),
    "b": ([b"\xff", b"", None], pa.binary()),
}
OLDER = {
    "s": (["x", None, "z"], pa.large_string()),
    "id": (["d", "e", "f"], pa.string()),
    "n": ([7, None, -(2**31)], pa.int32()),
    "x": ([1.1, None, float("nan")], pa.float32()),
    "t": ([DAY, None, DAY], pa.timestamp("ms", "UTC")),
    "dec": ([Decimal("1.25"), None, Decimal("-3.50")], pa.decimal128(6, 2)),
}
INT96 = {"id": (["g"], pa.string()), "t": ([DAY.replace(tzinfo=None)], pa.timestamp("ns"))}
#: What rows of the table have: 1.1 as a float is 1.1 as a double, by its digits.
EXPECTED = {
    "a": (2**40, "nan", DAY, DAY.replace(tzinfo=None), Decimal("12345678.9012"), DAY.date(), "é", b"\xff"),
    "b": (None, "-0.0", None, None, None, None, "", b""),
    "c": (-1, "None", DAY.replace(year=1900), None, Decimal("-0.0001"), datetime.date(1, 1, 1), None, None),
    "d": (7, "1.1", DAY, None, Decimal("1.2500"), None, "x", None),
    "e": (None, "None", None, None, None, None, None, None),
    "f": (-(2**31), "nan", DAY, None, Decimal("-3.5000"), None, "z", None),
    "g": (None, "None", DAY, None, None, None, None, None),
}


def arrow(columns):
    return pa.table({name: pa.array(values, kind) for name, (values, kind) in columns.items()})


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("types") / "t"
    files = [("day=2026-01-31", arrow(CURRENT)), ("day=2025-12-31", arrow(OLDER)), ("day=x y%2Fz", arrow(INT96))]
    plain_table(folder, files, "day", json.dumps(SCHEMA))
    path = folder / "day=x y%2Fz" / f"f00002_0-1-0_{INSTANT}.parquet"
    pq.write_table(arrow(INT96), path, use_deprecated_int96_timestamps=True)
    with (folder / ".hoodie" / "hoodie.properties").open("a") as properties:
        properties.write("hoodie.datasource.write.drop.partition.columns=true\n")
    return open_table(folder)


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_has_the_values_in_the_tables_types(table, engine):
    found = rows(scan(table), engine)
    columns = ["n", "x", "t", "w", "dec", "d", "s", "b"]
    made = {row["id"]: tuple(repr(row[c]) if c == "x" else row[c] for c in columns) for row in found.to_pylist()}
    assert made == EXPECTED
    days = {row["id"]: row["day"] for row in found.to_pylist()}
    assert (days["a"], days["d"], days["g"]) == ("2026-01-31", "2025-12-31", "x y/z")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ("x > 1", "adf"),
        ("NOT (x <= 1)", "adf"),
        ("x <> 1.1", "abf"),
        ("x = 0", "b"),
        ("x = 1.1D", "d"),
        ("t = timestamp '2026-01-31 12:30:15.123'", "adfg"),
        ("t < '2000-01-01'", "c"),
        ("dec >= 1.25 AND dec < 100", "d"),
        ("dec <> 1.250001", "acdf"),
        ("n > 6.5", "ad"),
        ("n IN (7, NULL, -1)", "cd"),
        ("NOT (n IN (7, -1))", "af"),
        ("n NOT IN (7, NULL)", ""),
        ("d = '2026-01-31'", "a"),
        ("w IS NOT NULL", "a"),
        ("s IS NULL OR s = ''", "bceg"),
        ("s LIKE 'é%'", "a"),
        ("b = X'FF'", "a"),
        ("day = '2025-12-31' OR day > 'x'", "defg"),
        ("n <=> NULL", "beg"),
        ("upper(s) = 'X'", "d"),
        ("n > 3000000000000000000000", ""),
        ("NOT (n > 3000000000000000000000)", "acdf"),
    ],
)
def test_every_engine_keeps_the_same_rows(table, engine, where, ids):
    found = rows(scan(table, where, ["id"], time_zone="UTC"), engine)
    assert "".join(sorted(found.column("id").to_pylist())) == ids


def test_a_condition_of_the_user_on_top_is_decided_by_the_users_engine(table, monkeypatch):
    duckdb = pytest.importorskip("duckdb")
    con = duckdb.connect()
    scan(table).to_duckdb(con, "t")
    assert con.sql("SELECT string_agg(id, '' ORDER BY id) FROM t WHERE x > 1").fetchall() == [("adf",)]
    relation = scan(table).to_duckdb(con)
    monkeypatch.setattr(duckdb, "__version__", "1.5.6")  # which loses NaN in Arrow's tables
    held = scan(table).to_duckdb(con, "held")
    assert (held.columns, held.types) == (relation.columns, relation.types)
    assert repr(held.order("id").fetchall()) == repr(relation.order("id").fetchall())
    assert con.sql("SELECT string_agg(id, '' ORDER BY id) FROM held WHERE x > 1").fetchall() == [("adf",)]
    pl = pytest.importorskip("polars")
    assert "".join(sorted(scan(table).scan_polars().filter(pl.col("x") > 1).collect()["id"])) == "adf"
    assert counted(scan(table).to_table(), ["id"]) == counted(scan(table, "1 = 1").to_table(), ["id"])
