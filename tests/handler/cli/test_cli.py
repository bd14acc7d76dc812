"""The command line: exit codes, one line on stderr, and the documents of --json."""

import json
import shutil

import pytest
from click.testing import CliRunner

from handler.cli.exit_codes import BAD_INPUT
from handler.cli.main import main
from tests.handler.conftest import hive_filters

I_IS_100 = next(f["filter"] for f in hive_filters() if f["hive"] == "4.0.1" and f["sql"] == "i = 100")


def run(*arguments, given=None):
    return CliRunner().invoke(main, [str(a) for a in arguments], input=given)


def document(*arguments, given=None):
    result = run(*arguments, "--json", given=given)
    assert result.exit_code == 0, result.stderr
    assert result.stderr == ""
    return json.loads(result.stdout)


def failure(code, *arguments, given=None):
    """The message of a command that fails with this exit code and one line on stderr."""
    result = run(*arguments, given=given)
    assert result.exit_code == code, (result.exit_code, result.output)
    assert result.stdout == ""
    assert result.stderr.startswith("sargo: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


# -- decode


def test_decode_shows_both_trees():
    result = run("decode", I_IS_100)
    assert result.exit_code == 0
    for text in ("GenericUDFOPEqual", "java.lang.Integer", "As text", "i = 100"):
        assert text in result.stdout


def test_decode_reads_base64_and_bytes_from_files_and_stdin(tmp_path):
    import base64

    text, raw = tmp_path / "f.b64", tmp_path / "f.kryo"
    text.write_text(I_IS_100 + "\n")
    raw.write_bytes(base64.b64decode(I_IS_100))
    expected = document("decode", I_IS_100)
    assert document("decode", f"@{text}") == document("decode", f"@{raw}") == document("decode", "-", given=I_IS_100)
    assert expected["filter"]["text"] == "i = 100"
    assert expected["filter"]["tree"]["node"] == "Compare"
    assert expected["hive"]["func"].endswith("GenericUDFOPEqual")
    assert set(expected) == {"profile", "hive", "filter"}


def test_decode_raw_is_hives_tree_and_nothing_else():
    result = run("decode", I_IS_100, "--raw")
    assert json.loads(result.stdout)["func"].endswith("GenericUDFOPEqual")


@pytest.mark.parametrize("given", ["nonsense", "AQEA" + "A" * 60, "", I_IS_100[:-8]])
def test_what_is_not_a_filter_is_bad_input(given):
    assert "sargo: " in failure(2, "decode", given)


def test_a_file_that_is_missing_is_bad_input(tmp_path):
    assert "nothing.b64" in failure(2, "decode", f"@{tmp_path / 'nothing.b64'}")


# -- inspect


def test_inspect_json(main_cow):
    table = document("inspect", main_cow)
    assert set(table) == {
        "table",
        "name",
        "version",
        "type",
        "instant",
        "timeline",
        "record_key",
        "partition_fields",
        "columns",
        "slices",
        "indexes",
        "coverage",
        "untrusted",
        "failures",
    }
    assert (table["name"], table["version"], table["type"]) == ("main_cow", 9, "COPY_ON_WRITE")
    assert table["slices"]["count"] == 14
    assert table["slices"]["by_partition"].keys() == {"p=p0", "p=p1", "p=p2"}
    assert {"name": "i", "type": "int"} in table["columns"]
    stats = next(c for c in table["coverage"] if c["kind"] == "column_stats")
    assert stats["columns"]["i"]["usable"] == 14
    assert any(item["column"] == "u" and item["slices"] == 12 for item in table["untrusted"])
    assert {index["name"] for index in table["indexes"]} >= {"files", "column_stats"}


def test_inspect_for_people(main_cow):
    result = run("inspect", main_cow)
    assert result.exit_code == 0
    for text in ("main_cow", "COPY_ON_WRITE", "14 file slices", "Coverage of column_stats", "hudi#9397"):
        assert text in result.stdout


# -- prune


def test_prune_json(main_cow):
    plan = document("prune", main_cow, "--where", "i = 100 AND p = 'p1'", "--time-zone", "UTC")
    assert set(plan) == {
        "table",
        "instant",
        "engine",
        "time_zone",
        "filter",
        "counts",
        "kept",
        "skipped",
        "fully_matched",
        "residuals",
        "row_count",
        "leaves",
        "matches",
        "moment",
        "why_not_more",
        "reasons",
        "coverage",
        "seconds",
    }
    assert plan["counts"] == {"slices": 14, "kept": 1, "skipped": 13, "fully_matched": 0}
    assert set(plan["kept"][0]) == {"partition", "file_id", "base_file", "log_files"}
    assert len(plan["kept"]) + len(plan["skipped"]) == 14
    assert set(plan["leaves"][0]) == {"text", "columns", "negated", "skipped", "by_kind", "only_by", "not_more_because"}
    [residual] = plan["residuals"]
    assert set(residual) == {"text", "tree", "complete", "file_ids"}
    assert residual["text"] == "i = 100"
    assert plan["row_count"] == {"rows": 0, "counted": 0, "to_read": 1}
    [why] = plan["why_not_more"]
    assert set(why) == {"condition", "columns", "cause", "reason", "open", "alone", "beside", "remedy"}
    assert (why["condition"], why["cause"], why["open"], why["alone"]) == ("i = 100", "range", 1, 1)
    assert set(plan["coverage"][0]) == {"kind", "instant", "slices", "columns"}
    assert plan["engine"] == "spark"
    assert list(plan["seconds"]) == ["open", "filter", "bind", "statistics", "evaluate"]


def test_prune_with_a_hive_filter(main_cow, tmp_path):
    plan = document("prune", main_cow, "--hive-filter", I_IS_100)
    assert plan["engine"] == "hive"
    assert plan["counts"]["kept"] == 3
    (tmp_path / "f").write_text(I_IS_100)
    assert document("prune", main_cow, "--hive-filter", f"@{tmp_path / 'f'}")["kept"] == plan["kept"]


def test_prune_for_people(main_cow):
    result = run("prune", main_cow, "--where", "i < -200 AND nope = 1", "--lenient")
    assert result.exit_code == 0
    for text in ("11 of 14 file slices", "Kept", "Skipped", "What could not be used", "nope", "Why not more"):
        assert text in result.stdout
    result = run("prune", main_cow, "--where", "i < 5.5")
    for text in (
        "9 matching rows from row counts alone, in 1 file slice",
        "Left to check on the rows",
        "i < 5.5",
        "nothing: every row matches",
    ):
        assert text in result.stdout


@pytest.mark.parametrize("command", ["prune", "explain"])
@pytest.mark.parametrize("given", [["--where", "ii = 3 OR i = 1"], ["--where", "i = 1 OR ii[0] = 3"]])
def test_a_column_that_the_table_does_not_have_ends_the_command_unless_it_is_lenient(main_cow, command, given):
    result = run(command, main_cow, *given)
    assert result.exit_code == BAD_INPUT
    assert result.stderr == "sargo: column ii is not in the table; did you mean i? (--lenient goes on without it)\n"
    strict = run(command, main_cow, *given, "--strict")
    assert (strict.exit_code, strict.stderr) == (BAD_INPUT, "sargo: column ii is not in the table; did you mean i?\n")
    lenient = run(command, main_cow, *given, "--lenient")
    assert lenient.exit_code == 0
    assert "column ii is not in the table" in lenient.stdout
    assert run(command, main_cow, *given, "--strict", "--lenient").exit_code == BAD_INPUT


def test_prune_as_of_an_instant(main_cow):
    latest = document("prune", main_cow, "--where", "i = 100")
    assert document("prune", main_cow, "--where", "i = 100", "--as-of", latest["instant"])["kept"] == latest["kept"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["--where", "i ="], "operand is missing"),
        (["--where", "dt >= date 1992-02-01"], "line 1, column 15: the value after DATE stands in quotes: DATE '"),
        (["--where", "ts <\n timestamp 1992"], "line 2, column 15: the value after TIMESTAMP stands in quotes"),
        (["--where", "SELECT 1"], "only the condition"),
        (["--hive-filter", "zzz"], "hive.io.filter.expr.serialized"),
        ([], "either --where"),
        (["--where", "i = 1", "--hive-filter", "x"], "either --where"),
        (["--where", "i = 1", "--time-zone", "Mars"], "Mars"),
        (["--where", "i = 1", "--as-of", "yesterday"], "yesterday"),
        (["--where", "i = 1", "--engine", "presto"], "presto"),
        (["--where", "i = 1", "--nonsense"], "nonsense"),
    ],
)
def test_bad_input_is_exit_code_2(main_cow, arguments, why):
    assert why in failure(2, "prune", main_cow, *arguments)


@pytest.mark.parametrize(
    "command", [["prune", "--where", "i = 1"], ["explain", "--where", "i = 1"], ["inspect"]], ids=lambda c: c[0]
)
def test_no_table_is_exit_code_3(tmp_path, command):
    name, *rest = command
    assert "sargo: " in failure(3, name, tmp_path / "none", *rest)
    assert ".hoodie" in failure(3, name, tmp_path, *rest)


def test_a_broken_index_is_an_answer_unless_strict(main_cow_copy):
    folder = main_cow_copy / ".hoodie" / "metadata" / "column_stats"
    for file in folder.iterdir():
        if file.is_file():
            file.write_bytes(b"torn")
    plan = document("prune", main_cow_copy, "--where", "i = 100")
    assert plan["counts"]["kept"] == 3  # by footers
    assert plan["reasons"][0]["scope"] == "store"
    assert "--strict" in failure(3, "prune", main_cow_copy, "--where", "i = 100", "--strict")
    assert run("inspect", main_cow_copy).exit_code == 0
    shutil.rmtree(main_cow_copy / ".hoodie" / "metadata")
    assert document("prune", main_cow_copy, "--where", "i = 100")["counts"]["kept"] >= 3


# -- explain


def test_explain_for_people(main_cow, no_footers):
    result = run("explain", main_cow, "--where", "(i = 100 OR u = 3) AND s RLIKE 'a' AND p = 'p1'")
    assert result.exit_code == 0
    for text in (
        "AND",
        "OR",
        "i = 100",
        "11/14",
        "Why not more was skipped",
        "it alone keeps",
        "hudi#9397",
        "regular",
        "covers 42 % of its",
        "kept by u = 3 too",
    ):
        assert text in result.stdout


def test_explain_one_file(main_cow):
    plan = document("explain", main_cow, "--where", "i = 100 AND dt > DATE'2020-01-01'")
    file_id = plan["skipped"][0]["file_id"]
    result = run("explain", main_cow, "--where", "i = 100 AND dt > DATE'2020-01-01'", "--file", file_id[:12])
    assert result.exit_code == 0
    for text in (file_id, "skipped", "column_stats", "i = v needs lo <= v <= hi", "v = 100", "used"):
        assert text in result.stdout
    assert "left to check on its rows  nothing, it is skipped" in result.stdout
    one = document("explain", main_cow, "--where", "i = 100 AND dt > DATE'2020-01-01'", "--file", file_id)["file"]
    assert set(one) == {"partition", "file_id", "base_file", "log_files", "outcome", "leaves"}
    assert set(one["leaves"][0]) == {"text", "outcome", "by_kind", "reason", "columns", "decisions"}
    assert set(one["leaves"][0]["decisions"][0]) == {"kind", "column", "rule", "statistic", "value", "trust", "outcome"}
    stats = one["leaves"][1]["columns"][0]
    assert set(stats) == {"kind", "column", "lo", "hi", "null_count", "row_count", "trust"}
    assert stats["lo"].startswith("20")
    assert "no file slices have" in failure(2, "explain", main_cow, "--where", "i = 1", "--file", "zzz")


# -- the rest


def test_the_demo_runs_and_proves_that_no_row_is_lost():
    result = run("demo")
    assert result.exit_code == 0
    assert result.stdout.count("matching: 0   (in kept files") == 7
    assert "No filter lost a row." in result.stdout


def test_a_bare_call_shows_the_help():
    assert "Commands:" in run().stdout
    assert run().exit_code == 0


def test_version_and_help():
    assert "0.1.0" in run("--version").stdout
    for command in ("decode", "inspect", "prune", "explain", "demo"):
        assert command in run("--help").stdout
        assert run(command, "--help").exit_code == 0


def test_a_reader_that_leaves_early_is_no_error(main_cow):
    import subprocess
    import sys
    from pathlib import Path

    sargo = Path(sys.executable).parent / "sargo"
    shell = f'"{sargo}" prune "{main_cow}" --where "i > 0" --json | head -1; exit ${{PIPESTATUS[0]}}'
    result = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0
    assert result.stderr == ""


BUCKETS = ("--table-option", "hoodie.index.type=BUCKET", "--table-option", "hoodie.bucket.index.num.buckets=4")


def test_table_options_are_told_to_every_command_that_opens_a_table(unpack):
    table = unpack("1.1.1_bucket_cow")
    for command in (("prune",), ("explain",)):
        found = document(*command, table, "--where", "id = 'k0045'", *BUCKETS)
        assert found["leaves"][0]["by_kind"]["bucket_index"] == 9
    kinds = {kind["kind"]: kind["columns"] for kind in document("inspect", table, *BUCKETS)["coverage"]}
    assert kinds["bucket_index"]["id"]["usable"] == 12
    assert "bucket_index" not in {kind["kind"] for kind in document("inspect", table)["coverage"]}


@pytest.mark.parametrize("option", ["hoodie.index.type", "=BUCKET", ""])
def test_a_table_option_without_a_name_or_a_value_is_bad_input(unpack, option):
    assert "is not KEY=VALUE" in failure(2, "inspect", unpack("1.1.1_bucket_cow"), "--table-option", option)
