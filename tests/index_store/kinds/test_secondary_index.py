"""Secondary indexes of real tables: each entry is found by its value, and no slice with a matching row is ruled out."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from evaluator.binding.statistics_provider import Declined
from evaluator.language.schema import Field
from evaluator.language.types import INT, STRING, Kind
from evaluator.statistics.distrust import Trust
from handler import open_table as opened
from handler import prune
from index_store import StatsError, TableError, open_table
from index_store.formats.keys import file_group
from index_store.kinds.column_stats.column_stats import make as column_stats
from index_store.kinds.record_keys import secondary_index
from index_store.kinds.record_keys.key_groups import KeyGroups
from index_store.kinds.record_keys.record_index import RecordIndex
from index_store.kinds.record_keys.secondary_entries import split_entry
from tests.index_store.rows import plain, rows_of

COW = "1.1.1_sec_cow"
COWS = ("1.0.2_sec_cow", COW)
MOR = ("1.0.2_sec_mor", "1.1.1_sec_mor")
ABSENT = {"s": ["no such text", "$", "\\", "\0", "upd$ated"], "i": [-1, 2**31 - 1], "dt": [0, -1, 10**6], "t": [0, -1]}


def kind_of(path):
    table = open_table(path)
    slices = table.slices()
    return table, slices, next((kind for kind in table.kinds(slices) if kind.name == "secondary_index"), None)


def indexed(table):
    """The indexed columns as fields."""
    names = {info.columns[0] for info in table.indexes() if info.type == "secondary_index"}
    return [field for field in table.schema.fields if field.name in names]


def values_of(rows, name):
    return {plain(row[name], 0) for row in rows}


def merged(table, slices, path):
    """The latest version of each row by record key, of which deletions are not known here."""
    rows = {}
    for one in slices:
        for file in one.files:
            for row in rows_of(path / file):
                key = row["_hoodie_record_key"]
                if key not in rows or row["_hoodie_commit_time"] >= rows[key]["_hoodie_commit_time"]:
                    rows[key] = row
    return rows


@pytest.fixture(params=COWS)
def read(hudi_table, request):
    path = hudi_table(request.param)
    table, slices, kind = kind_of(path)
    return table, [list(rows_of(path / one.base_file)) for one in slices], kind


def test_every_slice_with_a_matching_row_is_kept_and_others_are_ruled_out(read):
    table, stored, kind = read
    ruled_out = 0
    for column in indexed(table):
        held = [values_of(rows, column.name) for rows in stored]
        for value in set().union(*held) - {None}:
            mask = kind.might_contain(column, [value])
            assert mask.tolist() == [value in values for values in held], (column.name, value)
            ruled_out += int((~mask).sum())
    assert ruled_out > 900


def test_values_that_no_row_has_are_in_no_slice(read):
    table, stored, kind = read
    for column in indexed(table):
        held = set().union(*(values_of(rows, column.name) for rows in stored))
        assert not held & set(ABSENT[column.name])
        assert not kind.might_contain(column, ABSENT[column.name]).any()


def test_several_values_are_in_the_slices_of_each(read):
    table, stored, kind = read
    for column in indexed(table):
        held = [values_of(rows, column.name) for rows in stored]
        some = sorted(set().union(*held) - {None})[::7] + ABSENT[column.name]
        assert kind.might_contain(column, some).tolist() == [bool(values & set(some)) for values in held]


@pytest.mark.parametrize("name", MOR)
def test_entries_lead_from_each_value_to_the_keys_of_its_rows(hudi_table, name):
    """Base and log files of both versions, with deletions and updates, against the merged rows."""
    path = hudi_table(name)
    table, slices, kind = kind_of(path)
    rows = merged(table, slices, path)
    found = 0
    for column in indexed(table):
        by_value = {}
        for key, row in rows.items():
            by_value.setdefault(plain(row[column.name], 0), set()).add(key)
        by_value.pop(None, None)
        for value, keys in by_value.items():
            got = kind.record_keys(column, [value])
            assert got <= keys
            assert keys - got <= {"k0010", "k0044"}  # a delete block in a log file took them away
            found += len(got)
        assert kind.record_keys(column, ABSENT[column.name]) == set()
    assert found > 240


@pytest.mark.parametrize("name", MOR)
def test_slices_of_merged_rows_are_answered_by_the_values_of_their_files(hudi_table, name):
    path = hudi_table(name)
    table, slices, kind = kind_of(path)
    assert 0 < sum(bool(one.log_files) for one in slices) < len(slices)
    for column in indexed(table):
        held = [set().union(*(values_of(rows_of(path / file), column.name) for file in one.files)) for one in slices]
        assert kind.coverage([column]).columns[column.name].usable == len(slices)
        assert not kind.might_contain(column, ABSENT[column.name]).any()
        for value in set().union(*held) - {None}:
            assert kind.might_contain(column, [value]).tolist() == [value in values for values in held]


@pytest.mark.parametrize("name", [COW, "1.1.1_sec_mor"])
def test_a_large_index_is_counted_and_looked_at_here_and_there(hudi_table, monkeypatch, name):
    """With no room for reading all entries."""
    table, _, whole = kind_of(hudi_table(name))
    monkeypatch.setattr(secondary_index, "ENTRIES_READ", 10)
    _, _, kind = kind_of(hudi_table(name))
    for column in indexed(table):
        for value in ABSENT[column.name]:
            assert (kind.might_contain(column, [value]) == whole.might_contain(column, [value])).all()
    sampled = list(KeyGroups(table.metadata, table.indexes()[-1].name).sample(1000, 1000)) and [
        entry for column in indexed(table) for entry in kind._index(column).groups.sample(1000, 1000)
    ]
    assert len(sampled) > 50


@pytest.mark.parametrize("fault", ["count", "group", "key"])
def test_a_large_index_with_a_fault_in_the_sample_proves_nothing(hudi_table, monkeypatch, fault):
    monkeypatch.setattr(secondary_index, "ENTRIES_READ", 10)
    if fault == "count":
        count = KeyGroups.count
        monkeypatch.setattr(
            KeyGroups, "count", lambda self, most: count(self, most) - (self.partition != "record_index")
        )
    else:
        wrong = b"7777$no such key" if fault == "key" else b"v$k0001"
        monkeypatch.setattr(KeyGroups, "sample", lambda self, *_: [(("", n), wrong) for n in self.sizes and range(99)])
    table, _, kind = kind_of(hudi_table(COW))
    assert all(kind.might_contain(column, ABSENT[column.name]) is None for column in indexed(table))


def test_a_value_of_very_many_rows_has_no_answer(hudi_table, monkeypatch):
    table, _, kind = kind_of(hudi_table(COW))
    column = next(column for column in indexed(table) if column.name == "i")
    assert kind.might_contain(column, [7777]) is not None
    monkeypatch.setattr(secondary_index, "LOOK_UPS", 1)
    assert isinstance(kind.might_contain(column, [7777]), Declined)
    assert not kind.might_contain(column, [-1]).any()


def test_entries_of_version_2_lie_where_the_hash_of_value_and_dollar_says(hudi_table):
    table = open_table(hudi_table(COW))
    checked = 0
    for info in table.indexes():
        if info.type == "secondary_index":
            groups = KeyGroups(table.metadata, info.name)
            for (_, number), keys in groups.keys(10**6):
                for key in keys:
                    assert file_group(split_entry(key)[0], len(groups)) == number
                    checked += 1
    assert checked == 4 * 88


def test_entries_of_version_1_lie_where_the_hash_of_the_whole_key_says(hudi_table):
    table = open_table(hudi_table("1.0.2_sec_mor"))
    checked = 0
    for info in table.indexes():
        if info.type == "secondary_index":
            groups = KeyGroups(table.metadata, info.name)
            for (_, number), keys in groups.keys(10**6):
                assert all(file_group(key.decode(), len(groups)) == number for key in keys)
                checked += len(keys)
    assert checked == 88 + 82 + 82


def test_entries_of_version_1_are_as_many_as_rows_that_are_not_null(hudi_table, monkeypatch):
    from index_store.kinds.column_stats.column_stats import ColumnStats

    known = ColumnStats.statistics

    def statistics(self, columns):
        found = known(self, columns)
        return {name: replace(one, null_count=one.null_count - (name == "i")) for name, one in found.items()}

    monkeypatch.setattr(ColumnStats, "statistics", statistics)
    table, _, kind = kind_of(hudi_table("1.0.2_sec_cow"))
    assert {
        column.name for column in indexed(table) if kind.might_contain(column, ABSENT[column.name]) is not None
    } == {
        "s",
        "dt",
    }


def test_keys_that_are_not_proven_unique_prove_nothing(hudi_table, monkeypatch):
    monkeypatch.setattr(RecordIndex, "count", 87)  # 88 rows
    table, _, kind = kind_of(hudi_table(COW))
    assert all(kind.might_contain(column, ABSENT[column.name]) is None for column in indexed(table))


@pytest.mark.parametrize("fault", ["an entry is missing", "another key", "a wrong group", "two entries of a key"])
def test_an_index_that_does_not_hold_each_row_once_proves_nothing(hudi_table, monkeypatch, fault):
    read = KeyGroups.keys

    def keys(self, limit):
        for number, found in read(self, limit):
            if self.partition == "secondary_index_si_i" and number == self_first(self):
                entry = sorted(found)[0]
                change = {
                    "an entry is missing": set(),
                    "another key": {entry + b"x"},
                    "a wrong group": {b"x" + entry},
                    "two entries of a key": {entry, entry.split(b"$")[0] + b"0$" + entry.split(b"$")[1]},
                }
                found = found - {entry} | change[fault]
            yield number, found

    def self_first(groups):
        return next(number for number, found in read(groups, 10**6) if found)

    monkeypatch.setattr(KeyGroups, "keys", keys)
    table, _, kind = kind_of(hudi_table(COW))
    by_name = {column.name: column for column in indexed(table)}
    assert kind.might_contain(by_name["i"], [7777]) is None
    assert kind.might_contain(by_name["s"], ["banana-zz"]).any()


def edited(hudi_copy, change):
    """A copy with another index.json."""
    path = hudi_copy(COW)
    file = path / ".hoodie" / ".index_defs" / "index.json"
    definitions = json.loads(file.read_text())
    change(definitions["indexDefinitions"])
    file.write_text(json.dumps(definitions))
    return path


@pytest.mark.parametrize(
    "change",
    [
        {"version": "V3"},
        {"indexFunction": "lower"},
        {"sourceFields": ["s", "i"]},
        {"indexType": "column_stats"},
        {"sourceFields": []},
    ],
)
def test_an_index_of_another_form_is_not_used(hudi_copy, change):
    path = edited(hudi_copy, lambda definitions: definitions["secondary_index_si_s"].update(change))
    _, _, kind = kind_of(path)
    assert kind.might_contain(Field("s", STRING), ["banana-zz"]) is None
    assert kind.might_contain(Field("i", INT), [7777]).any()


def test_an_index_that_is_being_built_is_not_used(hudi_copy):
    path = hudi_copy(COW)
    properties = path / ".hoodie" / "hoodie.properties"
    properties.write_text(
        properties.read_text().replace("partitions.inflight=", "partitions.inflight=secondary_index_si_s")
    )
    _, _, kind = kind_of(path)
    assert kind.might_contain(Field("s", STRING), ["banana-zz"]) is None
    assert kind.might_contain(Field("i", INT), [7777]).any()


@pytest.mark.parametrize("names", [[(0, "old"), (0, "s")], [(0, "s"), (1, "s")]], ids=["renamed", "two columns"])
def test_an_index_of_a_name_that_meant_another_column_is_not_used(hudi_copy, names):
    path = hudi_copy(COW)
    folder = path / ".hoodie" / ".schema"
    folder.mkdir(exist_ok=True)
    schemas = [{"fields": [{"id": number, "name": name, "type": "string", "optional": True}]} for number, name in names]
    (folder / "1.schemacommit").write_text(json.dumps({"schemas": schemas}))
    _, _, kind = kind_of(path)
    assert kind.might_contain(Field("s", STRING), ["banana-zz"]) is None
    assert kind.might_contain(Field("i", INT), [7777]).any()


def test_older_slices_and_tables_without_the_index_have_no_kind(hudi_table):
    table = open_table(hudi_table(COW))
    assert secondary_index.make(table, table.slices(table.timeline.writes[0].requested)) is None
    assert kind_of(hudi_table("1.1.1_main_cow"))[2] is None


def test_definitions_that_cannot_be_read_leave_the_kind_out(hudi_copy):
    path = hudi_copy(COW)
    (path / ".hoodie" / ".index_defs" / "index.json").write_text("{")
    assert kind_of(path)[2] is None


@pytest.mark.parametrize("damage", ["cut", "missing"])
def test_damage_is_a_reason_and_skips_nothing(hudi_copy, damage):
    path = hudi_copy(COW)
    whole = prune(path, "s = 'banana-zz'", engine="spark")
    files = sorted(
        (path / ".hoodie/metadata/secondary_index_si_s").glob("*.hfile"), key=lambda file: file.stat().st_size
    )
    for file in files:
        file.write_bytes(file.read_bytes()[:-5000] + b"\0" * 5000) if damage == "cut" else file.unlink()
    with pytest.raises((StatsError, TableError)):
        kind_of(path)[2].might_contain(Field("s", STRING), ["banana-zz"])
    plan = prune(path, "s = 'banana-zz'", engine="spark")
    assert any("secondary_index cannot be read" in reason.text for reason in plan.reasons)
    assert {one.file_id for one in plan.kept} >= {one.file_id for one in whole.kept}
    assert "secondary_index" not in plan.leaves[0].by_kind


def test_plans_name_the_kind_that_skipped(hudi_table):
    table = opened(hudi_table(COW))
    plan = prune(table, "i = 7777", engine="spark")
    assert len(plan.kept) == 2
    assert "secondary_index" in plan.leaves[0].by_kind
    assert len(prune(table, "NOT (i <> 7777) OR s = 'no such text'", engine="spark").kept) <= len(plan.slices)
    covered = {coverage.kind: coverage for coverage in plan.coverage}
    assert covered["secondary_index"].columns["i"].usable == len(plan.slices)


def test_rows_are_never_lost_for_any_filter_of_values(read):
    """Whole plans: pairs of values of two columns under OR and AND, against the rows."""
    table, stored, _ = read
    table = opened(table.path)
    rng = np.random.default_rng(5)
    everything = [row for rows in stored for row in rows if row["i"] is not None and row["s"] is not None]
    for a, b in rng.integers(0, len(everything), (40, 2)).tolist():
        i, s = everything[a]["i"], everything[b]["s"]
        quoted = s.replace("\\", "\\\\").replace("'", "\\'")
        for text, holds in (
            (f"i = {i} OR s = '{quoted}'", lambda row, i=i, s=s: row["i"] == i or row["s"] == s),
            (f"i = {i} AND s = '{quoted}'", lambda row, i=i, s=s: row["i"] == i and row["s"] == s),
        ):
            plan = prune(table, text, engine="spark")
            kept = {one.file_id for one in plan.kept}
            for one, rows in zip(plan.slices, stored, strict=True):
                assert one.file_id in kept or not any(map(holds, rows)), text


@pytest.mark.parametrize("engine", ["spark-legacy", "spark-ansi"])
@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Asia/Kolkata"])
def test_filters_on_timestamps_find_their_rows_in_every_session_zone(hudi_table, engine, zone):
    path = hudi_table(COW)
    table = opened(path)
    stored = [values_of(rows_of(path / one.base_file), "t") for one in table.at().slices]
    local = ZoneInfo(zone)
    ruled_out = 0
    for value in sorted(set().union(*stored) - {None})[::15]:
        moment = (datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=value)).astimezone(local)
        plan = prune(table, f"t = TIMESTAMP'{moment:%Y-%m-%d %H:%M:%S.%f}'", engine=engine, time_zone=zone, strict=True)
        kept = {one.file_id for one in plan.kept}
        for one, values in zip(plan.slices, stored, strict=True):
            assert one.file_id in kept or value not in values, (moment, one)
        ruled_out += "secondary_index" in plan.leaves[0].by_kind and len(plan.slices) - len(kept)
    assert ruled_out > 20


@pytest.mark.parametrize("name", COWS)
def test_a_definition_that_names_another_column_is_noticed(hudi_copy, name):
    """index.json has no checksum: a byte of ``i`` may become that of ``n``."""
    path = hudi_copy(name)
    definitions = path / ".hoodie/.index_defs/index.json"
    stored = json.loads(definitions.read_text())
    found = stored["indexDefinitions"]
    others = [
        one
        for one in open_table(path).schema
        if (one.type.kind.is_integer or one.type.kind is Kind.STRING) and one.name[0] != "_" and one.name != "i"
    ]
    tried = 0
    for other in others:
        changed = {one: body for one, body in found.items() if body.get("sourceFields") != [other.name]}
        changed["secondary_index_si_i"] = {**found["secondary_index_si_i"], "sourceFields": [other.name]}
        definitions.write_text(json.dumps({**stored, "indexDefinitions": changed}))
        table, slices, kind = kind_of(path)
        known = column_stats(table, slices).statistics([other]).get(other.name)
        if known is not None and (known.lo_known & (known.trust == Trust.OK)).all():
            values = [np.array(known.lo)[0]]
            if name.startswith("1.0.2"):  # version 1: they have other counts of NULL
                assert kind.might_contain(other, values) is None
            else:
                with pytest.raises(StatsError, match="so it is of another one"):
                    kind.might_contain(other, values)
            tried += 1
    assert tried
