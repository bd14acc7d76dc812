"""Bucket indexes of real tables: keys are where their hash says, and what contradicts the options rules nothing out."""

from __future__ import annotations

import json

import numpy as np
import pytest

from evaluator.binding.required_statistics import RequiredStatistics
from evaluator.binding.statistics_provider import Declined
from evaluator.language.schema import Field
from evaluator.language.types import BIGINT, DATE, STRING
from handler import open_table as opened
from handler import prune
from index_store import StatsError, open_table
from index_store.buckets.hashes import ring_hash, simple_hash
from index_store.kinds.bucket_index import bucket_index
from index_store.kinds.bucket_index.table_buckets import RINGS, RULES
from tests.index_store.rows import rows_of

KEY = Field("_hoodie_record_key", STRING)
ID = Field("id", STRING)
SIMPLE = {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "4", "hoodie.bucket.index.hash.field": "id"}
RULED = SIMPLE | {"hoodie.bucket.index.partition.expressions": "p=p0,2;p=p1,6"}
INTEGERS = SIMPLE | {"hoodie.bucket.index.num.buckets": "5", "hoodie.bucket.index.hash.field": "l"}
RING = {"hoodie.index.type": "BUCKET", "hoodie.index.bucket.engine": "CONSISTENT_HASHING"}
REAL = {
    "1.1.1_bucket_cow": (SIMPLE, 12),
    "1.1.1_bucket_part_cow": (RULED, 8),
    "1.1.1_bucket_int_cow": (INTEGERS, 15),
    "1.1.1_bucket_ch_mor": (RING, 12),
    "1.1.1_bucket_ch_resized_mor": (RING, 12),
}


def kind_of(path, options, as_of=None):
    table = open_table(path, options=options)
    slices = table.slices(as_of)
    return table, slices, next((kind for kind in table.kinds(slices) if kind.name == "bucket_index"), None)


def keys_of(path, slices, name):
    return [{row[name] for file in one.files for row in rows_of(path / file)} for one in slices]


@pytest.mark.parametrize("name", REAL)
def test_no_slice_with_a_row_of_the_key_is_ruled_out_and_one_bucket_of_each_partition_is_left(hudi_table, name):
    path = hudi_table(name)
    options, certain = REAL[name]
    table, slices, kind = kind_of(path, options)
    column = table.schema.resolve(table.record_key_fields[0], case_sensitive=True)
    assert kind.coverage([column, Field("s", STRING)]).columns.keys() == {column.name}
    assert kind.coverage([column]).columns[column.name].usable == certain == len(slices)
    stored = keys_of(path, slices, column.name)
    for value in sorted(set().union(*stored)):
        mask = kind.might_contain(column, [value])
        assert all(mask[place] for place, held in enumerate(stored) if value in held)
        left = [one.partition for one, kept in zip(slices, mask, strict=True) if kept]
        assert len(left) == len(set(left))
        assert (kind.might_contain(KEY, [str(value)]) == mask).all()


@pytest.mark.parametrize("name", REAL)
def test_keys_that_no_row_has_are_in_one_bucket_of_each_partition_at_most(hudi_table, name):
    _, slices, kind = kind_of(hudi_table(name), REAL[name][0])
    hit = np.zeros(len(slices), np.bool_)
    for i in range(200):
        mask = kind.might_contain(KEY, [f"no such key {i}"])
        left = [one.partition for one, kept in zip(slices, mask, strict=True) if kept]
        assert len(left) == len(set(left))
        hit |= mask
    assert hit.all()


def test_the_buckets_of_too_many_keys_are_not_computed(hudi_table, monkeypatch):
    name = next(iter(REAL))
    _, _, kind = kind_of(hudi_table(name), REAL[name][0])
    monkeypatch.setattr(bucket_index, "MAX_KEYS", 2)
    assert kind.might_contain(KEY, ["k0001", "k0002"]) is not None
    declined = kind.might_contain(KEY, ["k0001", "k0002", "k0003"])
    assert declined == Declined("3 keys are more than the 2 whose buckets are computed")


@pytest.mark.parametrize("name", REAL)
def test_several_keys_are_in_the_buckets_of_each(hudi_table, name):
    _, _, kind = kind_of(hudi_table(name), REAL[name][0])
    keys = [f"k{i:04d}" for i in range(3)]
    assert (kind.might_contain(KEY, keys) == np.any([kind.might_contain(KEY, [key]) for key in keys], axis=0)).all()


@pytest.mark.parametrize(("key", "buckets"), [("1", 4), ("2", 5), ("3", 6), ("4", 7)])
def test_hashes_are_those_of_hudis_own_tests(key, buckets):
    assert simple_hash((key,)) % 19 == buckets


def test_hashes_have_no_sign():
    assert all(0 <= hashed((f"key-{i}" * 5,)) < 1 << 31 for i in range(500) for hashed in (simple_hash, ring_hash))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"hoodie.index.type": "SIMPLE"},
        SIMPLE | {"hoodie.index.type": "BLOOM"},
        SIMPLE | {"hoodie.bucket.index.hash.field": "ts"},
        SIMPLE | {"hoodie.bucket.index.hash.field": "id,ts"},
    ],
)
def test_a_table_that_is_not_told_to_have_buckets_of_its_record_key_has_no_kind(hudi_table, options):
    assert kind_of(hudi_table("1.1.1_bucket_cow"), options)[2] is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("recordkey.fields=id", "recordkey.fields=id,ts"),
        ("recordkey.fields=id", "recordkey.fields="),
        ("keygenerator.type=SIMPLE", "keygenerator.type=COMPLEX"),
    ],
)
def test_keys_of_another_form_have_no_kind(hudi_copy, old, new):
    path = hudi_copy("1.1.1_bucket_cow")
    properties = path / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text().replace(old, new))
    assert kind_of(path, {"hoodie.index.type": "BUCKET", "hoodie.bucket.index.num.buckets": "4"})[2] is None


def test_values_without_a_certain_hash_have_no_answer(hudi_table):
    _, _, kind = kind_of(hudi_table("1.1.1_bucket_cow"), SIMPLE)
    for value in ("", "id:k0001", "__null__", "__empty__"):
        assert kind.might_contain(ID, ["k0001", value]) is None
    assert kind.might_contain(Field("id", DATE), [1]) is None
    assert kind.might_contain(Field("s", STRING), ["k0001"]) is None
    assert kind.might_contain(Field("id", BIGINT), [1]) is not None
    assert not kind.requires(RequiredStatistics(bounds=(ID,), nulls=(ID,)))


@pytest.mark.parametrize(
    "change",
    [
        {"num.buckets": "3"},
        {"num.buckets": "8"},
        {"num.buckets": "5"},
        {"num.buckets": ""},
        {"num.buckets": "0"},
        {"num.buckets": "-4"},
        {"num.buckets": "four"},
        {"num.buckets": "2000000000"},
        {"partition.expressions": "p=p1,2"},
        {"partition.expressions": "p=p1,8"},
        {"partition.expressions": "p=p1"},
        {"partition.expressions": "(,2"},
        {"partition.expressions": "\\p{Alpha},2"},
        {"partition.expressions": "p=p1,4", "partition.rule.type": "other"},
    ],
)
def test_options_that_the_table_contradicts_are_a_reason(hudi_table, change):
    """A number of buckets that was changed is among them: old files hold keys of other buckets."""
    path = hudi_table("1.1.1_bucket_cow")
    options = SIMPLE | {f"hoodie.bucket.index.{name}": value for name, value in change.items()}
    with pytest.raises(StatsError, match="bucket index is not as told"):
        kind_of(path, options)[2].might_contain(ID, ["k0001"])
    plan = prune(opened(path, options), "id = 'k0001'", engine="spark")
    assert any("bucket_index cannot be read" in reason.text for reason in plan.reasons)
    assert "bucket_index" not in plan.leaves[0].by_kind


def test_a_bucket_beyond_their_number_is_a_reason(hudi_table):
    fewer = SIMPLE | {"hoodie.bucket.index.num.buckets": "3"}
    with pytest.raises(StatsError, match=r"00000003-.* is not of one of its buckets"):
        kind_of(hudi_table("1.1.1_bucket_cow"), fewer)[2].might_contain(ID, ["k0001"])


def test_a_file_group_that_is_not_of_a_bucket_is_a_reason(hudi_table):
    with pytest.raises(StatsError, match="is not of one of its buckets"):
        kind_of(hudi_table("1.1.1_main_cow"), SIMPLE)[2].might_contain(ID, ["k0001"])


def test_a_table_that_was_rescaled_by_partition_is_a_reason(hudi_copy):
    path = hudi_copy("1.1.1_bucket_part_cow")
    (path / RULES).mkdir(parents=True)
    (path / RULES / "00000000000000.hashing_config").write_text("{}")
    with pytest.raises(StatsError, match="changed by partition"):
        kind_of(path, RULED)[2].might_contain(ID, ["k0001"])


def test_slices_whose_first_and_last_key_are_not_known_are_kept(hudi_copy):
    path = hudi_copy("1.1.1_bucket_cow")
    properties = path / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text().replace("partitions=column_stats,files", "partitions=files"))
    _, slices, kind = kind_of(path, SIMPLE)
    assert kind.might_contain(ID, ["k0001"]).all()
    assert kind.coverage([ID]).columns["id"].usable == 0
    assert len(slices) == 12


def ring_of(path, partition):
    return max((path / RINGS / partition).glob("*.hashing_meta"))


def left(path, key="k0001"):
    """How many slices of each partition may hold a key."""
    _, slices, kind = kind_of(path, RING)
    mask = kind.might_contain(ID, [key])
    return [
        sum(bool(kept) for one, kept in zip(slices, mask, strict=True) if one.partition == partition)
        for partition in ("p=p0", "p=p1", "p=p2")
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda ring: ring["nodes"][0].update(tag="REPLACE"),
        lambda ring: ring["nodes"].reverse(),
        lambda ring: ring["nodes"][0].update(fileIdPrefix="another"),
        lambda ring: ring["nodes"].clear(),
        lambda ring: ring["nodes"].append(ring["nodes"][-1]),
        lambda ring: ring.update(partitionPath="p=p0"),
        lambda ring: ring["nodes"][1].update(fileIdPrefix=ring["nodes"][0]["fileIdPrefix"]),
    ],
    ids=["being replaced", "out of order", "unknown file group", "no nodes", "twice", "of another partition", "one id"],
)
def test_a_ring_that_does_not_fit_keeps_its_partition_only(hudi_copy, change):
    path = hudi_copy("1.1.1_bucket_ch_mor")
    assert left(path) == [1, 1, 1]
    ring = json.loads(ring_of(path, "p=p1").read_text())
    change(ring)
    ring_of(path, "p=p1").write_text(json.dumps(ring))
    assert left(path) == [1, 4, 1]


def test_a_partition_without_a_ring_is_kept(hudi_copy):
    path = hudi_copy("1.1.1_bucket_ch_mor")
    ring_of(path, "p=p2").unlink()
    assert left(path) == [1, 1, 4]


def test_a_ring_of_an_instant_that_has_not_completed_keeps_its_partition(hudi_copy):
    path = hudi_copy("1.1.1_bucket_ch_mor")
    (path / RINGS / "p=p0" / "20991231235959999.hashing_meta").write_bytes(ring_of(path, "p=p0").read_bytes())
    assert left(path) == [4, 1, 1]


def test_a_pending_clustering_keeps_every_slice(hudi_copy):
    path = hudi_copy("1.1.1_bucket_ch_mor")
    (path / ".hoodie" / "timeline" / "20991231235959999.clustering.requested").touch()
    assert left(path) == [4, 4, 4]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"nodes": [{}], "partitionPath": "p=p1"}'])
def test_a_ring_that_cannot_be_read_is_a_reason(hudi_copy, text):
    path = hudi_copy("1.1.1_bucket_ch_mor")
    ring_of(path, "p=p1").write_text(text)
    with pytest.raises(StatsError, match="ring of buckets"):
        left(path)
    plan = prune(opened(path, RING), "id = 'k0001'", engine="spark")
    assert any("bucket_index cannot be read" in reason.text for reason in plan.reasons)


def test_keys_that_lie_on_another_part_of_the_ring_are_a_reason(hudi_copy):
    path = hudi_copy("1.1.1_bucket_ch_mor")
    ring = json.loads(ring_of(path, "p=p1").read_text())
    ids = [node["fileIdPrefix"] for node in ring["nodes"]]
    for node, moved in zip(ring["nodes"], ids[1:] + ids[:1], strict=True):
        node["fileIdPrefix"] = moved
    ring_of(path, "p=p1").write_text(json.dumps(ring))
    with pytest.raises(StatsError, match="belongs to another bucket"):
        left(path)


def test_slices_from_before_a_resize_are_kept(hudi_table):
    path = hudi_table("1.1.1_bucket_ch_resized_mor")
    first = open_table(path).timeline.writes[0].requested
    _, slices, kind = kind_of(path, RING, as_of=first)
    assert kind.might_contain(ID, ["k0001"]).all()
    assert len(slices) == 6


def test_plans_name_the_kind_that_skipped(hudi_table):
    table = opened(hudi_table("1.1.1_bucket_ch_mor"), RING)
    plan = prune(table, "id = 'k0045'", engine="spark")
    assert plan.leaves[0].by_kind["bucket_index"] == 6
    assert len(plan.kept) == 1
    without = prune(hudi_table("1.1.1_bucket_ch_mor"), "id = 'k0045'", engine="spark")
    assert {one.file_id for one in plan.kept} == {one.file_id for one in without.kept}
    assert set(without.leaves[0].by_kind) == {"column_stats", "key_filters"}  # which reads the log files
    covered = {coverage.kind: coverage.columns for coverage in plan.coverage}
    assert covered["bucket_index"]["id"].usable == 12
