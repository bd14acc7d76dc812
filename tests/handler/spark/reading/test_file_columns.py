"""A file's columns in the table's types: without Spark, and the same by Spark's own casts."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
from pyspark.sql.types import StructField, StructType

from evaluator.language.errors import UnsupportedError
from handler.rows.file_columns import in_table_type, nullable
from handler.spark.reading.column_changes import converted

INT, LONG, FLOAT, DOUBLE, TEXT = pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string()
NARROW = pa.struct([("x", INT), ("y", TEXT)])
WIDE = pa.struct([("y", TEXT), ("x", LONG), ("new", FLOAT)])
#: (values, type in the file, type in the table, values in the table)
CHANGES = [
    ([1, None, -(2**31)], INT, LONG, [1, None, -(2**31)]),
    ([7, None], INT, FLOAT, [7.0, None]),
    ([2**31 - 1, None], INT, DOUBLE, [2147483647.0, None]),
    ([2**53 + 1, -5], LONG, DOUBLE, [9007199254740992.0, -5.0]),
    ([16777217, None], LONG, FLOAT, [16777216.0, None]),
    ([-20, None, 0], INT, TEXT, ["-20", None, "0"]),
    ([2**63 - 1, None], LONG, TEXT, ["9223372036854775807", None]),
    ([12, None], INT, pa.decimal128(12, 2), [Decimal("12.00"), None]),
    ([1.1, None, -0.0, 3e38, float("inf")], FLOAT, DOUBLE, [1.1, None, -0.0, 3e38, float("inf")]),
    ([Decimal("5.25"), None], pa.decimal128(6, 2), pa.decimal128(10, 4), [Decimal("5.2500"), None]),
    ([datetime.date(1990, 12, 31), None], pa.date32(), TEXT, ["1990-12-31", None]),
    ([b"caf\xc3\xa9", None], pa.binary(), TEXT, ["café", None]),
    (["é", None], TEXT, pa.binary(), [b"\xc3\xa9", None]),
    (
        [{"x": 1, "y": "a"}, None, {"x": None, "y": None}],
        NARROW,
        WIDE,
        [{"y": "a", "x": 1, "new": None}, None, {"y": None, "x": None, "new": None}],
    ),
    ([[1, None], None, []], pa.list_(INT), pa.list_(LONG), [[1, None], None, []]),
    ([[{"x": 1, "y": "b"}, None]], pa.list_(NARROW), pa.list_(WIDE), [[{"y": "b", "x": 1, "new": None}, None]]),
    (
        [[("k", 1.5), ("l", None)], None, []],
        pa.map_(TEXT, FLOAT),
        pa.map_(TEXT, DOUBLE),
        [[("k", 1.5), ("l", None)], None, []],
    ),
]
REFUSED = [
    (["1"], TEXT, INT),
    ([1.5], DOUBLE, FLOAT),
    ([2**40], LONG, INT),
    ([1], LONG, pa.bool_()),
    ([True], pa.bool_(), TEXT),
    ([Decimal("1.25")], pa.decimal128(6, 2), pa.decimal128(6, 1)),
    (["2020-01-01"], TEXT, pa.date32()),
]


def ids(case):
    return f"{case[1]} to {case[2]}"


@pytest.mark.parametrize("case", CHANGES, ids=ids)
def test_values_change_their_type_without_spark(case):
    values, have, wanted, expected = case
    column = pa.array([None, *values, None], have)[1:-1]  # a slice of a longer column
    found = in_table_type(column, nullable(wanted), "c")
    assert found.type == nullable(wanted)
    assert repr(found.to_pylist()) == repr(expected)


def test_spark_changes_the_same_types_to_the_same_values(spark):
    fields, row, columns, expected = [], [], [], []
    for n, (values, have, wanted, right) in enumerate(CHANGES):
        before, after = from_arrow_type(have), from_arrow_type(wanted)
        for k, (value, one) in enumerate(zip(values, right, strict=True)):
            fields.append(StructField(f"c{n}_{k}", before))
            row.append(dict(value) if pa.types.is_map(have) and value is not None else value)
            columns.append(converted(F.col(f"c{n}_{k}"), before, after, "c"))
            expected.append(dict(one) if pa.types.is_map(wanted) and one is not None else one)
    found = spark.createDataFrame([tuple(row)], StructType(fields)).repartition(1).select(*columns).collect()[0]
    plain = [
        value.asDict(recursive=True)
        if hasattr(value, "asDict")
        else [one.asDict() if hasattr(one, "asDict") else one for one in value]
        if isinstance(value, list)
        else bytes(value)
        if isinstance(value, bytearray)
        else dict(sorted(value.items()))
        if isinstance(value, dict)
        else value
        for value in found
    ]
    assert [repr(value) for value in plain] == [repr(value) for value in expected]


@pytest.mark.parametrize("case", REFUSED, ids=ids)
def test_what_does_not_change_exactly_is_refused_by_name(spark, case):
    values, have, wanted = case
    with pytest.raises(UnsupportedError, match=r"file\.parquet, column c"):
        in_table_type(pa.array(values, have), wanted, "file.parquet, column c")
    with pytest.raises(UnsupportedError, match=r"file\.parquet, column c: \w+.* in the file cannot be read as"):
        converted(F.col("c"), from_arrow_type(have), from_arrow_type(wanted), "file.parquet, column c")


def test_types_that_only_a_jvm_writes_the_same_way_are_left_to_spark(spark):
    with pytest.raises(UnsupportedError, match="double in the file cannot be read as string"):
        in_table_type(pa.array([1e22], DOUBLE), TEXT, "c")
    column = converted(F.lit(1e22), from_arrow_type(DOUBLE), from_arrow_type(TEXT), "c")
    assert spark.range(1).select(column).collect()[0][0] == "1.0E22"
    assert to_arrow_type(from_arrow_type(TEXT)) == TEXT
