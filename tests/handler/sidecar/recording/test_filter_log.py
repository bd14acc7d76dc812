"""The log of filters: a line for every answered filter, as Hive sent it, in files that stay within their limit."""

import base64
import contextlib
import json
import os
import stat

import pytest

from handler import prune
from handler.sidecar.recording import records
from handler.sidecar.recording.filter_log import _Files as FilterLogFiles
from handler.sidecar.settings import Settings, SettingsError
from tests.handler.conftest import hive_filters
from tests.handler.sidecar.conftest import Running, request, skipped_names

FILTERS = [one for one in hive_filters() if one["hive"] == "4.0.1"]


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
    monkeypatch.setattr(records, "_MAX_LOGGED_FILTER", len(long) - 1)
    running = sidecar(roots=[str(main_cow)], filter_log=tmp_path / "filters.jsonl")
    with running.client() as client:
        for text in (long, short):
            assert client.prune(request(main_cow, text, names)).report_id
    assert [line["filter"] for line in lines(tmp_path / "filters.jsonl")] == [short]


def test_a_file_that_cannot_be_opened_ends_the_start(main_cow, tmp_path):
    settings = Settings(roots=(str(main_cow),), port=0, metrics_port=-1, filter_log=tmp_path / "none" / "filters")
    with pytest.raises(SettingsError, match="filter_log"), Running(settings):
        pass


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o777], ids=oct)
def test_files_that_are_already_there_become_their_owners_only(sidecar, main_cow, names, tmp_path, umask):
    path = tmp_path / "filters.jsonl"
    for file in (path, tmp_path / "filters.jsonl.1", tmp_path / "filters.jsonl.4"):
        file.write_text("{}\n")
        file.chmod(0o666)
    before = os.umask(umask)
    try:
        running = sidecar(roots=[str(main_cow)], filter_log=path)
    finally:
        os.umask(before)
    with running.client() as client:
        client.prune(request(main_cow, FILTERS[0]["filter"], names))
    assert {stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()} == {0o600}
    assert len(lines(path)) == 2


def _link(path, elsewhere):
    path.symlink_to(elsewhere)


def _dangling_link(path, elsewhere):
    path.symlink_to(elsewhere.with_name("new"))


def _hard_link(path, elsewhere):
    os.link(elsewhere, path)


def _folder(path, elsewhere):
    del elsewhere
    path.mkdir()


def _pipe(path, elsewhere):
    del elsewhere
    os.mkfifo(path)


@pytest.mark.parametrize("name", ["filters.jsonl", "filters.jsonl.2"])
@pytest.mark.parametrize("make", [_link, _dangling_link, _hard_link, _folder, _pipe])
def test_what_is_not_a_file_of_our_own_ends_the_start(main_cow, tmp_path, make, name):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text("theirs")
    elsewhere.chmod(0o644)
    make(tmp_path / name, elsewhere)
    settings = Settings(roots=(str(main_cow),), port=0, metrics_port=-1, filter_log=tmp_path / "filters.jsonl")
    with pytest.raises(SettingsError, match="filter_log"), Running(settings):
        pass
    assert (elsewhere.read_text(), stat.S_IMODE(elsewhere.stat().st_mode)) == ("theirs", 0o644)
    assert not (tmp_path / "new").exists()


def test_a_device_is_refused(main_cow):
    settings = Settings(roots=(str(main_cow),), port=0, metrics_port=-1, filter_log="/dev/null")
    with pytest.raises(SettingsError, match="not a regular file"), Running(settings):
        pass


def test_a_file_of_another_user_is_refused(main_cow, tmp_path, monkeypatch):
    path = tmp_path / "filters.jsonl"
    path.write_text("")
    monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
    settings = Settings(roots=(str(main_cow),), port=0, metrics_port=-1, filter_log=path)
    with pytest.raises(SettingsError, match="another user"), Running(settings):
        pass


def test_a_link_that_takes_the_place_of_the_log_is_not_followed(sidecar, main_cow, names, tmp_path):
    path, elsewhere = tmp_path / "filters.jsonl", tmp_path / "elsewhere"
    elsewhere.write_text("")
    running = sidecar(roots=[str(main_cow)], filter_log=path, filter_log_bytes=4096)
    with running.client() as client:
        client.prune(request(main_cow, FILTERS[0]["filter"], names))
        monkey = FilterLogFiles.doRollover

        def swapped(self):
            monkey(self)
            self.stream.close()
            self.stream = None
            path.unlink()
            path.symlink_to(elsewhere)

        FilterLogFiles.doRollover = swapped
        try:
            for _ in range(20):
                assert client.prune(request(main_cow, FILTERS[0]["filter"], names)).skipped > 0
        finally:
            FilterLogFiles.doRollover = monkey
    assert elsewhere.read_text() == ""
    assert "filter_log_failed" in running.log.getvalue()


def test_a_full_disk_costs_lines_and_no_answer_and_is_said_once_without_values(
    sidecar, main_cow, names, tmp_path, monkeypatch
):
    if not os.path.exists("/dev/full"):
        pytest.skip("needs a disk that is full")
    running = sidecar(roots=[str(main_cow)], filter_log=tmp_path / "filters.jsonl")
    # its end fails too: what is not written stays in its buffer
    with contextlib.suppress(OSError), open("/dev/full", "w") as full, running.client() as client:
        monkeypatch.setattr(running.sidecar.service.records._filter_log._handler, "stream", full)
        for _ in range(3):
            assert client.prune(request(main_cow, FILTERS[0]["filter"], names)).skipped > 0
    said = [json.loads(line) for line in running.log.getvalue().splitlines()]
    assert [line["event"] for line in said].count("filter_log_failed") == 1
    assert FILTERS[0]["filter"][:40] not in running.log.getvalue()
