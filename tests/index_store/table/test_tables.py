"""Every real table opens, and its slices are those that replaying its commits gives."""

from __future__ import annotations

import json

import pytest
from pyarrow import fs

from evaluator.language.types import BIGINT, BINARY, BOOLEAN, DATE, INT, STRING, TIMESTAMP_LTZ, Kind, decimal_type
from index_store import StatsError, TableError, open_table
from index_store.indexed_table import IndexedTable
from tests.index_store.conftest import DATA, TABLES
from tests.index_store.format_tables import unpack_format_table
from tests.index_store.replay import commits, replay
from tests.sampling import share
from tests.torture.memory_storage import MemoryStorage
from tests.torture.tables import subject

VERSION = {"0.15.0": 6, "1.0.2": 8, "1.1.1": 9, "1.2.0": 9, "1.2.1": 9}


def as_replayed(slices):
    return {
        (one.partition, one.file_id): (
            one.base_file and one.base_file.rpartition("/")[2],
            frozenset(path.rpartition("/")[2] for path in one.log_files),
        )
        for one in slices
    }


@pytest.mark.parametrize("name", share(TABLES, 3, seed=18))
def test_slices_are_those_that_replaying_the_commits_gives(hudi_table, name):
    path = hudi_table(name)
    table = open_table(path)
    slices = table.slices()
    assert slices.source == "metadata table"
    assert slices.note == ""
    assert slices.instant == commits(path)[-1][1]
    assert as_replayed(slices) == replay(path)
    assert len({one.file_id for one in slices}) == len(slices)
    for one in slices:
        for file in one.files:
            assert (path / file).exists()


def cleaned(table):
    kept = max(
        (
            table.timeline.details(clean)["earliestCommitToRetain"] or ""
            for clean in table.timeline.instants
            if clean.action == "clean"
        ),
        default="",
    )
    return {write.requested for write in table.timeline.writes if write.requested < kept}


@pytest.mark.parametrize("name", share(TABLES, 3, seed=19))
def test_every_older_instant_gives_the_slices_of_its_time_or_says_they_are_cleaned(hudi_table, name):
    path = hudi_table(name)
    table = open_table(path)
    seen = 0
    for _, requested, _, _ in commits(path):
        if requested in cleaned(table):
            with pytest.raises(TableError, match="are cleaned"):
                table.slices(requested)
            continue
        slices = table.slices(requested)
        assert slices.instant == requested
        assert as_replayed(slices) == replay(path, requested)
        seen += 1
    assert seen >= 1


@pytest.mark.parametrize("name", share(TABLES, 3, seed=20))
def test_without_a_metadata_table_listing_gives_the_same_slices(hudi_copy, name):
    path = hudi_copy(name)
    expected = open_table(path).slices()
    properties = path / ".hoodie" / "hoodie.properties"
    lines = [line for line in properties.read_text().splitlines(keepends=True) if "metadata.partitions" not in line]
    properties.write_text("".join(lines))
    table = open_table(path)
    slices = table.slices()
    assert slices.source == "file listing"
    assert slices.items == expected.items
    assert [kind.name for kind in table.kinds(slices) if kind.name != "partition_values"] == ["key_filters", "footers"]


@pytest.mark.parametrize("path", sorted(DATA.glob("oracle_*.json")), ids=lambda path: path.stem)
def test_the_file_groups_are_those_that_spark_scanned(hudi_table, path):
    oracle = json.loads(path.read_text())
    slices = open_table(hudi_table(f"{oracle['hudi']}_{oracle['table']}")).slices()
    assert {one.file_id for one in slices} == set(oracle["file_groups"])


@pytest.mark.parametrize("name", share(TABLES, 3, seed=21))
def test_properties_and_columns(hudi_table, name):
    table = open_table(hudi_table(name))
    release, _, short = name.partition("_")
    assert table.version == VERSION[release]
    assert table.name == short
    assert table.table_type == ("MERGE_ON_READ" if short.endswith("_mor") else "COPY_ON_WRITE")
    assert table.record_key_fields == (("l",) if short == "bucket_int_cow" else ("id",))
    partitioned = short not in ("sec_cow", "sec_mor", "expr_cow", "nonpart_mor", "bloom_simple_cow")
    assert table.partition_fields == (("p",) if partitioned else ())
    types = {field.name: field.type for field in table.schema}
    assert types["dec"] == decimal_type(10, 2)
    wide = BIGINT if "evol" in short else INT
    assert [types[n] for n in ("id", "i", "l", "dt", "t", "b")] == [STRING, wide, BIGINT, DATE, TIMESTAMP_LTZ, BOOLEAN]
    if "st" in types:
        assert types["st"].kind is Kind.OTHER
        assert (types["st.x"], types["st.y"], types["bin"]) == (INT, STRING, BINARY)
    assert types["_hoodie_record_key"] == STRING
    assert table.columns.units == {"t": "micros"}


@pytest.mark.parametrize("version", ["5", "7", "10", "banana"])
def test_another_table_version_is_refused_by_name(hudi_copy, version):
    path = hudi_copy("1.1.1_nested_cow")
    properties = path / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text().replace("hoodie.table.version=9", f"hoodie.table.version={version}"))
    with pytest.raises(TableError, match=rf"table version {version} is not supported \(supported: 6, 8, 9\)"):
        open_table(path)


def test_what_is_no_hudi_table_is_said_so(tmp_path):
    with pytest.raises(TableError, match="not a Hudi table"):
        open_table(tmp_path)
    with pytest.raises(TableError, match="not a Hudi table"):
        open_table(tmp_path / "nowhere")
    (tmp_path / ".hoodie").mkdir()
    (tmp_path / ".hoodie" / "hoodie.properties").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TableError, match="not text"):
        open_table(tmp_path)
    with pytest.raises(TableError, match="no such file system"):
        open_table("gopher://host/table")


def test_a_table_without_its_timeline_is_an_error_and_not_an_empty_table(hudi_copy):
    path = hudi_copy("1.1.1_nested_cow")
    (path / ".hoodie" / "timeline").rename(path / ".hoodie" / "elsewhere")
    with pytest.raises(TableError, match="timeline is missing"):
        open_table(path)
    properties = path / ".hoodie" / "hoodie.properties"
    text = properties.read_text().replace("hoodie.timeline.path=timeline", "hoodie.timeline.path=elsewhere")
    properties.write_text(text)
    assert len(open_table(path).slices()) == 6


def test_a_table_without_commits_has_no_slices(hudi_copy):
    path = hudi_copy("1.1.1_nested_cow")
    for file in (path / ".hoodie" / "timeline").glob("*commit*"):
        file.unlink()
    table = open_table(path)
    slices = table.slices()
    assert (len(slices), slices.instant) == (0, None)
    assert [kind.coverage([]).slices for kind in table.kinds(slices)] in ([0, 0, 0], [0, 0, 0, 0])
    with pytest.raises(TableError, match="no schema"):
        _ = table.schema


def test_the_backup_of_the_properties_serves_when_the_file_was_cut_off(hudi_copy):
    path = hudi_copy("1.1.1_nested_cow")
    properties = path / ".hoodie" / "hoodie.properties"
    properties.rename(path / ".hoodie" / "hoodie.properties.backup")
    properties.write_text("#Updated at")
    assert open_table(path).version == 9


def test_a_table_opens_by_uri_and_by_file_system(hudi_table):
    path = hudi_table("1.1.1_nested_cow")
    expected = open_table(path).slices()
    assert open_table(path.as_uri()).slices() == expected
    inside = fs.SubTreeFileSystem(str(path.parent), fs.LocalFileSystem())
    assert open_table(path.name, filesystem=inside).slices() == expected


def test_indexes_name_what_is_there_and_what_is_read(hudi_copy):
    path = hudi_copy("1.1.1_sec_mor")
    found = {info.name: info for info in open_table(path).indexes()}
    assert {name for name, info in found.items() if info.read} == {
        "files",
        "column_stats",
        "record_index",
        "secondary_index_si_s",
        "secondary_index_si_dt",
        "secondary_index_si_i",
    }
    assert found["secondary_index_si_s"].columns == ("s",)
    assert found["secondary_index_si_s"].type == "secondary_index"
    assert "dec" in found["column_stats"].columns
    properties = path / ".hoodie" / "hoodie.properties"
    properties.write_text(
        properties.read_text().replace(
            "hoodie.table.metadata.partitions.inflight=", "hoodie.table.metadata.partitions.inflight=column_stats"
        )
    )
    table = open_table(path)
    info = {info.name: info for info in table.indexes()}["column_stats"]
    assert (info.state, info.read) == ("inflight", False)
    assert "column_stats" not in [kind.name for kind in table.kinds(table.slices())]


@pytest.mark.parametrize("as_of", ["20100101000000000", "1999-12-31"])
def test_an_instant_before_the_first_commit_is_an_error(hudi_table, as_of):
    with pytest.raises(TableError, match="no commit is as old as"):
        open_table(hudi_table("1.1.1_nan_cow")).slices(as_of)


def test_an_instant_that_is_none_is_an_error(hudi_table):
    with pytest.raises(TableError, match="not an instant"):
        open_table(hudi_table("1.1.1_nan_cow")).slices("last tuesday")


def test_a_lagging_metadata_table_is_not_used(hudi_copy):
    path = hudi_copy("1.1.1_main_mor")
    expected = open_table(path).slices()
    for commit in (path / ".hoodie/metadata/.hoodie/timeline").glob(f"{expected.instant}*"):
        commit.unlink()
    table = open_table(path)
    slices = table.slices()
    assert slices.source == "file listing"
    assert f"does not know the commit {expected.instant}" in slices.note
    assert slices.items == expected.items
    assert [kind.name for kind in table.kinds(slices)] == ["partition_values", "key_filters", "footers"]


def test_a_metadata_table_built_after_the_last_commit_serves_and_one_that_went_on_without_it_does_not(tmp_path):
    path = unpack_format_table("1.2.0_partial_mor", tmp_path / "t")
    expected = open_table(path).slices()
    folder = path / ".hoodie/metadata/.hoodie/timeline"
    later = "30000101000000000"
    for commit in folder.glob(f"{expected.instant}_*"):  # a cleaning, say, that completed after the lost commit
        commit.rename(folder / f"{later}_{later}.deltacommit")
    slices = open_table(path).slices()
    assert (slices.source, slices.items) == ("file listing", expected.items)
    assert f"does not know the commit {expected.instant}" in slices.note
    for commit in folder.glob("00000000000000000_*"):
        commit.rename(folder / f"00000000000000000_{later}.deltacommit")
    assert open_table(path).slices().source == "metadata table"


def test_a_commit_that_the_metadata_table_lacks_between_others_is_noticed(hudi_copy):
    path = hudi_copy("1.1.1_main_mor")
    expected = open_table(path).slices()
    folder = path / ".hoodie/metadata/.hoodie/timeline"
    known = {name.name.partition("_")[0] for name in folder.glob("*_*.deltacommit")}
    lost = sorted(write.requested for write in open_table(path).timeline.writes if write.requested in known)[-2]
    for file in folder.glob(f"{lost}*"):
        file.unlink()
    slices = open_table(path).slices()
    assert slices.source == "file listing"
    assert slices.note == f"the metadata table does not know the commit {lost}, although it knows later ones"
    assert slices.items == expected.items


@pytest.mark.parametrize("lost", ["its completed file", "all of its files"])
def test_the_first_commit_that_the_metadata_table_lacks_is_noticed(hudi_copy, lost):
    path = hudi_copy("1.1.1_main_mor")
    expected = open_table(path).slices()
    folder = path / ".hoodie/metadata/.hoodie/timeline"
    known = {name.name.partition("_")[0] for name in folder.glob("*_*.deltacommit")}
    first = min(write.requested for write in open_table(path).timeline.writes if write.requested in known)
    for file in folder.glob(f"{first}_*" if lost == "its completed file" else f"{first}*"):
        file.unlink()
    slices = open_table(path).slices()
    assert slices.source == "file listing"
    assert f"does not know the commit {first}" in slices.note
    assert slices.items == expected.items


@pytest.mark.parametrize("pattern", ["files/.files-0000-0_2*", "files/files-0000-0_6*"])
def test_a_missing_file_of_the_metadata_table_is_noticed(hudi_copy, pattern):
    path = hudi_copy("1.1.1_main_mor")
    expected = open_table(path).slices()
    max((path / ".hoodie/metadata").glob(pattern)).unlink()
    slices = open_table(path).slices()
    assert slices.source == "file listing"
    assert "missing" in slices.note
    assert slices.items == expected.items


def test_corrupt_column_statistics_raise_and_name_the_file(hudi_copy):
    path = hudi_copy("1.1.1_main_cow")
    for file in (path / ".hoodie/metadata/column_stats").glob("*.hfile"):
        data = bytearray(file.read_bytes())
        data[100] ^= 0xFF
        file.write_bytes(data)
    table = open_table(path)
    kind = next(kind for kind in table.kinds(table.slices()) if kind.name == "column_stats")
    with pytest.raises(StatsError, match=r"col-stats-.*hfile"):
        kind.statistics(list(table.schema))


def test_a_pending_instant_writes_nothing_that_counts(hudi_copy):
    path = hudi_copy("1.1.1_nan_cow")
    before = open_table(path).slices()
    last = before.instant
    timeline = path / ".hoodie/timeline"
    done = next(timeline.glob(f"{last}_*.commit"))
    done.rename(path / "kept.commit")
    after = open_table(path).slices()
    assert after.instant < last
    assert len(after) == len(before) - 1
    assert not any(last in one.base_file for one in after)


@pytest.mark.parametrize("name", ["0.15.0_failed_mor", "1.2.0_failed_mor", "1.2.0_failed_cow"])
def test_what_a_dead_writer_left_does_not_count_although_the_metadata_table_has_it(tmp_path, name):
    path = unpack_format_table(name, tmp_path / "t")
    table = open_table(path)
    dead = [instant for instant, action in table.timeline.pending.items() if "commit" in action]
    assert len(dead) == 1
    assert dead[0] in table.metadata.timeline.by_name
    assert not table.metadata.is_valid(dead[0])
    assert any(instant.action == "rollback" for instant in table.timeline.instants)
    left = {file.name for file in path.rglob(f"p=*/*{dead[0]}*") if not file.name.endswith(".crc")}
    slices = table.slices()
    assert not left & {file.rpartition("/")[2] for one in slices for file in one.files}
    assert not any(dead[0] in file for one in slices for file in one.files)
    if name.startswith("1.2.0"):
        assert left  # v6 puts the base file's instant into a log file's name
        for file in (path / ".hoodie/timeline").glob(f"{dead[0]}*"):
            file.unlink()  # the leftovers of one that was rolled back and forgotten
        after = open_table(path).slices()
        assert not left & {file.rpartition("/")[2] for one in after for file in one.files}


@pytest.mark.parametrize("name", ["0.15.0_restored_mor", "1.2.0_restored_mor"])
def test_a_restore_takes_commits_back_and_keeps_those_of_its_savepoint(tmp_path, name):
    table = open_table(unpack_format_table(name, tmp_path / "t"))
    actions = [instant.action for instant in table.timeline.instants]
    assert {"savepoint", "restore"} <= set(actions)
    restore = next(instant for instant in table.timeline.instants if instant.action == "restore")
    saved = next(instant for instant in table.timeline.instants if instant.action == "savepoint")
    assert [
        write.requested for write in table.timeline.writes if saved.requested < write.requested < restore.requested
    ] == []
    assert table.slices(saved.requested).instant == saved.requested
    assert len(table.slices(saved.requested)) == 4 < len(table.slices())


def test_groups_of_a_clustering_that_is_only_scheduled_stay(tmp_path):
    for name in ("0.15.0_replaced_mor", "1.0.2_replaced_mor", "1.2.0_replaced_mor"):
        table = open_table(unpack_format_table(name, tmp_path / name))
        scheduled = [action for action in table.timeline.pending.values() if action in ("clustering", "replacecommit")]
        assert len(scheduled) == 1
        replaced = {
            group
            for instant in table.timeline.writes
            if instant.action == "replacecommit"
            for groups in table.timeline.details(instant)["partitionToReplaceFileIds"].values()
            for group in groups
        }
        assert len(replaced) >= 6  # by a clustering, an overwrite, a deleted partition
        slices = table.slices()
        assert not replaced & {one.file_id for one in slices}
        assert "p=p2" not in {one.partition for one in slices}


@pytest.mark.parametrize("where", ["elsewhere/defs.json", "{table}/elsewhere/defs.json"])
def test_index_definitions_are_read_from_where_the_table_says(hudi_copy, where):
    path = hudi_copy("1.1.1_sec_mor")
    expected = open_table(path).indexes()
    (path / "elsewhere").mkdir()
    (path / ".hoodie/.index_defs/index.json").rename(path / "elsewhere/defs.json")
    properties = path / ".hoodie" / "hoodie.properties"
    properties.write_text(
        properties.read_text().replace(
            "hoodie.table.index.defs.path=.hoodie/.index_defs/index.json",
            f"hoodie.table.index.defs.path={where.format(table=path)}",
        )
    )
    assert open_table(path).indexes() == expected
    assert any(info.columns for info in expected)
    properties.write_text(properties.read_text().replace("elsewhere/defs.json", "nowhere/defs.json"))
    assert not any(info.columns for info in open_table(path).indexes())
    (path / "nowhere").mkdir()
    (path / "nowhere/defs.json").write_text("{")
    with pytest.raises(TableError, match="the index definitions are not JSON"):
        open_table(path).indexes()


def test_an_empty_completed_commit_file_is_tolerated(hudi_copy):
    path = hudi_copy("1.1.1_nan_cow")
    before = open_table(path).slices()
    next((path / ".hoodie/timeline").glob(f"{before.instant}_*.commit")).write_bytes(b"")
    table = open_table(path)
    assert table.slices() == before
    assert table.schema.resolve("f") is not None


def test_a_broken_commit_is_an_error_that_names_it(hudi_copy):
    path = hudi_copy("1.1.1_nan_cow")
    table = open_table(path)
    commit = next((path / ".hoodie/timeline").glob(f"{table.slices().instant}_*.commit"))
    commit.write_bytes(commit.read_bytes()[:200])
    with pytest.raises(TableError, match=commit.name):
        _ = open_table(path).schema


def test_a_file_of_the_latest_commit_that_is_not_listed_is_noticed(hudi_copy):
    path = hudi_copy("1.1.1_evol_cow")
    table = open_table(path)
    before = table.slices()
    stats = table.timeline.details(table.timeline.last)["partitionToWriteStats"]
    partition, written = next((one, some) for one, some in stats.items() if some)
    name = written[0]["path"].rpartition("/")[2]
    files = table.metadata.files()
    del files[partition][name]
    again = open_table(path)
    again.metadata.__dict__["files"] = lambda: files
    slices = again.slices()
    assert slices.source == "file listing"
    assert f"does not list {partition}/{name}" in slices.note
    assert slices.items == before.items


def test_a_replaced_file_group_that_does_not_exist_is_noticed():
    files = dict(subject("0.15.0_replaced_mor", 0).files)
    whole = IndexedTable(MemoryStorage(files))
    assert whole.slices().note == ""
    (_, file_id), instant = max(whole.replaced.items(), key=lambda one: one[1])
    path = f".hoodie/{instant}.replacecommit"
    files[path] = files[path].replace(file_id.encode(), file_id.replace(file_id[0], "x").encode())
    slices = IndexedTable(MemoryStorage(files)).slices()
    assert f"{instant} replaced the file group" in slices.note
    assert {one.file_id for one in slices} == {one.file_id for one in whole.slices()} | {file_id}
