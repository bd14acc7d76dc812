"""Values of partition columns that the files lack: the path tells them, or it is an error; never NULL instead."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from evaluator.language.errors import UnsupportedError
from handler.spark.reading.partition_columns import PartitionColumns

P = pa.string()


def value(path, kind, names=("p",), foreign=(), escaped=False):
    columns = PartitionColumns(tuple(names), frozenset(foreign), escaped)
    return columns.values(path, pa.schema([("id", pa.string()), (names[-1], kind)]))[names[-1]]


@pytest.mark.parametrize(
    ("path", "kind", "expected"),
    [
        ("p=oslo", P, "oslo"),
        ("oslo", P, "oslo"),
        ("p=a=b", P, "a=b"),
        ("p=", P, ""),
        ("p=__HIVE_DEFAULT_PARTITION__", P, None),
        ("p=__HIVE_DEFAULT_PARTITION__", pa.int32(), None),
        ("p=-12", pa.int64(), -12),
        ("p=2026-01-31", pa.date32(), datetime.date(2026, 1, 31)),
        ("p=True", pa.bool_(), True),
        ("false", pa.bool_(), False),
        ("p=1.50", pa.decimal128(6, 2), Decimal("1.50")),
        ("p=2.5", pa.float64(), 2.5),
    ],
)
def test_a_path_tells_the_value_in_the_type_of_the_column(path, kind, expected):
    assert value(path, kind) == expected


def test_a_value_is_unescaped_only_where_the_table_escapes():
    assert value("p=a%2Fb", P) == "a%2Fb"
    assert value("p=a%2Fb", P, escaped=True) == "a/b"


@pytest.mark.parametrize(
    ("path", "kind", "why"),
    [
        ("p=12x", pa.int32(), "'12x' is no integer"),
        ("p=2026-1-1", pa.date32(), "'2026-1-1' is no date"),
        ("p=yes", pa.bool_(), "'yes' is neither true nor false"),
        ("p=x", pa.decimal128(6, 2), "no value of column p"),
        ("p=1", pa.timestamp("us"), "a path does not tell values of type timestamp"),
        ("2026/01/31", P, "does not have one part for each of p"),
    ],
)
def test_a_path_that_does_not_tell_the_value_is_an_error(path, kind, why):
    with pytest.raises(UnsupportedError, match=why):
        value(path, kind)


def test_the_path_of_a_computed_partition_is_no_value():
    with pytest.raises(UnsupportedError, match="not a value of column p, which the files lack"):
        value("p=2026-01", P, foreign=["p"])


def test_parts_stand_in_the_order_of_the_partition_fields_and_a_file_that_has_the_column_is_not_asked():
    assert value("2026-01-01/oslo", P, names=("dt", "city")) == "oslo"
    columns = PartitionColumns(("p",), frozenset(), False)
    assert columns.values("anything/at/all", pa.schema([("p", P)]), frozenset(["p"])) == {}
