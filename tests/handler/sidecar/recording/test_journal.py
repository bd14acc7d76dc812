"""Texts that clients name cannot forge lines, move the cursor or turn the text, in the log, reports and terminals."""

import io
import json
import random
import sys
import unicodedata

import pytest
from click.testing import CliRunner

from handler.cli.main import main
from handler.sidecar.client import Client, ClientError
from handler.sidecar.idl import Refused
from handler.sidecar.recording.journal import Journal, json_line
from handler.views.texts import visible
from tests.handler.conftest import hive_filters
from tests.handler.sidecar.conftest import request
from tests.handler.sidecar.test_service import I_IS_100
from tests.sampling import share

#: C0, DEL, C1, separators, zero-width and bidirectional characters, a tag, an annotation, a lone surrogate.
HOSTILE = (
    "\0\a\b\t\n\v\f\r\x1b[2J\x1f\x7f\x80\x85\x9b31m\xa0\xad\u061c\u180e\u200b\u200d\u200e\u200f\u2028\u2029\u202a"
    "\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069\ufeff\ufff9\U000e0041"
)
FORGED = '\n{"event": "stopped"}\u2028{"event": "stopped"}\x85x'


def is_clean(text):
    return all(
        line.isprintable() and not any(unicodedata.category(char)[0] == "C" for char in line)
        for line in text.split("\n")
    )


@pytest.mark.parametrize("text", [HOSTILE, FORGED, "größe 表 😀 é", "\ud800", "a" * 10, '"\\u202e\\'], ids=ascii)
def test_a_line_is_printable_ends_once_and_gives_the_text_back(text):
    line = json_line({"user": text, text: [text, {"x": text}]})
    assert line.isprintable()
    assert json.loads(line) == {"user": text, text: [text, {"x": text}]}


def test_every_character_is_escaped_or_printable():
    rng = random.Random(16)
    for char in [chr(code) for code in range(0x3100)] + [chr(rng.randrange(sys.maxunicode + 1)) for _ in range(5_000)]:
        assert visible(char).isprintable()
        assert json_line({"x": char}).isprintable()
        assert (visible(char) == char) == char.isprintable()


def test_letters_of_all_scripts_stay_readable():
    assert visible("größe 表 😀 é שלום") == "größe 表 😀 é שלום"
    assert "größe 表" in json_line({"table": "größe 表"})


@pytest.mark.parametrize("log_values", [False, True])
def test_what_a_client_names_is_escaped_in_the_log(sidecar, tmp_path, main_cow, names, log_values):
    (tmp_path / f"t{HOSTILE[-20:]}").symlink_to(main_cow)
    running = sidecar(
        roots=[str(tmp_path), str(main_cow)], log_values=log_values, filter_log=tmp_path / "filters.jsonl"
    )
    with running.client() as client:
        reply = client.prune(
            request(main_cow, I_IS_100, names, query_id=HOSTILE + FORGED, user=FORGED, filter_text=FORGED)
        )
        page = client.explain(reply.report_id)
        for table in (f"{tmp_path}/none{HOSTILE[-20:]}", f"{tmp_path}/{FORGED}", f"/etc/{HOSTILE}"):
            try:
                page += client.explain(client.prune(request(table, I_IS_100, names, user=FORGED)).report_id)
            except Exception as error:
                assert error.code == "table"  # noqa: PT017
    assert is_clean(page)
    assert "stopped" not in [line.strip().strip('{}"') for line in page.split("\n")]
    for text in (running.log.getvalue(), (tmp_path / "filters.jsonl").read_text()):
        assert is_clean(text)
        assert all(json.loads(line) for line in text.split("\n") if line)
    users = [json.loads(line).get("user") for line in running.log.getvalue().split("\n") if line]
    assert FORGED in users  # the reader of the JSON gets it as it was sent


def test_values_of_filters_are_escaped_in_reports_and_in_the_log(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)], log_values=True)
    text = f"(s = '{HOSTILE}')"
    with running.client() as client:
        for one in share([one for one in hive_filters() if one["hive"] == "4.0.1"], 76):
            reply = client.prune(request(main_cow, one["filter"], names, filter_text=text))
            assert is_clean(client.explain(reply.report_id))
    assert is_clean(running.log.getvalue())


def test_what_a_false_sidecar_says_is_escaped_on_the_terminal(sidecar, main_cow, names, monkeypatch):
    running = sidecar(roots=[str(main_cow)])

    async def hostile(report_id):
        del report_id
        return f"a\n{HOSTILE}\n"

    async def refusing(report_id):
        del report_id
        raise Refused("unknown_report", HOSTILE)

    client = Client(f"127.0.0.1:{running.port}")
    monkeypatch.setattr(running.sidecar.service, "explain", hostile)
    assert is_clean(client.explain("x"))
    monkeypatch.setattr(running.sidecar.service, "explain", refusing)
    with pytest.raises(Refused) as refused:
        client.explain("x")
    assert is_clean(refused.value.why)
    with pytest.raises(ClientError, match="HOST:PORT"):
        Client(HOSTILE)


def test_events_that_strangers_cause_are_counted_when_there_are_many(monkeypatch):
    clock = [1000.0]
    monkeypatch.setattr("handler.sidecar.recording.journal.time.monotonic", lambda: clock[0])
    stream = io.StringIO()
    journal = Journal(stream)
    for _ in range(100):
        journal.say_seldom("refused", code="secret")
    journal.say_seldom("accept_failed", "error")
    clock[0] += 11
    journal.say_seldom("refused", code="secret")
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["event"] for line in lines] == ["refused"] * 20 + ["accept_failed"] + ["refused"] * 2
    assert lines[-2]["left_out"] == 80


def test_what_a_false_sidecar_says_of_itself_is_escaped_by_doctor(sidecar, main_cow, monkeypatch):
    running = sidecar(roots=[str(main_cow)])

    async def hostile():
        return json.dumps({"status": "ok", "sargo": HOSTILE, "protocol": HOSTILE, "tables": FORGED})

    for method in ("version", "health"):
        monkeypatch.setattr(running.sidecar.service, method, hostile)
    shown = CliRunner().invoke(main, ["doctor", "--sidecar", f"127.0.0.1:{running.port}"])
    assert shown.exit_code == 1
    assert is_clean(shown.output), ascii(shown.output)
