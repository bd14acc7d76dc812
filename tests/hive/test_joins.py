"""Joins return the rows of the unpruned query, and each side reads the files that its filter keeps.

Under MapReduce Hive gives a scan no filter when several scans share a job. The jar takes it from the plan.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.hive.playground import Hive
from tests.hive.tables import FLAT, as_synced, pruned_natively
from tests.hive.test_modes import run

pytestmark = pytest.mark.hive

SHUFFLE = {"hive.auto.convert.join": "false"}
#: query: the files that its scans keep under MapReduce, of 20 each; the tables have the same rows.
#: Hive carries a condition over to the other columns of `a.k = b.k`.
QUERIES: dict[str, tuple[str, list[int]]] = {
    "two tables": (
        "select count(*), sum(a.id) from {T} a join {U} b on a.k = b.k where a.d >= date '2020-01-15'",
        [6, 20],
    ),
    "three tables": (
        "select count(*), sum(a.id) from {T} a join {U} b on a.k = b.k join {F} c on b.k = c.k "
        "where a.k < 150 and b.k >= 120 and c.k < 300",
        [1, 1, 1],
    ),
    "five scans": (
        "select count(*), sum(a.id) from {T} a join {U} b on a.k = b.k join {F} c on b.k = c.k "
        "join {T} x on x.k = c.k join {U} y on y.k = x.k where a.k < 150 and b.k < 250 and x.k < 350 and y.k < 450 "
        "and c.k < 550",
        [2, 2, 2, 2, 2],
    ),
    "self join": (
        "select count(*), sum(a.id), sum(b.id) from {T} a join {T} b on a.id = b.id + 1000 "
        "where a.k >= 1000 and a.k < 1300 and b.k < 250",
        [6],
    ),
    "self join, one filter": (
        "select count(*), sum(a.id) from {T} a join {T} b on a.id = b.version + 1000 where a.k < 1250",
        [20],
    ),
    "left join": (
        "select count(*), count(b.id) from {T} a left join {U} b on a.id = b.id + 1000 and b.k < 100 where a.k >= 900",
        [11, 1],
    ),
    "semi join": (
        "select count(*), sum(a.id) from {T} a left semi join {U} b on a.id = b.id and b.k >= 1950 where a.k >= 1800",
        [2, 1],
    ),
    "union of two scans": (
        "select count(*), sum(id) from (select id from {T} where k < 100 union all select id from {T} "
        "where k >= 1850) u",
        [3],
    ),
    "common table expression": (
        "with early as (select id, k from {T} where k < 300) select count(*), sum(b.id) from early a "
        "join early b on a.id = b.id where b.k >= 150",
        [3],
    ),
    "a scan in a subquery": (
        "select count(*) from {T} a where a.k < 150 and a.id in (select id from {U} where k >= 1000)",
        [2, 10],
    ),
    "union with a table without a filter": (
        "select count(*), sum(id) from (select id from {U} where k < 100 union all select id from {T} "
        "where k >= 1900 union all select id from {T}) u",
        [1, 20],
    ),
}


def cases() -> Iterator[Any]:
    for server in ("hive401", "hive313"):
        for name in QUERIES:
            in_ci = name == "self join" and server == "hive401"
            yield pytest.param(server, name, marks=() if in_ci else (pytest.mark.hive_full,), id=f"{server}-{name}")


@pytest.mark.parametrize(("server", "name"), list(cases()))
def test_a_shuffle_join_on_mapreduce_reads_the_files_of_its_filters(
    server: str, name: str, request: pytest.FixtureRequest
) -> None:
    hive: Hive = request.getfixturevalue(server)
    query, kept = QUERIES[name]
    sql = query.format(T="native_trips", U="native_trips2", F="native_flat")
    settings = {"hive.execution.engine": "mr", **SHUFFLE}
    rows, seen = run(hive, [sql], settings)
    want, _ = run(hive, [sql], {**settings, "sargo.enabled": "false", "hive.optimize.index.filter": "false"})
    assert rows == want
    assert sorted(listing.kept for listing in seen) == sorted(kept)


#: how Tez joins: what EXPLAIN says of it, and the settings for it
TEZ_JOINS = {
    "Merge Join Operator": {"hive.auto.convert.join": "false"},
    "Map Join Operator": {"hive.auto.convert.join": "true"},
    "HybridGraceHashJoin: true": {"hive.auto.convert.join": "true", "hive.mapjoin.hybridgrace.hashtable": "true"},
    "DynamicPartitionHashJoin: true": {
        "hive.optimize.dynamic.partition.hashjoin": "true",
        "hive.auto.convert.join.noconditionaltask.size": "100000",
        "hive.auto.convert.join.hashtable.max.entries": "-1",
        "hive.auto.convert.join.shuffle.max.size": "-1",
        "hive.exec.reducers.bytes.per.reducer": "1000",
        "hive.exec.reducers.max": "8",
    },
}


@pytest.mark.hive_full
@pytest.mark.parametrize(
    ("operator", "name"),
    [
        (operator, name)
        for operator in TEZ_JOINS
        for name in ("two tables", "three tables", "self join", "left join", "semi join")
        if operator != "DynamicPartitionHashJoin: true" or name == "two tables"  # the others fit into memory whole
    ],
)
def test_a_join_on_tez_reads_the_files_of_its_filters(hive401: Hive, operator: str, name: str) -> None:
    query, kept = QUERIES[name]
    kept = {"self join": [3, 3]}.get(name, kept)  # a vertex for each scan
    sql = query.format(T="native_trips", U="native_trips2", F="native_flat")
    settings = {"hive.execution.engine": "tez", "hive.tez.dynamic.semijoin.reduction": "false", **TEZ_JOINS[operator]}
    explained, _ = run(hive401, [f"explain extended {sql}"], settings)
    assert operator in {line.strip() for (line,) in explained}
    rows, seen = run(hive401, [sql], settings)
    want, _ = run(hive401, [sql], {**settings, "sargo.enabled": "false", "hive.optimize.index.filter": "false"})
    assert rows == want
    assert sorted(listing.kept for listing in seen) == sorted(kept)


BUCKETS = "CLUSTERED BY (id) SORTED BY (id ASC) INTO 8 BUCKETS"
SORT_MERGE = {
    "hive.execution.engine": "tez",
    "hive.auto.convert.sortmerge.join": "true",
    "hive.auto.convert.join.noconditionaltask.size": "1",
    "hive.auto.convert.sortmerge.join.to.mapjoin": "false",
    "hive.tez.dynamic.semijoin.reduction": "false",
    "hive.disable.unsafe.external.table.operations": "false",
    "hive.optimize.dynamic.partition.hashjoin": "false",
}


def bucketed(hive: Hive) -> None:
    """Two tables of the same files, declared with as many buckets as files."""
    location = f"file://{hive.directory / FLAT.name}"
    for name in ("bucketed", "bucketed_too"):
        drop, create = as_synced(name, FLAT, location)
        run(hive, [drop, create.replace("ROW FORMAT", f"{BUCKETS} ROW FORMAT")], {})
        run(hive, pruned_natively(name, FLAT), {})


BUCKET_MAP = {
    "hive.execution.engine": "tez",
    "hive.convert.join.bucket.mapjoin.tez": "true",
    "hive.auto.convert.join.noconditionaltask.size": "10000",
    "hive.auto.convert.sortmerge.join": "false",
    "hive.disable.unsafe.external.table.operations": "false",
    "hive.tez.dynamic.semijoin.reduction": "false",
}


@pytest.mark.hive_full
def test_a_bucket_map_join_on_tez_has_the_rows_that_it_has_without_sargo(hive401: Hive) -> None:
    bucketed(hive401)
    sql = (
        "select count(*), sum(a.id), min(b.id) from bucketed a join bucketed_too b on a.id = b.id "
        "where a.k >= 300 and b.k < 700 and b.name < 'n000007'"
    )
    explained, _ = run(hive401, [f"explain extended {sql}"], BUCKET_MAP)
    assert "BucketMapJoin: true" in {line.strip() for (line,) in explained}
    rows, seen = run(hive401, [sql], BUCKET_MAP)
    want, _ = run(hive401, [sql], {**BUCKET_MAP, "sargo.enabled": "false", "hive.optimize.index.filter": "false"})
    assert rows == want
    assert (8, 8, "BUCKETED_JOIN") in {(listing.listed, listing.kept, listing.reason) for listing in seen}


@pytest.mark.parametrize("second", ["bucketed_too", pytest.param("bucketed", marks=pytest.mark.hive_full)])
def test_a_join_that_takes_files_for_buckets_keeps_all_of_them(hive401: Hive, second: str) -> None:
    """Hive numbers the files of a Hudi table in the order of their names: with three files less on one side it joined
    files of other numbers, and counted 100 of 400 rows."""
    bucketed(hive401)
    sql = (
        f"select count(*), sum(a.id), min(b.id) from bucketed a join {second} b on a.id = b.id "
        "where a.k >= 300 and b.k < 700 and b.name < 'n000007'"
    )
    rows, seen = run(hive401, [sql], SORT_MERGE)
    assert rows == [(400, 199800, 300)]
    assert {(listing.listed, listing.kept, listing.reason) for listing in seen} == {(8, 8, "BUCKETED_JOIN")}


def test_a_table_that_is_declared_with_buckets_is_pruned_where_no_join_counts_them(hive401: Hive) -> None:
    bucketed(hive401)
    rows, seen = run(
        hive401, ["select count(*) from bucketed where k between 300 and 310"], {"hive.execution.engine": "tez"}
    )
    assert rows == [(11,)]
    assert [(listing.listed, listing.kept) for listing in seen] == [(8, 1)]


MAPREDUCE_BUCKETS = {
    "bucket map join": {"hive.optimize.bucketmapjoin": "true", "hive.auto.convert.join": "false"},
    "sort-merge join": {
        "hive.auto.convert.sortmerge.join": "true",
        "hive.optimize.bucketmapjoin": "true",
        "hive.optimize.bucketmapjoin.sortedmerge": "true",
        "hive.auto.convert.join": "false",
    },
}
#: Hive makes no bucket map join of these tables.
MAPREDUCE_OPERATORS = {
    ("hive401", "bucket map join"): "Join Operator",
    ("hive401", "sort-merge join"): "Sorted Merge Bucket Map Join Operator",
    ("hive313", "bucket map join"): "Join Operator",
    ("hive313", "sort-merge join"): "Sorted Merge Bucket Map Join Operator",
}


@pytest.mark.hive_full
@pytest.mark.parametrize("join", MAPREDUCE_BUCKETS)
@pytest.mark.parametrize("server", ["hive401", "hive313"])
def test_a_join_of_buckets_on_mapreduce_has_the_same_rows(
    server: str, join: str, request: pytest.FixtureRequest
) -> None:
    hive: Hive = request.getfixturevalue(server)
    bucketed(hive)
    sql = (
        "select /*+ MAPJOIN(b) */ count(*), sum(a.id), min(b.id) from bucketed a join bucketed_too b on a.id = b.id "
        "where a.k >= 300 and b.k < 700 and b.name < 'n000007'"
    )
    settings = {
        "hive.execution.engine": "mr",
        "hive.ignore.mapjoin.hint": "false",
        "hive.disable.unsafe.external.table.operations": "false",
        **MAPREDUCE_BUCKETS[join],
    }
    explained, _ = run(hive, [f"explain {sql}"], settings)
    assert MAPREDUCE_OPERATORS[server, join] in {line.strip() for (line,) in explained}
    rows, seen = run(hive, [sql], settings)
    want, _ = run(hive, [sql], {**settings, "sargo.enabled": "false", "hive.optimize.index.filter": "false"})
    assert rows == want
    assert {listing.kept for listing in seen} == {8}
