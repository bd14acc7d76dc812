"""Buckets of whole columns of keys, held to where real Hudi wrote every row, and plans for more of them."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.language.errors import UnsupportedError
from index_store import StatsError, open_table
from index_store.buckets.hash_fields import HashFields
from index_store.buckets.hashes import java_hashes, ring_hash, ring_hashes, simple_hash, simple_hashes
from index_store.buckets.layouts import Ring, Simple, first_ring
from index_store.formats.keys import java_hash
from index_store.formats.record_key import EMPTY, NULL, split_key
from index_store.kinds.bucket_index.rebucket import BucketSplit, plan_rebucket, plan_ring_split
from index_store.kinds.bucket_index.table_buckets import RINGS, table_buckets
from index_store.storage.errors import FormatError
from tests.index_store.bucketed_tables import BUCKETED, RING_TABLES, SIMPLE_TABLES, options, rows_by_file

TEXTS = st.text(st.sampled_from("abkz09 :,_äß日𝄞\uffee"), max_size=9)
COLUMNS = st.integers(1, 4).flatmap(
    lambda width: st.lists(st.tuples(*[st.one_of(st.none(), TEXTS)] * width), min_size=0, max_size=30).map(
        lambda rows: (width, rows)
    )
)


def opened(path, told):
    table = open_table(path, options=told)
    return table, table_buckets(table, table.slices())


# -- hashes and keys


@given(st.lists(st.one_of(st.none(), st.text(max_size=40)), max_size=40), st.integers(0, 5))
def test_a_column_of_texts_hashes_as_java_hashes_each(texts, skipped):
    array = pa.array([*["before"] * skipped, *texts], pa.string())[skipped:]
    assert java_hashes(array).tolist() == [0 if text is None else java_hash(text) & 0xFFFFFFFF for text in texts]


@given(COLUMNS)
def test_columns_hash_as_each_of_their_rows(drawn):
    width, rows = drawn
    columns = [pa.array([row[i] for row in rows], pa.large_string()) for i in range(width)]
    assert simple_hashes(columns).tolist() == [simple_hash(row) for row in rows]
    assert ring_hashes(columns).tolist() == [ring_hash(row) for row in rows]


def test_text_that_is_not_utf_8_is_an_error():
    broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\2\0\0\0"), pa.py_buffer(b"a\xe4")])
    with pytest.raises(FormatError, match="not UTF-8"):
        java_hashes(broken)


@pytest.mark.parametrize(
    ("key", "fields", "expected"),
    [
        ("a", ("id",), ("a",)),
        ("id:a", ("id",), ("id:a",)),
        ("a,b", ("id",), ("a,b",)),
        ("id:a,n:5", ("id", "n"), ("a", "5")),
        ("id:a,n:5", ("n",), ("5",)),
        ("id:__empty__,n:__null__", ("id", "n"), ("", None)),
        ("id:c,d,n:5", ("id", "n"), ("c,d", "5")),
        ("id:a:b,n:5", ("id", "n"), ("a:b", "5")),
        ("id:a,n:b:c", ("id", "n"), ("a", "b:c")),
        ("id:a,n:b,c:d", ("id", "n"), ("a", "b")),
        ("id:a,n:b,c", ("id", "n"), ("a", "b,c")),
        ("x:a,y:b", ("id",), ("x:a,y:b",)),
        ("id:a,n:b:c", ("id",), None),
        ("id:a,n:b,c:d,e", ("id", "n"), ("a", "b")),
    ],
)
def test_keys_are_taken_apart_as_hudi_does_it(key, fields, expected):
    assert split_key(key, fields) == expected


@given(
    st.lists(st.tuples(st.one_of(st.none(), TEXTS), st.one_of(st.none(), TEXTS)), max_size=20),
    st.sampled_from([("id", "n"), ("id",), ("n",)]),
)
def test_a_column_of_keys_hashes_as_each_taken_apart(rows, hashed):
    def part(name, text):
        return f"{name}:{NULL if text is None else text or EMPTY}"

    keys = [f"{part('id', first)},{part('n', second)}" for first, second in rows]
    fields = HashFields(("id", "n"), hashed)
    taken = [split_key(key, hashed) for key in keys]
    array = pa.array(keys, pa.string())
    assert fields.hashes(array).tolist() == [-1 if one is None else simple_hash(one) for one in taken]
    assert fields.hashes(array, on_ring=True).tolist() == [-1 if one is None else ring_hash(one) for one in taken]
    known = [fields.of_key(key) for key in keys]
    assert all(one in (None, other) for one, other in zip(known, taken, strict=True))
    assert fields.hashes(array, every_release=True).tolist() == [
        -1 if one is None else simple_hash(one) for one in known
    ]


def test_a_key_of_one_field_is_hashed_as_it_is_if_every_release_does():
    keys = pa.array(["a", "a:b", "id:x,n:y", NULL, EMPTY, None, "a,b"])
    fields = HashFields(("id",), ("id",))
    whole = [simple_hash((key,)) for key in keys.to_pylist()[:5]]
    assert fields.hashes(keys).tolist() == [
        whole[0],
        whole[1],
        simple_hash(("x",)),
        whole[3],
        whole[4],
        -1,
        simple_hash(("a,b",)),
    ]
    assert fields.hashes(keys, every_release=True).tolist() == [whole[0], -1, -1, -1, -1, -1, simple_hash(("a,b",))]


# -- where Hudi wrote every row


@pytest.mark.parametrize("name", BUCKETED)
def test_every_row_is_in_the_bucket_that_its_files_name_says(hudi_table, name):
    path = hudi_table(name)
    table, buckets = opened(path, BUCKETED[name])
    buckets.check()
    rows = 0
    for place, one in enumerate(buckets.slices):
        keys = [row["_hoodie_record_key"] for row in rows_by_file(path, one.files)]
        layout = buckets.layouts[one.partition]
        assert set(
            layout.buckets_of(buckets.hashed.hashes(pa.array(keys), on_ring=not buckets.is_simple)).tolist()
        ) <= {buckets.named[place]}
        assert one.file_id.startswith(layout.prefixes[buckets.named[place]])
        rows += len(keys)
    assert rows >= 40
    assert len(table.slices()) == len(buckets.named)


def test_a_complex_key_of_one_field_is_hashed_with_the_fields_name(hudi_table):
    path = hudi_table("keys/1.1.1_bucket_complex1_cow")
    fields, layout = HashFields(("id",), ("id",)), Simple(5)
    for one in open_table(path).slices():
        keys = [row["_hoodie_record_key"] for row in rows_by_file(path, one.files)]
        assert all(key.startswith("id:") for key in keys)
        assert set(layout.buckets_of(fields.hashes(pa.array(keys)))) == {layout.bucket_of_file(one.file_id)}


@pytest.mark.parametrize("name", RING_TABLES)
def test_the_ring_of_a_new_partition_is_the_one_that_hudi_makes(hudi_table, name):
    path = hudi_table(name)
    number = int(RING_TABLES[name]["hoodie.bucket.index.num.buckets"])
    first = list((path / RINGS).glob("*/00000000000000.hashing_meta"))
    assert first
    for file in first:
        stored = json.loads(file.read_text())
        ring = first_ring(stored["partitionPath"], number)
        assert [(node["value"], node["fileIdPrefix"]) for node in stored["nodes"]] == list(
            zip(ring.values, ring.prefixes, strict=True)
        )


@pytest.mark.parametrize(
    "told", [options(2, rules="p=b,6"), options(6), options(3, rules="p=b,12"), options(3, "id", rules="p=b,6")]
)
def test_a_table_without_statistics_is_held_to_the_options_by_its_footers(hudi_table, told):
    _, buckets = opened(hudi_table("keys/1.2.0_bucket_types_cow"), told)
    with pytest.raises(StatsError, match="bucket index is not as told"):
        buckets.check()


def test_a_ring_that_is_not_certain_is_an_error(hudi_copy):
    path = hudi_copy("1.1.1_bucket_ch_mor")
    (path / RINGS / "p=p9").mkdir()
    for number, text in enumerate(["", "{}"]):
        ring = path / RINGS / "p=p9" / f"2099123123595999{number}.hashing_meta"
        ring.write_text(text)
        with pytest.raises(StatsError, match="ring of p=p9 is missing, being resized"):
            opened(path, RING_TABLES["1.1.1_bucket_ch_mor"])[1].check()
        ring.unlink()
    next((path / RINGS / "p=p1").glob("*.hashing_meta")).unlink()
    with pytest.raises(StatsError, match="ring of p=p1 is missing"):
        opened(path, RING_TABLES["1.1.1_bucket_ch_mor"])[1].check()


# -- more buckets


def test_two_buckets_split_into_four_as_in_rfc_29():
    assert plan_rebucket(2, 4).splits == (BucketSplit(0, (0, 2)), BucketSplit(1, (1, 3)))


@given(st.integers(1, 500), st.integers(2, 40), st.lists(st.integers(0, 2**31 - 1), max_size=50))
def test_every_hash_goes_to_a_bucket_that_its_own_splits_into(old, times, hashes):
    plan = plan_rebucket(old, old * times)
    assert [split.bucket for split in plan.splits] == list(range(old))
    assert sorted(bucket for split in plan.splits for bucket in split.into) == list(range(old * times))
    array = np.array(hashes, np.int64)
    for before, after in zip(Simple(old).buckets_of(array), Simple(old * times).buckets_of(array), strict=True):
        assert after in plan.splits[before].into


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (4, 6, r"6 is no multiple of 4.*to 3 buckets, and those of a new bucket come from 2.*multiples: 8"),
        (4, 7, "no multiple of 4"),
        (4, 4, "more of them"),
        (4, 2, "more of them"),
        (0, 4, "more of them"),
    ],
)
def test_other_numbers_are_refused(old, new, why):
    with pytest.raises(UnsupportedError, match=why):
        plan_rebucket(old, new)


def test_rows_that_hudi_wrote_to_6_buckets_are_where_the_plan_of_3_says(hudi_table):
    """The same rows: p=a has 3 buckets, p=b has 6."""
    path = hudi_table("keys/1.2.0_bucket_types_cow")
    places = {"p=a": {}, "p=b": {}}
    for one in open_table(path).slices():
        for row in rows_by_file(path, one.files):
            places.setdefault(one.partition, {})[row["_hoodie_record_key"]] = int(one.file_id[:8])
    splits = plan_rebucket(3, 6).splits
    assert len(places["p=a"]) == 40
    assert places["p=a"].keys() == places["p=b"].keys()
    assert {(places["p=a"][key], places["p=b"][key]) for key in places["p=a"]} == {
        (split.bucket, bucket) for split in splits for bucket in split.into
    }
    assert places["p=c"] == places["p=a"]  # by bulk_insert


@pytest.mark.parametrize(
    "name", [name for name, told in SIMPLE_TABLES.items() if "hoodie.bucket.index.partition.expressions" not in told]
)
def test_the_file_groups_of_a_table_are_in_the_plan_with_their_sizes(hudi_table, name):
    path = hudi_table(name)
    table = open_table(path, options=SIMPLE_TABLES[name])
    number = int(SIMPLE_TABLES[name]["hoodie.bucket.index.num.buckets"])
    plan = plan_rebucket(number, 3 * number, table)
    slices = {(one.partition, one.file_id): one for one in table.slices()}
    assert {(group.partition, group.file_id) for group in plan.groups} == slices.keys()
    for group in plan.groups:
        one = slices[group.partition, group.file_id]
        assert group.bytes == sum((path / file).stat().st_size for file in one.files)
        assert group.rows == (None if one.log_files else len(list(rows_by_file(path, one.files))))
        assert group.bytes_each * 3 == pytest.approx(group.bytes)
        assert group.rows_each == (None if group.rows is None else pytest.approx(group.rows / 3))
        assert group.into == plan.splits[group.bucket].into
    assert not plan.kept


def test_partitions_that_a_rule_gives_their_number_keep_it(hudi_table):
    table = open_table(hudi_table("1.1.1_bucket_part_cow"), options=SIMPLE_TABLES["1.1.1_bucket_part_cow"])
    plan = plan_rebucket(4, 8, table)
    assert plan.kept == ("p=p0", "p=p1")
    assert {group.partition for group in plan.groups} == set(table.partitions()) - {"p=p0", "p=p1"} != set()
    without = open_table(hudi_table("keys/1.2.0_bucket_types_cow"), options=options(3, rules="p=b,6"))
    assert all(group.rows is None and group.rows_each is None for group in plan_rebucket(3, 6, without).groups)


def test_a_table_that_has_other_buckets_has_no_plan(hudi_table):
    path = hudi_table("1.1.1_bucket_cow")
    with pytest.raises(StatsError, match="it has 4 buckets, not 2"):
        plan_rebucket(2, 4, open_table(path, options=options(4)))
    with pytest.raises(StatsError, match="not as told"):
        plan_rebucket(2, 4, open_table(path, options=options(2)))
    with pytest.raises(UnsupportedError, match="do not tell of buckets"):
        plan_rebucket(4, 8, open_table(path))
    with pytest.raises(UnsupportedError, match="plan_rebucket is for its buckets"):
        plan_ring_split(open_table(path, options=options(4)))
    ring = open_table(hudi_table("1.1.1_bucket_ch_mor"), options=RING_TABLES["1.1.1_bucket_ch_mor"])
    with pytest.raises(UnsupportedError, match="plan_ring_split shows where"):
        plan_rebucket(4, 8, ring)


# -- rings


def test_hudi_split_the_nodes_of_a_ring_where_the_plan_says(hudi_copy):
    path = hudi_copy("1.1.1_bucket_ch_resized_mor")
    after = {}
    for partition in (path / RINGS).iterdir():
        resized = max(partition.glob("*.hashing_meta"))
        after[partition.name] = [node["value"] for node in json.loads(resized.read_text())["nodes"]]
        first = json.loads((partition / "00000000000000.hashing_meta").read_text())["nodes"]
        ring = Ring(tuple(node["value"] for node in first), tuple(node["fileIdPrefix"] for node in first))
        split = [value for place, end in enumerate(ring.values) for value in (ring.middle(place), end)]
        assert split == after[partition.name]
    assert len(after) == 3


def test_a_tables_nodes_are_planned_with_their_file_groups(hudi_table):
    path = hudi_table("1.1.1_bucket_ch_resized_mor")
    table = open_table(path, options=RING_TABLES["1.1.1_bucket_ch_resized_mor"])
    nodes = plan_ring_split(table)
    assert len(nodes) == 12
    slices = {one.file_id: one for one in table.slices()}
    for node in nodes:
        assert node.file_id.startswith(node.prefix)
        assert node.bytes == sum((path / file).stat().st_size for file in slices[node.file_id].files)
        assert node.start < node.middle < node.value or node.start > node.value
        assert node.middle < node.value


def test_a_node_of_one_hash_cannot_be_split():
    ring = Ring((5, 6, 9), ("a", "b", "c"))
    assert ring.middle(1) is None
    assert ring.middle(2) == 7
    assert ring.middle(0) == (9 + 5 + 2**31 >> 1) & 0x7FFFFFFF
    assert Ring((7,), ("a",)).middle(0) == 7 + 2**30
