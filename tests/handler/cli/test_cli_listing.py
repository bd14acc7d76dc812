"""``sargo files``, and options of file systems on the command line."""

from __future__ import annotations

import json
import shutil

import pytest
from click.testing import CliRunner

import index_store
from handler.cli.main import main
from handler.views.texts import size_text
from tests.index_store.conftest import TABLES
from tests.sampling import share

pytestmark = pytest.mark.usefixtures("wide")


@pytest.fixture
def wide(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")


def run(*arguments):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    return result.exit_code, result.stdout, result.stderr


def document(*arguments):
    code, out, err = run("files", *arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.mark.parametrize("name", share(TABLES, 3, seed=1))
def test_json_holds_every_partition_and_every_file(unpack, name):
    path = unpack(name)
    table = index_store.open_table(path)
    found = document(path)
    assert found["listed_from"] == "metadata table"
    assert found["instant"] == table.timeline.last.requested
    assert [row["partition"] for row in found["partitions"]] == list(table.partitions())
    for row in found["partitions"]:
        files = list(table.files(row["partition"]))
        assert (row["files"], row["bytes"]) == (len(files), sum(file.size for file in files))
        assert row["log_files"] == sum(file.name.startswith(".") for file in files)
        shown = document(path, "--partition", row["partition"])
        assert [(file["name"], file["size"]) for file in shown["files"]] == [(file.name, file.size) for file in files]
        assert shown["partitions"] == [row]
        for file in shown["files"]:
            assert (path / row["partition"] / file["name"]).stat().st_size == file["size"]
            assert file["kind"] == ("log" if file["name"].startswith(".") else "base")
            assert file["instant"] in file["name"]
            assert file["file_id"] in file["name"]


@pytest.mark.parametrize("name", share(TABLES, 3, seed=2))
def test_as_of_shows_the_files_of_the_slices_of_that_time(unpack, name):
    path = unpack(name)
    table = index_store.open_table(path)
    slices = table.file_slices()
    found = document(path, "--as-of", slices.instant)
    expected = {}
    for one in slices:
        expected.setdefault(one.partition, []).extend(one.files)
    assert {row["partition"]: row["files"] for row in found["partitions"]} == {
        partition: len(files) for partition, files in expected.items()
    }
    for partition, files in expected.items():
        shown = document(path, "--as-of", slices.instant, "--partition", partition)
        prefix = f"{partition}/" if partition else ""
        assert sorted(prefix + file["name"] for file in shown["files"]) == sorted(files)


def test_an_older_instant_has_fewer_files(unpack):
    path = unpack("1.1.1_main_mor")
    first = index_store.open_table(path).timeline.writes[0].requested
    older, latest = document(path, "--as-of", first), document(path)
    assert older["instant"] == first
    assert 0 < sum(row["files"] for row in older["partitions"]) < sum(row["files"] for row in latest["partitions"])


def test_the_partitions_on_a_screen(unpack):
    code, out, err = run("files", unpack("1.1.1_main_mor"))
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["partition", "files", "log", "files", "size"]
    assert [line.split()[0] for line in lines[1:4]] == ["p=p0", "p=p1", "p=p2"]
    assert lines[4].startswith("28 files (")
    assert "in 3 partitions" in lines[4]
    assert out.rstrip().endswith("from the metadata table")


def test_the_files_of_a_partition_on_a_screen(unpack):
    path = unpack("1.1.1_main_mor")
    _, out, _ = run("files", path, "--partition", "p=p1")
    files = list(index_store.open_table(path).files("p=p1"))
    for file in files:
        [line] = [line for line in out.splitlines() if line.startswith(file.name)]
        assert size_text(file.size) in line
    assert f"{len(files)} files (" in out
    assert "in 1 partition," in out


def test_it_is_said_when_directories_were_listed(unpack, tmp_path):
    path = shutil.copytree(unpack("1.1.1_main_mor"), tmp_path / "t")
    last = index_store.open_table(path).timeline.last.requested
    for commit in (path / ".hoodie/metadata/.hoodie/timeline").glob(f"{last}*"):
        commit.unlink()
    _, out, _ = run("files", path)
    assert "28 files (" in out
    assert f"from the file listing: the metadata table does not know the commit {last}" in " ".join(out.split())
    assert document(path)["listed_from"] == "file listing"


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["--partition", "p=p9"], 3, "there is no partition p=p9"),
        (["--as-of", "yesterday"], 2, "'yesterday' is not an instant"),
        (["--as-of", "2001-01-01"], 3, "no commit is as old as"),
        (["--storage-option", "region"], 2, "'region' is not KEY=VALUE"),
        (["--storage-option", "region=x"], 3, "option region is not known for local paths"),
        (["--storage-option", "deadline=never"], 3, "option deadline is not a number"),
    ],
)
def test_errors_are_one_line(unpack, arguments, code, why):
    found, out, err = run("files", unpack("1.1.1_main_mor"), *arguments)
    assert (found, out) == (code, "")
    assert why in err
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "command", [["inspect"], ["prune", "--where", "i = 1"], ["explain", "--where", "i = 1"], ["files"]]
)
def test_every_command_takes_options_of_the_file_system_and_hides_them(unpack, command):
    name, *more = command
    secret = "abc/def+ghi"
    code, out, err = run(name, "s3://lake/t", *more, "--storage-option", f"secret_kye={secret}")
    assert (code, out) == (3, "")
    assert "option secret_kye is not known" in err
    assert secret not in err
    code, out, err = run(name, unpack("1.1.1_nan_cow"), *more, "--storage-option", "deadline=30")
    assert (code, err) in ((0, ""), (2, err))
    assert "--storage-option KEY=VALUE" in run(name, "--help")[1]


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1 KB"),
        (1234, "1.23 KB"),
        (999_499, "999 KB"),
        (999_500, "1 MB"),
        (123_456_789, "123 MB"),
        (5 * 10**18, "5e+03 PB"),
    ],
)
def test_sizes_have_three_digits(size, text):
    assert size_text(size) == text
