"""``sargo advise`` says before anything is built what an index then does: with all files read, exactly."""

from __future__ import annotations

import io
import json
import shlex
import shutil

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from rich.console import Console

from handler import open_table, prune
from handler.advise.advisor import Advisor
from handler.advise.ranking import advise
from handler.advise.reasons import why_nothing
from handler.advise.workload import read_workload
from handler.cli.main import main
from handler.views.advise import show_advice
from index_store.own.builders.local import build_locally
from index_store.own.definition import Definition
from index_store.own.maintenance.operations import create, drop
from index_store.own.store.locations import folder_of
from tests.handler.plain_table import cut, plain_table
from tests.sampling import share

#: Filters over the columns that the tables of the corpus share, and over some that only one has.
FILTERS = (
    "s = 'c1'",
    "s LIKE 'b%'",
    "s LIKE '%x-q%'",
    "s NOT IN ('a', 'b')",
    "i = 391",
    "i BETWEEN 100 AND 200 AND s < 'm'",
    "u = 7",
    "u > 100 OR i < 0",
    "dec = 71.02",
    "d = 71.02",
    "lower(s) = 'c1'",
    "f IS NULL",
    "id = 'k0031x'",
    "NOT (s >= 'b')",
    "an = 'x' OR bin IS NOT NULL",
    "nowhere = 1",
)


@pytest.fixture(autouse=True)
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


def test_a_narrow_terminal_shows_whole_names(main_cow):
    advice = advise(
        advisor_of(main_cow, ["_hoodie_file_name = 'x'", "i = 100", "s = 'x'", "_hoodie_commit_seqno = 'y'"])
    )
    names = {one.entry.on for one in advice.candidates if one.skipped > 0}
    assert {"i", "s"} <= names
    for width in (60, 80, 100, 140):
        out = io.StringIO()
        show_advice(advice, "", None, Console(file=out, width=width))
        lines = [line.split()[:1] for line in out.getvalue().splitlines()]
        assert all([name] in lines for name in names), width


def advisor_of(folder, lines, files=10_000):
    opened = open_table(folder)
    workload = None if lines is None else read_workload(lines, opened.path, opened.table.schema, time_zone="UTC")
    return Advisor(opened, workload, files, "UTC")


def run(*arguments, code=0, given=None):
    result = CliRunner().invoke(main, [str(one) for one in arguments], input=given)
    assert result.exit_code == code, result.output + result.stderr
    return result.stdout if code == 0 else result.stderr


def document(*arguments, given=None):
    return json.loads(run(*arguments, "--json", given=given))


def kept_by(folder, filters):
    table = open_table(folder)
    return [len(prune(table, one.expression, one.engine, time_zone=one.time_zone).kept) for one in filters]


#: A table of each form, and where in the list of candidates to begin: every so-maniest is built.
BUILT = {"1.1.1_main_cow": 0, "1.1.1_main_mor": 1, "1.1.1_nan_cow": 2, "1.1.1_evol_cow": 3, "1.0.2_sec_mor": 0}


@pytest.mark.parametrize("name", share(BUILT, 24))
def test_with_all_files_read_the_estimate_is_what_the_built_index_does(unpack_copy, name, monkeypatch, no_footers):
    monkeypatch.setattr("index_store.own.store.folder._force", lambda _: None)
    folder = unpack_copy(name)
    advisor = advisor_of(folder, [*FILTERS, *FILTERS[:3]])
    found = advise(advisor)
    assert found.complete
    assert found.summary.asked == len(FILTERS) + 3 - sum(found.summary.unbound.values())
    filters = [one.filter for one in advisor.filters]
    before = kept_by(folder, filters)
    assert found.summary.kept == sum(one.count * kept for one, kept in zip(filters, before, strict=True))
    table = open_table(folder).table
    assert found.candidates
    for one in found.candidates[BUILT[name] : 40 : 14]:
        place = folder_of(table, "advised")
        change = create(place, table, Definition("advised", (one.entry,), options=advisor.options), build_locally)
        after = kept_by(folder, filters)
        drop(place)
        skipped = [b - a for b, a in zip(before, after, strict=True)]
        assert one.skipped == sum(f.count * more for f, more in zip(filters, skipped, strict=True)), one.entry
        assert one.filters == sum(more > 0 for more in skipped)
        assert one.size == pytest.approx(change.size, rel=0.02)
    if found.proposal.entries:
        create(
            folder_of(table, "chosen"),
            table,
            Definition("chosen", tuple(one.entry for one in found.proposal.entries), options=advisor.options),
            build_locally,
        )
        saved = sum(f.count * (b - a) for f, b, a in zip(filters, before, kept_by(folder, filters), strict=True))
        assert sum(one.skipped for one in found.proposal.entries) == saved > 0


def layouts(rows=4000):
    rng = np.random.default_rng(3)
    return pa.table(
        {
            "id": np.arange(rows),
            "key": [f"k{one:06d}" for one in rng.permutation(rows)],
            "group": [f"g{one * 20 // rows:02d}" for one in range(rows)],
            "city": [f"c{one:02d}" for one in rng.integers(0, 9, rows)],
            "mixed": np.where(np.arange(rows) % 2, 10**6, 0) + np.arange(rows),
        }
    )


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """40 files: ``id`` sorted, ``group`` two files each, ``key`` unique and shuffled, ``city`` in every file."""
    return plain_table(tmp_path_factory.mktemp("plain") / "t", [("", one) for one in cut(layouts(), 40)])


def test_each_column_gets_the_sketch_that_fits_its_layout(plain):
    found = document(
        "advise",
        plain,
        "--workload",
        "-",
        given="\n".join(
            [
                "key = 'k000123'",
                "key = 'k000777'",
                "key IN ('k000001')",
                "id BETWEEN 100 AND 300",
                "group = 'g03'",
                "city = 'c03'",
                "mixed = 500001",
            ]
        ),
    )
    ranked = [(one["on"], one["sketch"].split("(")[0]) for one in found["candidates"] if one["skipped"] > 0]
    per_kilobyte = [one["skipped_per_kilobyte"] for one in found["candidates"]]
    assert per_kilobyte == sorted(per_kilobyte, reverse=True)
    first = {}
    for column, sketch in ranked:
        first.setdefault(column, sketch)
    assert first["id"] == "min_max"
    assert first["key"] == "bloom_filter"
    assert first["mixed"] == "bloom_filter"
    assert "city" not in first
    best = next(one for one in found["candidates"] if (one["on"], one["sketch"]) == ("group", "min_max"))
    assert best["skipped"] == 38
    assert {one["on"] for one in found["chosen"]["entries"]} >= {"id", "key"}
    assert found["nothing_helps"] is None
    [command] = [one for one in found["chosen"]["commands"] if "--on key" in one]
    assert "bloom_filter(fpp=0.01)" in command


def test_the_commands_that_it_proposes_do_what_it_says(plain, tmp_path):
    folder = shutil.copytree(plain, tmp_path / "copy")
    given = "key = 'k000123'\nid = 77\nid = 77\n"
    found = document("advise", folder, "--workload", "-", given=given)
    for command in found["chosen"]["commands"]:
        run(*shlex.split(command)[1:])
    kept = kept_by(folder, read_workload(given.splitlines(), str(folder), open_table(folder).table.schema).filters)
    skipped = sum(one["skipped"] for one in found["chosen"]["entries"])
    assert skipped > 100
    assert found["workload"]["kept"] - skipped == kept[0] * 2 + kept[1]
    assert [(one["filter"], one["count"], one["kept_with_chosen"]) for one in found["workload"]["by_filter"]] == [
        ("id = 77", 2, kept[0]),
        ("key = 'k000123'", 1, kept[1]),
    ]
    again = document("advise", folder, "--workload", "-", given=given)
    assert all(one["skipped"] < 3 for one in again["candidates"])
    for command in document("advise", folder, "--workload", "-", given="mixed = 500001")["chosen"]["commands"]:
        assert "--name advised_1" in command  # other names may be taken
        run(*shlex.split(command)[1:])
    [command] = document("advise", folder, "--workload", "-", given="group = 'g03'")["chosen"]["commands"]
    assert "--name advised_2" in command
    done = {(one["on"], one["existing"]) for one in again["candidates"] if one["existing"]}
    assert ("id", "own_index") in done


def test_a_sample_is_carried_over_to_the_table(plain):
    lines = ["key = 'k000123'", "id < 1000", "group = 'g03'"]
    exact, sampled = (advise(advisor_of(plain, lines, files)) for files in (40, 15))
    assert (exact.complete, sampled.complete) == (True, False)
    assert (sampled.sample.files, sampled.sample.slices, sampled.sample.all_files) == (15, 15, 40)
    known = {one.entry: one for one in exact.candidates}
    compared = 0
    for one in sampled.candidates:
        true = known[one.entry]
        if true.skipped >= 25:
            assert one.skipped == pytest.approx(true.skipped, rel=0.25)
            assert one.size == pytest.approx(true.size, rel=0.3)
            compared += 1
        if one.score is not None and true.score is not None:
            assert one.score.score == pytest.approx(true.score.score, abs=8)
            assert one.score.slices == 40
    assert compared >= 5


def test_filters_of_a_table_with_an_index_may_keep_nothing_of_the_sample(plain, tmp_path):
    folder = shutil.copytree(plain, tmp_path / "copy")
    run("index", "create", folder, "--on", "id")
    lines = [f"id = {number}" for number in range(0, 4000, 100)]
    found = advise(advisor_of(folder, lines, 5))
    assert found.unseen == 35  # each of 40 filters keeps one file, 5 were read
    assert found.summary.kept == 40
    assert "35 filters keep none of the files" in run(
        "advise", folder, "--workload", "-", "--sample", 5, given="\n".join(lines)
    )


def test_without_filters_columns_are_ranked_by_how_well_they_tell_files_apart(plain):
    found = document("advise", plain)
    scores = [one["effectiveness"]["score"] for one in found["candidates"]]
    assert [round(one) for one in scores] == sorted(map(round, scores), reverse=True)
    by = {(one["on"], one["sketch"].split("(")[0]): one["effectiveness"] for one in found["candidates"]}
    assert by["id", "min_max"]["score"] == 100
    assert by["group", "min_max"]["score"] == pytest.approx(100 * (1 - 1 / 39), abs=0.01)
    assert by["group", "value_list"]["left"] == 2
    assert by["city", "min_max"]["score"] == by["city", "value_list"]["score"] == 0
    assert by["key", "min_max"]["score"] < 5 < 95 < by["key", "bloom_filter"]["score"]
    assert by["mixed", "min_max"]["score"] < 5
    assert found["workload"] is None
    shown = run("advise", plain)
    assert "best first" in shown
    assert "Of no use" in shown


def test_it_says_when_nothing_helps(plain):
    found = document("advise", plain, "--workload", "-", given="city = 'c03'\nkey LIKE '%7%'\n")
    assert found["chosen"]["entries"] == found["chosen"]["commands"] == []
    assert found["nothing_helps"].startswith("no sketch skips a file on these filters: 2 of 2 ask for what may be in ")
    assert "--what-if" in found["nothing_helps"]
    assert "No sketch skips a file on these filters" in run("advise", plain, "--workload", "-", given="city = 'c03'")
    assert "sargo index create" not in run("advise", plain, "--workload", "-", given="city = 'c03'")


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "the workload has no line"),
        (["city = "], "no line of the workload can be used: 1 are no filters"),
        (['{"table": "/elsewhere", "filter": "city = 1"}'], "is of this table, but of /elsewhere"),
        (["nowhere = 3"], "cannot be decided by any statistics"),
        (["key = 'k000123' AND 1 = 2"], "skips every file already"),
    ],
    ids=["empty", "unread", "other tables", "no column", "nothing kept"],
)
def test_it_says_why_nothing_helps(plain, lines, said):
    advisor = advisor_of(plain, lines)
    assert said in why_nothing(advisor, advise(advisor))


def test_one_file_cannot_be_told_apart(tmp_path):
    folder = plain_table(tmp_path / "t", [("", layouts(10))])
    assert "nothing to tell apart" in run("advise", folder)


def test_a_table_without_files(tmp_path):
    schema = {"type": "record", "name": "t", "fields": [{"name": "id", "type": "int"}, {"name": "s", "type": "string"}]}
    folder = plain_table(tmp_path / "t", [], schema=json.dumps(schema))
    sort, workload = ["--what-if", "sort by (s)"], ["--workload", "-"]
    for more in ([], workload, sort, [*workload, *sort]):
        found = document("advise", folder, *more, given="id = 3")
        assert found["nothing_helps"] == "the table has no file"
        assert (found["slices"], found["chosen"]["entries"]) == (0, [])
        assert "has no file" in run("advise", folder, *more, given="id = 3")


@pytest.mark.nightly
def test_what_the_tables_own_indexes_do_is_no_gain(main_cow):
    found = document("advise", main_cow, "--workload", "-", given="i = 100\np = 'p1'\ni BETWEEN 0 AND 50")
    bounds = next(one for one in found["candidates"] if (one["on"], one["sketch"]) == ("i", "min_max"))
    assert bounds["skipped"] == 0 < bounds["skipped_alone"]
    assert "column_stats" in bounds["existing"]
    assert "what the table has does as much" in run("advise", main_cow, "--workload", "-", given="i BETWEEN 0 AND 50")
    only = document("advise", main_cow, "--workload", "-", given="p = 'p1'")
    assert "skipped already, by partition_values, column_stats" in only["nothing_helps"]
    scores = {
        one["on"]: one["existing"] for one in document("advise", main_cow)["candidates"] if one["sketch"] == "min_max"
    }
    assert scores["i"] == "column_stats"
    assert scores["u"] is None


def test_bounds_of_an_expression_are_proposed_where_filters_have_it(tmp_path):
    rows = pa.table({"id": np.arange(400), "s": [("A" if one % 2 else "a") + f"{one:04d}" for one in range(400)]})
    folder = plain_table(tmp_path / "t", [("", one) for one in cut(rows, 20)])
    found = document("advise", folder, "--workload", "-", given="lower(s) = 'a0017'")
    best = next(one for one in found["candidates"] if one["on"] == "lower(s)")
    assert (best["sketch"], best["skipped"]) == ("min_max", 19)
    assert best["effectiveness"]["score"] == 100


def test_files_that_cannot_be_read_are_named(plain, tmp_path):
    folder = shutil.copytree(plain, tmp_path / "copy")
    broken = next(folder.glob("f00003*"))
    broken.write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    found = document("advise", folder, "--workload", "-", given="id = 5")
    assert list(found["sample"]["unread_files"]) == [broken.name]
    assert next(one for one in found["candidates"] if one["sketch"] == "min_max")["skipped"] == 38
    for file in folder.glob("*.parquet"):
        file.write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    assert "no" in run("advise", folder, "--workload", "-", given="id = 5", code=3)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--workload", "nowhere.jsonl"], 2, "give the sidecar's filter_log"),
        (["--sample", "0"], 2, "0 is not in the range"),
        (["--time-zone", "Nowhere"], 2, "is not known"),
        (["--what-if", "sort by (cityy)"], 2, "do you mean city?"),
        (["--what-if", "cluster it"], 2, 'write "sort by (a, b)"'),
    ],
)
def test_bad_input_is_one_line_that_says_what_to_do(plain, arguments, code, said):
    told = run("advise", plain, *arguments, code=code)
    assert said in told


def test_a_table_that_is_none(tmp_path):
    assert "give the folder that holds .hoodie" in run("advise", tmp_path, code=3)
