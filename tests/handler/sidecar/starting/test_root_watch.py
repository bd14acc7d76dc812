"""Roots are asked before health says "ok", and the cause of one that cannot be read is logged and told to few."""

import json
import threading

from handler.doctor.sidecar import check_sidecar
from handler.sidecar.client import Client
from handler.sidecar.roots.allowed_roots import AllowedRoots
from handler.sidecar.starting import root_watch
from tests.handler.sidecar.recording.test_audit import wait_for

SECRET = "open sesame"


def events(running, name):
    lines = map(json.loads, running.log.getvalue().splitlines())
    return [line for line in lines if line["event"] == name]


def state(running, secret=None):
    client = Client(f"127.0.0.1:{running.port}", secret=secret)
    return json.loads(client.health(shows_secret=secret is not None))


def test_a_root_that_cannot_be_read_is_logged_whole_and_told_to_those_who_show_the_secret(sidecar, main_cow, tmp_path):
    gone = str(tmp_path / "gone")
    started = sidecar(roots=[str(main_cow), gone], secret=SECRET)
    [event] = events(started, "root_unreadable")
    assert (event["root"], event["why"]) == (gone, "there is no such folder, or it is empty")
    stranger, known = state(started), state(started, SECRET)
    assert (stranger["status"], stranger["roots_unreadable"], "roots" in stranger) == ("ok", 1, False)
    assert gone not in json.dumps(stranger)
    assert known["roots"] == {gone: event["why"]}
    assert started.metric("sargo_roots_unreadable") == 1
    for secret, word in ((SECRET, gone), (None, "root_unreadable"), ("wrong", "root_unreadable")):
        client = Client(f"127.0.0.1:{started.port}", secret=secret)
        [failed] = [one for one in check_sidecar("x", client) if one.state == "failed"]
        assert word in failed.text
        assert (gone in failed.text) == (secret == SECRET)


def test_a_sidecar_is_starting_until_its_roots_have_answered(sidecar, main_cow, monkeypatch):
    gate, check = threading.Event(), AllowedRoots.check

    def held_back(self, *given):
        assert gate.wait(30)
        return check(self, *given)

    monkeypatch.setattr(AllowedRoots, "check", held_back)
    started = sidecar(roots=[str(main_cow)])
    assert state(started)["status"] == "starting"
    assert Client(f"127.0.0.1:{started.port}").prune(str(main_cow), b"", ()).instant  # it answers all the same
    gate.set()
    wait_for(lambda: state(started)["status"] == "ok")


def test_a_root_that_can_be_read_again_is_no_fault_any_more(sidecar, tmp_path, monkeypatch):
    monkeypatch.setattr(root_watch, "FIRST_PAUSE_SECONDS", 0.05)
    started = sidecar(roots=[str(tmp_path / "late")])
    assert state(started)["roots"]
    (tmp_path / "late" / "t").mkdir(parents=True)
    wait_for(lambda: events(started, "root_readable"))
    assert state(started)["roots_unreadable"] == 0
    assert len(events(started, "root_unreadable")) == 1


def test_a_check_that_fails_itself_does_not_keep_the_sidecar_starting(sidecar, main_cow, monkeypatch):
    def broken(self, *given):
        raise RuntimeError("a fault")

    monkeypatch.setattr(AllowedRoots, "check", broken)
    started = sidecar(roots=[str(main_cow)])
    assert state(started)["status"] == "ok"
    assert events(started, "failure")[0]["where"] == "root_watch"
