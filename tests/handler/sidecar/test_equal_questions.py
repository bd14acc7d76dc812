"""Equal questions at the same time are worked out once; each is checked, keeps its own time, and has its own report."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from handler.sidecar.client import Client, ClientError
from handler.sidecar.idl import Refused
from handler.sidecar.request_matching import ViewFiles
from handler.sidecar.view import View
from tests.handler.sidecar.conftest import SECRET, request
from tests.handler.sidecar.recording.test_audit import wait_for
from tests.handler.sidecar.test_service import FILTERS, I_IS_100
from tests.sampling import examples

ASKING = 8
#: The names of no files, so many that the list is not matched on the event loop.
OTHERS = [f"none/{number:08}-{'0' * 40}.parquet" for number in range(2_000)]


class Gate:
    """Counts the calls of a method, which wait until the gate is open."""

    def __init__(self, monkeypatch, owner, name):
        self.calls, self.opened, method = 0, threading.Event(), getattr(owner, name)
        self.failure = None

        def held_back(this, *given):
            self.calls += 1
            assert self.opened.wait(30)
            if self.failure is not None:
                raise self.failure
            return method(this, *given)

        monkeypatch.setattr(owner, name, held_back)


def running_questions(one):
    return one.sidecar.service._running


@pytest.mark.parametrize(("owner", "name"), [(View, "decide"), (ViewFiles, "match")])
def test_equal_questions_are_worked_out_once(sidecar, main_cow, names, monkeypatch, owner, name):
    started, gate = sidecar(roots=[str(main_cow)]), Gate(monkeypatch, owner, name)
    client = Client(f"127.0.0.1:{started.port}", 30)
    with ThreadPoolExecutor(ASKING) as threads:
        asked = [threads.submit(client.prune, str(main_cow), I_IS_100.encode(), names + OTHERS) for _ in range(ASKING)]
        wait_for(lambda: running_questions(started) == ASKING and gate.calls)
        gate.opened.set()
        replies = [one.result() for one in asked]
    assert gate.calls == 1
    assert len({reply.skip for reply in replies}) == 1
    assert replies[0].skipped > 0
    assert len({reply.report_id for reply in replies}) == ASKING


def test_a_failure_is_that_of_all_who_wait_and_of_nobody_later(sidecar, main_cow, names, monkeypatch):
    started, gate = sidecar(roots=[str(main_cow)]), Gate(monkeypatch, ViewFiles, "match")
    client = Client(f"127.0.0.1:{started.port}", 30)
    gate.failure = Refused("limit", "too many")
    with ThreadPoolExecutor(ASKING) as threads:
        asked = [threads.submit(client.prune, str(main_cow), I_IS_100.encode(), names + OTHERS) for _ in range(ASKING)]
        wait_for(lambda: running_questions(started) == ASKING and gate.calls)
        gate.opened.set()
        refusals = [one.exception() for one in asked]
    assert [type(one) for one in refusals] == [Refused] * ASKING
    assert {(one.code, one.why) for one in refusals} == {("limit", "too many")}
    assert gate.calls == 1
    gate.failure = None
    assert client.prune(str(main_cow), I_IS_100.encode(), names + OTHERS).skipped > 0


def test_each_question_keeps_its_own_time(sidecar, main_cow, names, monkeypatch):
    started, gate = sidecar(roots=[str(main_cow)], request_seconds=0.5), Gate(monkeypatch, ViewFiles, "match")
    client = Client(f"127.0.0.1:{started.port}", 30)
    late = [client.prune(str(main_cow), I_IS_100.encode(), names + OTHERS) for _ in range(2)]
    assert [(reply.skip, "in time" in reply.reasons[0]) for reply in late] == [(b"", True)] * 2
    gate.opened.set()
    wait_for(lambda: client.prune(str(main_cow), I_IS_100.encode(), names + OTHERS).skipped > 0)
    assert gate.calls == 1


def test_secret_and_roots_are_checked_for_each_question(sidecar, main_cow, names, tmp_path, monkeypatch):
    started, gate = sidecar(roots=[str(main_cow)], secret=SECRET), Gate(monkeypatch, ViewFiles, "match")

    def ask(table, secret):
        client = Client(f"127.0.0.1:{started.port}", 30, secret=secret)
        return client.prune(str(table), I_IS_100.encode(), names + OTHERS)

    with ThreadPoolExecutor(1) as threads:
        first = threads.submit(ask, main_cow, SECRET)
        wait_for(lambda: gate.calls)
        for table, secret in ((main_cow, "wrong"), (main_cow, None), (tmp_path, SECRET)):
            with pytest.raises((Refused, ClientError)):
                ask(table, secret)
        gate.opened.set()
        assert first.result().skipped > 0


def test_questions_that_differ_get_their_own_answers(sidecar, main_cow, names):
    rng = random.Random(7)
    filters = [text for (hive, sql), text in sorted(FILTERS.items()) if hive == "4.0.1" and sql.startswith("i ")]
    questions = [
        (
            rng.choice(filters),
            rng.sample(names, rng.randint(1, len(names))) + OTHERS,
            rng.choice(("snapshot", "read_optimized")),
        )
        for _ in range(examples(9, at_night=400))
    ]

    def ask(one, question):
        filter_, listed, query_type = question
        with one.client(30_000) as client:
            reply = client.prune(request(main_cow, filter_, listed, query_type=query_type))
        return reply.skip, reply.skipped, reply.covered, reply.fully_matched

    alone, together = sidecar(roots=[str(main_cow)]), sidecar(roots=[str(main_cow)])
    expected = [ask(alone, question) for question in questions]
    shuffled = [number for number in range(len(questions)) for _ in range(3)]
    rng.shuffle(shuffled)
    with ThreadPoolExecutor(ASKING) as threads:
        found = list(threads.map(lambda number: ask(together, questions[number]), shuffled))
    assert found == [expected[number] for number in shuffled]
    assert len(set(expected)) > 3
