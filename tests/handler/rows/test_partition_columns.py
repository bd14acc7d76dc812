"""Values of partition columns that the files lack: the path tells them, or it is an error; never NULL instead."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from evaluator.language.errors import UnsupportedError
from handler.rows.partition_columns import PartitionColumns
from index_store.table.partition_paths import PathRules

P = pa.string()


def columns_of(names, computed=(), *, encoded=False):
    copied = frozenset(names) - frozenset(computed)
    return PartitionColumns(PathRules(tuple(names), copied, frozenset(names), is_encoded=encoded))


def value(path, kind, names=("p",), computed=(), have=()):
    schema = pa.schema([("id", pa.string()), (names[-1], kind)])
    return columns_of(names, computed).values(path, schema, frozenset(have))[names[-1]]


@pytest.mark.parametrize(
    ("path", "kind", "expected"),
    [
        ("p=oslo", P, "oslo"),
        ("oslo", P, "oslo"),
        ("p=a=b", P, "a=b"),
        ("2022/12/31", P, "2022/12/31"),
        ("p=2022/12/31", P, "2022/12/31"),
        ("q=7", P, "7"),
        ("p=__HIVE_DEFAULT_PARTITION__", P, None),
        ("p=__HIVE_DEFAULT_PARTITION__", pa.int32(), None),
        ("p=-12", pa.int64(), -12),
        ("p=2026-01-31", pa.date32(), datetime.date(2026, 1, 31)),
        ("p=True", pa.bool_(), True),
        ("false", pa.bool_(), False),
        ("p=1.50", pa.decimal128(6, 2), Decimal("1.50")),
        (
            "p=12345678901234567890123456789012.345678",
            pa.decimal128(38, 6),
            Decimal("12345678901234567890123456789012.345678"),
        ),
        ("p=2.5", pa.float64(), 2.5),
    ],
)
def test_a_path_tells_the_value_in_the_type_of_the_column(path, kind, expected):
    assert value(path, kind) == expected


def test_a_value_is_unescaped_whether_the_table_escapes_or_not():
    assert value("p=a%2Fb", P) == "a/b"
    assert value("p=a%2fb", P) == "a/b"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("p=12x", pa.int32()),
        ("p=2026-1-1", pa.date32()),
        ("p=yes", pa.bool_()),
        ("p=x", pa.decimal128(6, 2)),
        ("p=1.5", pa.decimal128(6, 2)),
        ("p=2026-01-01 00:00:00", pa.timestamp("us")),
        ("2026/01/31", pa.date32()),
        ("p=", P),
        ("p=%C3%A9", P),
        ("p=a", pa.binary()),
    ],
)
def test_a_path_that_does_not_tell_the_value_is_an_error(path, kind):
    with pytest.raises(
        UnsupportedError, match=r"no value of column p .* is known from the path, and the files lack it"
    ):
        value(path, kind)


def test_a_file_that_has_the_column_is_asked_where_the_path_says_the_same():
    schema, have = pa.schema([("p", P)]), frozenset(["p"])
    assert columns_of(("p",)).values("oslo", schema, have) == {}
    assert columns_of(("p",)).values("2022/12/31", schema, have) == {"p": "2022/12/31"}
    assert columns_of(("p",), encoded=True).values("a%2Fb", schema, have) == {}
    assert columns_of(("p",)).values("a%2Fb", schema, have) == {"p": "a/b"}
    assert columns_of(("p",)).values("p=__HIVE_DEFAULT_PARTITION__", schema, have) == {"p": None}
    with pytest.raises(UnsupportedError, match="Hudi reads the path instead of the files"):
        columns_of(("p",)).values("p=%ff", schema, have)


def test_a_column_that_readers_take_from_the_file_is_not_in_the_path():
    computed = PartitionColumns(PathRules(("p",), frozenset(), frozenset()))
    assert computed.values("2026/01", pa.schema([("p", P)]), frozenset(["p"])) == {}
    with pytest.raises(UnsupportedError, match="the files lack it"):
        computed.values("2026/01", pa.schema([("p", P)]))


def test_parts_stand_in_the_order_of_the_partition_fields():
    assert value("2026-01-01/oslo", P, names=("dt", "city")) == "oslo"
    with pytest.raises(UnsupportedError):
        value("2026/01/01/oslo", P, names=("dt", "city"))
