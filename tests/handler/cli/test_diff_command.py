"""``sargo diff`` and ``handler.planning.plan_diff``: slices that only one of two plans keeps."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from handler import open_table, prune
from handler.cli.main import main
from handler.planning.plan_diff import NOT_THERE, SKIPPED, PlanDiff
from index_store import TableError

WIDE, NARROW = "i < 300", "i < 300 AND p = 'p1'"


def run(*arguments):
    result = CliRunner().invoke(main, ["diff", *map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


def ids(found):
    return {one["file_id"] for one in found}


def test_two_filters(main_cow):
    code, out, _ = run(main_cow, "--where", WIDE, "--where", NARROW, "--json")
    found = json.loads(out)
    wide, narrow = ({one.file_id for one in prune(main_cow, text).kept} for text in (WIDE, NARROW))
    assert code == 0
    assert narrow < wide
    assert ids(found["kept_by_both"]) == narrow
    assert ids(found["kept_by_first_only"]) == wide - narrow
    assert {one["other"] for one in found["kept_by_first_only"]} == {SKIPPED}
    assert (found["kept_by_second_only"], found["changed"]) == ([], [])
    assert [plan["filter"]["text"] for plan in found["plans"]] == [WIDE, f"({NARROW})"]
    code, out, _ = run(main_cow, "--where", WIDE, "--where", NARROW)
    assert (code, "kept by both: 1 file slice\n" in out) == (0, True)
    assert f"kept by A only: {len(wide - narrow)} file slices" in out
    assert "Both keep the same file slices." in run(main_cow, "--where", WIDE, "--where", "i < 299.5")[1]


def test_two_instants(main_cow):
    table = open_table(main_cow)
    old = next(one.requested for one in table.table.timeline.writes if _slices(table, one.requested))
    first, second = prune(table, "TRUE", as_of=old), prune(table, "TRUE")
    diff = PlanDiff.of(first, second)
    before, after = ({one.file_id: one.files for one in plan.slices} for plan in (first, second))
    assert {one.file_slice.file_id for one in diff.first} == before.keys() - after.keys()
    assert {one.file_slice.file_id for one in diff.second} == after.keys() - before.keys()
    assert {one.other for one in (*diff.first, *diff.second)} == {NOT_THERE}
    common = before.keys() & after.keys()
    assert {one.file_id for one in diff.both} == common
    assert {one.file_id for one in diff.changed} == {name for name in common if before[name] != after[name]}
    assert diff.first or diff.second or diff.changed
    code, out, _ = run(main_cow, "--where", "TRUE", "--as-of", old, "--as-of", second.instant, "--json")
    assert (code, json.loads(out)) == (0, json.loads(json.dumps(diff.to_dict())))


def _slices(table, instant):
    try:
        return len(table.at(instant).slices) > 0 and instant != table.at().slices.instant
    except TableError:  # its files are cleaned
        return False


def test_two_engines(main_cow):
    code, out, _ = run(main_cow, "--where", "i < 300", "--engine", "hive", "--engine", "spark-ansi", "--json")
    assert (code, [one["engine"] for one in json.loads(out)["plans"]]) == (0, ["hive", "spark-ansi"])


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--where", "i = 1"], "twice"),
        (["--where", "i = 1"] * 3, "twice"),
        (["--where", "i = 1", "--as-of", "2020-01-01"], "twice"),
        (["--where", "i = 1", "--where", "ii = 1"], "did you mean i?"),
        (["--where", "i = 1", "--where", "i ="], "operand is missing"),
        ([], "Missing option '--where'"),
    ],
)
def test_mistakes_are_one_line(main_cow, arguments, why):
    code, out, err = run(main_cow, *arguments)
    assert (code, out) == (2, "")
    assert why in err
    assert err.count("\n") == 1


def test_plans_of_two_tables_are_refused(main_cow, unpack):
    with pytest.raises(ValueError, match="two plans of one table"):
        PlanDiff.of(prune(main_cow, "TRUE"), prune(unpack("1.1.1_main_mor"), "TRUE"))
