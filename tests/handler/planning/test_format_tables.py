"""Tables of every form of Hudi's timeline: no filter loses a file group in which Spark's full read found a row.

Spark read each table without the metadata table and without data skipping, now and as of older instants: after
archiving, restoring, dead writers, clustering, overwriting, cleaning, compaction done and pending, log compaction,
schema changes, partial updates, upgrades.
"""

from __future__ import annotations

import shutil

import pytest

from evaluator.language.errors import SargoError
from handler import open_table, prune
from index_store import TableError
from tests.index_store.format_tables import DISPUTED, FORMAT_TABLES, reads_of, unpack_format_table
from tests.sampling import share

MODEL = "org.apache.hudi.common.model"
#: Of the file slices without a matching row, the share that is skipped at least, and where it is less.
SHARE = 0.75
LESS = {
    "1.2.0_listed_later_mor": 0.65,  # no statistics of columns that were listed later
    "1.2.0_readded_cow": 0.6,
    "0.15.0_readded_cow": 0.6,
    "1.0.2_reused_mor": 0.55,  # a name of two columns
    "1.2.0_pay_sum_mor": 0.35,
    "0.15.0_pay_sum_mor": 0.35,  # slices with log files may hold any value
    "1.2.0_partcols_cow": 0.7,  # no schema tells the type of the partition column
    "1.2.0_pay_postgres_mor": 0.5,  # two slices, wide after an update
    "0.15.0_restored_mor": 0.4,
}  # that release drops the statistics of older files


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory):
    folders = {}

    def unpack(name):
        if name not in folders:
            folders[name] = unpack_format_table(name, tmp_path_factory.mktemp(name) / name)
        return folders[name]

    return unpack


def groups_of(slices):
    return {(one.partition, one.file_id) for one in slices}


@pytest.mark.parametrize("name", share(FORMAT_TABLES, 6))
def test_no_filter_loses_a_file_group_of_the_latest_state(unpacked, name):
    folder = unpacked(name)
    read = reads_of(folder)[0]
    table = open_table(folder)
    slices = table.at().slices
    assert slices.source == "metadata table"
    assert groups_of(slices) == {(partition, file_id) for partition, file_id, _ in read["groups"]}
    assert all((folder / file).exists() for one in slices for file in one.files)
    lost, skipped, idle = check(table, read)
    assert lost == []
    assert skipped >= LESS.get(name, SHARE) * idle > 0


@pytest.mark.parametrize("name", share(FORMAT_TABLES, 9))
def test_no_filter_loses_a_file_group_of_an_older_instant(unpacked, name):
    folder = unpacked(name)
    table = open_table(folder)
    asked = 0
    for read in reads_of(folder)[1:]:
        slices, why = slices_at(table, read["as_of"])
        if slices is None:
            assert "are cleaned" in why  # Spark refuses too, or misses rows without a word
        elif "groups" in read:
            assert groups_of(slices) == {(partition, file_id) for partition, file_id, _ in read["groups"]}
            lost, _, _ = check(table, read)
            assert lost == []
            asked += 1
    assert asked or "cleaned" in name


@pytest.mark.parametrize("name", DISPUTED)
def test_nothing_is_skipped_where_readers_do_not_agree_on_what_is_committed(unpacked, name):
    """Spark read 9 of the 12 rows: Hudi passes over what was archived beyond a savepoint."""
    folder = unpacked(name)
    read = reads_of(folder)[0]
    table = open_table(folder)
    assert sum(rows for *_, rows in read["groups"]) == 9
    slices = table.at().slices
    assert groups_of(slices) > {(partition, file_id) for partition, file_id, _ in read["groups"]}
    assert "archived beyond a savepoint" in slices.note
    lost, skipped, _ = check(table, read)
    assert (lost, skipped) == ([], 0)


def test_an_older_instant_is_not_judged_by_a_type_that_the_column_has_now(unpacked):
    folder = unpacked("1.2.0_evolved_cow")
    table = open_table(folder)
    _, before, *_, after = reads_of(folder)
    overflow = "i + 2147483647 < 0"  # true of every row as int, of none as bigint
    assert len(prune(table, overflow, "spark", as_of=before["as_of"], time_zone="UTC").skipped) == 0
    assert len(prune(table, overflow, "spark", as_of=after["as_of"], time_zone="UTC").kept) == 0
    plan = prune(table, "f > 100", "spark", as_of=before["as_of"], time_zone="UTC")
    assert plan.reasons[0].text == "f > 100: type of an older schema compared with int is not decided"
    assert len(prune(table, "id = 'k099'", "spark", as_of=before["as_of"], time_zone="UTC").kept) == 0


def test_a_payload_of_the_users_own_makes_values_that_no_file_holds(unpacked, tmp_path):
    folder = unpacked("0.15.0_pay_sum_mor")
    believed = shutil.copytree(folder, tmp_path / "believed")
    properties = believed / ".hoodie/hoodie.properties"
    known = f"{MODEL}.OverwriteWithLatestAvroPayload"
    properties.write_text(properties.read_text().replace("example.SumPayload", known))
    read = reads_of(folder)[0]
    assert check(open_table(folder), read)[0] == []
    assert [fault[1] for fault in check(open_table(believed), read)[0]] == ["i >= 9202"]


@pytest.mark.parametrize("form", ["orc", "lance", "vortex"])
def test_base_files_of_another_format_are_kept_and_unknown_ones_refused_by_name(unpacked, tmp_path, form):
    folder = shutil.copytree(unpacked("1.2.0_failed_cow"), tmp_path / "t")
    properties = folder / ".hoodie/hoodie.properties"
    lines = [line for line in properties.read_text().splitlines(keepends=True) if "metadata.partitions" not in line]
    properties.write_text("".join(lines))  # no metadata table: the files are listed
    none = "id = 'nobody'"
    assert len(prune(folder, none, "spark").skipped) == 8  # by the key ranges of the footers
    for path in folder.glob("p=p0/*.parquet"):
        path.rename(path.with_suffix(f".{form}"))
    plan = prune(folder, none, "spark")
    assert {one.partition for one in plan.kept} == {"p=p0"}
    assert {one.partition for one in plan.skipped} == {"p=p1"}
    one = next(folder.glob(f"p=p0/*.{form}"))
    one.rename(one.with_suffix(".newform"))
    with pytest.raises(TableError, match=r"p=p0/.*\.newform: data files of format newform are not supported"):
        prune(folder, none, "spark")


@pytest.mark.parametrize("name", ["0.15.0_cleaned_versions_cow", "1.2.0_cleaned_versions_cow"])
def test_no_older_instant_is_answered_from_what_a_cleaning_by_versions_left(unpacked, tmp_path, name):
    folder = shutil.copytree(unpacked(name), tmp_path / "t")
    table = open_table(folder)
    older = [write.requested for write in table.table.timeline.writes][:-1]
    assert len(older) == 5
    for instant in older:
        with pytest.raises(TableError, match="are cleaned"):
            table.at(instant)
    for path in folder.rglob("*.clean*"):  # the commits that rewrote the files still show it
        path.unlink()
    refused = [slices_at(open_table(folder), instant)[1] for instant in older]
    assert [bool(why) for why in refused] == [True, True, True, True, True]
    assert all("is gone" in why for why in refused)


def slices_at(table, instant):
    try:
        return table.at(instant).slices, ""
    except SargoError as error:
        return None, str(error)


def check(table, read, one_in=1):
    """Of a share of the filters, the faulty ones; slices skipped; and slices without a match."""
    faults, skipped, idle = [], 0, 0
    rows = {(partition, file_id): count for partition, file_id, count in read["groups"]}
    places = list(rows)
    for text, found in share(read["filters"].items(), one_in):
        plan = prune(table, text, "spark", as_of=read["as_of"], time_zone="UTC")
        matching = {places[int(place)]: count for place, count in found.items()}
        lost = matching.keys() - groups_of(plan.kept)
        claimed = [group for group in groups_of(plan.fully_matched) if matching.get(group, 0) < rows[group]]
        if lost or claimed:
            faults.append((read["as_of"], text, lost, claimed))
        skipped += len(plan.skipped)
        idle += len(plan.slices) - len(matching)
    return faults, skipped, idle
