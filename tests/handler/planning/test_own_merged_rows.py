"""Own indexes of the merged rows of slices: what they skip, for which files, and that they lose no row."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evaluator.language.semantics import Semantics
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import UNKNOWN_COUNT
from handler import open_table, prune
from handler.sql.parsing import parse
from index_store.own.builders.expressions import EXPRESSION, ZONE, to_json
from index_store.own.builders.local import build_locally
from index_store.own.definition import Definition, Entry
from index_store.own.maintenance.operations import create, optimize, refresh
from index_store.own.store.folder import Folder
from index_store.own.store.locations import OTHERS
from index_store.own.store.merged_slices import is_merged
from index_store.own.store.own_index import OwnIndex
from index_store.table.table_options import ROWS, STORED
from tests.index_store.merged_tables import Group, Written, base_name, instant, log, log_name, write_merged
from tests.index_store.own.merge_readers import COMMIT_READERS, EVENT_READERS, FINAL, Record

SPARK = Semantics.named("spark", "UTC")
ALL = ("min_max", "null_count", "value_list(limit=20)", "prefix_set(limit=8)", "partition", "bloom_filter(fpp=0.01)")


@pytest.fixture(autouse=True)
def _a_disk_that_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("index_store.own.store.folder._force", lambda _: None)


def row(key, ts, i, s="x"):
    return {"k": key, "ts": ts, "i": i, "s": s}


#: The base file of 3 .. 9; the row of 9 becomes 20, and that of 3 is deleted.
UPDATED = Group(
    [row("a", 1, 3), row("b", 1, 5, "b"), row("c", 1, 9)],
    [Written(instant(1), [row("c", 2, 20)]), Written(instant(2), deleted=["a"])],
)
PLAIN = Group([row("d", 1, 100), row("e", 1, 110)])


def index(folder: Path, sketches=("min_max",), columns=("i", "s"), expressions=()) -> Folder:
    table = open_table(folder).table
    at = Folder.at(folder.parent / "index")
    options = {ZONE: "UTC"}
    for text in expressions:
        options[f"{EXPRESSION}{text}"] = to_json(parse(f"{text} = 1", "spark").left)
    entries = [Entry(column, text) for column in columns for text in sketches]
    entries += [Entry(text, "min_max") for text in expressions]
    create(at, table, Definition("all", tuple(entries), options=options if expressions else {}), build_locally)
    return at


def opened(folder: Path, at: Folder, rows="merged"):
    return open_table(folder, options={OTHERS: at.path, ROWS: rows}, cache=None)


def kept(table, text, **options) -> list[str]:
    plan = prune(table, text, "spark", time_zone="UTC", strict=True, **options)
    return sorted(one.file_id for one in plan.kept)


@pytest.mark.parametrize("version", [6, 8, 9])
@pytest.mark.parametrize(
    ("text", "of_files", "merged"),
    [
        ("i = 9", ["g0-0"], []),
        ("i = 3", ["g0-0"], []),
        ("i < 5", ["g0-0"], []),
        ("i IN (6, 9, 19)", ["g0-0"], []),
        ("i BETWEEN 6 AND 19", ["g0-0"], []),
        ("i = 20 AND s < 'c'", ["g0-0"], []),
        ("i = 20 AND s < 'c' AND ts > 0", ["g0-0"], []),
        ("i = 5 AND s < 'c'", ["g0-0"], ["g0-0"]),
        ("i = 20", ["g0-0"], ["g0-0"]),
        ("i = 5", ["g0-0"], ["g0-0"]),
        ("i >= 100", ["g1-0"], ["g1-0"]),
        ("i IS NULL", [], []),
    ],
)
def test_values_that_a_log_file_took_away_keep_no_slice(tmp_path, version, text, of_files, merged):
    folder = write_merged(tmp_path / "t", [UPDATED, PLAIN], version=version)
    at = index(folder)
    assert kept(opened(folder, at, STORED), text) == of_files
    assert kept(opened(folder, at), text) == merged


@pytest.mark.parametrize(("ordering", "kept_for_it"), [(None, []), (7, []), (5, []), (3, ["g0-0"]), (0, ["g0-0"])])
def test_a_deletion_hides_a_row_whose_ordering_value_is_not_greater(tmp_path, ordering, kept_for_it):
    group = Group([row("a", 5, 3), row("b", 1, 9)], [Written(instant(1), [row("b", 2, 9)])])
    late = Written(instant(2), deleted=["a"], late=[ordering])
    folder = write_merged(tmp_path / "t", [dataclasses.replace(group, writes=(*group.writes, late)), PLAIN])
    assert kept(opened(folder, index(folder)), "i = 3") == kept_for_it


@pytest.mark.parametrize("version", [6, 8, 9])
@pytest.mark.parametrize("text", ["i > 0", "i = 5", "s IS NULL", "i IS NOT NULL", "NOT (i IN (1))", "lower(s) = 'b'"])
def test_a_slice_all_of_whose_rows_are_deleted_is_read_for_no_filter(tmp_path, version, text):
    gone = Group(UPDATED.base, [*UPDATED.writes, Written(instant(3), deleted=["b", "c"])])
    folder = write_merged(tmp_path / "t", [gone, PLAIN], version=version)
    at = index(folder)
    assert "g0-0" not in kept(opened(folder, at), text)
    assert "g0-0" in kept(opened(folder, at, STORED), "i > 0")


def test_a_filter_that_all_rows_left_match_matches_fully(tmp_path):
    folder = write_merged(tmp_path / "t", [UPDATED, PLAIN])
    plan = prune(opened(folder, index(folder)), "i >= 5", "spark", strict=True)
    assert [one.file_id for one in plan.fully_matched] == ["g0-0", "g1-0"]
    assert plan.row_count.to_dict() == prune(folder, "i >= 3", "spark").row_count.to_dict()


def test_numbers_of_merged_rows_are_upper_limits(tmp_path):
    late = Group(None, [Written(instant(1), [row("a", 5, 3)]), Written(instant(2), [row("a", 2, 9)])])  # one is shown
    folder = write_merged(tmp_path / "t", [late, UPDATED, PLAIN])
    table = opened(folder, index(folder))
    statistics = table.statistics([table.table.schema.resolve("i")])["own_merged_rows"]["i"]
    assert statistics.row_count.tolist() == [UNKNOWN_COUNT] * 3
    assert statistics.null_count.tolist() == [0, 0, UNKNOWN_COUNT]


def test_a_slice_with_another_log_file_is_read(tmp_path):
    folder = write_merged(tmp_path / "t", [UPDATED, PLAIN])
    at = index(folder)
    assert kept(opened(folder, at), "i = 9") == []
    log(folder, 0, Written(instant(3), [row("b", 2, 6)]))
    table = opened(folder, at)
    assert kept(table, "i = 9") == ["g0-0"]
    assert kept(table, "i = 9", as_of=instant(2)) == []
    assert kept(table, "i = 9", as_of=instant(1)) == ["g0-0"]
    result = refresh(at, table.table, build_locally)
    assert (result.built, result.gone, result.version.merged) == (1, 0, 1)
    again = opened(folder, at)
    assert kept(again, "i = 3") == kept(again, "i = 5") == []
    assert kept(again, "i = 6") == ["g0-0"]
    assert kept(again, "i = 9", as_of=instant(2)) == ["g0-0"]


def test_a_slice_without_one_of_its_log_files_is_read(tmp_path):
    """As a rollback leaves it."""
    folder = write_merged(tmp_path / "t", [UPDATED, PLAIN])
    at = index(folder)
    (folder / log_name(0, instant(1))).unlink()
    (next((folder / ".hoodie/timeline").glob(f"{instant(1)}_*"))).unlink()
    assert kept(opened(folder, at), "i = 9") == ["g0-0"]


def test_a_log_file_that_has_grown_is_read(tmp_path):
    """Table version 6: the names are the same, and the sizes are not."""
    folder = write_merged(tmp_path / "t", [UPDATED, PLAIN], version=6)
    at = index(folder)
    assert kept(opened(folder, at), "i = 9") == []
    log(folder, 0, Written(instant(3), [row("b", 2, 9)]), version=6)
    assert kept(opened(folder, at), "i = 9") == ["g0-0"]
    table = opened(folder, at).table
    assert refresh(at, table, build_locally).version.merged == 1
    assert kept(opened(folder, at), "i = 5") == []


@pytest.mark.parametrize("others", [[PLAIN], []])
def test_a_log_file_without_a_base_file_that_has_grown_is_read(tmp_path, others):
    folder = write_merged(tmp_path / "t", [Group(None, [Written(instant(1), [row("a", 1, 3)])]), *others], version=6)
    at = index(folder)
    assert kept(opened(folder, at), "i = 9") == []
    log(folder, 0, Written(instant(3), [row("b", 2, 9)]), version=6)
    assert kept(opened(folder, at), "i = 9") == ["g0-0"]


def test_blocks_of_later_instants_say_nothing_of_an_older_one(tmp_path):
    """Table version 6: a log file has the same name and size at every instant."""
    folder = write_merged(tmp_path / "t", [UPDATED, PLAIN], version=6)
    at = index(folder)
    assert kept(opened(folder, at), "i = 9") == []
    assert kept(opened(folder, at), "i = 9", as_of=instant(0)) == ["g0-0"]


def test_a_block_of_a_write_that_goes_on_is_not_merged(tmp_path):
    """Table version 6: it may be completed without another byte in the file."""
    group = Group([row("a", 1, 3), row("b", 1, 9)], [Written(instant(1), [row("b", 2, 20)])])
    folder = write_merged(tmp_path / "t", [group, PLAIN], version=6)
    (folder / ".hoodie" / f"{instant(1)}.deltacommit").rename(folder / ".hoodie" / f"{instant(1)}.deltacommit.inflight")
    at = index(folder)
    assert OwnIndex.open(at).version.merged == 0
    assert kept(opened(folder, at), "i = 9") == ["g0-0"]


@pytest.mark.parametrize("file", [base_name(0), log_name(0, instant(1))])
def test_files_that_are_not_as_they_were_listed_are_not_merged(tmp_path, monkeypatch, file):
    folder = write_merged(tmp_path / "t", [UPDATED, PLAIN])
    table = open_table(folder).table
    table.listing.load()
    with (folder / file).open("ab") as grown:
        grown.write(b"\0" if file.startswith(".") else (folder / file).read_bytes())
    at = Folder.at(tmp_path / "index")
    result = create(at, table, Definition("all", (Entry("i", "min_max"),)), build_locally)
    assert result.version.merged == 0
    assert kept(opened(folder, at), "i = 9") == ["g0-0"]


@pytest.mark.parametrize(
    ("properties", "why"),
    [
        ({"hoodie.record.merge.mode": "CUSTOM"}, "merger of the user's own"),
        ({"hoodie.table.partial.update.mode": "IGNORE_DEFAULTS"}, "column by column"),
        ({"hoodie.compaction.payload.class": "com.example.Sum"}, "of the user's own"),
        ({"hoodie.table.precombine.field": "ts,i"}, "several ordering fields"),
        ({"hoodie.table.precombine.field": ""}, "no ordering field"),
        ({"hoodie.populate.meta.fields": "false"}, "without Hudi's own columns"),
        ({"hoodie.record.merge.strategy.id": "another"}, "of the user's own"),
    ],
)
def test_a_merge_that_is_not_understood_is_left_to_the_files(tmp_path, properties, why):
    folder = write_merged(tmp_path / "t", [UPDATED, PLAIN], properties=properties)
    at = Folder.at(tmp_path / "index")
    result = create(at, open_table(folder).table, Definition("all", (Entry("i", "min_max"),)), build_locally)
    assert (result.logged, result.version.merged, result.version.parts) == (1, 0, 0)
    assert all(why in one for one in result.not_merged.values())
    assert list(result.not_merged) == [base_name(0)]
    assert kept(opened(folder, at), "i = 9") == ["g0-0"]


def test_without_an_ordering_field_what_was_committed_last_is_shown(tmp_path):
    properties = {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING", "hoodie.table.precombine.field": ""}
    folder = write_merged(tmp_path / "t", [UPDATED, PLAIN], properties=properties)
    table = opened(folder, index(folder))
    assert [kept(table, f"i = {value}") for value in (3, 9, 20, 5)] == [[], [], ["g0-0"], ["g0-0"]]


def test_slices_beyond_the_limits_are_not_merged(tmp_path, monkeypatch):
    folder = write_merged(tmp_path / "t", [UPDATED, PLAIN])
    for name, least, why in (
        ("MAX_LOGS", 1, "2 log files"),
        ("LOG_BYTES", 10, "log files of"),
        ("BASE_BYTES", 10, "a base"),
    ):
        with monkeypatch.context() as limits:
            limits.setattr(f"index_store.own.maintenance.merged_files.{name}", least)
            at = Folder.at(tmp_path / name)
            result = create(at, open_table(folder).table, Definition("all", (Entry("i", "min_max"),)), build_locally)
        assert result.version.merged == 0
        assert why in result.not_merged[base_name(0)]


def test_a_read_optimized_query_reads_the_base_files_of_skipped_slices(tmp_path):
    folder = write_merged(tmp_path / "t", [UPDATED, PLAIN])
    plan = prune(opened(folder, index(folder)), "i = 9", "spark", strict=True)
    assert not plan.kept
    assert plan.to_table(["i"], query="read_optimized").to_pydict() == {"i": [9]}
    assert [Path(path).name for path in plan.paths(log_files=False).to_pylist()] == [base_name(0)]
    assert not len(plan.paths())


def test_an_optimized_index_knows_merged_rows_too(tmp_path):
    folder = write_merged(tmp_path / "t", [UPDATED, PLAIN])
    at = index(folder)
    log(folder, 1, Written(instant(3), [row("d", 2, 120)]))
    refresh(at, open_table(folder).table, build_locally)
    version = optimize(at).version
    assert (version.merged, version.parts, version.files) == (2, 4, 5)
    assert kept(opened(folder, at), "i = 100") == kept(opened(folder, at), "i = 9") == []


def test_an_index_from_before_merged_rows_is_read_and_refreshed(tmp_path):
    folder = write_merged(tmp_path / "t", [UPDATED, PLAIN])
    at = index(folder)
    version = OwnIndex.open(at).version
    plain = version.to_dict()
    assert (plain["merged"], plain["parts"]) == (1, 2)
    for name in ("merged", "parts"):  # as a reader from before writes what it has read
        del plain[name]
    older = type(version).from_dict(json.loads(json.dumps(plain)))
    assert older == dataclasses.replace(version, merged=0, parts=0)
    assert "merged" not in older.to_dict()
    current = OwnIndex(at, older)
    assert is_merged(current.files["path"]).sum() == 2
    assert current.find([base_name(0), base_name(1)]).min() >= 0


def test_bounds_of_an_expression_of_two_columns_hold_for_whole_rows(tmp_path):
    folder = write_merged(tmp_path / "t", [UPDATED, PLAIN])
    at = index(folder, expressions=("i + ts",))
    assert kept(opened(folder, at, STORED), "i + ts = 4") == ["g0-0"]
    assert kept(opened(folder, at), "i + ts = 4") == []
    assert kept(opened(folder, at), "i + ts = 22") == ["g0-0"]
    assert kept(opened(folder, at), "i + ts = 22 AND s < 'c'") == []


# -- random tables

KEYS = ("a", "b")  # few, so that versions meet
TEXTS = st.one_of(st.none(), st.sampled_from(["", "a", "ab", "b", "zz"]))
NUMBERS = st.one_of(st.none(), st.integers(-2, 4))
CONDITIONS = (
    *("i = {i}", "i <> {i}", "i < {i}", "i >= {i}", "i IN ({i}, {j})", "i NOT IN ({i}, {j})", "i IS NULL"),
    *("i IS NOT NULL", "s = '{s}'", "s LIKE '{s}%'", "s IS NULL OR i = {i}", "NOT (i = {i} AND s = '{s}')"),
    *("i BETWEEN {i} AND {j}", "i <=> {i}", "s < '{s}' AND i > {i}"),
)


@st.composite
def _groups(draw):
    groups = []
    for _ in range(draw(st.integers(1, 3))):
        rows = st.builds(row, st.sampled_from(KEYS), NUMBERS, NUMBERS, TEXTS)
        has_base = draw(st.booleans())
        base = draw(st.lists(rows, max_size=5)) if has_base else None
        if base is not None and draw(st.booleans()):
            base = list({one["k"]: one for one in base}.values())
        writes = []
        for number in range(1, draw(st.integers(0 if has_base else 1, 4)) + 1):
            written = draw(st.lists(rows, max_size=3, unique_by=lambda one: one["k"]))
            deleted = draw(st.lists(st.sampled_from(KEYS), max_size=0 if written else 2, unique=True))
            late = [draw(st.one_of(st.none(), st.integers(1, 4))) for _ in deleted]
            if written or deleted:
                writes.append(Written(instant(number), written, deleted, late))
        if has_base or writes:
            groups.append(Group(base, writes))
    return groups


def _shown(group: Group, readers) -> list[dict[str, object]]:
    """Every row that some reader shows."""
    shown = []
    for key in KEYS:
        base = [one for one in group.base or () if one["k"] == key]
        stored: list[dict[str, object] | None] = []
        placed = []
        for write in group.writes:
            for one in write.rows:
                stored.append(one)
                if one["k"] == key:
                    placed.append((len(stored), Record(key, one["ts"])))
            for of, ordering in zip(write.deleted, write.late or [None] * len(write.deleted), strict=True):
                stored.append(None)
                if of == key:
                    placed.append((len(stored), Record(key, FINAL if ordering is None else ordering, True)))
        for place, first in enumerate(base):
            for reader in readers:
                for null_is_zero in (True, False):
                    # a record meets the first row of its key only; a reader by keys meets all of them
                    versions = [[], placed] if place else [placed]
                    for some in versions:
                        found = reader([(0, Record(key, first["ts"]))], some, null_is_zero=null_is_zero)
                        if not found[1].deletes:
                            shown.append(first if found[0] == 0 else stored[found[0] - 1])
        if not base and placed:
            for reader in readers:
                for null_is_zero in (True, False):
                    found = reader([], placed, null_is_zero=null_is_zero)
                    if not found[1].deletes:
                        shown.append(stored[found[0] - 1])
    return shown


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.data(), st.booleans(), st.sampled_from([6, 8, 9]), st.sampled_from(ALL))
def test_no_row_that_a_reader_shows_is_lost(tmp_path_factory, data, by_commit, version, sketch):
    by_commit = by_commit and version >= 8
    groups = data.draw(_groups())
    if not groups:
        return
    properties = {"hoodie.record.merge.mode": "COMMIT_TIME_ORDERING"} if by_commit else {}
    folder = write_merged(tmp_path_factory.mktemp("t") / "t", groups, version=version, properties=properties)
    table = opened(folder, index(folder, (sketch,)))
    values = {
        "i": data.draw(st.integers(-3, 5)),
        "j": data.draw(st.integers(-3, 5)),
        "s": data.draw(st.sampled_from(["", "a", "ab", "c"])),
    }
    readers = COMMIT_READERS if by_commit else EVENT_READERS
    shown = {f"g{number}-0": _shown(group, readers) for number, group in enumerate(groups)}
    schema = table.table.schema
    for text in data.draw(st.lists(st.sampled_from(CONDITIONS), min_size=3, max_size=6)):
        expression = parse(text.format(**values), "spark")
        plan = prune(table, expression, "spark", time_zone="UTC", strict=True)
        for one in plan.skipped:
            assert not any(value_of(expression, found, schema, SPARK) is True for found in shown[one.file_id])
        for one in plan.fully_matched:
            assert all(value_of(expression, found, schema, SPARK) is True for found in shown[one.file_id])
