"""The log of filters: a line for every answered filter, as Hive sent it, in files that stay within their limit."""

import base64
import json
import os
import stat

import pytest

from handler import open_table, prune
from handler.sidecar import service
from handler.sidecar.settings import Settings, SettingsError
from tests.handler.conftest import hive_filters
from tests.handler.sidecar.conftest import Running, request, skipped_names

FILTERS = [one for one in hive_filters() if one["hive"] == "4.0.1"]


@pytest.fixture(scope="module")
def names(main_cow):
    return [item.base_file for item in open_table(main_cow).at().slices]


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def test_a_line_has_what_is_needed_to_ask_again(sidecar, main_cow, names, tmp_path):
    path = tmp_path / "filters.jsonl"
    running = sidecar(roots=[str(main_cow)], filter_log=path)
    with running.client() as client:
        replies = [client.prune(request(main_cow, one["filter"], names, time_zone="Europe/Berlin")) for one in FILTERS]
        client.prune(request(main_cow, "no filter", names))  # cannot be read: not answered
    found = lines(path)
    assert len(found) == len(FILTERS)
    for line, reply, one in zip(found, replies, FILTERS, strict=True):
        assert (line["table"], line["engine"], line["listed"]) == (str(main_cow), "hive4", len(names))
        assert line["filter"] == one["filter"]
        assert base64.b64decode(line["filter"], validate=True)
        plan = prune(line["table"], line["filter"], line["engine"], time_zone=line["time_zone"])
        assert line["skipped"] == reply.skipped == len(skipped_names(names, reply))
        assert len(plan.skipped) == line["skipped"]
        assert line["time"].startswith("20")
    assert not any(one["filter"] in running.log.getvalue() for one in FILTERS)


def test_it_is_off_unless_asked_for(sidecar, main_cow, names, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with sidecar(roots=[str(main_cow)]).client() as client:
        client.prune(request(main_cow, FILTERS[0]["filter"], names))
    assert os.listdir(tmp_path) == []


def test_the_files_stay_within_their_limit_and_are_for_their_owner_only(sidecar, main_cow, names, tmp_path):
    path = tmp_path / "filters.jsonl"
    running = sidecar(roots=[str(main_cow)], filter_log=path, filter_log_bytes=8192, filter_log_older=2)
    with running.client() as client:
        for _ in range(40):
            client.prune(request(main_cow, FILTERS[0]["filter"], names))
    files = sorted(tmp_path.iterdir())
    assert [file.name for file in files] == ["filters.jsonl", "filters.jsonl.1", "filters.jsonl.2"]
    for file in files:
        assert 0 < file.stat().st_size <= 8192
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert all(line["filter"] == FILTERS[0]["filter"] for line in lines(file))


def test_a_filter_that_would_fill_the_log_is_answered_and_not_logged(sidecar, main_cow, names, tmp_path, monkeypatch):
    short, long = sorted((FILTERS[0]["filter"], FILTERS[1]["filter"] + " " * 1_000), key=len)
    monkeypatch.setattr(service, "_MAX_LOGGED_FILTER", len(long) - 1)
    running = sidecar(roots=[str(main_cow)], filter_log=tmp_path / "filters.jsonl")
    with running.client() as client:
        for text in (long, short):
            assert client.prune(request(main_cow, text, names)).report_id
    assert [line["filter"] for line in lines(tmp_path / "filters.jsonl")] == [short]


def test_a_file_that_cannot_be_opened_ends_the_start(main_cow, tmp_path):
    settings = Settings(roots=(str(main_cow),), port=0, metrics_port=-1, filter_log=tmp_path / "none" / "filters")
    with pytest.raises(SettingsError, match="filter_log"), Running(settings):
        pass


def test_a_full_disk_costs_lines_and_no_answer_and_is_said_once_without_values(sidecar, main_cow, names):
    full = "/dev/full"
    if not os.path.exists(full):
        pytest.skip("needs a disk that is full")
    running = sidecar(roots=[str(main_cow)], filter_log=full)
    with running.client() as client:
        for _ in range(3):
            assert client.prune(request(main_cow, FILTERS[0]["filter"], names)).skipped > 0
    said = [json.loads(line) for line in running.log.getvalue().splitlines()]
    assert [line["event"] for line in said].count("filter_log_failed") == 1
    assert FILTERS[0]["filter"][:40] not in running.log.getvalue()
