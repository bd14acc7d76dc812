"""An administrator's use of the jar: modes of reading, statements of hive_conf/, settings, and refusals."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.hive.listings import Listing, listings
from tests.hive.playground import Hive
from tests.hive.sidecars import Sidecar
from tests.hive.tables import TABLES, TRIPS, as_synced, pruned_natively, statements

OperationalError = pytest.importorskip("pyhive.exc").OperationalError
pytestmark = pytest.mark.hive


def run(hive: Hive, script: Iterable[str], settings: dict[str, str] | None = None) -> tuple[list[Any], list[Listing]]:
    """The rows of the last statement, sorted, and the jar's listings for it."""
    before = len(hive.server.log())
    with hive.server.connect(settings) as connection:
        cursor = connection.cursor()
        for statement in script:
            cursor.execute(statement)
        rows = sorted(cursor.fetchall()) if cursor.description else []
    return rows, list(listings(hive.server.log()[before:]))


def refused(hive: Hive, statement: str, why: str) -> None:
    with pytest.raises(OperationalError, match=why):
        run(hive, [statement])


# -- whose filter it is

UNION = (
    "select count(*), sum(id) from (select id from stored_trips2 where k < 100 union all "
    "select id from stored_trips where k >= 1900 union all select id from stored_trips) u"
)


def test_a_filter_of_another_scan_of_the_job_skips_nothing(hive401: Hive) -> None:
    """Under MapReduce the files of trips are listed while the filter of trips2 is still in the configuration."""
    rows, seen = run(hive401, [UNION], {"hive.execution.engine": "mr"})
    assert rows == [(2200, 2198900)]
    assert [(listing.listed, listing.kept, listing.reason) for listing in sorted(seen)] == [
        (20, 1, ""),
        (20, 20, "NO_FILTER"),
    ]


@pytest.mark.parametrize(
    "prefix", ["alt", *(pytest.param(one, marks=pytest.mark.hive_full) for one in ("b", "native", "one_more"))]
)
def test_two_scans_of_one_table_are_not_read_by_the_filter_of_one(hive401: Hive, prefix: str) -> None:
    """Hive leaves one of the filters in the job, which one depends on names, and Parquet's reader would use it: with
    Hudi's own format the first of these names counts 300 and 200 rows."""
    for table in TABLES[:2]:
        location = f"file://{hive401.directory / table.name}"
        run(hive401, as_synced(f"{prefix}_{table.name}", table, location))
        run(hive401, pruned_natively(f"{prefix}_{table.name}", table))
    two = UNION.replace("select id from stored_trips2 where k < 100 union all", "")
    for sql, want in ((UNION, (2200, 2198900)), (two, (2100, 2193950))):
        assert run(hive401, [sql.replace("stored", prefix)], {"hive.execution.engine": "mr"})[0] == [want]


def test_partition_values_of_the_metastore_are_not_taken_for_hudis(hive401: Hive) -> None:
    """The metastore may spell a partition in another way than Hudi: 20240102 for 2024-01-02."""
    location = f"file://{hive401.directory / 'trips'}"
    run(hive401, as_synced("respelled", TRIPS, location, lambda day: day.replace("-", "")))
    run(hive401, pruned_natively("respelled", TRIPS))
    rows, seen = run(
        hive401, ["select count(*) from respelled where dt = '20240102' and id >= 700"], {"hive.execution.engine": "mr"}
    )
    assert rows == [(300,)]
    assert [(listing.listed, listing.kept) for listing in seen] == [(5, 3)]
    rows, seen = run(hive401, ["select id from respelled where (dt = '20240101' and id < 2) or id = 1999"])
    assert rows == [(0,), (1,), (1999,)]


# -- modes of reading


def test_incremental_reading_of_a_copy_on_write_table(hive401: Hive) -> None:
    first = min(path.name.split("_")[0] for path in (hive401.directory / "trips/.hoodie/timeline").glob("*.commit"))
    consume = {
        "hoodie.trips.consume.mode": "INCREMENTAL",
        "hoodie.trips.consume.start.timestamp": first,
        "hoodie.trips.consume.max.commits": "-1",
    }
    sql = f"select id from {{}}_trips where `_hoodie_commit_time` > '{first}' and id < 1000"
    want = [(i,) for i in range(310, 315)]
    assert run(hive401, [sql.format("plain")], consume)[0] == want
    rows, seen = run(hive401, [sql.format("native")], consume)
    assert rows == want
    assert (sum(listing.listed for listing in seen), sum(listing.kept for listing in seen)) == (2, 1)
    with pytest.raises(OperationalError, match="incremental reading"):
        run(hive401, [sql.format("stored")], consume)


def test_reading_as_of_an_instant(hive401: Hive) -> None:
    """Before the update: its files are older versions of the files in the index."""
    first = min(path.name.split("_")[0] for path in (hive401.directory / "trips/.hoodie/timeline").glob("*.commit"))
    sql = "select id, name from {}_trips where id between 309 and 311"
    for kind in ("plain", "native", "stored"):
        rows, _ = run(hive401, [sql.format(kind)], {"hoodie.trips.consume.commit": first})
        assert rows == [(i, f"n00000{i}") for i in (309, 310, 311)], kind


def test_read_optimised_view_of_a_merge_on_read_table(hive401: Hive) -> None:
    """Base files only: no row has moved there, and deleted rows are still there."""
    location = f"file://{hive401.directory / 'rides'}"
    (create,) = statements("stored_by.sql", table="optimised", location=location)
    run(hive401, ["DROP TABLE IF EXISTS optimised", f"{create} TBLPROPERTIES ('sargo.view' = 'read_optimized')"])
    assert run(hive401, ["select id from optimised where k >= 100000"])[0] == []
    rows, seen = run(hive401, ["select id from optimised where k between 100 and 102"])
    assert rows == [(100,), (101,), (102,)]
    assert [(listing.listed, listing.kept) for listing in seen] == [
        (12, 1)
    ]  # of a slice with a log file, each file is judged by itself


def commits(hive: Hive, table: str) -> list[str]:
    """When they began, from the first on."""
    return sorted(path.name.split("_")[0] for path in (hive.directory / table / ".hoodie/timeline").glob("*_*.delta*"))


def test_incremental_reading_of_a_merge_on_read_table(hive313: Hive, hive401: Hive) -> None:
    """The rows that log files wrote since, and nothing skipped by statistics of base files."""
    first = commits(hive313, "rides")[0]
    consume = {
        "hoodie.rides.consume.mode": "INCREMENTAL",
        "hoodie.rides.consume.start.timestamp": first,
        "hoodie.rides.consume.max.commits": "-1",
    }
    since = f"`_hoodie_commit_time` > '{first}'"
    moved = [55, 56, 255, 256, 455, 456]
    for condition, want in (("id < 302", [55, 56, 255, 256, 301]), ("k >= 100000", moved), ("k < 100", [])):
        rows, seen = run(hive313, [f"select id from native_rides where {since} and {condition}"], consume)
        assert rows == [(i,) for i in want]
        assert {listing.reason for listing in seen} == {""}
    with pytest.raises(OperationalError, match="incremental reading"):
        run(hive401, [f"select id from stored_rides where {since}"], consume)


def test_hudis_merged_view_is_never_as_of_an_instant(hive313: Hive, hive401: Hive) -> None:
    """Hudi 1.0.2 does not heed it there: its listing is of the latest instant, and files are skipped as of that one."""
    settings = {"hoodie.rides.consume.commit": commits(hive313, "rides")[0]}
    for hive, kind in ((hive313, "plain"), (hive313, "native"), (hive401, "stored")):
        rows, seen = run(hive, [f"select id from {kind}_rides where k >= 100000"], settings)
        assert rows == [(i,) for i in (55, 56, 255, 256, 455, 456)]
        assert {listing.reason for listing in seen} <= {""}
        assert sum(listing.kept for listing in seen) == (0 if kind == "plain" else 3)


def test_two_views_of_a_table_in_one_query(hive401: Hive) -> None:
    """Under MapReduce Hive would read both views as one of them, without an error."""
    (create,) = statements("stored_by.sql", table="base_files", location=f"file://{hive401.directory / 'rides'}")
    run(hive401, ["DROP TABLE IF EXISTS base_files", f"{create} TBLPROPERTIES ('sargo.view' = 'read_optimized')"])
    for first, second in (("base_files", "stored_rides"), ("stored_rides", "base_files")):
        sql = [f"select count(*), sum(k) from (select k from {first} union all select k from {second}) u"]
        assert run(hive401, sql, {"hive.execution.engine": "tez"})[0] == [(600 + 598, 179700 + 779497)]
        with pytest.raises(OperationalError, match="two views of"):
            run(hive401, sql, {"hive.execution.engine": "mr"})


MERGED = "select count(*), sum(k) from {} where k >= 100000"


def test_rows_that_log_files_changed_are_not_dropped_by_what_base_files_hold(hive401: Hive, hive313: Hive) -> None:
    """Parquet's reader would drop the base files' rows by the filter before they are merged."""
    want = [(6, sum(100000 + i for i in (55, 56, 255, 256, 455, 456)))]
    for hive, table, engine in (
        (hive401, "stored_rides", "tez"),
        (hive401, "stored_rides", "mr"),
        (hive313, "native_rides", "mr"),
    ):
        assert run(hive, [MERGED.format(table)], {"hive.execution.engine": engine})[0] == want


def test_merged_reading_of_a_stored_table_is_refused_by_hive_3(hive313: Hive) -> None:
    refused(hive313, "select id from stored_rides where k >= 100000", "on Hive 3")


# -- statements and settings


def test_native_table_and_back(hive401: Hive) -> None:
    location = f"file://{hive401.directory / 'trips'}"
    run(hive401, as_synced("there_and_back", TRIPS, location))
    sql = ["select id from there_and_back where id = 312"]
    assert run(hive401, sql) == ([(312,)], [])
    run(hive401, statements("native_table.sql", table="there_and_back", partitions="dt"))
    rows, seen = run(hive401, sql)
    assert (rows, sum(listing.kept for listing in seen)) == ([(312,)], 1)
    run(hive401, statements("native_table_undo.sql", table="there_and_back", partitions="dt"))
    assert run(hive401, sql) == ([(312,)], [])


@pytest.mark.parametrize("kind", ["native", "stored"])
def test_turned_off_for_a_session(hive401: Hive, kind: str) -> None:
    rows, seen = run(hive401, [*statements("turn_off.sql"), f"select id from {kind}_flat where id = 312"])
    assert rows == [(312,)]
    assert [(listing.kept, listing.reason) for listing in seen] == [(8, "DISABLED")]


def test_turned_off_for_a_table(hive401: Hive) -> None:
    (create,) = statements("stored_by.sql", table="switched", location=f"file://{hive401.directory / 'flat'}")
    run(hive401, ["DROP TABLE IF EXISTS switched", f"{create} TBLPROPERTIES ('sargo.enabled' = 'false')"])
    rows, seen = run(hive401, ["select id from switched where id = 312"])
    assert rows == [(312,)]
    assert [listing.reason for listing in seen] == ["DISABLED"]


@pytest.mark.parametrize("address", ["", "nowhere", "host:99999"])
def test_no_usable_address(hive401: Hive, address: str) -> None:
    rows, seen = run(hive401, ["select id from stored_flat where id = 312"], {"sargo.sidecar.address": address})
    assert rows == [(312,)]
    assert [listing.kept for listing in seen] == [8]


def test_tls_and_a_secret(hive401: Hive, tmp_path: Path) -> None:
    key, certificate, secrets = tmp_path / "key.pem", tmp_path / "certificate.pem", tmp_path / "secrets"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "rsa:2048",
            "-nodes",
            "-keyout",
            str(key),
            "-out",
            str(certificate),
            "-days",
            "2",
            "-subj",
            "/CN=sidecar",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
        ],
        check=True,
        capture_output=True,
    )
    (tmp_path / "secret").write_text("open sesame")
    sidecar = Sidecar(
        hive401.directory,
        tmp_path / "log",
        more=("--tls-certificate", str(certificate), "--tls-key", str(key), "--secret-file", str(tmp_path / "secret")),
    ).start()
    sql = ["select id from stored_flat where id = 312"]
    whole = {
        "sargo.sidecar.address": sidecar.address,
        "sargo.sidecar.timeout.ms": "20000",
        "sargo.tls.ca.file": str(certificate),
        "sargo.secret.file": str(secrets),
    }
    try:
        secrets.write_text(f"{sidecar.address} open sesame\n")
        rows, seen = run(hive401, sql, whole)
        assert (rows, [listing.kept for listing in seen]) == ([(312,)], [1])
        secrets.write_text(f"{sidecar.address} guessed\n")
        rows, seen = run(hive401, sql, whole)
        assert (rows, [listing.reason for listing in seen]) == ([(312,)], ["REFUSED"])
        secrets.write_text("127.0.0.1:1 open sesame\n")
        rows, seen = run(hive401, sql, whole)
        assert (rows, [listing.reason for listing in seen]) == ([(312,)], ["FAILURE"])
        rows, seen = run(hive401, sql, {**whole, "sargo.tls.ca.file": ""})
        assert (rows, [listing.kept for listing in seen]) == ([(312,)], [8])
    finally:
        sidecar.stop()


def test_a_sidecar_that_may_not_read_the_table(hive401: Hive, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    sidecar = Sidecar(tmp_path / "other", tmp_path / "log").start()
    try:
        rows, seen = run(
            hive401, ["select id from stored_flat where id = 312"], {"sargo.sidecar.address": sidecar.address}
        )
        assert (rows, [listing.reason for listing in seen]) == ([(312,)], ["REFUSED"])
    finally:
        sidecar.stop()


# -- what a table with the storage handler refuses


@pytest.mark.parametrize(
    "statement",
    [
        "insert into stored_flat select * from stored_flat",
        "insert overwrite table stored_flat select * from stored_flat",
    ],
)
def test_writes_are_refused(hive401: Hive, statement: str) -> None:
    files = sorted(path.name for path in (hive401.directory / "flat").glob("*.parquet"))
    refused(hive401, statement, "read-only: write to it with Hudi")
    assert sorted(path.name for path in (hive401.directory / "flat").glob("*.parquet")) == files


def test_tables_that_could_harm_hudis_files_are_refused(hive401: Hive) -> None:
    stored = f"(id bigint) STORED BY 'io.sargo.hive.HudiStorageHandler' LOCATION 'file://{hive401.directory / 'flat'}'"
    refused(hive401, f"CREATE TABLE managed {stored}", "CREATE EXTERNAL TABLE")
    refused(
        hive401,
        f"CREATE EXTERNAL TABLE purged {stored} TBLPROPERTIES ('external.table.purge' = 'true')",
        "external.table.purge",
    )
    parted = stored.replace(") STORED", ") PARTITIONED BY (dt string) STORED")
    refused(hive401, f"CREATE EXTERNAL TABLE parted {parted}", "ordinary columns")
    refused(hive401, "TRUNCATE TABLE stored_flat", "[Tt]runcate")


def test_dropping_the_table_leaves_hudis_files(hive401: Hive) -> None:
    (create,) = statements("stored_by.sql", table="dropped", location=f"file://{hive401.directory / 'flat'}")
    run(hive401, ["DROP TABLE IF EXISTS dropped", create, "DROP TABLE dropped"])
    assert run(hive401, ["select count(*) from stored_flat"])[0] == [(800,)]


def test_a_location_without_a_hudi_table_is_an_error(hive401: Hive, tmp_path: Path) -> None:
    (create,) = statements("stored_by.sql", table="nothing_there", location=f"file://{tmp_path}")
    run(hive401, ["DROP TABLE IF EXISTS nothing_there", create])
    refused(hive401, "select id from nothing_there", "is not the base path of a Hudi table")
