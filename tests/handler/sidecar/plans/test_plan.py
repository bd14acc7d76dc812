"""plan() against what Sargo lists and plans by itself, on real tables of every version and type."""

import json
import os
import zlib

import pytest

from handler import open_table, prune
from handler.sidecar.idl import MAX_UNKNOWN_PARTITIONS, RefusedMessage
from handler.sidecar.settings import Settings
from tests.handler.conftest import DATA, hive_filters
from tests.handler.sidecar.conftest import Running
from tests.handler.sidecar.plans.questions import plan_request, read_files, slices_of, state_of
from tests.handler.sidecar.recording.test_audit import wait_for
from tests.sampling import share

TABLES = sorted(path.stem for path in DATA.glob("*.zip"))
FILTERS = {(one["hive"], one["sql"]): one["filter"] for one in hive_filters()}
I_IS_100 = FILTERS["4.0.1", "i = 100"]


@pytest.fixture(scope="module")
def answering(unpack, tmp_path_factory):
    """One sidecar for all tables."""
    roots = [str(unpack(name)) for name in TABLES]
    with Running(Settings(port=0, metrics_port=0, request_seconds=30, roots=roots)) as running:
        yield running


@pytest.mark.parametrize("query_type", ["snapshot", "read_optimized"])
@pytest.mark.parametrize("name", share(TABLES, 3, seed=5))
def test_without_a_filter_the_answer_is_the_table_s_slices_with_the_lengths_on_disk(
    answering, unpack, name, query_type
):
    table = unpack(name)
    expected = [
        item.files if query_type == "snapshot" else (item.base_file,)
        for item in open_table(table, cache=None).at().slices
        if query_type == "snapshot" or item.base_file
    ]
    with answering.client() as client:
        reply = client.plan(plan_request(table, query_type=query_type))
    assert slices_of(reply) == expected
    assert {file: length for file, length, _ in read_files(reply)} == {
        file: os.path.getsize(table / file) for files in expected for file in files
    }
    assert (reply.instant, reply.skipped, reply.digest) == (state_of(table)[0], 0, 0)
    assert reply.reasons == ["the scan has no filter"]


@pytest.mark.parametrize("name", ["0.15.0_main_cow", "1.0.2_main_cow", "1.1.1_main_cow", "1.1.1_main_mor"])
@pytest.mark.parametrize("hive", ["3.1.3", "4.0.1"])
def test_with_a_filter_the_answer_is_what_prune_keeps(answering, unpack, name, hive):
    table = unpack(name)
    opened = open_table(table, cache=None)
    engine = f"hive{hive[0]}"
    with answering.client() as client:
        for (version, sql), text in FILTERS.items():
            if version != hive:
                continue
            plan = prune(opened, text, engine, time_zone="UTC")
            reply = client.plan(plan_request(table, filter_=text, engine=engine))
            assert slices_of(reply) == [item.files for item in plan.kept], sql
            assert reply.skipped == len(plan.skipped), sql
            assert reply.fully_matched == len(plan.fully_matched), sql


def test_only_the_partitions_that_are_asked_for_come_back(answering, unpack):
    table = unpack("1.1.1_main_cow")
    slices = list(open_table(table, cache=None).at().slices)
    partitions = sorted({item.partition for item in slices})
    with answering.client() as client:
        for asked in (partitions[:1], partitions[1:], partitions[::-1], partitions[:1] * 2):
            request = plan_request(table, asked)
            packed = zlib.compress(request.partitions)
            for given in (request, plan_request(table, asked, partitions=packed, partitions_compressed=True)):
                reply = client.plan(given)
                assert slices_of(reply) == [item.files for item in slices if item.partition in asked]
                assert reply.digest == zlib.crc32(given.partitions)


@pytest.mark.parametrize("more", [["p=none"], [f"p={i}/q" for i in range(MAX_UNKNOWN_PARTITIONS)]], ids=len)
def test_partitions_that_the_table_does_not_have_are_named(answering, unpack, more):
    table = unpack("1.1.1_main_cow")
    known = sorted({item.partition for item in open_table(table, cache=None).at().slices})[:1]
    asked = [*more[:1], *known, *more[1:]]
    with answering.client() as client:
        reply = client.plan(plan_request(table, asked, accepts_unknown=True))
        assert read_files(reply) == read_files(client.plan(plan_request(table, known)))
        assert reply.unknown_partitions == more
        assert reply.digest == zlib.crc32("\n".join(asked).encode())
        assert client.plan(plan_request(table, known, accepts_unknown=True)).unknown_partitions is None
        nothing = client.plan(plan_request(table, more, accepts_unknown=True))
        assert (read_files(nothing), nothing.unknown_partitions) == ([], more)


@pytest.mark.parametrize(
    ("more", "accepts"),
    [
        (["p=none"], None),
        (["p=none"], False),
        ([""], True),
        ([f"p={i}" for i in range(1000, 1001 + MAX_UNKNOWN_PARTITIONS)], True),
    ],
    ids=["an earlier client", "a client that does not want it", "the base path", "too many"],
)
def test_otherwise_a_question_about_such_a_partition_is_refused(answering, unpack, more, accepts):
    table = unpack("1.1.1_main_cow")
    known = sorted({item.partition for item in open_table(table, cache=None).at().slices})
    with (
        answering.client() as client,
        pytest.raises(RefusedMessage, match="does not know one of the partitions") as refused,
    ):
        client.plan(plan_request(table, [*known, *more], accepts_unknown=accepts))
    assert refused.value.code == "listing"


def test_a_table_without_partitions_has_one_whose_path_is_empty(answering, unpack):
    table = unpack("1.1.1_nonpart_mor")
    with answering.client() as client:
        assert slices_of(client.plan(plan_request(table, [""]))) == slices_of(client.plan(plan_request(table)))


def test_an_answer_without_a_file_is_an_answer(answering, unpack):
    table = unpack("1.1.1_main_cow")
    plans = (
        (text, prune(table, text, "hive4", time_zone="UTC")) for (hive, _), text in FILTERS.items() if hive == "4.0.1"
    )
    asked = (
        (text, plan, sorted({item.partition for item in plan.slices} - {item.partition for item in plan.kept}))
        for text, plan in plans
    )
    text, plan, empty = next(one for one in asked if one[2])
    with answering.client() as client:
        reply = client.plan(plan_request(table, empty, text))
    assert (read_files(reply), reply.slice_count) == ([], 0)
    assert reply.skipped == sum(item.partition in empty for item in plan.slices) > 0


def test_shadow_mode_lists_and_skips_nothing(sidecar, main_cow):
    running = sidecar(roots=[str(main_cow)], shadow=True)
    with running.client() as client:
        reply = client.plan(plan_request(main_cow, filter_=I_IS_100))
        assert slices_of(reply) == [item.files for item in open_table(main_cow).at().slices]
    assert reply.skipped == 0
    assert reply.reasons[0] == "shadow mode"
    assert running.metric("sargo_files_could_skip_total") > 0


def test_an_answer_has_a_report_and_stands_in_the_log(sidecar, main_cow):
    running = sidecar(roots=[str(main_cow)])
    with running.client() as client:
        reply = client.plan(plan_request(main_cow, filter_=I_IS_100, query_id="q1", user="eve"))
        text = client.explain(reply.report_id)
    assert "query     q1   user eve" in text
    line = next(one for one in map(json.loads, running.log.getvalue().splitlines()) if one["event"] == "answered")
    kept = len(read_files(reply))
    assert (line["listed"], line["known"], line["skipped"]) == (14, 14, 14 - kept)
    assert running.metric("sargo_files_skipped_total") == 14 - kept
    assert running.metric("sargo_requests_total", method="plan", end="answered") == 1


def test_skipped_files_of_a_plan_are_audited(sidecar, main_cow):
    running = sidecar(roots=[str(main_cow)], audit_rate=1.0)
    with running.client() as client:
        client.plan(plan_request(main_cow, filter_=I_IS_100))
        wait_for(lambda: running.metric("sargo_audits_total", verdict="passed"))
    assert running.metric("sargo_audits_total", verdict="failed") == 0
