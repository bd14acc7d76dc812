"""Tables that the settings name: open before health says so, and none keeps the sidecar from becoming healthy."""

import json
import shutil
import threading
import urllib.error
import urllib.request

import pytest
from click.testing import CliRunner

from handler import open_table
from handler.cli.main import main
from handler.sidecar.client import Client, Clients
from handler.sidecar.idl import Refused
from handler.sidecar.settings import Settings, SettingsError
from index_store.table.table import Table
from tests.handler.sidecar.conftest import Running, request
from tests.handler.sidecar.recording.test_audit import wait_for
from tests.handler.sidecar.test_service import I_IS_100
from tests.s3.store import running


@pytest.fixture
def gate(monkeypatch):
    """Opened tables wait for it."""
    gate, make = threading.Event(), Table.__init__

    def held_back(self, *given, **more):
        assert gate.wait(30)
        make(self, *given, **more)

    monkeypatch.setattr(Table, "__init__", held_back)
    yield gate
    gate.set()


def health(one):
    with one.client() as client:
        return json.loads(client.health())


def page_status(one):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{one.sidecar.metrics_port}/healthz", timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def test_tables_are_open_before_health_says_so_and_none_that_cannot_be_opened_prevents_it(
    sidecar, main_cow, tmp_path, gate
):
    names = [shutil.copytree(main_cow, tmp_path / name) for name in "ab"]
    listed = ["x"]
    started = sidecar(roots=[str(tmp_path)], tables=[*map(str, names), str(tmp_path / "none")])
    found = health(started)
    assert (found["status"], page_status(started)) == ("starting", 503)
    assert found["opening"] >= 2
    assert str(tmp_path) not in json.dumps(found)  # health is open to everybody, and names nothing
    gate.set()
    wait_for(lambda: health(started)["status"] == "ok")
    found = health(started)
    assert (found["opening"], found["not_opened"], found["tables"]) == (0, 1, 2)
    assert page_status(started) == 200
    log = [json.loads(line) for line in started.log.getvalue().splitlines()]
    assert {one["table"] for one in log if one["event"] == "opened"} == set(map(str, names))
    [failed] = [one for one in log if one["event"] == "not_opened"]
    assert failed["table"] == str(tmp_path / "none")
    assert "not a Hudi table" in failed["why"]
    with started.client() as client:
        assert client.prune(request(names[0], I_IS_100, listed)).instant


def test_a_table_that_takes_too_long_is_named_and_its_opening_goes_on(sidecar, main_cow, gate):
    started = sidecar(roots=[str(main_cow)], tables=[str(main_cow)], tables_seconds=0.2, request_seconds=0.2)
    wait_for(lambda: health(started)["status"] == "ok")
    assert health(started)["not_opened"] == 1
    assert "still being opened" in started.log.getvalue()
    with started.client() as client:
        early = client.prune(request(main_cow, I_IS_100, ["x"]))
        assert (early.skip, "the table is still being opened" in early.reasons[1]) == (b"", True)
        gate.set()
        wait_for(lambda: client.prune(request(main_cow, I_IS_100, ["x"])).instant)


def test_a_question_that_comes_too_early_waits_for_the_opening_and_shares_it(sidecar, main_cow, gate):
    gate.set()
    listed = [item.base_file for item in open_table(main_cow).at().slices]
    gate.clear()
    started = sidecar(roots=[str(main_cow)], tables=[str(main_cow)])
    replies = []

    def ask():
        with started.client(timeout=60_000) as client:
            replies.append(client.prune(request(main_cow, I_IS_100, listed)))

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    wait_for(lambda: health(started)["running"] == 4)
    assert not replies
    gate.set()
    for thread in threads:
        thread.join()
    assert all(reply.skipped > 0 for reply in replies)
    assert len(started.sidecar.service.tables) == 1


def test_a_store_that_does_not_answer_at_the_start_is_asked_again(unpack, tmp_path, sidecar):
    with running(tmp_path / "s3") as store:
        shutil.copytree(unpack("1.1.1_main_cow"), store.bucket / "t")
        options = {**store.options, "tries": "1"}
        with store.answering({"kind": "503"}):
            started = sidecar(roots=["s3://lake"], tables=["s3a://lake/t"], storage_options=options)
            wait_for(lambda: len(store.server.requests) >= 6)  # the second look
            assert health(started)["status"] == "starting"
        wait_for(lambda: health(started)["status"] == "ok")
        assert (health(started)["not_opened"], health(started)["tables"]) == (0, 1)


def test_a_table_outside_of_the_roots_is_a_mistake_in_the_settings(main_cow):
    with pytest.raises(SettingsError, match="tables: the table is not below the roots"):
        Running(Settings(port=0, metrics_port=-1, roots=[str(main_cow)], tables=["/elsewhere"])).__enter__()
    asked = ["serve", "--roots", str(main_cow), "--tables", "/elsewhere", "--print-config"]
    assert CliRunner().invoke(main, asked).exit_code == 2


def test_a_client_of_a_pool_goes_on_to_a_sidecar_that_has_the_table_open(sidecar, main_cow, gate):
    gate.set()
    listed = [item.base_file for item in open_table(main_cow).at().slices]
    ready = sidecar(roots=[str(main_cow)])
    Client(f"127.0.0.1:{ready.port}").prune(str(main_cow), I_IS_100.encode(), listed)
    gate.clear()
    starting = sidecar(roots=[str(main_cow)], tables=[str(main_cow)], request_seconds=0.4)
    with pytest.raises(Refused) as refused:
        Client(f"127.0.0.1:{starting.port}").prune(str(main_cow), I_IS_100.encode(), listed)
    assert (refused.value.code, "starting" in refused.value.why) == ("busy", True)
    pool = Clients(f"127.0.0.1:{starting.port},127.0.0.1:{ready.port}", seconds=20)
    assert pool.prune(str(main_cow), I_IS_100.encode(), listed).skipped > 0
    gate.set()
    wait_for(lambda: health(starting)["status"] == "ok")
    reply = Client(f"127.0.0.1:{starting.port}").prune(str(main_cow), I_IS_100.encode(), listed)
    assert reply.skipped > 0


def test_the_flag_warm_is_the_setting_tables(main_cow):
    asked = ["serve", "--roots", str(main_cow), "--warm", str(main_cow), "--print-config"]
    result = CliRunner().invoke(main, asked)
    assert result.exit_code == 0
    assert f'tables = ["{main_cow}"]' in result.stdout
