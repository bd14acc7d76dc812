"""A secondary index whose slices Spark's workers read is the one that this process makes."""

from __future__ import annotations

from handler import open_table, prune
from handler.indexes.operations import IndexWork
from index_store.own.secondary.operations import create, refresh
from index_store.own.secondary.spark_entries import read_on
from index_store.own.store.locations import folder_of
from tests.index_store.format_tables import unpack_format_table
from tests.index_store.own.secondary.answers import by, local, said_by


def test_spark_reads_the_same_entries_as_this_process_in_several_jobs(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("index_store.own.secondary.spark_entries.BYTES_PER_JOB", 25_000)
    folder = unpack_format_table("1.2.0_evolved_mor", tmp_path / "t")
    table = open_table(folder).table
    remote, here = folder_of(table, "spark"), folder_of(table, "local")
    definition = by("i", "s_new")
    change = create(remote, table, definition, read_on(spark))
    expected = create(here, table, definition, local)
    assert said_by(remote) == said_by(here)
    assert len(said_by(remote)[1]) > 10
    assert dict(change.unknown) == dict(expected.unknown)
    assert change.built_bytes > 25_000
    assert (change.built, change.built_bytes) == (expected.built, expected.built_bytes)
    plan = prune(folder, "i = -1 AND s_new = 'nobody'", "spark", time_zone="UTC", strict=True)
    assert len(plan.kept) == 0


def test_the_command_reads_on_spark_too(spark, tmp_path):
    folder = unpack_format_table("1.2.0_order_event_mor", tmp_path / "t")
    work = IndexWork(str(folder), spark=True)
    made = work.create(["s", "i"], ["secondary_index"], "it")
    assert made.change.built > 2
    table = work.open()
    create(folder_of(table, "other"), table, by("s", "i"), local)
    assert said_by(folder_of(table, "it")) == said_by(folder_of(table, "other"))
    assert not work.refresh("it")[0].change.committed


def test_what_a_worker_cannot_read_is_told_and_read_again_by_the_next_refresh(spark, tmp_path):
    folder = unpack_format_table("1.2.0_evolved_cow", tmp_path / "t")
    table = open_table(folder).table
    path = folder / table.slices()[0].base_file
    whole = path.read_bytes()
    path.write_bytes(b"x" * len(whole))
    index = folder_of(table, "it")
    change = create(index, table, by("i"), read_on(spark))
    assert [path.name in why for why in change.unknown.values()] == [True]
    path.write_bytes(whole)
    assert refresh(index, table, read_on(spark)).built == 1
    other = folder_of(table, "other")
    create(other, table, by("i"), local)
    assert said_by(index) == said_by(other)
