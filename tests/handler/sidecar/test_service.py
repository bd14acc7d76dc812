"""The sidecar over a real connection: its bits are the planner's answer about the listed names, and nothing else's."""

import gc
import json
import shutil
import threading
import zlib

import pytest
from click.testing import CliRunner

from handler import open_table, prune, what_helps
from handler.cli.main import main
from handler.sidecar import view as view_module
from handler.sidecar.decisions.planning_process import PlanningFailed
from handler.sidecar.idl import PROTOCOL_VERSION, RefusedMessage
from handler.sidecar.recording.metrics import BECAUSE
from handler.sidecar.view import View
from tests.handler.conftest import hive_filters
from tests.handler.sidecar.conftest import request, skipped_names

FILTERS = {(one["hive"], one["sql"]): one["filter"] for one in hive_filters()}
I_IS_100 = FILTERS["4.0.1", "i = 100"]
ENGINES = {"3.1.3": "hive3", "4.0.1": "hive4"}


@pytest.mark.parametrize("compressed", [False, True], ids=["plain", "compressed"])
def test_the_bits_are_what_the_planner_skips_for_every_filter_of_real_hive(sidecar, main_cow, names, compressed):
    opened = open_table(main_cow)
    with sidecar(roots=[str(main_cow)]).client() as client:
        for (hive, sql), text in FILTERS.items():
            plan = prune(opened, text, ENGINES[hive], time_zone="UTC")
            reply = client.prune(request(main_cow, text, names, engine=ENGINES[hive], names_compressed=compressed))
            assert skipped_names(names, reply) == {item.base_file for item in plan.skipped}, sql
            assert (reply.skipped, reply.covered, reply.name_count) == (len(plan.skipped), len(names), len(names))
            assert reply.fully_matched == len(plan.fully_matched)
            assert reply.instant == plan.instant


def test_an_answer_echoes_the_list_that_it_speaks_of(sidecar, main_cow, names):
    asked = request(main_cow, I_IS_100, names)
    with sidecar(roots=[str(main_cow)]).client() as client:
        for _ in range(2):  # the second list is one that was seen before
            reply = client.prune(asked)
            assert reply.protocol_version == PROTOCOL_VERSION
            assert reply.digest == zlib.crc32(asked.names)
            assert len(reply.skip) == (len(names) + 7) // 8


def test_names_that_are_not_the_tables_files_get_no_bit(sidecar, main_cow, names):
    with sidecar(roots=[str(main_cow)]).client() as client:
        known = skipped_names(names, client.prune(request(main_cow, I_IS_100, names)))
        skipped = sorted(known)[0]
        strange = [
            "",
            "x",
            f"/{skipped}",
            f"./{skipped}",
            f"{skipped} ",
            f"{skipped}\r",
            skipped.upper(),
            skipped.replace("p=", "p%3D"),
            f"../{main_cow.name}/{skipped}",
            skipped[:-1],
            "\u0000",
            "\ud7ff",
            skipped.rpartition("/")[2],
            f"elsewhere/{skipped.rpartition('/')[2]}",
        ]
        mixed = [*strange, skipped, skipped]
        reply = client.prune(request(main_cow, I_IS_100, mixed))
        assert skipped_names(mixed, reply) == {skipped}
        assert (reply.skipped, reply.covered) == (2, 2)  # a name that stands twice may be skipped twice


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"protocol_version": 2}, "version"),
        ({"protocol_version": None}, "request"),
        ({"engine": "spark"}, "request"),
        ({"engine": None}, "request"),
        ({"query_type": "time travel"}, "request"),
        ({"name_count": 3}, "request"),
        ({"name_count": -1}, "limit"),
        ({"name_count": 1 << 30}, "limit"),
        ({"names": None}, "request"),
        ({"names_compressed": True}, "request"),
        ({"table": ""}, "table"),
        ({"table": "/etc"}, "table"),
        ({"query_type": "as_of"}, "request"),
        ({"filter": b"x" * (5 << 20)}, "limit"),
    ],
    ids=lambda one: str(one)[:40],
)
def test_a_request_that_cannot_be_meant_is_refused_with_a_code(sidecar, main_cow, names, given, code):
    asked = request(main_cow, I_IS_100, names)
    for name, value in given.items():
        setattr(asked, name, value)
    with sidecar(roots=[str(main_cow)]).client() as client:
        with pytest.raises(RefusedMessage) as refused:
            client.prune(asked)
        assert refused.value.code == code
        assert client.prune(request(main_cow, I_IS_100, names)).skipped > 0  # the connection lives on


@pytest.mark.parametrize(
    "text",
    ["", "i = 100", "AQEAamF2", "\u00e9", "A" * 500, I_IS_100[:-8]],
    ids=["empty", "SQL", "short", "not ASCII", "garbage", "cut"],
)
def test_a_filter_that_cannot_be_read_skips_nothing_and_says_so(sidecar, main_cow, names, text):
    running = sidecar(roots=[str(main_cow)])
    with running.client() as client:
        reply = client.prune(request(main_cow, text, names))
    assert (reply.skip, reply.skipped) == (b"", 0)
    assert reply.reasons[0] == "the filter cannot be read"
    assert running.metric("sargo_skipped_nothing_total", because="filter") == 1


def test_a_filter_of_too_many_parts_for_so_many_slices_skips_nothing_and_says_so(sidecar, main_cow, names):
    parts = 2  # the comparison and its column
    for most, skips in ((parts * len(names), True), (parts * len(names) - 1, False)):
        running = sidecar(roots=[str(main_cow)], max_evaluations=most)
        with running.client() as client:
            reply = client.prune(request(main_cow, I_IS_100, names))
        assert bool(reply.skipped) is skips
        assert running.metric("sargo_skipped_nothing_total", because="size") == (not skips)
    assert reply.reasons[0] == "the filter is too large, or takes too long"
    assert "max_evaluations" in reply.reasons[1]


#: Causes with tests of their own; ``no_filter`` is one of plan().
ELSEWHERE = ("filter", "size", "table", "audit", "no_filter")


@pytest.mark.parametrize("because", [word for word in BECAUSE if word not in ELSEWHERE])
def test_every_cause_of_skipping_nothing_is_counted_by_its_name_and_said_first(
    sidecar, unpack, because, monkeypatch, no_footers
):
    table = unpack("1.1.1_main_mor")
    listed = [name for item in open_table(table).at().slices for name in item.files]
    given, names, text = {}, listed, I_IS_100
    settings = {"request_seconds": 0.2} if because == "time" else {"shadow": True} if because == "shadow" else {}
    gate = threading.Event()
    decide = View.decide
    match because:
        case "plan":
            text = FILTERS["4.0.1", "u > 150"]
        case "list":
            names = ["p=p0/of-another-table.parquet"]
        case "query_type":
            given = {"query_type": "incremental", "instant": "2026"}
        case "time":
            monkeypatch.setattr(View, "decide", lambda self, question: (gate.wait(30), decide(self, question))[1])
        case "failure":
            monkeypatch.delattr(View, "decide")
    running = sidecar(roots=[str(table)], **settings)
    try:
        with running.client() as client:
            reply = client.prune(request(table, text, names, **given))
    finally:
        gate.set()
    assert (reply.skip, reply.skipped, reply.reasons[0]) == (b"", 0, BECAUSE[because])
    counted = {word: running.metric("sargo_skipped_nothing_total", because=word) for word in BECAUSE}
    assert counted == {word: float(word == because) for word in BECAUSE}


def test_files_of_which_every_row_matches_are_counted(sidecar, main_cow, names):
    text, plan = next(
        (text, plan)
        for (hive, sql), text in FILTERS.items()
        if hive == "4.0.1"
        for plan in [prune(main_cow, text, "hive4", time_zone="UTC")]
        if plan.fully_matched and plan.skipped
    )
    running = sidecar(roots=[str(main_cow)])
    with running.client() as client:
        reply = client.prune(request(main_cow, text, names))
    assert reply.fully_matched == len(plan.fully_matched) > 0
    for name, count in (
        ("listed", len(names)),
        ("known", len(names)),
        ("skipped", len(plan.skipped)),
        ("could_skip", len(plan.skipped)),
        ("fully_matched", len(plan.fully_matched)),
    ):
        assert running.metric(f"sargo_files_{name}_total") == count


def test_a_table_that_cannot_be_opened_skips_nothing_and_says_so(sidecar, tmp_path, names):
    running = sidecar(roots=[str(tmp_path)])
    with running.client() as client:
        reply = client.prune(request(tmp_path / "none", I_IS_100, names))
    assert (reply.skip, reply.skipped, reply.covered) == (b"", 0, 0)
    assert "not a Hudi table" in reply.reasons[1]
    assert running.metric("sargo_skipped_nothing_total", because="table") == 1
    assert running.metric("sargo_breaker_open_tables") == 1


def test_texts_and_lists_of_any_length_are_read(sidecar, main_cow, names):
    many = [*names, *(f"p=p0/{i:0100d}" for i in range(20_000))]
    with sidecar(roots=[str(main_cow)]).client() as client:
        expected = skipped_names(names, client.prune(request(main_cow, I_IS_100, names)))
        for compressed in (False, True):
            asked = request(
                main_cow,
                I_IS_100,
                many,
                filter_text="i = 100 " * 100_000,
                user="\u00e9" * 70_000,
                names_compressed=compressed,
            )
            reply = client.prune(asked)
            assert skipped_names(many, reply) == expected
            assert (len(reply.skip), reply.digest) == ((len(many) + 7) // 8, zlib.crc32(asked.names))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda blob: blob[:-1], "request"),
        (lambda blob: blob + b"x", "request"),
        (lambda _: b"", "request"),
        (lambda _: zlib.compress(b"a" * (2 << 20)), "limit"),
    ],
    ids=["cut", "more behind", "nothing", "a bomb"],
)
def test_a_compressed_list_that_is_not_one_list_is_refused(sidecar, main_cow, names, change, code):
    asked = request(main_cow, I_IS_100, names, names_compressed=True)
    asked.names = change(asked.names)
    with sidecar(roots=[str(main_cow)], max_names_bytes=1 << 20).client() as client:
        with pytest.raises(RefusedMessage) as refused:
            client.prune(asked)
        assert refused.value.code == code


def test_no_names_are_an_answer_of_no_bits(sidecar, main_cow):
    with sidecar(roots=[str(main_cow)]).client() as client:
        reply = client.prune(request(main_cow, I_IS_100, []))
    assert (reply.skip, reply.skipped, reply.name_count, reply.digest) == (b"", 0, 0, 0)


def test_health_and_version_say_that_it_is_there(sidecar, main_cow):
    with sidecar(roots=[str(main_cow)]).client() as client:
        assert json.loads(client.health())["status"] == "ok"
        assert json.loads(client.version())["protocol"] == PROTOCOL_VERSION


def test_explain_tells_what_was_skipped_and_why_not_more(sidecar, main_cow, names):
    with sidecar(roots=[str(main_cow)]).client() as client:
        reply = client.prune(request(main_cow, I_IS_100, names, query_id="hive_1", user="ann"))
        text = client.explain(reply.report_id)
        assert f"{len(names)} listed, {len(names)} known, {reply.skipped} skipped" in text
        assert "hive_1" in text
        assert "i = 100" in text
        with pytest.raises(RefusedMessage) as refused:
            client.explain("another")
        assert refused.value.code == "unknown_report"


def explained(client, report_id):
    """The report, when what would help is known."""
    for _ in range(60):
        text = client.explain(report_id)
        if "not known yet" not in text:
            break
    return text


def test_explain_names_what_would_help_as_the_command_line_does(sidecar, main_cow, names, tmp_path):
    folder = shutil.copytree(main_cow, tmp_path / "t")
    with sidecar(roots=[str(folder)]).client() as client:
        reply = client.prune(request(folder, I_IS_100, names))
        text = explained(client, reply.report_id)
    found = what_helps(prune(open_table(folder), I_IS_100), seconds=60)
    assert "What would help" in text
    assert "clustering" not in text.split("What would help")[0]
    for one in found.remedies:
        assert one.text in text
        assert one.command in text
    assert found.remedies or "nothing: " in text


def test_explain_goes_on_without_the_planning_process(sidecar, main_cow, names, monkeypatch):
    async def failing(*_):
        raise PlanningFailed("other expensive filters are being evaluated")

    running = sidecar(roots=[str(main_cow)])
    monkeypatch.setattr(running.sidecar.service.tables, "what_helps", failing)
    with running.client() as client:
        text = client.explain(client.prune(request(main_cow, I_IS_100, names)).report_id)
    assert "i = 100" in text
    assert "What would help was not asked: other expensive filters are being evaluated." in text


@pytest.mark.nightly
def test_so_many_reports_are_kept_as_the_setting_says(sidecar, main_cow, names):
    with sidecar(roots=[str(main_cow)], reports=2).client() as client:
        ids = [client.prune(request(main_cow, I_IS_100, names)).report_id for _ in range(3)]
        assert len(set(ids)) == 3
        with pytest.raises(RefusedMessage):
            client.explain(ids[0])
        assert all("i = 100" in client.explain(report) for report in ids[1:])


def test_a_report_outlives_the_plan_behind_it_as_a_summary(sidecar, main_cow, names, monkeypatch):
    monkeypatch.setattr(view_module, "MAX_DECISIONS", 1)
    running = sidecar(roots=[str(main_cow)])
    with running.client() as client:
        reply = client.prune(request(main_cow, I_IS_100, names, query_id="hive_2"))
        other = next(
            text
            for (hive, sql), text in FILTERS.items()
            if hive == "4.0.1" and sql.startswith("i ") and text != I_IS_100
        )
        client.prune(request(main_cow, other, names))
        gc.collect()
        text = client.explain(reply.report_id)
    assert "hive_2" in text
    assert f"{reply.skipped} skipped" in text
    assert "i = 100" not in text


def test_reasons_in_a_reply_are_cut_to_a_length(sidecar, tmp_path):
    with sidecar(roots=[str(tmp_path)]).client() as client:
        reply = client.prune(request(f"{tmp_path}/{'/'.join(['x' * 100] * 20)}", I_IS_100, ["a"]))
        assert max(map(len, reply.reasons)) == 1000
        assert len(client.explain(reply.report_id)) > 2000  # the report has the rest


def test_the_log_has_the_cause_when_a_table_cannot_be_read(sidecar, tmp_path):
    running = sidecar(roots=[str(tmp_path)])
    with running.client() as client:
        reply = client.prune(request(tmp_path / "none", I_IS_100, ["a"]))
    answered = [json.loads(line) for line in running.log.getvalue().splitlines() if '"answered"' in line]
    assert [one["because"] for one in answered] == ["table"]
    assert "not a Hudi table" in answered[0]["why"]
    assert answered[0]["why"] in reply.reasons


def test_a_report_is_shown_on_the_command_line(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)])
    with running.client() as client:
        reply = client.prune(request(main_cow, I_IS_100, names))
    at = ["--sidecar", f"127.0.0.1:{running.port}"]
    shown = CliRunner().invoke(main, ["report", reply.report_id, *at])
    assert (shown.exit_code, "i = 100" in shown.output) == (0, True)
    gone = CliRunner().invoke(main, ["report", "another", *at])
    assert (gone.exit_code, gone.stderr.count("\n")) == (2, 1)
    running.stop()
    silent = CliRunner().invoke(main, ["report", reply.report_id, *at])
    assert (silent.exit_code, silent.stderr.count("\n")) == (3, 1)


@pytest.mark.parametrize(
    ("zone", "known"),
    [("+05:30", True), ("-08:00", True), ("Europe/Oslo", True), ("Nowhere/Land", False), ("+99:00", False)],
)
def test_a_sessions_zone_may_be_a_fixed_offset(sidecar, main_cow, names, zone, known):
    with sidecar(roots=[str(main_cow)]).client() as client:
        reply = client.prune(request(main_cow, I_IS_100, names, time_zone=zone))
        assert any("time zone is not known" in reason for reason in reply.reasons) != known
        assert reply.skipped
