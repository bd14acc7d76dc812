"""Every failure of the command line: a documented exit code, one line on stderr, nothing on stdout, no traceback."""

from __future__ import annotations

import ast
import errno
import io
import itertools
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from handler.cli.exit_codes import EXIT_CODES, OWN_FAULT
from handler.cli.main import main
from handler.cli.output.encodable_output import PLAIN
from tests.handler.cli.all_commands import ON_A_TABLE, commands, on_table
from tests.handler.cli.odd_streams import encoding, refusing, run_on
from tests.handler.conftest import hive_filters
from tests.sampling import share

ROOT = Path(__file__).parents[3]
I_IS_100 = next(f["filter"] for f in hive_filters() if f["hive"] == "4.0.1" and f["sql"] == "i = 100")


@pytest.fixture(autouse=True)
def no_snapshots(monkeypatch):
    monkeypatch.setenv("SARGO_CACHE", "off")


def failure(code, *arguments, given=None):
    """The line on stderr of a command that fails with this code."""
    result = CliRunner().invoke(main, [str(one) for one in arguments], input=given)
    assert isinstance(result.exception, SystemExit), result.exception
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    assert re.fullmatch(r"sargo: .+\n", result.stderr), result.stderr
    assert "Traceback" not in result.stderr
    return result.stderr


# -- every command that takes a table, and every table that is none


def plain_file(folder):
    (folder / "plain").write_text("no table")
    return folder / "plain"


def empty_folder(folder):
    (folder / "empty").mkdir()
    return folder / "empty"


def without_hoodie(folder):
    (folder / "files").mkdir()
    (folder / "files" / "a.parquet").write_bytes(b"PAR1")
    return folder / "files"


def hoodie_is_a_file(folder):
    (folder / "table").mkdir()
    (folder / "table" / ".hoodie").write_text("")
    return folder / "table"


def binary_properties(folder):
    (folder / "table" / ".hoodie").mkdir(parents=True)
    (folder / "table" / ".hoodie" / "hoodie.properties").write_bytes(b"\xff\xfe\x00" * 100)
    return folder / "table"


NO_TABLES = {
    "a missing path": (lambda folder: folder / "missing", 3),
    "a plain file": (plain_file, 3),
    "a path below a file": (lambda folder: plain_file(folder) / "table", 3),
    "an empty folder": (empty_folder, 3),
    "a folder without .hoodie": (without_hoodie, 3),
    ".hoodie is a file": (hoodie_is_a_file, 3),
    "properties that are no text": (binary_properties, 3),
    "a name that is too long": (lambda folder: folder / ("x" * 5000), 3),
    "a scheme that nobody knows": (lambda _: "nosuchscheme://host/x", 3),
    "a URI that is none": (lambda _: "file://[", 3),
    "no name": (lambda _: "", 2),
    "spaces": (lambda _: "  ", 2),
}


@pytest.mark.parametrize("kind", NO_TABLES)
@pytest.mark.parametrize("command", ON_A_TABLE)
def test_what_is_no_table_is_one_line(command, kind, tmp_path):
    make, code = NO_TABLES[kind]
    assert len(failure(code, *on_table(command, make(tmp_path)))) < 1300


@pytest.mark.parametrize("command", sorted({*ON_A_TABLE} - {"index list", "index create", "sql"}))
def test_arguments_that_are_wrong_are_one_line(command, main_cow):
    """Beside a good table: an unknown option, one argument more, an option without its value or with a wrong one."""
    good = on_table(command, main_cow)
    for further in (["--nonsense"], ["--json", "a", "b", "c"], ["--storage-option"], ["--storage-option", "x"]):
        failure(2, *good, *further)


@pytest.mark.parametrize("words", [" ".join(words) for words, _ in commands()])
def test_every_command_refuses_an_option_that_it_does_not_have(words):
    assert "--no-such-option" in failure(2, *words.split(), "--no-such-option")


@pytest.mark.parametrize(
    "words", [" ".join(words) for words, one in commands() if one.name not in ("demo", "cache", "jar")]
)
def test_every_command_that_needs_an_argument_says_so(words):
    if words not in ("serve",):
        failure(2, *words.split())


# -- arguments


@pytest.mark.parametrize("name", ["index show", "index refresh", "index optimize", "index vacuum", "index drop"])
def test_an_index_that_is_not_there_is_bad_input(name, main_cow):
    assert "there is no index" in failure(2, *on_table(name, main_cow))
    assert "there is no index" in failure(2, *on_table(name, main_cow), "nosuch")


def test_an_index_that_exists_already_is_bad_input(main_cow_copy):
    create = ["index", "create", main_cow_copy, "--on", "i", "--name", "by_i"]
    assert CliRunner().invoke(main, [str(one) for one in create]).exit_code == 0
    assert "there is an index here already" in failure(2, *create)
    statement = f"CREATE INDEX by_i ON TABLE '{main_cow_copy}' USING min_max(i)"
    assert "there is an index here already" in failure(2, "sql", statement)
    assert "has no index other, but by_i" in failure(2, "index", "drop", main_cow_copy, "other")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["decode", "%%%"], "hive.io.filter.expr.serialized"),
        (["decode", I_IS_100[:-9]], "hive.io.filter.expr.serialized"),
        (["decode", "AQEA" + "A" * 60], "hive.io.filter.expr.serialized"),
        (["prune", "{table}", "--hive-filter", "AQ\x00"], "holds a NUL character"),
        (["prune", "{table}", "--hive-filter", I_IS_100[10:]], "hive.io.filter.expr.serialized"),
        (["prune", "{table}", "i = 1"], "extra argument (i = 1): a condition goes behind --where"),
        (["explain", "{table}", "i", "=", "1"], "extra arguments (i = 1): a condition goes behind --where"),
        (["explain", "{table}", "--where", "i = 1", "--file", "zzz"], "no file slices have an id that starts with zzz"),
        (["files", "{table}", "--partition", "nosuch"], "there is no partition nosuch"),
        (["sql", "SELECT 1"], "CREATE"),
        (["sql", ""], "CREATE"),
        (["index", "create", "{table}", "--on", "nosuch"], "nosuch"),
        (["index", "create", "{table}", "--on", "i", "--using", "nosuch"], "use one of"),
        (["index", "create", "{table}", "--on", "i", "--name", "../x"], "../x"),
        (["index", "vacuum", "{table}", "--retain-hours", "-1"], "-1"),
        (["index", "vacuum", "{table}", "--retain-hours", "nan"], "not a number"),
        (["index", "vacuum", "{table}", "--retain-hours", "inf"], "inf"),
        (["advise", "{table}", "--workload", "{folder}"], "Is a directory"),
        (["advise", "{table}", "--workload", "{folder}/missing"], "give the sidecar's filter_log"),
        (["serve", "--port", "many"], "port"),
        (["serve", "--roots", "relative"], "relative"),
        (["serve", "--config", "{folder}/missing"], "missing"),
        (["serve", "--host", "0.0.0.0", "--roots", "/tmp"], "can be reached from outside"),
        (["doctor"], "name what to look at"),
        (["doctor", "--hive-site", "{folder}/missing"], "missing"),
        (["doctor", "--sidecar", "nowhere"], "is not HOST:PORT"),
        (["doctor", "--sidecar", "127.0.0.1:1", "--secret-file", "{folder}/missing"], "missing"),
        (["report", "x", "--sidecar", "nowhere"], "is not HOST:PORT"),
        (["report", "x", "--sidecar", "localhost:65536"], "is not HOST:PORT"),
        (["report", "x", "--sidecar", "localhost:" + "9" * 5000], "is not HOST:PORT"),
        (["report", "x", "--sidecar", "\udcff:1"], "is not the name of a host"),
        (["report", "x", "--tls-ca", "{bytes}"], "bytes"),
        (["report", "\udcff"], "is no id of a report"),
        (["doctor", "--sidecar", "127.0.0.1:1", "--secret-file", "{bytes}"], "is not UTF-8 text"),
        (["doctor", "--sidecar", "127.0.0.1:1", "--tls-ca", "{bytes}"], "bytes"),
        (["doctor", "--hive-site", "{bytes}"], "bytes"),
        (["doctor", "--hive-site", "{wide}"], "multi-byte encodings"),
        (["doctor", "--hive-site", "{unknown}"], "unknown encoding"),
        (["serve", "--config", "{bytes}"], "bytes"),
        (["serve", "--config", "{deep}"], "nested"),
        (["serve", "--roots", '["/tmp"'], "roots"),
        (["report", "x", "--sidecar", "127.0.0.1:1"], "Connection refused"),
        (["demo", "--keep", ""], "--keep needs"),
        (["demo", "--keep", "{file}"], "File exists"),
        (["demo", "--keep", "{file}/below"], "Not a directory"),
        (["demo", "--keep", "/proc/sargo"], "--keep"),
    ],
    ids=lambda given: " ".join(given)[:40] if isinstance(given, list) else None,
)
def test_a_mistake_is_one_line_that_names_it(arguments, why, main_cow, tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\0")
    (tmp_path / "wide").write_text('<?xml version="1.0" encoding="utf-32"?><a/>')
    (tmp_path / "unknown").write_text('<?xml version="1.0" encoding="nonsense"?><a/>')
    (tmp_path / "deep").write_text("a = " + "[" * 100_000)
    places = {"{table}": str(main_cow), "{folder}": str(tmp_path)}
    places |= {f"{{{name}}}": str(tmp_path / name) for name in ("file", "bytes", "wide", "unknown", "deep")}
    for name, place in places.items():
        arguments = [word.replace(name, place) for word in arguments]
    no_such_thing = why in ("Connection refused", "is not the name of a host") or "--partition" in arguments
    assert why in failure(3 if no_such_thing else 2, *arguments)


@pytest.mark.parametrize("path", ["/proc/sargo/index", "{file}/index"])
def test_the_folder_of_an_index_that_cannot_be_written_is_one_line(path, main_cow, tmp_path):
    (tmp_path / "file").write_text("x")
    place = path.replace("{file}", str(tmp_path / "file"))
    failure(3, "index", "create", main_cow, "--on", "i", "--path", place)


def test_no_space_for_what_the_demo_keeps(monkeypatch, tmp_path):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path))

    monkeypatch.setattr("zipfile.ZipFile.extractall", full)
    assert "no space is left" in failure(4, "demo", "--keep", tmp_path)


def test_no_space_for_an_index(monkeypatch, main_cow_copy):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    assert "No space left" in failure(4, "index", "create", main_cow_copy, "--on", "i")


def test_an_error_that_nobody_foresaw_has_a_code_of_its_own(monkeypatch, main_cow):
    def fails(*_, **__):
        raise KeyError("thing")

    monkeypatch.setattr("index_store.opened_table.open_table", fails)
    told = failure(OWN_FAULT, "inspect", main_cow)
    assert "KeyError" in told
    assert "test_failures.py" in told


STOPPING = [
    (KeyboardInterrupt(), 130),
    (MemoryError(), 4),
    (RuntimeError("can't start new thread"), 4),
    (ImportError("libx.so: failed to map segment"), 4),
    (OSError(errno.EMFILE, "Too many open files"), 4),
    (RecursionError(), 70),
]


@pytest.mark.parametrize(("error", "code"), STOPPING, ids=[type(error).__name__ for error, _ in STOPPING])
def test_what_stops_a_command_is_one_line(error, code, monkeypatch, main_cow):
    def fails(*_, **__):
        raise error

    monkeypatch.setattr("index_store.opened_table.open_table", fails)
    failure(code, "inspect", main_cow)


@pytest.mark.parametrize(
    ("asked", "code"), [("bash_source", 0), ("nonsense", 2), ("bash_complete", 2), ("x_source", 2)]
)
def test_a_shell_that_asks_for_completions_gets_a_code_too(asked, code, monkeypatch):
    monkeypatch.setenv("_SARGO_COMPLETE", asked)
    monkeypatch.delenv("COMP_WORDS", raising=False)
    result = CliRunner().invoke(main, [])
    assert result.exit_code == code
    assert result.stderr.count("\n") == bool(code)


def test_a_workload_of_odd_lines_is_read_line_by_line(main_cow, tmp_path):
    lines = [
        '{"table": "http://[", "filter": "i = 1"}',
        '{"table": "a\\u0000b", "filter": "i = 1"}',
        '{"filter": "i = 1", "engine": ["x"]}',
        '{"filter": "i = 1", "time_zone": {"a": 1}}',
        '{"filter": 1}',
        "[1]",
        '{"a":' + "[" * 100_000,
        '{"filter": ' + "9" * 5000 + "}",
        "\ud800",
        "i = 100",
    ]
    (tmp_path / "workload").write_bytes("\n".join(lines).encode("utf-8", "surrogatepass") + b"\n\xff\xfe")
    result = CliRunner().invoke(main, ["advise", str(main_cow), "--workload", str(tmp_path / "workload"), "--json"])
    assert result.exit_code == 0, result.output
    workload = json.loads(result.stdout)["workload"]
    assert workload["unread"] >= 6
    assert workload["other_tables"] == ["http://["], "a location is literal, whatever stands in it"


# -- --where and --hive-filter from files and stdin


def kept(*arguments, given=None):
    result = CliRunner().invoke(main, [*map(str, arguments), "--json"], input=given)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["kept"]


@pytest.mark.parametrize("command", ["prune", "explain"])
def test_a_condition_stands_in_a_file_or_on_stdin(command, main_cow, tmp_path):
    expected = kept(command, main_cow, "--where", "i = 100")
    (tmp_path / "condition").write_text("\ufeffi =\n  100\n-- a comment\n", "utf-8")
    assert kept(command, main_cow, "--where", f"@{tmp_path / 'condition'}") == expected
    assert kept(command, main_cow, "--where", "-", given="i = 100\n") == expected
    assert kept(command, main_cow, "--hive-filter", "-", given=I_IS_100) == expected


@pytest.mark.parametrize("option", ["--where", "--hive-filter"])
def test_a_file_that_cannot_be_read_as_a_filter_is_bad_input(option, main_cow, tmp_path, monkeypatch):
    monkeypatch.setattr("handler.cli.text_arguments.MAX_SQL_BYTES", 1 << 20)
    (tmp_path / "large").write_bytes(b" " * (25 << 20))
    (tmp_path / "empty").touch()
    for argument, why in (
        (f"@{tmp_path / 'missing'}", "No such file"),
        (f"@{tmp_path}", "Is a directory"),
        ("@", "is not the name of a file"),
        ("@a\0b", "holds a NUL character"),
        (f"@{tmp_path / 'large'}", "is larger than"),
        ("@/dev/zero", "is larger than"),
        (f"@{tmp_path / 'empty'}", ""),
    ):
        assert why in failure(2, "prune", main_cow, option, argument)
    assert failure(2, "prune", main_cow, option, "-", given="")


def test_a_file_that_is_no_text_is_no_condition(main_cow, tmp_path):
    (tmp_path / "bytes").write_bytes(b"i = 1\xff")
    assert "is not UTF-8 text: byte 5 is 0xff" in failure(2, "prune", main_cow, "--where", f"@{tmp_path / 'bytes'}")


# -- stdout

PRINTING = {
    "help": ["--help"],
    "bare": [],
    "help of a command": ["prune", "--help"],
    "bare index": ["index"],
    "version": ["--version"],
    "decode": ["decode", I_IS_100],
    "decode --json": ["decode", I_IS_100, "--json"],
    "decode --raw": ["decode", I_IS_100, "--raw"],
    "cache": ["cache"],
    "cache --json": ["cache", "--json"],
    "serve": ["serve", "--print-config"],
    "doctor": ["doctor", "--jar", "nosuch.jar"],
    "doctor --json": ["doctor", "--jar", "nosuch.jar", "--json"],
    "demo": ["demo"],
    **{name: ON_A_TABLE[name] for name in ("prune", "explain", "inspect", "files", "advise", "index list", "sql")},
    **{f"{name} --json": [*ON_A_TABLE[name], "--json"] for name in ("prune", "inspect", "files", "index list")},
}


@pytest.mark.parametrize("name", share(PRINTING, 3))
def test_a_stdout_that_refuses_is_one_line_and_a_reader_that_leaves_is_none(name, main_cow):
    arguments = [word.replace("{table}", str(main_cow)) for word in PRINTING[name]]
    for number in (errno.ENOSPC, errno.EIO, errno.EBADF):
        ended = run_on(refusing(number), *arguments)
        assert ended.code == 4
        assert re.fullmatch(r"sargo: .+\n", ended.stderr)
    ended = run_on(refusing(errno.EPIPE), *arguments)
    assert (ended.code, ended.stderr) == (1 if "doctor" in name else 0, "")
    closed = io.StringIO()
    closed.close()
    assert run_on(closed, *arguments).code == 4
    assert run_on(None, *arguments).code in (0, 1)


@pytest.mark.parametrize(
    ("name", "code"), share(itertools.product(PRINTING, ["ascii", "latin-1", "cp437", "utf-16"]), 4)
)
def test_every_output_can_be_printed_in_every_encoding(name, code, main_cow):
    stream = encoding(code)
    ended = run_on(stream, *(word.replace("{table}", str(main_cow)) for word in PRINTING[name]))
    assert ended.code == (1 if "doctor" in name else 0), ended
    assert "\\u" not in stream.buffer.getvalue().decode(code).partition("{")[0]
    if "--json" in name:
        assert json.loads(stream.buffer.getvalue().decode(code))


def test_json_is_the_same_document_in_an_encoding_that_lacks_its_characters(main_cow):
    arguments = ["prune", main_cow, "--where", "s = '\u00e9\u4e00\U0001f600\u202e\x9b'", "--json"]
    texts = []
    for name in ("utf-8", "ascii"):
        stream = encoding(name)
        assert run_on(stream, *arguments).code == 0
        texts.append(stream.buffer.getvalue().decode(name))
    plain, escaped = (json.loads(text)["filter"] for text in texts)
    assert plain == escaped
    assert plain["tree"]["children"][1]["value"] == "\u00e9\u4e00\U0001f600\u202e\x9b"
    assert "\x9b" not in texts[0]
    assert "\u202e" not in texts[0]


def test_what_a_filter_holds_does_not_reach_the_terminal_as_a_command(main_cow):
    stream = encoding("utf-8")
    assert run_on(stream, "prune", main_cow, "--where", "s = 'a\x1b[31m\u202eb'").code == 0
    shown = stream.buffer.getvalue().decode()
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert r"s = 'a\x1b[31m\u202eb'" in shown


def docstrings(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and ast.get_docstring(
            node
        ):
            yield node.body[0].value


def test_every_character_of_the_messages_has_a_plain_one():
    """But surrogates, for which ``handler.sql`` looks."""
    lacking = set()
    for file in ROOT.glob("handler/**/*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        left_out = {id(node) for node in docstrings(tree)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in left_out:
                lacking |= {(file.name, one) for one in node.value if not one.isascii() and one not in PLAIN}
    assert not {one for one in lacking if one[0] != "encodable_output.py" and not "\ud7ff" < one[1] < "\ue000"}
    assert all(text.isascii() and text for text in PLAIN.values())


# -- the table of exit codes


def test_the_page_and_the_help_list_every_exit_code():
    page = (ROOT / "docs/reference/command-line.md").read_text("utf-8")
    rows = {int(code): meaning for code, meaning in re.findall(r"^\| (\d+) \| (.+) \|$", page, re.MULTILINE)}
    assert rows == EXIT_CODES
    shown = CliRunner().invoke(main, ["--help"]).stdout
    for code, meaning in EXIT_CODES.items():
        assert f"{code}  {meaning.replace('`', '')}\n" in shown
