"""``prune`` with own indexes, ``files`` and ``inspect`` in a store with faults: the usual answer, or why not."""

from __future__ import annotations

import itertools
import shutil
from pathlib import Path
from typing import Any

import pytest

import handler
from handler.inspection.listing_report import report_files
from handler.inspection.table_report import report_table
from index_store import TableError
from index_store.own.store.locations import DIRECTORY
from tests.handler.object_stores.index_cases import Prepared
from tests.handler.object_stores.test_faults import PLACES
from tests.handler.object_stores.test_faults_of_indexes import KINDS
from tests.s3.store import running
from tests.sampling import share

FILTERS = ("i BETWEEN 1 AND 50", "s = 'banana-020'", "i = -7 OR s = 'nowhere'")
OPTIONS = {"tries": "3", "deadline": "4", "request_timeout": "1", "connect_timeout": "1"}
#: What shows an older state of a table or no index at all says nothing of what it does not show.
SILENT = ("empty", "lag")
OF_INDEXES = ("coverage", "untrusted")
COMMANDS = ("prune", "files", "files of a partition", "inspect")
CASES = [
    (command, {**KINDS[kind], **often, "path": place}, seed)
    for seed, (command, kind, place, often) in enumerate(
        itertools.product(
            COMMANDS,
            sorted(KINDS.keys() - {"lost", "412"}),
            (*PLACES, rf"\{DIRECTORY}/.*/versions", rf"\{DIRECTORY}/[^/]*/[^v]", rf"\{DIRECTORY}/$"),
            ({"count": 1}, {"p": 0.01}, {"p": 0.1}, {"p": 1.0}),
        )
    )
]


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    with running(tmp_path_factory.mktemp("s3")) as found:
        yield found


@pytest.fixture(scope="module")
def expected(store, tmp_path_factory, unpack) -> dict[str, Any]:
    """What every command says when nothing goes wrong; the table, which has two indexes, is put into the bucket."""
    root = tmp_path_factory.mktemp("reads")
    table = Path(shutil.copytree(unpack("1.1.1_main_cow"), root / "table"))
    Prepared.of(table, root / "aside", knows_all=True).put(store, "reads")
    return {command: said(store, command) for command in COMMANDS}


def said(store, command: str) -> Any:
    table = handler.open_table(store.uri("reads"), storage_options={**store.options, **OPTIONS}, cache=None)
    match command:
        case "prune":
            return [handler.prune(table, where, time_zone="UTC") for where in FILTERS]
        case "files":
            return report_files(table).to_dict()
        case "files of a partition":
            return report_files(table, "p=p1").to_dict()
    return report_table(table).to_dict()


def test_a_plan_reads_both_indexes(store, expected):
    """Otherwise a fault of theirs would change nothing."""
    assert all(len(plan.kept) < len(plan.slices) for plan in expected["prune"])
    with store.answering():
        said(store, "prune")
    read = {one["path"] for one in store.take() if one["kind"] == "GET"}
    for folder in ("sketches/versions", "sketches/statistics", "keys/versions", "keys/entries"):
        assert any(f"/{DIRECTORY}/{folder}/" in path for path in read), folder


def test_a_reason_says_that_a_newer_version_of_an_index_cannot_be_read(store, expected):
    versions = max((store.bucket / "reads" / DIRECTORY / "keys/versions").iterdir())
    with store.answering({"kind": "403", "path": versions.name, "method": "GET"}):
        plans = said(store, "prune")
    for plan in plans:
        assert any(f"{DIRECTORY}/keys" in one.text and versions.name in one.text for one in plan.reasons), plan.reasons
    check_plans(plans, expected["prune"], silent=False)


@pytest.mark.parametrize(("command", "fault", "seed"), share(CASES, 576, seed=19), ids=str)
def test_no_fault_changes_what_a_command_says_without_a_word(store, expected, command, fault, seed):
    usual = expected[command]
    try:
        with store.answering(fault, seed=seed):
            found = said(store, command)
    except TableError as error:
        assert "reads" in error.path  # noqa: PT017
        found = usual
    if command == "prune":
        check_plans(found, usual, silent=fault["kind"] in SILENT)
    elif shown(found, fault) != shown(usual, fault) and (
        fault["kind"] not in SILENT or found["instant"] == usual["instant"]
    ):
        assert words(found) - words(usual), "nothing says why it is not what it usually is"
        if command != "inspect":
            assert {**found, "note": "", "listed_from": ""} == {**usual, "note": "", "listed_from": ""}
    assert command == "prune" or said(store, command) == usual


def check_plans(found, usual, *, silent: bool) -> None:
    for plan, before in zip(found, usual, strict=True):
        lost = {one.base_file for one in before.kept} - {one.base_file for one in plan.kept}
        assert not lost, plan.reasons
        if len(plan.kept) > len(before.kept) and not silent:
            assert set(plan.reasons) - set(before.reasons), "no reason says why more is kept"


def shown(document: dict[str, Any], fault: dict[str, Any]) -> dict[str, Any]:
    """What a report says, without what own indexes add to it where a listing may not show these."""
    return {name: value for name, value in document.items() if name not in OF_INDEXES or fault["kind"] not in SILENT}


def words(document: dict[str, Any]) -> set[str]:
    """The notes, failures and reasons of a report."""
    slices = document.get("slices", {})
    notes = {document.get("note", ""), slices.get("note", ""), *document.get("failures", ())}
    return notes | {index["why_not"] for index in document.get("indexes", ()) if index["why_not"]}
