"""Secondary indexes of MERGE_ON_READ tables (tests/data/hudi/secondary), against the rows that Spark read of them."""

from __future__ import annotations

import datetime
import json
import shutil
import tarfile

import numpy as np
import pytest

from evaluator.binding.statistics_provider import Declined
from evaluator.statistics.distrust import Trust
from handler import open_table as opened
from handler import prune
from index_store import StatsError, open_table
from index_store.kinds.record_keys import stored_values
from index_store.kinds.record_keys.stored_values import StoredValues
from tests.index_store.conftest import DATA
from tests.index_store.rows import plain, rows_of

FOLDER = DATA / "secondary"
NAMES = sorted(path.name.removesuffix(".tar.xz") for path in FOLDER.glob("*.tar.xz"))
SEVERAL = ("1.2.0_event_mor", "1.2.0_commit_mor", "1.2.0_parquet_mor")
EPOCH = datetime.date(1970, 1, 1)
ABSENT = {"s": ["no such text", "later", "$"], "i": [-1, 352, 2**31 - 1], "dt": [0, 18_263, 40_000]}


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory):
    root = tmp_path_factory.mktemp("secondary")

    def unpack(name):
        if not (root / name).exists():
            with tarfile.open(FOLDER / f"{name}.tar.xz") as archive:
                archive.extractall(root / name, filter="data")
        return root / name

    return unpack


@pytest.fixture
def copied(unpacked, tmp_path):
    return lambda name: shutil.copytree(unpacked(name), tmp_path / name)


def rows_of_spark(name):
    """As the evaluator has the values, and the file group of each row."""
    for row in json.loads((FOLDER / f"{name}.json").read_text()):
        day = row["dt"] and (datetime.date.fromisoformat(row["dt"]) - EPOCH).days
        yield {**row, "dt": day, "group": row["_hoodie_file_name"].partition("_")[0]}


def kind_of(path):
    table = open_table(path)
    slices = table.slices()
    kind = next(kind for kind in table.kinds(slices) if kind.name == "secondary_index")
    return table, slices, kind, [field for field in table.schema.fields if kind.is_key(field)]


@pytest.mark.parametrize("name", NAMES)
def test_a_slice_is_kept_where_a_file_has_the_value_and_ruled_out_elsewhere(unpacked, name):
    path = unpacked(name)
    _, slices, kind, columns = kind_of(path)
    place = {one.file_id: number for number, one in enumerate(slices)}
    assert 0 < sum(bool(one.log_files) for one in slices) < len(slices)
    stored = [[row for file in one.files for row in rows_of(path / file)] for one in slices]
    ruled_out = 0
    for column in columns:
        held = [{plain(row.get(column.name), 0) for row in rows} for rows in stored]
        of_rows = {}
        for row in rows_of_spark(name):
            of_rows.setdefault(row[column.name], set()).add(place[row["group"]])
        for value in (set().union(*held) | set(ABSENT[column.name])) - {None}:
            mask = kind.might_contain(column, [value])
            assert mask.tolist() == [value in values for values in held], (column.name, value)
            assert of_rows.get(value, set()) <= set(np.flatnonzero(mask)), (column.name, value)
            ruled_out += int((~mask).sum())
        assert kind.coverage([column]).columns[column.name].usable == len(slices)
        everything = sorted(set().union(*held) - {None})[::5]
        assert kind.might_contain(column, everything).tolist() == [bool(values & set(everything)) for values in held]
        assert set(of_rows) <= set().union(*held)
    assert ruled_out > 100


@pytest.mark.parametrize("name", SEVERAL)
def test_an_index_that_was_not_made_first_lacks_updates_and_would_lose_their_rows(unpacked, name):
    """Hudi 1.1 and 1.2 write updates in log files into one index only; the compaction then makes them base rows."""
    _, slices, kind, columns = kind_of(unpacked(name))
    by_name = {column.name: column for column in columns}
    [row] = [row for row in rows_of_spark(name) if row["id"] == "k001"]
    [number] = [number for number, one in enumerate(slices) if one.file_id == row["group"]]
    assert row["i"] == 351
    assert not slices[number].log_files
    assert kind._knows_every_row(by_name["i"])  # each row has one entry, of a key that stands in one row
    assert kind.record_keys(by_name["i"], [351]) == set()
    assert kind.record_keys(by_name["i"], [100]) >= {"k001"}  # what it was before
    assert kind.record_keys(by_name["s"], [row["s"]]) == {"k001"}  # the index that was made first
    assert np.flatnonzero(kind.might_contain(by_name["i"], [351])).tolist() == [number]


@pytest.mark.parametrize(("name", "trusts"), [("1.2.0_single_mor", True), ("1.0.2_single_mor", False)])
def test_files_are_read_where_the_only_index_does_not_prove_what_they_hold(unpacked, monkeypatch, name, trusts):
    """Version 1 has no entries of NULL, so that rows beside log files cannot be counted."""
    read = []
    look_up = StoredValues.look_up
    monkeypatch.setattr(StoredValues, "look_up", lambda self, *of: read.append(of[2]) or look_up(self, *of))
    _, slices, kind, [column] = kind_of(unpacked(name))
    kind.might_contain(column, [351])
    [files] = read
    logged = {number for number, one in enumerate(slices) if one.log_files}
    assert set(files) == (logged if trusts else set(range(len(slices))))
    some = np.arange(len(slices)) % 2 == 0
    mask = kind.might_contain(column, [-1], some)
    assert set(read[1]) == {number for number in files if some[number]}
    assert not mask[some].any()


def test_an_index_is_not_trusted_where_the_timeline_shows_another_one(copied):
    """It may have been dropped, and have been the one that updates went into."""
    path = copied("1.2.0_single_mor")
    assert kind_of(path)[2]._is_only_one
    timeline = path / ".hoodie/timeline"
    [made] = timeline.glob("*_*.indexing")
    other = made.read_bytes().replace(b"secondary_index_si_i", b"secondary_index_si_x")
    requested, completed = (str(int(part) + 1) for part in made.stem.split("_"))
    (timeline / f"{requested}_{completed}.indexing").write_bytes(other)
    _, _, kind, [column] = kind_of(path)
    assert not kind._is_only_one
    assert kind.might_contain(column, [351]).sum() == 1
    (timeline / f"{requested}_{completed}.indexing").write_bytes(b"damage")
    assert not kind_of(path)[2]._is_only_one


@pytest.mark.parametrize("name", ["1.2.0_single_mor", "1.2.0_event_mor", "1.0.2_event_mor"])
def test_slices_with_log_files_are_kept_where_rows_are_merged_by_a_rule_of_the_users_own(copied, name):
    path = copied(name)
    properties = path / ".hoodie/hoodie.properties"
    properties.write_text(properties.read_text() + "\nhoodie.table.legacy.payload.class=example.SumPayload\n")
    _, slices, kind, columns = kind_of(path)
    logged = [bool(one.log_files) for one in slices]
    for column in columns:
        assert kind.might_contain(column, ABSENT[column.name]).tolist() == logged
        covered = kind.coverage([column]).columns[column.name]
        assert covered.reasons == {Trust.OK: logged.count(False), Trust.CUSTOM_MERGE: logged.count(True)}


def test_what_is_beyond_the_limits_is_kept_and_a_plan_says_so(unpacked, monkeypatch):
    monkeypatch.setattr(stored_values, "MAX_FILES", 4)
    monkeypatch.setattr(stored_values, "SLICES_AT_ONCE", 1)
    path = unpacked("1.2.0_event_mor")
    _, slices, kind, columns = kind_of(path)
    answer = kind.might_contain(columns[0], ["no such text"])
    assert isinstance(answer, Declined)
    assert 0 < answer.might_contain.sum() < len(slices)
    plan = prune(opened(path), "s = 'banana-zz'", engine="spark")
    assert 0 < len(plan.kept) < len(plan.slices)
    assert any(": secondary_index is used in part: of the files" in reason.text for reason in plan.reasons)


def test_no_file_is_read_for_a_filter_that_statistics_decide(unpacked, monkeypatch):
    monkeypatch.setattr(StoredValues, "_values", lambda *_: pytest.fail("values are read"))
    table = opened(unpacked("1.2.0_event_mor"))
    for text in ("i = 100000", "i > 5", "s IS NULL", "ts = 10", "s >= 'a' AND i = -5"):
        assert prune(table, text, engine="spark", strict=True).slices


@pytest.mark.parametrize("name", ["1.2.0_event_mor", "1.2.0_single_mor"])
def test_a_damaged_log_file_keeps_its_slice_or_leaves_the_index_unused(copied, name):
    path = copied(name)
    _, slices, kind, columns = kind_of(path)
    [column] = [column for column in columns if column.name == "i"]
    number = next(number for number, one in enumerate(slices) if one.log_files)
    log = path / slices[number].log_files[0]
    log.write_bytes(log.read_bytes()[:-3])
    if len(columns) == 1:  # the keys in log files are part of its proof
        with pytest.raises(StatsError, match="log block"):
            kind.might_contain(column, [-1])
    else:
        answer = kind.might_contain(column, [-1])
        assert log.name in answer.why
        assert np.flatnonzero(answer.might_contain).tolist() == [number]
    plan = prune(opened(path), "i = 352", engine="spark")
    assert slices[number].file_id in {one.file_id for one in plan.kept}
    assert any(log.name in reason.text for reason in plan.reasons)


@pytest.mark.parametrize("column", ["s", "ts", "id"])
def test_a_definition_that_names_another_column_loses_no_row(copied, column):
    """index.json has no checksum: an index of ``i`` may be taken for one of another column."""
    path = copied("1.2.0_event_mor")
    file = path / ".hoodie/.index_defs/index.json"
    definitions = json.loads(file.read_text())
    of_indexes = definitions["indexDefinitions"]
    del of_indexes["secondary_index_si_s"], of_indexes["secondary_index_si_dt"]
    of_indexes["secondary_index_si_i"]["sourceFields"] = [column]
    file.write_text(json.dumps(definitions))
    _, slices, kind, [field] = kind_of(path)
    assert field.name == column
    place = {one.file_id: number for number, one in enumerate(slices)}
    for row in rows_of_spark("1.2.0_event_mor"):
        if row[column] is not None:
            assert kind.might_contain(field, [row[column]])[place[row["group"]]]
    assert not kind.might_contain(field, [-1] if column == "ts" else ["none"]).any()


def test_a_definition_of_the_only_index_that_names_another_column_is_noticed(copied):
    path = copied("1.2.0_single_mor")
    file = path / ".hoodie/.index_defs/index.json"
    text = file.read_text()
    file.write_text(text.replace('"sourceFields" : [ "i" ]', '"sourceFields" : [ "ts" ]'))
    assert file.read_text() != text
    _, _, kind, [column] = kind_of(path)
    with pytest.raises(StatsError, match="so it is of another one"):
        kind.might_contain(column, [10])


@pytest.mark.parametrize("name", NAMES)
def test_plans_keep_every_row_of_pairs_of_values(unpacked, name):
    table = opened(unpacked(name))
    rows = list(rows_of_spark(name))
    rng = np.random.default_rng(3)
    skipped = 0
    for a, b in rng.integers(0, len(rows), (25, 2)).tolist():
        i, s = rows[a]["i"], rows[b]["s"]
        if i is None or s is None:
            continue
        quoted = s.replace("\\", "\\\\").replace("'", "\\'")
        for text, holds in (
            (f"i = {i}", lambda row, i=i: row["i"] == i),
            (f"i = {i} OR s = '{quoted}'", lambda row, i=i, s=s: row["i"] == i or row["s"] == s),
            (f"i IN ({i}, -7) AND s = '{quoted}'", lambda row, i=i, s=s: row["i"] == i and row["s"] == s),
            (f"NOT (s <> '{quoted}')", lambda row, s=s: row["s"] == s),
            (f"i = {i} AND id = '{rows[a]['id']}'", lambda row, i=i, a=a: row["i"] == i and row["id"] == rows[a]["id"]),
        ):
            plan = prune(table, text, engine="spark", strict=True)
            kept = {one.file_id for one in plan.kept}
            assert {row["group"] for row in rows if holds(row)} <= kept, text
            skipped += len(plan.slices) - len(kept)
    assert skipped > 150
