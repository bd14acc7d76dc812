"""The sidecar over a real connection: its bits are the planner's answer about the listed names, and nothing else's."""

import json
import zlib

import pytest
from click.testing import CliRunner

from handler import open_table, prune
from handler.cli import main
from handler.sidecar.idl import interface
from tests.handler.conftest import hive_filters
from tests.handler.sidecar.conftest import request, skipped_names

FILTERS = {(one["hive"], one["sql"]): one["filter"] for one in hive_filters()}
I_IS_100 = FILTERS["4.0.1", "i = 100"]
ENGINES = {"3.1.3": "hive3", "4.0.1": "hive4"}


@pytest.fixture(scope="module")
def names(main_cow):
    return [item.base_file for item in open_table(main_cow).at().slices]


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
        for _ in range(2):                                    # the second list is one that was seen before
            reply = client.prune(asked)
            assert reply.protocol_version == interface().PROTOCOL_VERSION
            assert reply.digest == zlib.crc32(asked.names)
            assert len(reply.skip) == (len(names) + 7) // 8


def test_names_that_are_not_the_tables_files_get_no_bit(sidecar, main_cow, names):
    with sidecar(roots=[str(main_cow)]).client() as client:
        known = skipped_names(names, client.prune(request(main_cow, I_IS_100, names)))
        skipped = sorted(known)[0]
        strange = ["", "x", f"/{skipped}", f"./{skipped}", f"{skipped} ", f"{skipped}\r", skipped.upper(),
                   skipped.replace("p=", "p%3D"), f"../{main_cow.name}/{skipped}", skipped[:-1], "\u0000", "\ud7ff",
                   skipped.rpartition("/")[2], f"elsewhere/{skipped.rpartition('/')[2]}"]
        mixed = [*strange, skipped, skipped]
        reply = client.prune(request(main_cow, I_IS_100, mixed))
        assert skipped_names(mixed, reply) == {skipped}
        assert (reply.skipped, reply.covered) == (2, 2)       # a name that stands twice may be skipped twice


@pytest.mark.parametrize(("given", "code"), [
    ({"protocol_version": 2}, "version"), ({"protocol_version": None}, "request"), ({"engine": "spark"}, "request"),
    ({"engine": None}, "request"), ({"query_type": "time travel"}, "request"), ({"name_count": 3}, "request"),
    ({"name_count": -1}, "limit"), ({"name_count": 1 << 30}, "limit"), ({"names": None}, "request"),
    ({"names_compressed": True}, "request"), ({"table": ""}, "table"), ({"table": "/etc"}, "table"),
    ({"query_type": "as_of"}, "request"), ({"filter": b"x" * (5 << 20)}, "limit"),
], ids=str)
def test_a_request_that_cannot_be_meant_is_refused_with_a_code(sidecar, main_cow, names, given, code):
    asked = request(main_cow, I_IS_100, names)
    for name, value in given.items():
        setattr(asked, name, value)
    with sidecar(roots=[str(main_cow)]).client() as client:
        with pytest.raises(interface().Refused) as refused:
            client.prune(asked)
        assert refused.value.code == code
        assert client.prune(request(main_cow, I_IS_100, names)).skipped > 0     # the connection lives on


@pytest.mark.parametrize("text", ["", "i = 100", "AQEAamF2", "\u00e9", "A" * 500, I_IS_100[:-8]],
                         ids=["empty", "SQL", "short", "not ASCII", "garbage", "cut"])
def test_a_filter_that_cannot_be_read_skips_nothing_and_says_so(sidecar, main_cow, names, text):
    running = sidecar(roots=[str(main_cow)])
    with running.client() as client:
        reply = client.prune(request(main_cow, text, names))
    assert (reply.skip, reply.skipped) == (b"", 0)
    assert reply.reasons[0] == "the filter cannot be read"
    assert running.metric("sargo_skipped_nothing_total", because="filter") == 1


def test_a_filter_of_too_many_parts_for_so_many_slices_skips_nothing_and_says_so(sidecar, main_cow, names):
    parts = 2                                                 # the comparison and its column
    for most, skips in ((parts * len(names), True), (parts * len(names) - 1, False)):
        running = sidecar(roots=[str(main_cow)], max_evaluations=most)
        with running.client() as client:
            reply = client.prune(request(main_cow, I_IS_100, names))
        assert bool(reply.skipped) is skips
        assert running.metric("sargo_skipped_nothing_total", because="size") == (not skips)
    assert reply.reasons[0] == "the filter has too many parts for so many file slices"
    assert "max_evaluations" in reply.reasons[1]


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
            asked = request(main_cow, I_IS_100, many, filter_text="i = 100 " * 100_000, user="\u00e9" * 70_000,
                            names_compressed=compressed)
            reply = client.prune(asked)
            assert skipped_names(many, reply) == expected
            assert (len(reply.skip), reply.digest) == ((len(many) + 7) // 8, zlib.crc32(asked.names))


@pytest.mark.parametrize(("change", "code"), [
    (lambda blob: blob[:-1], "request"), (lambda blob: blob + b"x", "request"), (lambda _: b"", "request"),
    (lambda _: zlib.compress(b"a" * (2 << 20)), "limit")], ids=["cut", "more behind", "nothing", "a bomb"])
def test_a_compressed_list_that_is_not_one_list_is_refused(sidecar, main_cow, names, change, code):
    asked = request(main_cow, I_IS_100, names, names_compressed=True)
    asked.names = change(asked.names)
    with sidecar(roots=[str(main_cow)], max_names_bytes=1 << 20).client() as client:
        with pytest.raises(interface().Refused) as refused:
            client.prune(asked)
        assert refused.value.code == code


def test_no_names_are_an_answer_of_no_bits(sidecar, main_cow):
    with sidecar(roots=[str(main_cow)]).client() as client:
        reply = client.prune(request(main_cow, I_IS_100, []))
    assert (reply.skip, reply.skipped, reply.name_count, reply.digest) == (b"", 0, 0, 0)


def test_health_and_version_say_that_it_is_there(sidecar, main_cow):
    with sidecar(roots=[str(main_cow)]).client() as client:
        assert json.loads(client.health())["status"] == "ok"
        assert json.loads(client.version())["protocol"] == interface().PROTOCOL_VERSION


def test_explain_tells_what_was_skipped_and_why_not_more(sidecar, main_cow, names):
    with sidecar(roots=[str(main_cow)]).client() as client:
        reply = client.prune(request(main_cow, I_IS_100, names, query_id="hive_1", user="ann"))
        text = client.explain(reply.report_id)
        assert f"{len(names)} listed, {len(names)} known, {reply.skipped} skipped" in text
        assert "hive_1" in text
        assert "i = 100" in text
        with pytest.raises(interface().Refused) as refused:
            client.explain("another")
        assert refused.value.code == "unknown_report"


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
