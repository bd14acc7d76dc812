"""Joins on real Hudi tables with indexes that know keys: the kept slices are those in which some key really is."""

from __future__ import annotations

import pytest
from pyspark.sql import functions as F  # noqa: N812

from handler.spark import join_keys
from handler.spark.join import prune_by_join
from handler.spark.reading.reading import read
from index_store.opened_table import open_table
from index_store.own.secondary.operations import create
from index_store.own.store.locations import folder_of
from tests.handler.spark.real_tables import unpack
from tests.index_store.own.secondary.answers import by, local
from tests.sampling import share

COLUMNS = {"i": ("i", "s"), "l": ("l",), "s": ("s", "i"), "dec": ("dec",), "dt": ("dt",), "t": ("t",)}


@pytest.fixture(scope="module", params=["1.1.1_main_cow", "1.1.1_main_mor"])
def indexed(request, spark, tmp_path_factory):
    """A table with a secondary index of each of some columns, and its rows."""
    folder = unpack(request.param, tmp_path_factory.mktemp("join_index") / request.param)
    chosen = share(list(COLUMNS), 28)
    table = open_table(folder, cache=None).table
    for name in chosen:
        create(folder_of(table, f"of_{name}"), table, by(*COLUMNS[name], name=f"of_{name}"), local)
    rows = read(spark, str(folder)).select("_hoodie_file_name", "id", *COLUMNS).cache()
    yield open_table(folder, cache=None), rows, chosen, request.param.endswith("cow")
    rows.unpersist()


def groups_with(rows, column, keys) -> set[str]:
    """The file groups with a row whose value is a key."""
    joined = rows.join(F.broadcast(keys), rows[column] == keys["key"], "left_semi")
    names = joined.select("_hoodie_file_name").distinct().collect()
    return {row[0].rpartition("/")[2].lstrip(".").split("_")[0] for row in names}


def test_a_key_set_keeps_the_slices_in_which_keys_are(spark, indexed, monkeypatch):
    opened, rows, chosen, is_exact = indexed
    monkeypatch.setattr(join_keys, "LISTED", 1)
    monkeypatch.setattr("index_store.own.secondary.secondary_index.FEW_VALUES", 1)
    for column in chosen:
        # a few values of one file: most files have none of them, though they lie in the bounds of many
        one = rows.agg(F.min("_hoodie_file_name")).first()[0]
        keys = (
            rows.where(F.col("_hoodie_file_name") == one).select(F.col(column).alias("key")).distinct().orderBy("key")
        )
        keys = spark.createDataFrame(keys.limit(3).collect(), keys.schema)
        needed = groups_with(rows, column, keys)
        plan = prune_by_join(spark, opened, column, keys, key="key")
        kept = {item.file_id for item in plan.kept}
        assert " keys from " in str(plan.expression), column
        assert needed <= kept, column
        assert kept == needed or not is_exact, column
        assert not plan.reasons, column
        [leaf] = plan.leaves
        assert leaf.by_kind.get("own_secondary_index", 0) > 0 or kept == {item.file_id for item in plan.slices}, column


def test_an_index_that_declines_is_named(spark, indexed, monkeypatch):
    opened, _, chosen, _ = indexed
    monkeypatch.setattr(join_keys, "LISTED", 1)
    monkeypatch.setattr("index_store.own.secondary.secondary_index.FEW_VALUES", 1)
    monkeypatch.setattr("index_store.own.secondary.secondary_index.MAX_MERGED_BLOCKS", 0)
    column = next(name for name in chosen if name in ("i", "l", "s", "dec", "dt", "t"))
    keys = opened_values(spark, indexed, column)
    plan = prune_by_join(spark, opened, column, keys, key="key")
    [reason] = [one.text for one in plan.reasons]
    assert f": own_secondary_index is not used: the entries of {keys.count()} keys are in " in reason
    assert {"scope": "leaf", "text": reason} in plan.to_dict()["reasons"]


def opened_values(spark, indexed, column):
    _, rows, _, _ = indexed
    found = rows.select(F.col(column).alias("key")).where(F.col(column).isNotNull()).distinct()
    return spark.createDataFrame(found.collect(), found.schema)


def test_hudis_record_index_says_when_keys_are_too_many(spark, indexed, monkeypatch):
    opened, rows, _, is_exact = indexed
    keys = spark.createDataFrame([("k0001",), ("k0007",), ("k0031",)], "key string")
    plan = prune_by_join(spark, opened, "id", keys, key="key")
    needed = groups_with(rows, "id", keys)
    assert needed <= {item.file_id for item in plan.kept}
    assert {item.file_id for item in plan.kept} == needed or not is_exact
    monkeypatch.setattr("index_store.kinds.record_keys.record_index.LOOK_UPS", 2)
    plan = prune_by_join(spark, opened, "id", keys, key="key")
    assert needed <= {item.file_id for item in plan.kept}
    wanted = "record_index is not used: 3 keys are more than the 2 that are looked up one by one"
    names = {kind.name for kind in plan.kinds}
    assert any(wanted in one.text for one in plan.reasons) == ("record_index" in names)
