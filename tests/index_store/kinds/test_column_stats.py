"""column_stats of real tables: sound for every stored row, and as tight as the Parquet footers."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from datetime import date, datetime, timezone
from decimal import Decimal

import numpy as np
import pytest
from pyarrow import parquet

from evaluator.statistics.columns import UNKNOWN_COUNT
from evaluator.statistics.distrust import Trust
from index_store import open_table
from index_store.indexed_table import IndexedTable
from index_store.kinds.column_stats import column_stats as column_stats_module
from index_store.kinds.column_stats.absent_columns import CommitSchemas, with_absent_columns
from index_store.kinds.column_stats.file_rules import FileStatistics
from index_store.kinds.column_stats.slice_files import SliceFiles
from index_store.storage.storage import Storage
from index_store.table.schema_history import read_name_history
from index_store.table.timeline import Timeline, read_timeline
from tests.index_store.conftest import TABLES
from tests.index_store.rows import column, plain, rows_of
from tests.sampling import share
from tests.torture.memory_storage import MemoryStorage
from tests.torture.tables import subject


def statistics_of(path, as_of=None):
    table = open_table(path)
    slices = table.slices(as_of)
    kind = next(kind for kind in table.kinds(slices) if kind.name == "column_stats")
    return table, slices, kind.statistics(list(table.schema))


@pytest.mark.parametrize("name", share(TABLES, 3, seed=8))
def test_every_stored_value_is_within_the_bounds_and_every_null_is_counted(hudi_table, name):
    path = hudi_table(name)
    table, slices, found = statistics_of(path)
    compared = 0
    for i, one in enumerate(slices):
        rows = [row for file in one.files for row in rows_of(path / file)]
        assert rows or not one.base_file
        for field in table.schema:
            statistics = found.get(field.name)
            if statistics is None:
                continue
            values = [plain(column(row, field.name), field.type.scale) for row in rows]
            nulls = values.count(None)
            stored = [value for value in values if value is not None]
            if statistics.lo_known[i]:
                assert all(statistics.lo[i] <= value for value in stored), (field, i)
            if statistics.hi_known[i]:
                assert all(statistics.hi[i] >= value for value in stored), (field, i)
            if statistics.null_count[i] != UNKNOWN_COUNT:
                assert statistics.null_count[i] >= nulls
                assert nulls or statistics.null_count[i] == 0
            if not statistics.may_be_value[i]:
                assert not stored
            if statistics.row_count[i] != UNKNOWN_COUNT:
                assert statistics.row_count[i] == len(rows)
            compared += 1
    assert compared >= len(slices) * 4 or name == "0.15.0_main_cow"


def in_form(value, field):
    match value:
        case datetime() | date() | bool():
            return plain(value, 0)
        case Decimal():
            return int(value.scaleb(field.type.scale))
        case bytes() if field.type.kind.value == "string":
            return value.decode()
        case _:
            return value


@pytest.mark.parametrize("name", share(TABLES, 3, seed=9))
def test_bounds_of_base_files_are_those_of_the_footer(hudi_table, name):
    """Differences are of the three known kinds only: all null, NaN, long strings."""
    path = hudi_table(name)
    table, slices, found = statistics_of(path)
    fields = {field.name: field for field in table.schema}
    exact = 0
    for i, one in enumerate(slices):
        if one.log_files:
            continue
        metadata = parquet.read_metadata(path / one.base_file)
        group = metadata.row_group(0)
        for c in range(metadata.num_columns):
            name, stats = metadata.schema.column(c).path, group.column(c).statistics
            mine = found.get(name)
            if mine is None or mine.trust[i] == Trust.NO_RECORD:
                continue
            if mine.trust[i] != Trust.OK:
                assert mine.trust[i] in (Trust.NAN_ZERO, Trust.LONG_STRING)
                if mine.trust[i] == Trust.NAN_ZERO:
                    assert math.isnan(stats.max)
                else:
                    assert not stats.has_min_max
                continue
            assert mine.null_count[i] == stats.null_count
            assert mine.row_count[i] == metadata.num_rows
            assert mine.lo_known[i] == mine.hi_known[i] == stats.has_min_max
            if stats.has_min_max:
                assert mine.lo[i] == in_form(stats.min, fields[name]), name
                assert mine.hi[i] == in_form(stats.max, fields[name]), name
                exact += 1
    assert exact > 0 or name.endswith("_ch_mor")


def test_a_table_with_records_of_few_files_is_unknown_for_the_others(hudi_table):
    _, slices, found = statistics_of(hudi_table("0.15.0_main_cow"))
    for statistics in found.values():
        assert Counter(statistics.trust.tolist()) == {Trust.OK: 1, Trust.NO_RECORD: len(slices) - 1}
        missing = statistics.trust == Trust.NO_RECORD
        assert not (statistics.lo_known | statistics.hi_known)[missing].any()
        assert (statistics.null_count[missing] == UNKNOWN_COUNT).all()
        assert statistics.may_be_value[missing].all()
        assert statistics.may_be_null[missing].all()


@pytest.mark.parametrize("release", ["0.15.0", "1.1.1"])
def test_nan_leaves_no_bounds(hudi_table, release):
    _, slices, found = statistics_of(hudi_table(f"{release}_nan_cow"))
    assert Counter(found["f"].trust.tolist()) == {Trust.OK: 6, Trust.NAN_ZERO: 2}
    assert Counter(found["d"].trust.tolist()) == {Trust.OK: 5, Trust.NAN_ZERO: 3}
    assert not found["d"].lo_known[found["d"].trust == Trust.NAN_ZERO].any()
    assert (found["f"].null_count >= 0).all()
    assert len(slices) == 8


def test_long_strings_are_unknown_and_short_ones_and_nulls_are_not(hudi_table):
    _, slices, found = statistics_of(hudi_table("1.1.1_longstr_cow"))
    s = found["s"]
    unknown = s.trust == Trust.LONG_STRING
    assert unknown.sum() == 2
    assert s.may_be_value[unknown].all()
    assert (~s.may_be_value).sum() == 1  # two nulls and nothing else, which the footer proves
    assert len(slices) == 6


def test_a_column_that_was_widened_or_added_keeps_what_fits(hudi_table):
    _, _, found = statistics_of(hudi_table("1.1.1_evol_cow"))
    assert found["i"].hi.max() > 2**31
    assert found["i"].lo_known.all()
    added = found["extra"]
    assert Counter(added.trust.tolist()) == {Trust.OK: 18}
    assert (~added.may_be_value).sum() == 5  # four were written before the column was added


@pytest.mark.parametrize("obstacle", ["no proof", "default", "partition column", "bootstrap", "renamed", "other case"])
def test_p6_a_column_that_a_file_lacks_is_null_only_where_nothing_else_may_fill_it(hudi_table, obstacle):
    path = hudi_table("1.1.1_evol_cow")
    table = open_table(path)
    column = next(field for field in table.schema if field.name == "extra")
    renamed = frozenset()
    commits = CommitSchemas(table.timeline)
    match obstacle:
        case "no proof":
            table.footers._limit = 0
            commits = CommitSchemas(Timeline(()))
        case "default":
            table.columns = replace(table.columns, filled=frozenset(["extra"]))
        case "partition column":
            table.partition_fields = ("p", "extra")
        case "bootstrap":
            table.properties = {**table.properties, "hoodie.bootstrap.base.path": "elsewhere"}
        case "renamed":
            renamed = frozenset(["extra"])
        case "other case":
            column = replace(column, name="I")
    files = SliceFiles.of(table.slices())
    none = np.zeros(0, np.intp)
    rows = FileStatistics.of([], none, column.type, "", 9)
    assert not len(with_absent_columns(rows, column, files, none, table, renamed=renamed, commits=commits).file_index)


@pytest.mark.parametrize("proof", ["commits", "footers"])
def test_p6_a_column_that_was_added_later_is_null_in_the_files_before_it(hudi_table, proof):
    table = open_table(hudi_table("1.1.1_evol_cow"))
    if proof == "commits":
        table.footers._limit = 0
    column = next(field for field in table.schema if field.name == "extra")
    commits = CommitSchemas(table.timeline if proof == "commits" else Timeline(()))
    files, none = SliceFiles.of(table.slices()), np.zeros(0, np.intp)
    rows = with_absent_columns(
        FileStatistics.of([], none, column.type, "", 9),
        column,
        files,
        none,
        table,
        renamed=frozenset(),
        commits=commits,
    )
    lacking = {path for path in files.paths if "extra" not in parquet.read_schema(f"{table.path}/{path}").names}
    assert {files.paths[place] for place in rows.file_index} == lacking
    assert rows.nulls.tolist() == [
        parquet.read_metadata(f"{table.path}/{files.paths[place]}").num_rows for place in rows.file_index
    ]


@pytest.mark.parametrize(
    ("schemas", "proven"),
    [
        ([["id"], ["id", "x"]], ["0.parquet"]),
        ([["id"], ["id"]], ["0.parquet", "1.parquet"]),
        ([["x"], ["id"]], []),
        ([["id", "X"], ["id"]], []),
        ([None, ["id"]], ["1.parquet"]),
        ([["id"], None, ["x"]], ["0.parquet"]),
    ],
    ids=str,
)
def test_p6_only_commits_before_the_column_prove_that_their_files_lack_it(tmp_path, schemas, proven):
    for i, names in enumerate(schemas):
        fields = [{"name": name, "type": ["null", "int"], "default": None} for name in names or ()]
        schema = json.dumps({"type": "record", "name": "r", "fields": fields}) if names else None
        (tmp_path / f"2026010100000000{i}.commit").write_text(
            json.dumps(
                {
                    "partitionToWriteStats": {"": [{"path": f"{i}.parquet", "numWrites": 3}]},
                    "extraMetadata": {"schema": schema},
                }
            )
        )
    found = CommitSchemas(read_timeline(Storage.at(tmp_path)))
    for _ in range(2):
        assert found.files_without("x") == dict.fromkeys(proven, 3)


def test_the_names_that_a_column_had_before_are_known(tmp_path):
    folder = tmp_path / ".hoodie" / ".schema"
    folder.mkdir(parents=True)
    schemas = [
        {"fields": [{"name": "s", "id": 1, "type": "string"}, {"name": "x", "id": 2, "type": "int"}]},
        {"fields": [{"name": "s_new", "id": 1, "type": "string"}, {"name": "s", "id": 3, "type": "int"}]},
    ]
    (folder / "1.schemacommit").write_text(json.dumps({"schemas": schemas}))
    history = read_name_history(Storage.at(tmp_path))
    assert history.reused == {"s"}
    assert history.renamed == {"s", "s_new"}


def test_nested_fields_are_found_by_their_dotted_name(hudi_table):
    _, _, found = statistics_of(hudi_table("1.1.1_nested_cow"))
    assert found["st.x"].lo_known.all()
    assert found["st.y"].hi_known.all()
    assert "st" not in found


def test_older_instants_have_statistics_of_their_files(hudi_table):
    path = hudi_table("1.1.1_main_mor")
    table, slices, _ = statistics_of(path)
    for instant in [write.requested for write in table.timeline.writes][:3]:
        _, older, found = statistics_of(path, instant)
        assert len(older) < len(slices)
        assert found["i"].lo_known.all()


def test_a_custom_merge_rule_makes_slices_with_log_files_unknown(hudi_copy):
    path = hudi_copy("1.1.1_main_mor")
    properties = path / ".hoodie" / "hoodie.properties"
    properties.write_text(properties.read_text().replace("EVENT_TIME_ORDERING", "CUSTOM"))
    _, slices, found = statistics_of(path)
    logs = np.array([bool(one.log_files) for one in slices])
    assert logs.any()
    assert not logs.all()
    assert ((found["i"].trust == Trust.CUSTOM_MERGE) == logs).all()
    assert not found["i"].lo_known[logs].any()
    assert found["i"].lo_known[~logs].all()


def test_log_files_of_version_6_count_only_when_one_commit_wrote_them(hudi_copy, monkeypatch):
    path = hudi_copy("1.1.1_main_mor")
    table = open_table(path)
    table.version = 8
    slices = table.slices()
    table.version = 6  # as if the log files were of version 6
    kind = column_stats_module.make(open_table(path), slices)
    monkeypatch.setattr(kind._table, "version", 6)
    found = kind.statistics([table.schema.resolve("i")])["i"]
    assert found.lo_known.all()
    appended = next(path / log for one in slices for log in one.log_files)
    appended.write_bytes(appended.read_bytes() * 2)
    again = column_stats_module.make(open_table(path), slices)
    monkeypatch.setattr(again._table, "version", 6)
    assert again.statistics([table.schema.resolve("i")])["i"].lo_known.all()
    data = appended.read_bytes()
    instant = next(write.requested for write in table.timeline.writes).encode()
    appended.write_bytes(
        data[: len(data) // 2]
        + data[len(data) // 2 :].replace(appended.name.split("_")[1].split(".")[0].encode(), instant, 1)
    )
    last = column_stats_module.make(open_table(path), slices)
    monkeypatch.setattr(last._table, "version", 6)
    assert (last.statistics([table.schema.resolve("i")])["i"].trust == Trust.APPENDED_LOG).sum() == 1


def test_coverage_counts_slices_and_reasons(hudi_table):
    table = open_table(hudi_table("1.1.1_nan_cow"))
    kind = table.kinds(table.slices())[1]
    coverage = kind.coverage([table.schema.resolve("f"), table.schema.resolve("u")])
    assert (coverage.kind, coverage.slices) == ("column_stats", 8)
    assert coverage.columns["f"].usable == 6
    assert coverage.columns["f"].reasons == {Trust.OK: 6, Trust.NAN_ZERO: 2}
    assert coverage.columns["u"].usable == 0
    assert coverage.columns["u"].reasons == {Trust.NO_RECORD: 8}


def test_utc_is_what_timestamps_count_from(hudi_table):
    path = hudi_table("1.1.1_nan_cow")
    _, slices, found = statistics_of(path)
    least = min(row["t"] for one in slices for row in rows_of(path / one.base_file))
    assert found["t"].lo.min() == plain(least.astimezone(timezone.utc), 0)


def test_large_files_are_read_in_parts_with_the_same_result(hudi_table, monkeypatch):
    path = hudi_table("1.1.1_main_mor")
    _, slices, whole = statistics_of(path)
    monkeypatch.setattr("index_store.storage.storage.READ_WHOLE", 0)
    _, again, parts = statistics_of(path)
    assert again == slices
    assert whole.keys() == parts.keys()
    for name, one in whole.items():
        assert (one.lo == parts[name].lo).all()
        assert (one.trust == parts[name].trust).all()


def test_a_file_of_other_rows_than_its_commit_says_is_unknown_and_no_file_is_read_to_see_it():
    files = dict(subject("0.15.0_main_cow", 0).files)
    storage = MemoryStorage(files)
    table = IndexedTable(storage)
    _, before = _counted(table)
    paths = set(storage.read_paths)
    last = f".hoodie/{table.timeline.last.file.rpartition('/')[2]}"
    stored = json.loads(files[last])
    base = next(stat for some in stored["partitionToWriteStats"].values() for stat in some if stat["numWrites"] > 0)
    base["numWrites"] += 1
    files[last] = json.dumps(stored).encode()
    again = MemoryStorage(files)
    slices, after = _counted(IndexedTable(again))
    doubted = [one.base_file == base["path"] for one in slices]
    assert sum(doubted) == 1
    assert set(again.read_paths) == paths
    for name, one in after.items():
        assert one.row_count[doubted].tolist() == [UNKNOWN_COUNT], name
        assert one.trust[doubted].tolist() == [Trust.COUNTS], name
        assert not (one.lo_known | one.hi_known)[doubted].any(), name
        others = ~np.array(doubted)
        assert (one.trust[others] == before[name].trust[others]).all()
    assert any((one.trust[doubted] == Trust.OK).all() for one in before.values())


def _counted(table):
    slices = table.slices()
    kind = next(kind for kind in table.kinds(slices) if kind.name == "column_stats")
    return slices, kind.statistics(list(table.schema))
