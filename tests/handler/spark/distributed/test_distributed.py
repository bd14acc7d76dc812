"""A filter evaluated in runs of slices, on other machines if there are any, answers as on one machine."""

from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pyarrow as pa
import pytest

from evaluator.language.expression import Column, Compare, Literal, Not
from evaluator.language.types import INT
from handler.indexes.operations import IndexWork
from handler.planning.prune import prune
from handler.recently_used import RecentlyUsed
from handler.spark.distributed import shared_folder
from handler.spark.distributed.distributed import DistributedTable, open_distributed
from handler.spark.distributed.executors import on_executors
from handler.spark.distributed.shared_folder import SharedFolder
from handler.spark.distributed.stored_statistics import StateFolder
from index_store.opened_table import OpenTable, open_table
from index_store.storage.errors import TableError
from tests.handler.spark.random_filters import random_filters
from tests.handler.spark.real_tables import unpack
from tests.handler.spark.synthetic_tables import SyntheticPlace, make_table
from tests.sampling import share

#: One of each sort: all kinds of indexes, file systems' listings, log files, old and new versions of Hudi.
TABLES = [
    "0.15.0_archived_saved_mor",
    "0.15.0_main_cow",
    "0.15.0_readded_cow",
    "1.0.2_sec_mor",
    "1.1.1_bloom_simple_cow",
    "1.1.1_bucket_part_cow",
    "1.1.1_default_cow",
    "1.1.1_evol_cow",
    "1.1.1_expr_cow",
    "1.1.1_expr_text_mor",
    "1.1.1_main_mor",
    "1.1.1_nan_cow",
    "1.1.1_nested_cow",
    "1.2.0_bloom_cow",
]
KEY = "_hoodie_record_key"


def travelling(tasks):
    """What Spark does with tasks, without Spark: they travel, and so do their results."""
    return [pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(task))())) for task in tasks]


def assert_same_answer(distributed, local):
    assert distributed.kept_rows.tolist() == local.kept_rows.tolist()
    assert np.array_equal(distributed.outcomes, local.outcomes)
    assert distributed.kept == local.kept
    assert distributed.fully_matched == local.fully_matched
    assert distributed.reasons == local.reasons
    assert distributed.instant == local.instant


@pytest.fixture
def place(tmp_path):
    def made(folder, run=5):
        return StateFolder(str(folder), None, (), (), SharedFolder(str(tmp_path / "shared")), run)

    return made


@pytest.mark.parametrize("name", share(TABLES, 9))
def test_runs_of_slices_answer_as_the_whole(name, place, tmp_path, no_footers):
    folder = unpack(name, tmp_path / "table")
    local, distributed = open_table(folder, cache=None), DistributedTable(travelling, place(folder))
    for expression in random_filters(local, 8):
        ours, theirs = (prune(table, expression, "spark", time_zone="UTC") for table in (distributed, local))
        assert_same_answer(ours, theirs)
        assert ours.residuals == theirs.residuals
        assert [leaf.skipped for leaf in ours.leaves] == [leaf.skipped for leaf in theirs.leaves]
        assert ours.skipped == theirs.skipped


def test_spark_answers_as_one_machine(spark, tmp_path):
    folder = unpack("1.1.1_main_mor", tmp_path / "table")
    local = open_table(folder, cache=None)
    distributed = open_distributed(spark, str(folder), shared_folder=str(tmp_path / "shared"), slices_per_file=5)
    for expression in random_filters(local, 3):
        ours, theirs = (prune(table, expression, "spark", time_zone="UTC") for table in (distributed, local))
        assert_same_answer(ours, theirs)


@pytest.mark.spark_full
def test_three_hundred_thousand_slices_are_answered_bit_for_bit(spark, tmp_path):
    folder = make_table(tmp_path / "table")
    place = SyntheticPlace(str(folder), None, (), (), SharedFolder(str(tmp_path / "shared")), 100_000, 300_000)
    local, distributed = OpenTable(place.open()), DistributedTable(partial(on_executors, spark), place)
    for text in FILTERS:
        ours, theirs = (prune(table, text, "spark", time_zone="UTC") for table in (distributed, local))
        assert 0 < len(theirs.kept_rows) < 300_000
        assert_same_answer(ours, theirs)


FILTERS = [
    "amount > 142000000 AND name LIKE '09%'",
    "NOT (fee <= 9500000.5 OR name IS NULL)",
    "ts IN (TIMESTAMP'1970-01-01 00:10:00', TIMESTAMP'1970-01-01 00:12:00.5') OR fee IS NULL AND amount < 2e7",
    "lower(name) = '0000012345' OR fee * 2 < 100",
]


def test_keys_are_looked_up_where_statistics_leave_slices(place, tmp_path):
    folder = unpack("1.1.1_main_cow", tmp_path / "table")
    local, distributed = open_table(folder, cache=None), DistributedTable(travelling, place(folder))
    text = f"{KEY} IN ('k0001', 'k0031') OR an = 60 AND {KEY} = 'k0002'"
    ours, theirs = (prune(table, text, "spark", time_zone="UTC") for table in (distributed, local))
    assert_same_answer(ours, theirs)
    by_keys = [leaf.by_kind.get("record_index", 0) for leaf in theirs.leaves]
    assert any(by_keys)


def test_our_own_indexes_answer_there_as_here_and_are_seen_when_they_came(place, tmp_path):
    folder = unpack("1.1.1_main_cow", tmp_path / "table")
    filters = ["i + 1 = 32 AND s LIKE 'b%'", "s = 'banana-031' AND i BETWEEN 30 AND 32", "s LIKE '%-031'", "an = 7"]
    before = [len(prune(DistributedTable(travelling, place(folder)), text, "spark").kept) for text in filters]
    work = IndexWork(str(folder))
    work.create(["s", "i"], ["secondary_index"], "both")
    work.create(["s", "an"], ["value_list", "bloom_filter"], "sketches")
    table = DistributedTable(travelling, place(folder))
    after = []
    for text in filters:
        ours = prune(table, text, "spark", time_zone="UTC", strict=True)
        assert_same_answer(ours, prune(open_table(folder, cache=None), text, "spark", time_zone="UTC", strict=True))
        after.append(len(ours.kept))
    assert sum(after) < sum(before)


def test_statistics_are_asked_for_once(place, tmp_path):
    folder = unpack("1.1.1_main_cow", tmp_path / "table")
    asked = []

    def counting(tasks):
        asked.extend(task.func.__name__ for task in tasks)
        return travelling(tasks)

    for _ in range(2):
        prune(DistributedTable(counting, place(folder)), "i > 100", "spark", strict=True)
    assert asked == ["write_slices", "write_statistics", *["evaluate_run"] * 3, *["evaluate_run"] * 3]


def test_a_new_state_of_the_table_is_another_folder(place, tmp_path):
    folder = unpack("1.1.1_main_cow", tmp_path / "table")
    prune(DistributedTable(travelling, place(folder)), "i > 100", "spark", strict=True)
    properties = folder / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text() + "\nhoodie.some.setting=changed\n")
    prune(DistributedTable(travelling, place(folder)), "i > 100", "spark", strict=True)
    assert len(list((tmp_path / "shared").glob("*/*/slices.json"))) == 2


def test_statistics_of_a_table_that_changed_meanwhile_are_not_kept(place, tmp_path):
    folder = unpack("1.1.1_main_cow", tmp_path / "table")
    table = DistributedTable(travelling, place(folder))
    table.at()
    properties = folder / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text() + "\nhoodie.some.setting=changed\n")
    plan = prune(table, "i > 100", "spark")
    assert len(plan.kept) == len(plan.slices)
    assert "the table changed" in plan.reasons[0].text


def test_slices_of_another_state_than_the_driver_opened_are_not_used(place, tmp_path):
    folder = unpack("1.1.1_main_cow", tmp_path / "table")
    table = DistributedTable(travelling, place(folder))
    properties = folder / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text() + "\nhoodie.some.setting=changed\n")
    with pytest.raises(TableError, match="open it again"):
        prune(table, "i > 100", "spark")


def test_the_second_filter_reads_nothing_again(place, tmp_path, monkeypatch):
    """Nor does the driver read the slices: it knows their partitions."""
    folder = unpack("1.1.1_main_cow", tmp_path / "table")
    read = []
    of_folder = shared_folder._inside
    monkeypatch.setattr(shared_folder, "_inside", lambda at, name: (read.append(name), of_folder(at, name))[1])
    prune(DistributedTable(travelling, place(folder)), "i > 100", "spark", strict=True)
    assert [name for name in read if name.endswith(".parquet")]
    read.clear()
    prune(DistributedTable(travelling, place(folder)), "i > 90", "spark", strict=True)
    assert not [name for name in read if name.endswith(".parquet")]


def test_what_does_not_fit_the_memory_is_read_again(tmp_path, monkeypatch):
    folder = SharedFolder(str(tmp_path))
    table = pa.table({"number": [1, 2]})
    folder.write_table("a", table)
    forms = {name: (lambda table, name=name: (name, table)) for name in ("one", "two")}
    one = folder.read_kept("a", forms["one"], "one")
    assert one == ("one", table)
    assert folder.read_kept("a", forms["two"], "two") == ("two", table)
    assert folder.read_kept("a", forms["one"], "one") is one
    monkeypatch.setattr(shared_folder, "_KEPT", RecentlyUsed(most=9, most_bytes=15, bytes_of=lambda kept: kept.nbytes))
    assert folder.read_kept("a", forms["one"], "one") is not folder.read_kept("a", forms["one"], "one")


def test_a_damaged_file_does_not_stay_in_memory(tmp_path):
    folder, table = SharedFolder(str(tmp_path)), pa.table({"number": [1, 2]})
    folder.write_table("names", table)
    written = (tmp_path / "names").read_bytes()
    (tmp_path / "names").write_bytes(written[: len(written) // 2])
    with pytest.raises(TableError, match="shared folder"):
        folder.read_packed("names")
    (tmp_path / "names").write_bytes(written)
    assert folder.read_packed("names") == table
    (tmp_path / "names").unlink()
    assert folder.read_packed("names") == table


def test_a_damaged_file_skips_nothing(place, tmp_path, monkeypatch):
    folder = unpack("1.1.1_main_cow", tmp_path / "table")
    monkeypatch.setattr(shared_folder, "_KEPT", RecentlyUsed(most=0))
    assert len(prune(DistributedTable(travelling, place(folder)), "i > 100", "spark").kept) < 14
    for path in (tmp_path / "shared").rglob("*.parquet"):
        damaged = bytearray(path.read_bytes())
        damaged[len(damaged) // 4] ^= 0xFF
        path.write_bytes(damaged)
    plan = prune(DistributedTable(travelling, place(folder)), "i > 100", "spark")
    assert len(plan.kept_rows) == len(plan.slices)
    assert [reason.scope for reason in plan.reasons] == ["filter"]
    with pytest.raises(TableError, match="shared folder"):
        prune(DistributedTable(travelling, place(folder)), "i > 100", "spark", strict=True)


def test_an_index_that_cannot_be_read_is_a_reason(place, tmp_path, no_footers):
    folder = unpack("1.1.1_main_cow", tmp_path / "table")
    for path in (folder / ".hoodie" / "metadata" / "column_stats").iterdir():
        if path.is_file():
            path.write_bytes(b"damaged")
    local, distributed = open_table(folder, cache=None), DistributedTable(travelling, place(folder))
    ours, theirs = (prune(table, "i > 100", "spark", time_zone="UTC") for table in (distributed, local))
    assert_same_answer(ours, theirs)
    assert ours.reasons[0].scope == "store"


def test_without_a_commit_there_is_nothing_to_skip(place, tmp_path):
    folder = unpack("1.1.1_main_cow", tmp_path / "table")
    for path in (folder / ".hoodie" / "timeline").iterdir():
        if path.is_file():
            path.unlink()
    plan = prune(DistributedTable(travelling, place(folder)), "i > 100", "spark")
    assert len(plan.slices) == 0
    assert plan.kept == ()


def test_a_cluster_needs_a_shared_folder(tmp_path):
    class Session:
        class conf:  # noqa: N801
            @staticmethod
            def get(name, default):
                return {"spark.master": "yarn"}.get(name, default)

    with pytest.raises(TableError, match="shared_folder"):
        open_distributed(Session(), str(tmp_path))


def test_an_expression_too_deep_to_travel_is_evaluated(place, tmp_path):
    folder = unpack("1.1.1_main_cow", tmp_path / "table")
    expression = Compare(">", Column(("i",)), Literal(100, INT))
    for _ in range(5000):
        expression = Not(Not(expression))
    local, distributed = open_table(folder, cache=None), DistributedTable(travelling, place(folder))
    ours, theirs = (prune(table, expression, "spark", time_zone="UTC") for table in (distributed, local))
    assert ours.kept_rows.tolist() == theirs.kept_rows.tolist() != list(range(14))
