"""Audits: right skips pass, a wrong skip is found, ends the pruning of its table and raises the alarm."""

import json
import time
from dataclasses import replace

import numpy as np
import pytest

from evaluator.language.semantics import Semantics
from handler import open_table, prune
from handler.sidecar.recording.audit import SkippedFile, audit_file, choose_slices
from handler.sidecar.request_matching import ViewFiles
from handler.sidecar.view import View
from handler.sql.parsing import parse
from tests.handler.conftest import hive_filters
from tests.handler.sidecar.conftest import request
from tests.handler.sidecar.test_service import I_IS_100

HIVE4 = [one for one in hive_filters() if one["hive"] == "4.0.1"]


def files_of(table, plan, items):
    schema, semantics = open_table(table).table.schema, Semantics.named("hive4", "UTC")
    return [
        SkippedFile(
            table=str(table),
            root=str(table),
            storage_options={},
            path=item.base_file,
            expression=plan.expression,
            schema=schema,
            semantics=semantics,
            max_rows=100_000,
        )
        for item in items
    ]


@pytest.mark.parametrize("one", HIVE4, ids=lambda one: one["sql"])
def test_every_skipped_file_of_a_real_table_passes_or_is_undecided(main_cow, one):
    plan = prune(main_cow, one["filter"], "hive4", time_zone="UTC")
    verdicts = {audit_file(file) for file in files_of(main_cow, plan, plan.skipped)}
    assert verdicts <= {"passed", "undecided"}


def test_most_filters_are_decided(main_cow):
    verdicts = []
    for one in HIVE4:
        plan = prune(main_cow, one["filter"], "hive4", time_zone="UTC")
        verdicts += [audit_file(file) for file in files_of(main_cow, plan, plan.skipped[:1])]
    assert verdicts.count("passed") > len(verdicts) / 2, verdicts


def test_a_file_that_holds_a_matching_row_fails(main_cow):
    plan = prune(main_cow, I_IS_100, "hive4", time_zone="UTC")
    verdicts = [audit_file(file) for file in files_of(main_cow, plan, plan.kept)]
    assert "failed" in verdicts


@pytest.mark.parametrize(
    ("condition", "verdict"),
    [
        ("i IS NOT NULL OR i IS NULL", "failed"),
        ("i < -100000", "passed"),
        ("st.x < -100000", "passed"),
        ("no_such_column = 1", "undecided"),
        ("s RLIKE 'x'", "undecided"),
        ("t < TIMESTAMP'1900-01-02 00:00:00'", "passed"),
        ("dt < DATE'1900-01-01'", "passed"),
        ("t > TIMESTAMP'1900-01-02 00:00:00'", "failed"),
    ],
)
def test_conditions_of_every_kind_are_read_from_the_file(main_cow, condition, verdict):
    opened = open_table(main_cow)
    file = SkippedFile(
        table=str(main_cow),
        root=str(main_cow),
        storage_options={},
        path=opened.at().slices[0].base_file,
        expression=parse(condition, "hive"),
        schema=opened.table.schema,
        semantics=Semantics.named("hive4", "UTC"),
        max_rows=100_000,
    )
    assert audit_file(file) == verdict


def test_a_file_that_is_not_there_is_undecided(main_cow):
    plan = prune(main_cow, I_IS_100, "hive4", time_zone="UTC")
    [file, *_] = files_of(main_cow, plan, plan.kept)
    gone = SkippedFile(
        table=file.table,
        root=file.root,
        storage_options={},
        path="p=p0/gone.parquet",
        expression=file.expression,
        schema=file.schema,
        semantics=file.semantics,
        max_rows=10,
    )
    assert audit_file(gone) == "undecided"


def test_slices_are_drawn_from_those_of_which_files_may_be_skipped(main_cow):
    known = ViewFiles.of(open_table(main_cow).at().slices)
    places = np.arange(len(known.slice_of), dtype=np.int32)
    may_skip = np.arange(len(places)) < 3
    drawn = {item for _ in range(50) for item in choose_slices(known, places[may_skip], 2)}
    assert drawn == {known.slices[i] for i in range(3)}
    assert len(choose_slices(known, places[may_skip], 2)) == 2


def wait_for(found, seconds=60):
    end = time.monotonic() + seconds
    while not found():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_answers_are_audited_and_pass(sidecar, main_cow):
    names = [item.base_file for item in open_table(main_cow).at().slices]
    running = sidecar(roots=[str(main_cow)], audit_rate=1, audit_files=3, shadow=True)
    with running.client() as client:
        assert client.prune(request(main_cow, I_IS_100, names)).skip == b""
    wait_for(lambda: running.metric("sargo_audits_total", verdict="passed") == 3)
    assert running.metric("sargo_audit_alarm_tables") == 0
    assert running.metric("sargo_audits_total", verdict="failed") == 0


def test_a_wrong_skip_turns_the_table_off_and_raises_the_alarm(sidecar, main_cow, monkeypatch):
    decide = View.decide

    def wrong(self, question):
        found = decide(self, question)
        every = found.skipped | ~found.skipped
        return replace(found, planned=replace(found.planned, skipped=every))  # a fault: no file may hold a match

    monkeypatch.setattr(View, "decide", wrong)
    names = [item.base_file for item in open_table(main_cow).at().slices]
    running = sidecar(roots=[str(main_cow)], audit_rate=1, audit_files=len(names))
    with running.client() as client:
        assert client.prune(request(main_cow, I_IS_100, names)).skipped == len(names)
        wait_for(lambda: running.metric("sargo_audit_alarm_tables") == 1)
        reply = client.prune(request(main_cow, I_IS_100, names))
        assert (reply.skip, reply.skipped) == (b"", 0)
        assert "audit" in reply.reasons[0]
        assert json.loads(client.health())["turned_off"] == 1
    assert running.metric("sargo_audits_total", verdict="failed") >= 1
    [line] = [json.loads(text) for text in running.log.getvalue().splitlines() if "audit_failed" in text][:1]
    assert (line["level"], line["table"]) == ("error", str(main_cow))


def test_shadow_mode_reports_what_it_would_skip_and_skips_nothing(sidecar, main_cow):
    names = [item.base_file for item in open_table(main_cow).at().slices]
    running = sidecar(roots=[str(main_cow)], shadow=True)
    with running.client() as client:
        reply = client.prune(request(main_cow, I_IS_100, names))
        assert (reply.skip, reply.skipped, reply.reasons[0]) == (b"", 0, "shadow mode")
        assert "could be)" in client.explain(reply.report_id)
    assert running.metric("sargo_files_could_skip_total") > 0
    assert running.metric("sargo_files_skipped_total") == 0
