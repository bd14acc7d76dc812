"""Bucket indexes over several fields of the key, in tables whose rows Spark read whole (tests/data/hudi/keys)."""

from __future__ import annotations

import numpy as np
import pytest

from evaluator.language.schema import Field
from evaluator.language.types import STRING
from handler import open_table as opened_by_handler
from handler import prune
from index_store import open_table
from index_store.buckets.hash_fields import HashFields
from index_store.kinds.bucket_index import bucket_index
from tests.index_store.kinds.test_key_tables import rows_of

KEY = Field("_hoodie_record_key", STRING)


def options(number, fields, engine="SIMPLE"):
    return {
        "hoodie.index.type": "BUCKET",
        "hoodie.bucket.index.num.buckets": str(number),
        "hoodie.bucket.index.hash.field": fields,
        "hoodie.index.bucket.engine": engine,
    }


REAL = {
    "keys/1.0.2_bucket_two_cow": options(5, "id,n"),
    "keys/1.1.1_bucket_two_cow": options(5, ""),
    "keys/1.1.1_bucket_swapped7_cow": options(7, "n,id"),
    "keys/1.1.1_bucket_sub_mor": options(5, "n"),
    "keys/1.1.1_bucket_subid7_cow": options(7, "id"),
    "keys/1.1.1_bucket_ch_two_mor": options(4, "id,n", "CONSISTENT_HASHING"),
}


def opened(path, told):
    table = open_table(path, options=told)
    slices = table.slices()
    return table, slices, bucket_index.make(table, slices)


def place_of(row, slices):
    return next(
        i
        for i, one in enumerate(slices)
        if (one.partition, one.file_id) == (row["partition"], row["file"].partition("_")[0])
    )


@pytest.mark.parametrize("name", REAL)
def test_no_slice_with_a_row_of_the_key_is_ruled_out(hudi_table, name):
    _, slices, kind = opened(hudi_table(name), REAL[name])
    rows, asked = rows_of(name), 0
    assert kind.coverage([KEY]).columns[KEY.name].usable == len(slices)
    for row in rows:
        mask = kind.might_contain(KEY, [row["key"]])
        doubtful = row["key"].count(":") != 2 or row["key"].count(",") != 1
        assert (mask is None) == doubtful
        if mask is not None:
            asked += 1
            assert mask[place_of(row, slices)]
            left = [one.partition for one, kept in zip(slices, mask, strict=True) if kept]
            assert len(left) == len(set(left))
    assert asked >= 40


@pytest.mark.parametrize("name", REAL)
def test_filters_that_pin_down_the_key_keep_one_bucket_of_each_partition(hudi_table, name):
    table = opened_by_handler(hudi_table(name), REAL[name])
    slices = table.table.slices()
    partitions = {one.partition for one in slices}
    for row in rows_of(name)[10:40:3]:
        plan = prune(table, f"id = '{row['id']}' AND n = {row['n']}", strict=True)
        kept = {(one.partition, one.file_id) for one in plan.kept}
        assert (row["partition"], row["file"].partition("_")[0]) in kept
        leaf = next(leaf for leaf in plan.leaves if leaf.text.startswith("_hoodie_record_key"))
        assert "bucket_index" in leaf.by_kind
        assert len(kept) <= len(partitions)


def test_the_only_hash_field_is_answered_where_no_text_can_look_like_it(hudi_table):
    name = "keys/1.1.1_bucket_subid7_cow"  # hashed: id; the other field of the key is a number
    table, slices, kind = opened(hudi_table(name), REAL[name])
    column = table.schema.resolve("id", case_sensitive=True)
    for row in rows_of(name):
        if row["id"] is not None:
            mask = kind.might_contain(column, [row["id"]])
            assert mask[place_of(row, slices)]
            assert not mask.all()
    for text in ("a,b", "a:b", "__null__", "__empty__"):
        assert kind.might_contain(column, [text]) is None
        assert kind.might_contain(column, ["k001", text]) is None
    assert (
        kind.might_contain(column, ["k001", "k002"])
        == kind.might_contain(column, ["k001"]) | kind.might_contain(column, ["k002"])
    ).all()
    name = "keys/1.1.1_bucket_sub_mor"  # hashed: n; id is text, and could hold ",n:7"
    table, _, kind = opened(hudi_table(name), REAL[name])
    assert kind.might_contain(table.schema.resolve("n", case_sensitive=True), [5]) is None


@pytest.mark.parametrize("told", [options(5, "id"), options(5, "id,s"), options(7, "id,n"), options(5, "n")])
def test_a_table_that_is_not_as_told_is_not_pruned(hudi_table, told):
    path = hudi_table("keys/1.1.1_bucket_two_cow")
    rows = rows_of("keys/1.1.1_bucket_two_cow")
    plan = prune(opened_by_handler(path, told), f"id = '{rows[9]['id']}' AND n = {rows[9]['n']}")
    leaf = next(leaf for leaf in plan.leaves if leaf.text.startswith("_hoodie_record_key"))
    assert "bucket_index" not in leaf.by_kind


def test_a_complex_key_of_one_field_is_not_hashed_here(hudi_table):
    assert opened(hudi_table("keys/1.1.1_bucket_complex1_cow"), options(5, "id"))[2] is None


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("id:a,n:5", ("a", "5")),
        ("id:__empty__,n:__null__", ("", None)),
        ("id:,n:5", ("", "5")),
        ("id:a:b,n:5", None),
        ("id:a,n:5,n:6", None),
        ("n:5,id:a", None),
        ("id:a", None),
        ("a,5", None),
    ],
)
def test_values_are_read_out_of_a_key(key, expected):
    assert HashFields(("id", "n"), ("id", "n")).of_key(key) == expected
    assert HashFields(("id", "n"), ("n",)).of_key(key) == (expected and expected[1:])
    assert np.all(HashFields(("id",), ("id",)).of_key("a") == ("a",))
