"""200 random calls with odd values, by a fixed seed: each ends with a documented code and without a traceback."""

from __future__ import annotations

import io
import random
import shutil
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from handler.cli.exit_codes import EXIT_CODES, OWN_FAULT
from handler.cli.main import main
from tests.handler.cli.all_commands import commands
from tests.handler.conftest import hive_filters
from tests.sampling import examples

CALLS, SEED = examples(47, at_night=400), 16
#: {t} is a folder with a table and with what is none.
WORDS = """
- @ @/nonexistent/x @{t} @{t}/plain @{t}/bytes @{t}/condition @/dev/zero 0 -1 1e999 NaN inf true {} [ é = a=b k= *
: ../../../etc file:///nope file://host/x ftp://x/y http://[::1 127.0.0.1:1 localhost:99999999 2020-01-01
20261121024515256 99991231235959999 min_max bloom_filter(fpp=0) bloom_filter(fpp=1e-300) bloom_filter(fpp=0.01) lower(s)
secondary_index s i UTC Mars/Phobos hive spark-ansi /proc/self/mem /dev/full /dev/null {t} {t}/table {t}/plain {t}/empty
{t}/missing {t}/plain/below {t}/table/.hoodie {t}/table/.hoodie/metadata {t}/workload p=p1
hoodie.index.type=BUCKET anonymous=true
"""
ODD = WORDS.split()
ODD += ["", " ", "\n", "\udcff", "a\0b", "\u202e", "\x1b[31m", "9" * 400, "x" * 100_000, "(" * 5000, "i = 100", "' or"]
ODD += ["sort by (i)", "zorder by (i, s)", "sort by ()", "SELECT 1", "i < 1e99999", "CREATE INDEX ON x", "DROP INDEX x"]
ODD += ["SHOW INDEXES FROM TABLE '{t}/table'", "CREATE INDEX a ON TABLE '{t}/table' USING min_max(i)"]
ODD += ["DROP INDEX a ON TABLE '{t}/table'", "CREATE INDEX a ON TABLE '{t}/plain' USING min_max(i)"]
FILTER = hive_filters()[0]["filter"]
ODD += [FILTER, FILTER[:-7], FILTER * 3, "AQEA" + "A" * 60]
#: How often an option is given, when it is not a quarter of the calls; advice without a workload takes seconds.
OFTEN = {"where": 0.6, "on": 0.6, "workload": 0.9}
#: These would start Spark, or ask another machine.
LEFT_OUT = ("--spark", "--local", "--hive")


@pytest.fixture
def folder(main_cow, tmp_path, monkeypatch):
    """What the values name; also the working directory, because a relative name may be written."""
    shutil.copytree(main_cow, tmp_path / "table")
    (tmp_path / "empty").mkdir()
    (tmp_path / "plain").write_text("x")
    (tmp_path / "condition").write_text("i = 100")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\0" * 10)
    (tmp_path / "workload").write_text('{"filter": "i = 1"}\n{"table": "http://[", "filter": "a"}\n[[[[\n')
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SARGO_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("handler.sidecar.run.serve", lambda _: None)
    return tmp_path


def call(random_: random.Random, folder: Path) -> list[str]:
    """A command with some of its options, each with some value."""
    words, command = random_.choice(list(commands()))
    arguments = list(words)
    for parameter in command.params:
        if isinstance(parameter, click.Argument):
            is_table = parameter.name == "table" and random_.random() < 0.6
            arguments += ["{t}/table" if is_table else random_.choice(ODD)] if random_.random() < 0.9 else []
        elif parameter.opts[0] not in LEFT_OUT:
            share = 0.04 if command.name == "serve" else OFTEN.get(parameter.name, 0.25)
            for _ in range(random_.random() < share):
                arguments.append(random_.choice(parameter.opts + parameter.secondary_opts))
                arguments += [] if getattr(parameter, "is_flag", False) else [random_.choice(ODD)]
    arguments += [random_.choice(ODD)] if random_.random() < 0.05 else []
    return [word.replace("{t}", str(folder)) for word in arguments]


def test_random_calls_end_with_a_documented_code_and_one_line(folder):
    random_ = random.Random(SEED)
    streams, codes = (sys.stdin, sys.stdout, sys.stderr), set()
    for number in range(CALLS):
        arguments = call(random_, folder)
        given = random_.choice([b"", b"i = 100", b"\xff", FILTER.encode()])
        ended = CliRunner().invoke(main, arguments, input=io.BytesIO(given))
        shown = f"call {number}: {[word[:90] for word in arguments]}: {ended.exit_code} {ended.stderr[:500]}"
        assert ended.exception is None or isinstance(ended.exception, SystemExit), shown
        assert ended.exit_code in EXIT_CODES.keys() - {OWN_FAULT}, shown
        assert "Traceback" not in ended.output, shown
        lines = [line for line in ended.stderr.splitlines() if not line.startswith("wrote ")]  # a page, with --html
        assert all(line.startswith("sargo: ") for line in lines), shown
        assert len(lines) == (ended.exit_code > 1), shown
        codes.add(ended.exit_code)
    assert (sys.stdin, sys.stdout, sys.stderr) == streams
    assert {0, 2, 3} <= codes
