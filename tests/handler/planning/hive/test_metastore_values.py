"""Partition columns of Hive's own filters: decided by the table only where every path is the value itself."""

from __future__ import annotations

import shutil

import pytest

from handler import open_table, prune
from handler.planning.hive_filter import OF_HIVE
from tests.handler.key_generator_tables import folder_of_release
from tests.sarg.kryo_writer import STRING, column, constant, function, write


def equals(name, value, *, marked=True):
    made = column(name, STRING)
    made.fields["isPartitionColOrVirtualCol"] = marked
    return write(function("OPEqual", made, constant(value, STRING)))


def is_open(path, filter_):
    plan = prune(open_table(path, cache=None), filter_)
    told = any(OF_HIVE in reason.text for reason in plan.reasons)
    assert told == (len(plan.kept) == len(plan.slices))
    return told


@pytest.mark.parametrize(
    ("name", "partition_column", "value"),
    [
        ("slash_text", "s", "2022-12-31"),
        ("slash_extractor", "s", "2022-12-31"),
        ("text_slashed", "s", "2022-12-31"),
        ("text", "s", "none"),
        ("text_both", "s", "x/y"),
        ("times_text", "tx", "2022-12-31"),
    ],
)
def test_the_metastore_may_have_other_values_than_the_files(name, partition_column, value):
    assert is_open(folder_of_release("1.2.0") / name, equals(partition_column, value))


def test_a_path_that_is_the_value_decides(main_cow):
    assert not is_open(main_cow, equals("p", "p1"))
    assert not is_open(main_cow, equals("P", "p1"))


def test_an_ordinary_column_has_the_files_values():
    path = folder_of_release("1.2.0") / "slash_text"
    plan = prune(open_table(path, cache=None), equals("s", "2022-12-31", marked=False))
    assert {one.partition for one in plan.kept} == {"2022/12/31"}


def test_an_extractor_of_the_users_may_make_any_value_of_a_path(main_cow, tmp_path):
    path = tmp_path / "t"
    shutil.copytree(main_cow, path)
    properties = path / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text() + "hoodie.table.partition_extractor_class=com.example.Mine\n")
    assert is_open(path, equals("p", "p1"))
