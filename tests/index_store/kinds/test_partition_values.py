"""Partition values: from the path to bounds, only where the path is the value."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from evaluator.language.schema import Field
from evaluator.language.types import BIGINT, BOOLEAN, DATE, DOUBLE, INT, STRING, TIMESTAMP, TINYINT, Type, decimal_type
from evaluator.statistics.distrust import Trust
from index_store import open_table
from index_store.kinds.partition_values import PartitionValues, make
from index_store.table.file_slices import FileSlice, FileSlices
from index_store.table.partition_paths import value_of_text

SIMPLE = {"hoodie.table.keygenerator.type": "SIMPLE"}
HIVE = {**SIMPLE, "hoodie.datasource.write.hive_style_partitioning": "true"}
ENCODED = {**HIVE, "hoodie.datasource.write.partitionpath.urlencode": "true"}


def values(fields, paths, column, properties):
    table = SimpleNamespace(partition_fields=fields, properties=properties, version=9, table_type="COPY_ON_WRITE")
    items = tuple(FileSlice(path, str(i), f"{path}/f") for i, path in enumerate(paths))
    slices = FileSlices("1", "file listing", items)
    kind = PartitionValues(table, slices)
    found = kind.statistics([column])[column.name]
    return [
        (found.lo[i] if found.lo_known[i] else "null" if not found.may_be_value[i] else None) for i in range(len(paths))
    ], found


@pytest.mark.parametrize(
    ("path", "column_type", "properties", "expected"),
    [
        pytest.param("p=7", INT, HIVE, 7, id="Hive style"),
        pytest.param("7", INT, SIMPLE, 7, id="plain"),
        pytest.param("p=7", INT, SIMPLE, 7, id="Hive style though not declared"),
        pytest.param("7", INT, HIVE, None, id="plain though declared Hive style"),
        pytest.param("q=7", INT, HIVE, None, id="another column's name"),
        pytest.param("p=__HIVE_DEFAULT_PARTITION__", INT, HIVE, "null", id="null"),
        pytest.param("p=__HIVE_DEFAULT_PARTITION__", STRING, HIVE, "", id="null or an empty text"),
        pytest.param("p=default", STRING, HIVE, None, id="null of old releases, or a value"),
        pytest.param("p=", STRING, HIVE, None, id="nothing"),
        pytest.param("p=a b", STRING, HIVE, "a b", id="text"),
        pytest.param("p=a%20b", STRING, ENCODED, "a b", id="escaped text"),
        pytest.param("p=a%20b", STRING, HIVE, None, id="text that may be escaped"),
        pytest.param("p=%ff", STRING, ENCODED, None, id="escaped bytes that are no text"),
        pytest.param("p=2026-01-02", DATE, HIVE, 20455, id="date"),
        pytest.param("p=2026/01/02", DATE, HIVE, None, id="date in another form"),
        pytest.param("p=20260102", DATE, HIVE, None, id="date without dashes"),
        pytest.param("p=true", BOOLEAN, HIVE, 1, id="boolean"),
        pytest.param("p=yes", BOOLEAN, HIVE, None, id="no boolean"),
        pytest.param("p=-5", BIGINT, HIVE, -5, id="negative"),
        pytest.param("p=300", TINYINT, HIVE, None, id="out of range"),
        pytest.param("p=1.50", decimal_type(10, 2), HIVE, 150, id="decimal"),
        pytest.param("p=1.555", decimal_type(10, 2), HIVE, None, id="decimal that does not fit"),
        pytest.param("p=NaN", decimal_type(10, 2), HIVE, None, id="no decimal"),
        pytest.param("p=1.5", DOUBLE, HIVE, None, id="floats have many forms"),
        pytest.param("p=2026-01-02 03:04:05", TIMESTAMP, HIVE, None, id="timestamps too"),
        pytest.param("p=ab ", Type.parse("char(3)"), HIVE, None, id="char is padded or not"),
        pytest.param("p=x", INT, HIVE, None, id="no number"),
    ],
)
def test_one_value(path, column_type, properties, expected):
    (found,), statistics = values(("p",), [path], Field("p", column_type), properties)
    assert found == expected
    assert statistics.trust[0] == (Trust.NOT_A_VALUE if expected is None else Trust.OK)
    if expected is None:
        assert statistics.may_be_null[0]
        assert statistics.may_be_value[0]
    elif expected != "null":
        assert statistics.lo[0] == statistics.hi[0]
        assert statistics.may_be_null[0] == (expected == "")


def test_several_fields_in_their_order():
    paths = ["dt=2026-01-02/city=oslo", "dt=2026-01-03/city=rome", "dt=2026-01-03"]
    assert values(("dt", "city"), paths, Field("city", STRING), HIVE)[0] == ["oslo", "rome", None]
    assert values(("dt", "city"), paths, Field("dt", DATE), HIVE)[0] == [20455, 20456, None]


def test_slashes_are_in_the_value_or_stand_for_dashes_so_it_is_unknown():
    assert values(("p",), ["2026/01/02"], Field("p", STRING), SIMPLE)[0] == [None]


@pytest.mark.parametrize(
    "properties",
    [
        {},
        {"hoodie.table.keygenerator.type": "TIMESTAMP"},
        {"hoodie.table.keygenerator.type": "USER_PROVIDED"},
        {"hoodie.table.keygenerator.class": "org.apache.hudi.keygen.TimestampBasedKeyGenerator"},
        {"hoodie.table.keygenerator.class": "com.example.Mine"},
    ],
)
def test_a_key_generator_that_is_not_known_to_copy_the_value_is_not_believed(properties):
    (found,), statistics = values(("p",), ["7"], Field("p", INT), properties)
    assert found is None
    assert statistics.trust[0] == Trust.KEY_GENERATOR


def test_a_custom_key_generator_says_which_fields_are_copied():
    properties = {
        "hoodie.table.keygenerator.type": "CUSTOM",
        "hoodie.table.partition.fields": "ts:TIMESTAMP,city:SIMPLE",
    }
    assert values(("ts", "city"), ["2026/oslo"], Field("city", STRING), properties)[0] == ["oslo"]
    assert values(("ts", "city"), ["2026/oslo"], Field("ts", STRING), properties)[0] == [None]


def test_version_6_names_the_class():
    properties = {"hoodie.table.keygenerator.class": "org.apache.hudi.keygen.SimpleKeyGenerator"}
    assert values(("p",), ["7"], Field("p", INT), properties)[0] == [7]


def test_a_real_table(hudi_table):
    table = open_table(hudi_table("1.1.1_main_cow"))
    slices = table.slices()
    found = make(table, slices).statistics(list(table.schema))
    assert list(found) == ["p"]
    assert [f"p={value}" for value in found["p"].lo] == [one.partition for one in slices]
    assert make(open_table(hudi_table("1.1.1_sec_mor")), slices) is None


def test_a_value_out_of_the_calendar_is_none():
    assert value_of_text("2026-02-30", DATE) == (False, None)
