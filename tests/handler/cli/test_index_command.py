"""``sargo index`` and ``sargo sql``: an index is made, used, kept up to date and removed from the command line."""

from __future__ import annotations

import shutil

import pytest

from index_store import open_table
from tests.handler.commands import document, run
from tests.index_store.snapshots.rewinding import bring_back, instants, take_away


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def table(main_cow, tmp_path):
    return shutil.copytree(main_cow, tmp_path / "table")


def test_an_index_from_its_making_to_its_end(table, tmp_path):
    names = instants(table)
    take_away(table, tmp_path / "aside")
    bring_back(table, tmp_path / "aside", names[-2])
    made = document(
        "index",
        "create",
        table,
        "--on",
        "s",
        "--on",
        "I",
        "--using",
        "bloom_filter(fpp=0.02)",
        "--using",
        "min_max",
        "--name",
        "mine",
    )
    first = len({path for one in open_table(table).slices() for path in one.files if (table / path).exists()})
    assert (made["operation"], made["version"], made["files"], made["built"]) == ("create", 1, first, first)
    assert made["instant"] == open_table(table).slices().instant
    assert made["seconds"] > 0
    assert made["index_bytes"] == sum(path.stat().st_size for path in (table / ".sargo" / "mine").rglob("*.parquet"))
    bring_back(table, tmp_path / "aside", names[-1])
    shown = document("index", "show", table, "mine")
    assert [(one["on"], one["sketch"]) for one in shown["entries"]] == [
        ("s", "bloom_filter(fpp=0.02)"),
        ("s", "min_max"),
        ("i", "bloom_filter(fpp=0.02)"),
        ("i", "min_max"),
    ]
    assert shown["unknown_files"] > 0
    assert "not known yet, which are read" in run("index", "show", table)
    of_i = {one["partition"]: one for one in shown["partitions"] if one["on"] == "i"}
    assert sum(one["files"] for one in of_i.values()) == first
    assert {(one["type"], int(one["lo"]) < int(one["hi"]), one["rows"] > one["nulls"]) for one in of_i.values()} == {
        ("int", True, True)
    }
    assert of_i.keys() == set(open_table(table).partitions())
    [kept] = (table / ".sargo" / "mine" / "partitions").iterdir()
    bytes_of_it = kept.read_bytes()
    kept.write_bytes(bytes_of_it[:-1])
    damaged = document("index", "show", table, "mine")
    assert damaged["partitions"] is None
    assert "partitions/" in damaged["faults"][-1]
    kept.write_bytes(bytes_of_it)
    [refreshed] = document("index", "refresh", table)["indexes"]
    assert (refreshed["version"], refreshed["built"], refreshed["gone"]) == (
        2,
        shown["unknown_files"],
        shown["gone_files"],
    )
    assert "up to date" in run("index", "show", table, "mine")
    assert "nothing to do" in run("index", "refresh", table, "mine")
    assert "optimize, version 3" in run("index", "optimize", table)
    assert "full refresh, version 4" in run("index", "refresh", table, "--full")
    assert "nothing to do" in run("index", "optimize", table)
    assert "removed 0 versions" in run("index", "vacuum", table)
    assert "removed 3 versions" in run("index", "vacuum", table, "--retain-hours", "0")
    [listed] = document("index", "list", table)["indexes"]
    assert (listed["index"], listed["version"]) == ("mine", 4)
    assert "mine" in run("index", "list", table)
    assert document("index", "drop", table)["changed"]
    assert "has no index of its own" in run("index", "list", table)
    assert not list((table / ".sargo").iterdir())


def test_an_index_beside_a_table_that_is_only_read(table, tmp_path):
    folder = tmp_path / "indexes" / "by s"
    run("index", "create", table, "--on", "s", "--path", folder)
    assert not (table / ".sargo").exists()
    assert document("index", "list", table)["indexes"] == []
    assert document("index", "list", table, "--path", folder)["indexes"][0]["folder"] == str(folder)
    option = f"sargo.index.paths={folder}"
    assert document("index", "list", table, "--table-option", option)["indexes"][0]["index"] == "s"
    assert "nothing to do" in run("index", "refresh", table, "--path", folder)
    run("index", "drop", table, "--path", folder)
    assert not folder.exists()


def test_a_table_with_an_index_in_it_has_the_same_files_without_a_metadata_table_too(table):
    properties = table / ".hoodie" / "hoodie.properties"
    properties.write_text(
        "".join(line for line in properties.read_text().splitlines(keepends=True) if "metadata.partitions" not in line)
    )
    before = open_table(table)
    assert before.metadata is None
    run("index", "create", table, "--on", "s", "--using", "value_list")
    after = open_table(table)
    assert list(after.slices()) == list(before.slices())
    assert after.partitions() == before.partitions()


def test_statements_do_the_same(table):
    create = f"CREATE INDEX by_s ON TABLE '{table}' USING bloom_filter(s) OPTIONS (fpp = 0.05)"
    assert "create, version 1" in run("sql", create)
    assert "there is an index here already" in run("sql", create, code=2)
    again = create.replace("INDEX by_s", "INDEX IF NOT EXISTS by_s")
    assert "nothing to do" in run("sql", again)
    assert document("sql", again)["changed"] is False
    [listed] = document("sql", f"SHOW INDEXES FROM TABLE '{table}'")["indexes"]
    assert listed["entries"] == [{"on": "s", "sketch": "bloom_filter(fpp=0.05)"}]
    assert "full refresh" in run("sql", f"REFRESH INDEX by_s ON TABLE '{table}' FULL")
    assert "nothing to do" in run("sql", f"OPTIMIZE INDEX by_s ON TABLE '{table}'")
    assert "removed 0 versions" in run("sql", f"VACUUM INDEX by_s ON TABLE '{table}'")
    assert "removed 2 versions" in run("sql", f"DROP INDEX by_s ON TABLE '{table}'")
    assert "nothing to do" in run("sql", f"DROP INDEX IF EXISTS by_s ON TABLE '{table}'")


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--on", "cty"], 2, "has no column cty"),
        (["--on", "ss"], 2, "has no column ss: do you mean s?"),
        (["--on", "s", "--using", "btree"], 2, "sketch 'btree' is not known: use one of null_count"),
        (["--on", "s", "--using", "bloom_filter(fpp=2)"], 2, "fpp"),
        (["--on", "s", "--using", "nan_count"], 2, "nan_count of s: values of type string are never NaN"),
        (["--on", "s", "--name", "../x"], 2, "is no name of an index"),
        (["--on", "s", "--on", "s"], 2, "min_max of s is named twice"),
        (["--on", "s", "--using", "secondary_index(shards=2)"], 2, "secondary_index has no options"),
        (["--on", "ss", "--using", "secondary_index"], 2, "has no column ss: do you mean s?"),
        (
            ["--on", "lower(s)", "--using", "secondary_index"],
            2,
            "secondary_index of lower(s) is not supported: it is of",
        ),
        (["--on", "s", "--using", "secondary_index", "--using", "min_max"], 2, "make two of them"),
        (["--on", "s", "--on", "s", "--using", "secondary_index"], 2, "s is named twice"),
        (["--on", "lower(cty)"], 2, "an index of lower(cty) is not supported"),
        (["--on", "s = 'x'"], 2, "is not supported: name a column, or a function of columns"),
        (["--on", "lower(s"], 2, "is neither a column of"),
        (["--on", "s) IS NULL OR (s"], 2, "is not supported: name a column"),
        (["--on", "lower(s)", "--using", "bloom_filter"], 2, "bloom_filter of lower(s): of an expression there are"),
        (["--on", "lower(s)", "--time-zone", "Mars"], 2, "time zone 'Mars' is not known"),
        ([], 2, "Missing option '--on'"),
    ],
)
def test_what_cannot_be_made_is_told_with_what_can(table, arguments, code, said):
    assert said in run("index", "create", table, *arguments, code=code)
    assert not (table / ".sargo").exists()


def test_expressions_are_indexed_by_their_meaning(table):
    run("index", "create", table, "--on", "lower( S )", "--on", "i + 1", "--name", "e", "--time-zone", "UTC")
    assert "min_max of lower( S ), i + 1" in run("index", "list", table)
    for condition in ("LOWER(s) = '!'", "i + 1 < -100000"):  # of lower(s), files of ASCII alone have bounds
        plan = document("prune", table, "--where", condition)
        assert any(leaf["by_kind"].get("own_index") for leaf in plan["leaves"]), plan["leaves"]


def test_an_index_that_is_not_there_or_not_clear_is_told(table):
    assert "make one with 'sargo index create'" in run("index", "refresh", table, code=2)
    assert "not a Hudi table" in run("index", "list", table.parent, code=3)
    run("index", "create", table, "--on", "s")
    run("index", "create", table, "--on", "i")
    assert "has no index j, but i, s" in run("index", "show", table, "j", code=2)
    assert "has 2 indexes, say which one: i, s" in run("index", "drop", table, code=2)
    assert "cannot read the statement" in run("sql", "DROP TABLE t", code=2)


def test_a_damaged_index_is_told_and_can_be_dropped(table):
    run("index", "create", table, "--on", "s")
    [version] = (table / ".sargo" / "s" / "versions").iterdir()
    version.write_bytes(version.read_bytes()[:-9])
    assert "cannot be read" in run("index", "list", table)
    assert "drop it and create it again" in run("index", "show", table, "s", code=3)
    assert "drop it and create it again" in run("index", "refresh", table, code=3)
    assert "removed 1 version" in run("index", "drop", table, "s")
    run("index", "create", table, "--on", "s")
    assert "up to date" in run("index", "show", table)


def test_files_that_cannot_be_read_are_told_and_stay_unknown(table):
    path = next(
        path
        for path in sorted(table.rglob("*.parquet"))
        if ".hoodie" not in str(path)
        and any(str(path).endswith(file) for one in open_table(table).slices() for file in one.files)
    )
    whole = path.read_bytes()
    path.write_bytes(b"x" * len(whole))
    made = document("index", "create", table, "--on", "s")
    assert made["unread"] == 1
    assert made["unread_files"].keys() == {path.relative_to(table).as_posix()}
    assert document("index", "show", table)["unknown_files"] == 1
    said = run("index", "refresh", table)
    assert "1 file, never skipped by this index" in said
    assert path.relative_to(table).as_posix() in said
    path.write_bytes(whole)
    [refreshed] = document("index", "refresh", table)["indexes"]
    assert (refreshed["built"], refreshed["unread"]) == (1, 0)
