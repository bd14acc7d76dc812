"""Ids and hashes, on examples from real tables and from Hudi's own tests."""

from __future__ import annotations

import pytest

from index_store.formats.keys import column_id, file_group, file_name_id, java_hash, partition_id


@pytest.mark.parametrize(
    ("name", "expected"),
    [("driver", b"AjpJ7N1gBZc="), ("fare", b"k6A0EIIbKbU="), ("_hoodie_record_key", b"uSJGdDiVr/k=")],
)
def test_column_ids_of_real_tables(name, expected):
    assert column_id(name) == expected


@pytest.mark.parametrize(
    ("partition", "expected"), [("city=sao_paulo", b"6Hj+sBy+gvM="), ("", b"FXThHwelITM="), (".", b"FXThHwelITM=")]
)
def test_partition_ids_of_real_tables(partition, expected):
    assert partition_id(partition) == expected


def test_file_id_of_a_real_table():
    name = "8aa68f7e-afd6-4c94-b86c-8a886552e08d-0_2-1112-3192_20251220210129235.parquet"
    assert file_name_id(name) == b"0VV0SYFvRHPGdIGkp/dZ+A=="


@pytest.mark.parametrize(
    ("key", "group"),
    [("test_key", 8), ("secondary_key$primary_key", 0), ("test@key#123", 0), ("primary_key_secondary_key", 7), ("", 0)],
)
def test_file_groups_of_hudis_own_test(key, group):
    assert file_group(key, 10) == group


def test_the_smallest_hash_is_repaired_as_java_does():
    text = "polygenelubricants"
    assert java_hash(text) == -(1 << 31)
    assert file_group(text, 10) == 8


def test_the_hash_is_over_utf16_units():
    assert java_hash("\U0001d11e") == 31 * 0xD834 + 0xDD1E
