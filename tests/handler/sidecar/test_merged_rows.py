"""Own sketches of merged rows: they count for engines that say that they show merged rows alone."""

from __future__ import annotations

import pytest

from handler import open_table
from handler.sidecar.requests import read_plan_request
from handler.sidecar.roots.allowed_roots import AllowedRoots
from handler.sidecar.settings import Settings
from index_store.own.builders.local import build_locally
from index_store.own.definition import Definition, Entry
from index_store.own.maintenance.operations import create
from index_store.own.store.folder import Folder
from index_store.own.store.locations import OTHERS
from index_store.table.table_options import ROWS, STORED
from tests.handler.catalyst.documents import attribute, document, literal, node
from tests.handler.conftest import hive_filters
from tests.handler.sidecar.conftest import request, skipped_names
from tests.handler.sidecar.plans.questions import plan_request
from tests.index_store.merged_tables import Group, Written, instant, log, write_merged

SPARK_FILTER = document((node("EqualTo", attribute("i", "integer"), literal(100, "integer")), {})).decode()
HIVE_FILTER = next(one["filter"] for one in hive_filters() if one["sql"] == "i = 100")
#: In the base file of the first slice i is 100 in a row that a log file updates to 20; the second one has no log file.
GROUPS = (
    Group(
        [{"k": "a", "ts": 1, "i": 90, "s": "x"}, {"k": "b", "ts": 1, "i": 100, "s": "x"}],
        [Written(instant(1), [{"k": "b", "ts": 2, "i": 20, "s": "x"}])],
    ),
    Group([{"k": "c", "ts": 1, "i": 95, "s": "x"}, {"k": "d", "ts": 1, "i": 200, "s": "x"}]),
)


def written(tmp_path, version):
    folder = write_merged(tmp_path / "t", GROUPS, version=version)
    sketches = Definition("all", (Entry("i", "value_list(limit=20)"),))
    create(Folder.at(tmp_path / "index"), open_table(folder).table, sketches, build_locally)
    return folder


@pytest.fixture(params=[8, 9])
def table(tmp_path, request):
    return written(tmp_path, request.param)


@pytest.fixture
def running(sidecar, table):
    return sidecar(roots=[str(table)], table_options={str(table): {OTHERS: str(table.parent / "index")}})


def slices(table):
    return [item.files for item in open_table(table, cache=None).at().slices]


def asked(table, names, engine, **given):
    spark = {"engine": "spark-ansi", "engine_version": "3.5.5"} if engine == "spark" else {}
    return request(table, SPARK_FILTER if spark else HIVE_FILTER, names, **{**spark, **given})


@pytest.mark.parametrize("engine", ["hive", "spark"])
@pytest.mark.parametrize(
    ("given", "merged"),
    [
        ({"merges_rows": True}, True),
        ({"merges_rows": True, "query_type": "as_of", "instant": instant(1)}, True),
        ({"merges_rows": False}, False),
        ({}, False),
        ({"merges_rows": True, "query_type": "read_optimized"}, False),
    ],
)
def test_a_slice_is_skipped_by_its_merged_rows_where_the_engine_shows_no_others(running, table, engine, given, merged):
    with_logs, plain = slices(table)
    names = [*with_logs, *plain]
    with running.client() as client:
        reply = client.prune(asked(table, names, engine, **given))
        assert skipped_names(names, reply) == {*plain, *(with_logs if merged else ())}
        turned = {**given, "merges_rows": not given.get("merges_rows")}  # a remembered answer is that of its question
        again = client.prune(asked(table, names, engine, **turned))
        if given.get("query_type") != "read_optimized":
            assert skipped_names(names, again) == {*plain, *(() if merged else with_logs)}


def test_a_list_without_the_log_file_skips_only_what_needs_no_merge(running, table):
    with_logs, plain = slices(table)
    with running.client() as client:
        names = [with_logs[0], *plain]
        assert skipped_names(names, client.prune(asked(table, names, "spark", merges_rows=True))) == {*plain}


def test_a_slice_that_got_another_log_file_is_kept(running, table):
    with running.client() as client:
        before = [name for files in slices(table) for name in files]
        assert client.prune(asked(table, before, "hive", merges_rows=True)).skipped == len(before)
        log(table, 0, Written(instant(2), [{"k": "a", "ts": 3, "i": 100, "s": "x"}]))
        with_logs, plain = slices(table)
        names = [*with_logs, *plain]
        assert skipped_names(names, client.prune(asked(table, names, "hive", merges_rows=True))) == {*plain}


@pytest.mark.parametrize(
    ("query_type", "merges", "rows"),
    [(None, True, "merged"), (None, None, "stored"), ("snapshot", True, "merged"), ("read_optimized", True, "stored")],
)
def test_a_question_for_the_list_is_about_the_rows_that_are_shown(tmp_path, query_type, merges, rows):
    settings = Settings(port=0, metrics_port=0, roots=[str(tmp_path)])
    roots = AllowedRoots(settings.roots)
    given = {"filter_": HIVE_FILTER, "instant": instant(0), "query_type": query_type, "merges_rows": merges}
    question = read_plan_request(plan_request(tmp_path, **given, instant_count=1), settings, roots)
    assert question.query.rows == rows


def test_an_option_of_the_table_switches_them_off(sidecar, table):
    options = {OTHERS: str(table.parent / "index"), ROWS: STORED}
    running = sidecar(roots=[str(table)], table_options={str(table): options})
    with_logs, plain = slices(table)
    names = [*with_logs, *plain]
    with running.client() as client:
        assert skipped_names(names, client.prune(asked(table, names, "spark", merges_rows=True))) == {*plain}


def test_log_files_that_are_appended_to_are_not_taken_as_merged(sidecar, tmp_path):
    """In table version 6 a reader of the instant before shows 100, of files with the same names."""
    table = written(tmp_path, 6)
    running = sidecar(roots=[str(table)], table_options={str(table): {OTHERS: str(table.parent / "index")}})
    with_logs, plain = slices(table)
    names = [*with_logs, *plain]
    with running.client() as client:
        for engine in ("hive", "spark"):
            assert skipped_names(names, client.prune(asked(table, names, engine, merges_rows=True))) == {*plain}
