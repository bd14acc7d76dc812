"""``aggregate`` on real Spark: its row is what Spark makes of all rows that Hudi's own reader gave, in Spark's types.

The rows of real tables are recorded (``true_rows``). Of each table's conditions some hold on all rows of a file.
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import json
import logging
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import functions as F  # noqa: N812

from evaluator.language.errors import UnsupportedError
from handler.indexes.operations import IndexWork
from handler.spark import aggregate, plan_aggregate, read
from handler.spark.pruning.schemas import spark_schema
from handler.spark.reading import reading
from index_store import open_table
from tests.handler.plain_table import plain_table
from tests.handler.spark.true_rows import reads, true_rows, unpack
from tests.sampling import share

#: By table: conditions, and columns of which count, min and max are asked.
TABLES = {
    "1.1.1_main_cow": (["i > 50", "p = 'p1'", "dt < date'2020-01-01'", "i < -100000"], "i l dec dec30 dt t b p"),
    "0.15.0_main_cow": (["i > 50", "t >= timestamp'2020-01-20 00:00:00'"], "i dec dt t b"),
    "1.0.2_main_cow": (["i > 50", "p <> 'p0'"], "i dec dt t b"),
    "1.1.1_main_mor": (["i > 50", "p = 'p1'"], "i dec dt t b p"),
    "1.1.1_evol_cow": (["i > 50", "extra IS NULL"], "i extra"),
    "format_0.15.0_evolved_cow": (["i > 2", "extra IS NULL"], "i dec extra"),
    "format_1.2.0_widened_cow": (["i > 30", "e IS NULL"], "i"),
    "format_1.2.0_partcols_cow": (["p = 'p1'", "i > 5000"], "i p"),
    "format_1.2.0_compacted_mor": (["i > 100"], "i"),
}


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    folders = {}

    def unpacked(name):
        if name not in folders:
            folders[name] = unpack(name, tmp_path_factory.mktemp("real") / "t")
        return str(folders[name])

    return unpacked


def rows_and_schema(frame):
    return frame.collect(), frame.schema


def true_frame(spark, name, path):
    """The recorded rows, which no file and no statistic is read for."""
    rows = true_rows(name, "snapshot")
    return spark.createDataFrame([tuple(row.values()) for row in rows.to_pylist()], spark_schema(open_table(path)))


@pytest.mark.parametrize("name", share(TABLES, 24))
@pytest.mark.nightly
def test_the_row_is_that_of_all_rows(spark, folder_of, name):
    path = folder_of(name)
    conditions, columns = TABLES[name]
    asked = {"n": "count(*)"} | {f"{f} {c}": f"{f}({c})" for c in columns.split() for f in ("count", "min", "max")}
    right, answered = true_frame(spark, name, path), 0
    for condition in (None, *conditions):
        expected = right.where(condition or "TRUE").agg(*(F.expr(text).alias(key) for key, text in asked.items()))
        assert aggregate(spark, path, asked, condition).collect() == expected.collect(), condition
        counts = {"n": "count(*)", "c": f"count({columns.split()[0]})"}
        assert aggregate(spark, path, counts, condition).first()["n"] == expected.first()["n"]
        answered += len(plan_aggregate(spark, path, asked, condition).answered)
    assert answered > 0


def constants(spark, folder):
    """A table of four files, in three of which each column is one value or NULL. Its path, and all of its rows."""
    day, moment = datetime.date(2020, 2, 29), datetime.datetime(2020, 2, 29, 12, 30, 15, 123456)
    schema = pa.schema(
        [
            ("id", pa.string()),
            ("i", pa.int32()),
            ("l", pa.int64()),
            ("dec", pa.decimal128(10, 2)),
            ("dt", pa.date32()),
            ("t", pa.timestamp("us", "UTC")),
            ("n", pa.timestamp("us")),
            ("b", pa.bool_()),
            ("s", pa.string()),
        ]
    )

    def file(number, i, values):
        made = {name: [value] * 3 for name, value in zip(schema.names[2:], values, strict=True)}
        return pa.table({"id": [f"{number}-{n}" for n in range(3)], "i": i, **made}, schema)

    utc = moment.replace(tzinfo=datetime.timezone.utc)
    files = [
        file(0, [7, 7, 7], [2**60, Decimal("-1.25"), day, utc, moment, True, "a"]),
        file(1, [None, 9, 9], [-(2**60), Decimal("9.75"), day, utc, moment, False, "b"]),
        file(2, [None, None, None], [None] * 7),
        file(3, [1, 2, None], [5, Decimal("0.01"), datetime.date(1999, 1, 1), utc, moment, None, "ä"]),
    ]
    avro = {"i": "int", "l": "long", "b": "boolean", "s": "string"}
    logical = {"dt": ("int", "date"), "t": ("long", "timestamp-micros"), "n": ("long", "local-timestamp-micros")}
    fields = [{"name": "id", "type": "string"}]
    for name in schema.names[1:]:
        kind = avro.get(name) or {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
        if name in logical:
            kind = dict(zip(("type", "logicalType"), logical[name], strict=True))
        fields.append({"name": name, "type": ["null", kind], "default": None})
    text = json.dumps({"type": "record", "name": "r", "fields": fields})
    return str(plain_table(folder, [("", one) for one in files], schema=text))


EVERY = {
    "n": "count(*)",
    "one": "count(1)",
    **{f"{f} {c}": f"{f}({c})" for c in ("i", "l", "dec", "dt", "t", "n", "b", "s") for f in ("count", "min", "max")},
    **{f"sum {c}": f"sum({c})" for c in ("i", "l", "dec")},
}


CONDITIONS_AND_SETTINGS = list(
    itertools.product(
        (None, "id < '3'", "id >= '2'", "id = '2-0'", "id > '9'"), ("UTC", "America/New_York"), ("true", "false")
    )
)


@pytest.fixture(scope="module")
def four_files(spark, tmp_path_factory):
    return constants(spark, tmp_path_factory.mktemp("four") / "t")


@pytest.mark.parametrize(("condition", "zone", "ansi"), share(CONDITIONS_AND_SETTINGS, 20), ids=str)
def test_values_types_and_nulls_are_those_of_spark(spark, four_files, condition, zone, ansi):
    with settings(spark, {"spark.sql.ansi.enabled": ansi, "spark.sql.session.timeZone": zone}):
        frame = aggregate(spark, four_files, EVERY, condition)
        expected = read(spark, four_files, condition).agg(*(F.expr(text).alias(key) for key, text in EVERY.items()))
        assert rows_and_schema(frame) == rows_and_schema(expected)


@contextlib.contextmanager
def settings(spark, values):
    before = {name: spark.conf.get(name) for name in values}
    for name, value in values.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def test_a_file_that_is_answered_is_not_opened(spark, four_files):
    names = lambda frame: sorted(file.rpartition("/")[2][:6] for file in frame.inputFiles())  # noqa: E731
    assert names(aggregate(spark, four_files, {"n": "count(*)"})) == []
    assert names(aggregate(spark, four_files, {"s": "sum(i)"})) == ["f00003"]
    assert names(aggregate(spark, four_files, {"s": "sum(i)"}, "id < '3'")) == []
    assert len(names(aggregate(spark, four_files, {"a": "avg(i)"}))) == 4


def test_sums_that_leave_64_bits_are_sparks(spark, tmp_path):
    schema = json.dumps(
        {
            "type": "record",
            "name": "r",
            "fields": [{"name": "id", "type": "string"}, {"name": "l", "type": ["null", "long"], "default": None}],
        }
    )
    values = ([2**62, 2**62], [2**62, 2**62], [1, 2], [-5, -5])
    files = [("", pa.table({"id": ["a", "b"], "l": pa.array(one, pa.int64())})) for one in values]
    path = str(plain_table(tmp_path / "t", files, schema=schema))
    with settings(spark, {"spark.sql.ansi.enabled": "false"}):
        expected = read(spark, path).agg(F.expr("sum(l)").alias("s")).collect()
        assert aggregate(spark, path, {"s": "sum(l)"}).collect() == expected
    assert [reason for reason, _ in plan_aggregate(spark, path, {"s": "sum(l)"}).reasons] == [
        "the sum is beyond the type of the result",
        "the file holds several values of column l, and no own index has their sum",
    ]


def test_sums_of_an_own_index_need_no_file(spark, tmp_path):
    path = constants(spark, tmp_path / "t")
    sums = {f"sum {c}": f"sum({c})" for c in ("i", "l", "dec")}
    IndexWork(path).create(["i", "l", "dec"], ["sum"], name="totals")
    frame = aggregate(spark, path, sums)
    assert frame.inputFiles() == []
    assert rows_and_schema(frame) == rows_and_schema(
        read(spark, path).agg(*(F.expr(t).alias(n) for n, t in sums.items()))
    )


#: Aggregates that no footer answers, for what they are in Spark.
LEFT_TO_SPARK = ["avg(i)", "count(DISTINCT i)", "sum(i) FILTER (WHERE i > 1)", "min(i + 1)", "try_sum(i)", "min(i) + 1"]
LEFT_TO_SPARK += ["count(i, l)", "count(NULL)", "sum(DISTINCT i)", "max(struct(i, l))"]


@pytest.mark.parametrize("text", share(LEFT_TO_SPARK, 4))
def test_other_aggregates_are_left_to_spark(spark, four_files, text):
    split = plan_aggregate(spark, four_files, {"n": "count(*)", "v": text})
    assert (len(split.answered), len(split.scanned)) == (0, 4)
    assert split.reasons[0][0].startswith("footers do not answer ")
    expected = read(spark, four_files).agg(F.expr("count(*)").alias("n"), F.expr(text).alias("v"))
    assert rows_and_schema(aggregate(spark, four_files, {"n": "count(*)", "v": text})) == rows_and_schema(expected)


def test_aggregates_and_conditions_may_be_columns_and_names_qualified(spark, four_files):
    asked = {"n": F.count("*"), "N": F.max("I"), "s": F.min(F.col("dt")), "x": F.count(F.lit("a"))}
    expected = read(spark, four_files, "i > 0").agg(*(one.alias(name) for name, one in asked.items())).collect()
    assert aggregate(spark, four_files, asked, F.col("i") > 0).collect() == expected
    assert aggregate(spark, four_files, {"hi": "max(o.`i`)"}, "o.id < '3'").collect() == [(9,)]
    assert aggregate(spark, four_files, {"hi": "max(o.i)"}, alias="o").collect() == [(9,)]
    assert len(plan_aggregate(spark, four_files, {"hi": "max(o.i)"}, alias="o").answered) == 4


def test_a_function_of_the_user_is_not_taken_for_sparks(spark, four_files):
    session = spark.newSession()
    session.conf.set("spark.sql.functionResolution.sessionOrder", "first")  # Spark 4.2 looks at its own functions first
    session.udf.register("min", lambda value: None if value is None else -value, "int")
    assert aggregate(session, four_files, {"v": "max(min(i))"}).collect() == [(-1,)]
    with pytest.raises(AnalysisException):  # no aggregate
        aggregate(session, four_files, {"v": "min(i)"})


def test_read_optimized_counts_base_files_alone(spark, folder_of):
    name = "1.1.1_main_mor"
    right = true_rows(name, "read_optimized")
    frame = aggregate(spark, folder_of(name), {"n": "count(*)", "hi": "max(i)"}, query="read_optimized")
    assert frame.collect() == [(right.num_rows, pa.compute.max(right["i"]).as_py())]
    split = plan_aggregate(spark, folder_of(name), {"n": "count(*)"}, query="read_optimized")
    assert (len(split.answered), len(split.scanned)) == (10, 8)


def test_an_older_instant_has_the_rows_of_its_time(spark, folder_of):
    name = "format_1.2.0_evolved_cow"
    read_as_of = next(one for one in reads()[name] if one.startswith("asof_"))
    right = true_rows(name, read_as_of)
    frame = aggregate(spark, folder_of(name), {"n": "count(*)", "hi": "max(i)"}, as_of=read_as_of.removeprefix("asof_"))
    assert frame.collect() == [(right.num_rows, pa.compute.max(right["i"]).as_py())]


def test_rows_that_only_hudi_merges_are_refused_and_not_counted_twice(spark, folder_of, monkeypatch):
    name = "format_1.2.0_pay_sum_mor"
    with pytest.raises(UnsupportedError, match="Put the Hudi bundle"):
        aggregate(spark, folder_of(name), {"n": "count(*)"})
    # where the bundle is there, it reads the whole table: nothing is added to that
    whole = spark.createDataFrame([("k", 1)], "id string, i int")
    monkeypatch.setattr(reading, "_whole_by_hudi", lambda *_: whole)
    assert aggregate(spark, folder_of(name), {"n": "count(*)"}).collect() == [(1,)]


def test_what_is_answered_is_logged(spark, four_files, caplog):
    with caplog.at_level(logging.DEBUG, "sargo.spark"):
        aggregate(spark, four_files, {"s": "sum(i)"})
    assert [record.getMessage().partition(": ")[2] for record in caplog.records if record.name == "sargo.spark"] == [
        "3 of 4 file slices answered by footers, 1 scanned",
        "'the file holds several values of column i, and no own index has their sum'",
    ]


def test_bad_input_is_refused_by_name(spark, four_files):
    for given, error, match in (
        ("count(*)", TypeError, "aggregates are a dict such as"),
        ({}, ValueError, "no aggregate is given"),
        ({1: "count(*)"}, TypeError, "an aggregate has a name"),
        ({"n": 1}, TypeError, "the aggregate n is SQL text or a Column, not int"),
        ({"n": "min(nosuch)"}, AnalysisException, "nosuch"),
        ({"n": "i"}, AnalysisException, "MISSING_GROUP_BY|MISSING_AGGREGATION"),
    ):
        with pytest.raises(error, match=match):
            aggregate(spark, four_files, given)
    with pytest.raises(TypeError, match="the first argument is the SparkSession"):
        aggregate(four_files, spark, {"n": "count(*)"})
    with pytest.raises(UnsupportedError, match="query 'incremental'"):
        aggregate(spark, four_files, {"n": "count(*)"}, query="incremental")
