"""``sargo prune`` as a list of paths, as CSV and as JSON."""

import csv
import io
import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from handler import prune
from handler.cli.main import main

WHERE = "i > 100 AND p = 'p1'"
RUN = "from handler.cli.process import run; run()"


def sargo(*arguments):
    return CliRunner().invoke(main, ["prune", *map(str, arguments)])


def test_paths_are_one_a_line(main_cow):
    expected = prune(main_cow, WHERE).paths().to_pylist()
    assert expected
    assert all(os.path.exists(path) for path in expected)
    for option in (["--paths"], ["--format", "paths"]):
        done = sargo(main_cow, "--where", WHERE, *option)
        assert (done.exit_code, done.stdout.splitlines()) == (0, expected)


def test_paths_end_in_nul_for_xargs(main_cow, tmp_path):
    expected = prune(main_cow, WHERE).paths().to_pylist()
    done = sargo(main_cow, "--where", WHERE, "--paths", "-0")
    assert done.stdout == "".join(f"{path}\0" for path in expected)


def test_no_kept_file_is_no_output(main_cow):
    assert sargo(main_cow, "--where", "i < -99999999", "--paths").stdout == ""


def test_csv_has_a_row_for_each_slice(main_cow):
    plan = prune(main_cow, "i > 100", "spark")
    rows = list(csv.DictReader(io.StringIO(sargo(main_cow, "--where", "i > 100", "--format", "csv").stdout)))
    assert [row["file_id"] for row in rows] == [one.file_id for one in plan.slices]
    assert [row["file_id"] for row in rows if row["state"] != "skipped"] == [one.file_id for one in plan.kept]
    assert {row["file_id"] for row in rows if row["state"] == "matched"} == {one.file_id for one in plan.fully_matched}


def test_log_files_are_among_the_paths(unpack):
    folder = unpack("1.1.1_main_mor")
    shown = sargo(folder, "--where", "1 = 1", "--paths").stdout.splitlines()
    assert any(".log." in path for path in shown)
    assert all(os.path.exists(path) for path in shown)


def test_json_by_either_option(main_cow):
    forms = (["--json"], ["--format", "json"], ["--json", "--format", "json"])
    shown = [json.loads(sargo(main_cow, "--where", WHERE, *form).stdout) for form in forms]
    for document in shown:
        document.pop("seconds")
    assert shown[0] == shown[1] == shown[2]


@pytest.mark.parametrize(
    "options", [["--json", "--paths"], ["--format", "csv", "--json"], ["-0"], ["-0", "--format", "csv"]], ids=str
)
def test_options_that_contradict_each_other_are_an_error(main_cow, options):
    done = sargo(main_cow, "--where", WHERE, *options)
    assert done.exit_code == 2
    assert done.stdout == ""


def test_a_path_stays_itself_in_a_locale_without_its_characters(main_cow, tmp_path):
    place = tmp_path / "tâble\u4e00"
    place.symlink_to(main_cow)
    command = [sys.executable, "-c", RUN, "prune", str(place), "--where", WHERE, "--paths"]
    done = subprocess.run(command, capture_output=True, check=True, env={**os.environ, "LC_ALL": "C"})
    assert all(os.path.exists(path) for path in done.stdout.decode().splitlines())


def test_a_line_break_in_a_path_needs_nul(main_cow, tmp_path):
    place = tmp_path / "two\nlines"
    place.symlink_to(main_cow)
    assert sargo(place, "--where", WHERE, "--paths").exit_code == 2
    shown = sargo(place, "--where", WHERE, "--paths", "-0").stdout.split("\0")
    assert all(os.path.exists(path) for path in shown[:-1])
