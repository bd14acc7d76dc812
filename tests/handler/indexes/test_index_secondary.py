"""Secondary indexes of our own from the command line, and on real tables: no filter loses a file group to them."""

from __future__ import annotations

import json
import shutil

import pytest

from handler import open_table, prune
from handler.indexes.entries import known_by_hudi
from index_store.own.secondary.kind import make as own_secondary_index
from index_store.own.secondary.operations import create, refresh
from index_store.own.store.locations import folder_of
from index_store.snapshots import SnapshotCache
from tests.handler.commands import document, run
from tests.handler.planning.test_format_tables import check, slices_at
from tests.index_store.format_tables import reads_of, unpack_format_table
from tests.index_store.own.secondary.answers import by, local
from tests.index_store.snapshots.rewinding import bring_back, commit_by_commit, instants, take_away
from tests.sampling import share

#: One table of each way in which files, columns and rows change.
SOME = (
    "1.2.0_evolved_cow",
    "1.2.0_evolved_mor",
    "1.2.0_widened_mor",
    "1.2.0_readded_cow",
    "0.15.0_archived_mor",
    "1.0.2_partial_mor",
    "0.15.0_pay_sum_mor",
    "1.2.0_pay_partial_mor",
    "1.2.0_replaced_mor",
    "0.15.0_compacted_mor",
    "1.2.0_order_event_mor",
    "1.2.0_cdc_mor",
    "0.15.0_failed_mor",
    "1.2.0_restored_mor",
    "1.2.0_upgraded_mor",
    "1.2.0_retried_cow",
)


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr("index_store.own.store.folder._force", lambda _: None)


@pytest.fixture
def only_own(monkeypatch):
    """No index kind but ours."""
    monkeypatch.setattr("index_store.indexed_table.REGISTERED_KINDS", (own_secondary_index,))


@pytest.fixture
def table(main_cow, tmp_path):
    return shutil.copytree(main_cow, tmp_path / "table")


# -- real tables, with Spark's answers


@pytest.mark.parametrize("name", share(SOME, 4))
def test_no_filter_loses_a_file_group_now_or_as_of_an_older_instant(tmp_path, only_own, name):
    folder = unpack_format_table(name, tmp_path / "t")
    opened = open_table(folder).table
    columns = [one.name for one in opened.schema if not one.name.startswith("_hoodie")]
    for column in columns:
        create(folder_of(opened, column), opened, by(column), local)
    create(folder_of(opened, "together"), opened, by(*reversed(columns)), local)
    table = open_table(folder)
    skipped = 0
    for read in reads_of(folder)[::3]:
        if "groups" in read and slices_at(table, read["as_of"])[0] is not None:
            lost, found, _ = check(table, read, one_in=2)
            assert lost == []
            skipped += found
    assert skipped > 0


def test_a_snapshot_in_layers_keeps_what_the_table_read_whole_keeps(unpack_copy, tmp_path):
    """Every other commit is known to the index, so that some slices are unknown to it."""
    path, cache = unpack_copy("1.1.1_main_cow"), SnapshotCache(tmp_path / "cache", min_slices=0)
    matched = 0
    for number, _ in enumerate(commit_by_commit(path, tmp_path / "aside")):
        whole, kept = open_table(path, cache=None), open_table(path, cache=cache)
        folder = folder_of(whole.table, "it")
        if not number:
            create(folder, whole.table, by("s", "i"), local)
        elif number % 2:
            refresh(folder, whole.table, local)
        for text in (
            "s = 'apple-000'",
            "s = 'apple-000' AND i = 70",
            "s LIKE 'ap%' AND i < 300",
            "s > 'b' AND s < 'c'",
            "s IN ('cherry-070', 'apple-000') AND (i = 0 OR u = 7)",
            "s IS NULL AND i IS NOT NULL",
        ):
            expected, plan = (prune(opened, text, "spark", time_zone="UTC", strict=True) for opened in (whole, kept))
            assert {one.file_id for one in plan.kept} == {one.file_id for one in expected.kept}
            assert [one.to_dict() for one in plan.matches] == [one.to_dict() for one in expected.matches]
            assert sorted(plan.outcomes.tolist()) == sorted(expected.outcomes.tolist())
            matched += len(plan.matches) if kept.at().layers is not None else 0
    assert matched > 0


@pytest.mark.parametrize("part", ["groups", "entries", "manifests", "versions"])
def test_a_damaged_index_skips_nothing_and_says_so(table, only_own, part):
    run("index", "create", table, "--on", "s", "--on", "i", "--using", "secondary_index", "--name", "it")
    where = "s = 'nobody' AND i = 7"
    assert len(prune(table, where, "spark", time_zone="UTC", strict=True).kept) == 0
    for path in (table / ".sargo/it" / part).iterdir():
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 4
        path.write_bytes(data)
    plan = prune(table, where, "spark", time_zone="UTC")
    if part == "manifests":  # the list of files, which filters do not need
        assert len(plan.kept) == 0
        return
    assert len(plan.kept) == len(plan.slices) or (part == "entries" and len(plan.kept) > 0), "bounds are in groups"
    if part != "versions":  # that is said by the kind of sketches, which is off here
        assert any("own_secondary_index cannot be read" in reason.text for reason in plan.reasons)


# -- from the command line


def test_a_secondary_index_from_its_making_to_its_end(table, tmp_path):
    names = instants(table)
    take_away(table, tmp_path / "aside")
    bring_back(table, tmp_path / "aside", names[-2])
    made = document("index", "create", table, "--on", "S", "--on", "i", "--using", "secondary_index", "--name", "si")
    assert (made["operation"], made["version"], made["unread"]) == ("create", 1, 0)
    assert made["files"] == made["built"] > 0
    bring_back(table, tmp_path / "aside", names[-1])
    shown = document("index", "show", table, "si")
    assert (shown["kind"], shown["entries"]) == (
        "secondary_index",
        [{"on": "s", "sketch": ""}, {"on": "i", "sketch": ""}],
    )
    assert (shown["generations"], shown["shards"], shown["partitions"]) == (1, 1, None)
    assert shown["unknown_files"] > 0
    assert shown["secondary_entries"] > 100
    [refreshed] = document("index", "refresh", table)["indexes"]
    assert (refreshed["version"], refreshed["built"], refreshed["gone"]) == (
        2,
        shown["unknown_files"],
        shown["gone_files"],
    )
    told = run("index", "show", table, "si")
    assert "up to date" in told
    assert "in 2 generations, 1 shard" in told
    assert "nothing to do" in run("index", "refresh", table, "si")
    assert "secondary_index of s, i" in run("index", "list", table)
    assert "optimize, version 3" in run("index", "optimize", table)
    assert "full refresh, version 4" in run("index", "refresh", table, "--full")
    assert "nothing to do" in run("index", "optimize", table)
    assert "removed 3 versions" in run("index", "vacuum", table, "--retain-hours", "0")
    assert "up to date" in run("index", "show", table)
    assert document("index", "drop", table)["changed"]
    assert not list((table / ".sargo").iterdir())


def test_explain_says_which_values_stand_together_in_no_row(table):
    said = run("sql", f"CREATE INDEX si ON TABLE '{table}' USING secondary_index(s, i)")
    assert "si: create, version 1" in said
    rows = [row for path in sorted(table.rglob("p=*/*.parquet")) for row in rows_in(path)]
    by_value = {row["s"]: row["i"] for row in rows if row["s"] and row["i"] is not None}
    text, other = next(iter(by_value)), by_value[list(by_value)[-1]]
    where = f"s = '{text}' AND i = {other}"
    plan = document("prune", table, "--where", where)
    opened = open_table(table)
    assert plan["counts"]["kept"] == 0
    if plan["matches"]:
        assert plan["matches"][0]["kind"] == "own_secondary_index"
        assert plan["matches"][0]["conditions"] == [f"s = '{text}'", f"i = {other}"]
    near = document("prune", table, "--where", f"s LIKE '{text[:3]}%' AND i > -5")
    assert near["matches"][0]["conditions"] == [f"s LIKE '{text[:3]}%'"]
    assert f"own_secondary_index: no row with s LIKE '{text[:3]}%' in" in run(
        "explain", table, "--where", f"s LIKE '{text[:3]}%' AND i > -5"
    )
    kept = {one.file_id for one in prune(opened, f"s = '{text}' AND i = {by_value[text]}", "spark").kept}
    assert kept
    assert len(kept) < len(opened.at().slices)


def rows_in(path):
    import pyarrow.parquet as pq

    return pq.read_table(path, columns=["s", "i"], partitioning=None).to_pylist()


def test_a_file_that_no_row_of_the_filter_is_in_says_so(table):
    run("index", "create", table, "--on", "s", "--using", "secondary_index")
    opened = open_table(table)
    plan = prune(opened, "s LIKE 'ap%' AND s > 'apple-1'", "spark", time_zone="UTC")
    assert plan.matches
    match = plan.explanation.evaluation.matches["own_secondary_index"]
    if match.filter_might_match.all():
        pytest.fail("the bounds alone rule out as much: the filter shows nothing")
    skipped = plan.slices[int((~match.filter_might_match).nonzero()[0][0])]
    said = run("explain", table, "--where", "s LIKE 'ap%' AND s > 'apple-1'", "--file", skipped.file_id)
    assert "own_secondary_index: no row with s LIKE 'ap%' and s > 'apple-1'" in said


# -- where Hudi's own index knows as much


def test_nothing_is_built_where_hudi_keeps_an_index_of_the_column(unpack_copy):
    folder = unpack_copy("1.1.1_sec_cow")
    said = run("index", "create", folder, "--on", "s", "--using", "secondary_index", code=2)
    assert "nothing was built: Hudi keeps secondary_index_si_s of s in the metadata table, and filters use that" in said
    assert not (folder / ".sargo").exists()
    [key] = open_table(folder).table.properties["hoodie.table.recordkey.fields"].split(",")
    for column in (key, "_hoodie_record_key"):
        said = run("index", "create", folder, "--on", column, "--using", "secondary_index", code=2)
        assert f"{column} is the record key, of which Hudi keeps a record_index" in said
    statement = f"CREATE INDEX IF NOT EXISTS mine ON TABLE '{folder}' USING secondary_index(s)"
    assert "mine: nothing to do: Hudi keeps secondary_index_si_s" in run("sql", statement)
    assert document("sql", statement)["note"].startswith("Hudi keeps secondary_index_si_s of s")
    assert not (folder / ".sargo").exists()
    assert "create, version 1" in run("sql", f"CREATE INDEX mine ON TABLE '{folder}' (s, i)"), "Hudi has none of two"
    assert "create, version 1" in run("index", "create", folder, "--on", "d", "--using", "secondary_index")


def test_an_index_that_hudi_only_builds_or_that_is_of_an_unknown_kind_is_no_reason(unpack_copy):
    folder = unpack_copy("1.1.1_sec_cow")
    definitions = folder / ".hoodie/.index_defs/index.json"
    stored = json.loads(definitions.read_text())
    stored["indexDefinitions"]["secondary_index_si_s"]["version"] = "V9"
    definitions.write_text(json.dumps(stored))
    table = open_table(folder).table
    assert known_by_hudi(table, by("s")) == ""
    assert known_by_hudi(table, by("i")) != ""


def test_a_table_without_record_keys_in_its_files_is_refused(table):
    properties = table / ".hoodie/hoodie.properties"
    properties.write_text(properties.read_text() + "\nhoodie.populate.meta.fields=false\n")
    said = run("index", "create", table, "--on", "i", "--using", "secondary_index", code=3)
    assert "needs the record keys (_hoodie_record_key)" in said
    assert not (table / ".sargo").exists()


def test_slices_that_cannot_be_read_are_told_and_read_by_queries(table):
    path = table / open_table(table).at().slices[0].base_file
    whole = path.read_bytes()
    path.write_bytes(b"x" * len(whole))
    made = document("index", "create", table, "--on", "s", "--using", "secondary_index")
    assert made["unread"] == 1
    [(name, why)] = made["unread_files"].items()
    assert name in str(path)[: str(path).index("_")] or name.rpartition("/")[2] in path.name
    assert path.name in why
    plan = prune(table, "s = 'nobody at all'", "spark", time_zone="UTC")
    assert document("index", "show", table)["unknown_files"] == 1
    assert len(plan.slices) - len(plan.kept) >= len(plan.slices) - 1
    path.write_bytes(whole)
    [refreshed] = document("index", "refresh", table)["indexes"]
    assert (refreshed["built"], refreshed["unread"]) == (1, 0)
