"""Who waits for expensive filters: those who ask for them, and nobody else."""

import threading

import pytest

from handler import open_table
from handler.sidecar import service
from handler.sidecar.decisions import expensive_filters
from handler.sidecar.decisions.planning import nothing_planned
from handler.sidecar.decisions.planning_process import PlanningFailed, PlanningProcess
from tests.handler.sidecar import hostile_filters as hostile
from tests.handler.sidecar.conftest import request
from tests.index_store.synthetic import write_table

TABLES = 8


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("expensive").resolve()
    for number in range(TABLES):
        write_table(folder / f"t{number}", 20)
    return folder


@pytest.fixture(scope="module")
def names(root):
    return [item.base_file for item in open_table(root / "t0").at().slices]


@pytest.fixture
def planning(monkeypatch):
    """The jobs that reach the process, which answers that nothing is skipped once ``gate`` is set."""

    class Jobs(list):
        gate = threading.Event()

    jobs = Jobs()

    def ask(self, job):
        jobs.append(job)
        assert jobs.gate.wait(30)
        return nothing_planned(20, "planned elsewhere")

    monkeypatch.setattr(PlanningProcess, "ask", ask)
    yield jobs
    jobs.gate.set()


def asked_in_threads(running, requests):
    """The replies, as they come, and the threads."""
    replies = []

    def ask(one):
        with running.client() as client:
            replies.append(client.prune(one))

    threads = [threading.Thread(target=ask, args=(one,)) for one in requests]
    for thread in threads:
        thread.start()
    return replies, threads


def bomb(seed):
    return hostile.encoded(hostile.doubled(12, seed))


def wait_until(reached):
    while not reached():
        pass


def test_small_filters_on_the_same_and_other_tables_are_answered_while_expensive_ones_are_planned(
    sidecar, root, names, planning
):
    running = sidecar(roots=[str(root)])
    service = running.sidecar.service
    bombs = [request(root / f"t{n}", bomb(n), names) for n in range(TABLES)]
    replies, threads = asked_in_threads(running, bombs)
    wait_until(lambda: service.tables.expensive_waiting == TABLES)
    with running.client() as client:
        for number in range(TABLES):
            for seed in range(3):
                small = hostile.encoded(hostile.less(3 + number + seed / 7))
                assert client.prune(request(root / f"t{number}", small, names)).skipped > 0
    assert not replies
    planning.gate.set()
    for thread in threads:
        thread.join()
    assert {reply.reasons[-1] for reply in replies} == {"planned elsewhere"}
    assert len(planning) == TABLES


def test_the_queue_is_short_and_one_table_cannot_fill_it(sidecar, root, names, planning):
    running = sidecar(roots=[str(root)])
    tables = running.sidecar.service.tables
    many = [request(root / "t0", bomb(n), names) for n in range(20)]
    replies, threads = asked_in_threads(running, many)
    wait_until(lambda: len(replies) == 20 - expensive_filters.MAX_OF_TABLE)
    assert {reply.reasons[0] for reply in replies} == {"the answer was not ready in time"}
    assert tables.expensive_waiting == expensive_filters.MAX_OF_TABLE
    others = [request(root / f"t{1 + n % 7}", bomb(n), names) for n in range(40)]
    later, more = asked_in_threads(running, others)
    wait_until(lambda: len(later) == 40 - (expensive_filters.MAX_WAITING - expensive_filters.MAX_OF_TABLE))
    assert tables.expensive_waiting == expensive_filters.MAX_WAITING
    with running.client() as client:  # places for everybody else are left
        assert client.prune(request(root / "t0", hostile.encoded(hostile.less(3)), names)).skipped > 0
    planning.gate.set()
    for thread in threads + more:
        thread.join()
    assert tables.expensive_waiting == 0


def test_who_waits_in_vain_leaves_the_queue(sidecar, root, names, planning):
    running = sidecar(roots=[str(root)], request_seconds=0.3)
    requests = [request(root / f"t{n}", bomb(n), names) for n in range(4)]
    replies, threads = asked_in_threads(running, requests)
    for thread in threads:
        thread.join()
    assert [reply.skip for reply in replies] == [b""] * 4
    wait_until(lambda: running.sidecar.service.tables.expensive_waiting == 1)
    assert len(planning) == 1  # the others were never begun
    planning.gate.set()
    wait_until(lambda: running.sidecar.service.tables.expensive_waiting == 0)
    with running.client() as client:  # what was begun is there for those who ask later
        seen = [client.prune(one).reasons[-1] for one in requests]
    assert seen.count("planned elsewhere") == 4
    assert len(planning) == 4


def test_a_filter_that_was_given_up_is_not_planned_again(sidecar, root, names, monkeypatch):
    asked = []

    def ask(self, job):
        asked.append(job)
        raise PlanningFailed("the filter takes more than 10 CPU seconds", is_final=True)

    monkeypatch.setattr(PlanningProcess, "ask", ask)
    running = sidecar(roots=[str(root)])
    with running.client() as client:
        replies = [client.prune(request(root / "t0", bomb(1), names)) for _ in range(3)]
    assert len(asked) == 1
    assert {tuple(reply.reasons) for reply in replies} == {tuple(replies[0].reasons)}
    assert "10 CPU seconds" in replies[0].reasons[1]
    assert running.metric("sargo_skipped_nothing_total", because="size") == 3


def test_an_expensive_filter_skips_what_it_would_have_skipped_in_a_thread(sidecar, root, names):
    running = sidecar(roots=[str(root)])
    with running.client(timeout=60_000) as client:
        small = client.prune(request(root / "t0", hostile.encoded(hostile.one_of(7)), names))
        large = client.prune(request(root / "t0", hostile.encoded(hostile.doubled(10, 2 / 7)), names))
        same = client.prune(request(root / "t0", hostile.encoded(hostile.less(2 / 7)), names))
        wait_until(lambda: "Ask again" not in client.explain(large.report_id))  # a busy machine takes longer
        texts = [client.explain(large.report_id) for _ in range(2)]
    assert small.skipped > 0
    assert (large.skip, large.fully_matched) == (same.skip, same.fully_matched)
    assert large.skipped > 0
    assert "What each condition rules out" in texts[0]
    assert texts[0].split("What would help")[0] == texts[1].split("What would help")[0]


def test_an_explanation_that_takes_long_is_there_for_those_who_ask_again(sidecar, root, names, planning, monkeypatch):
    monkeypatch.setattr(service, "_EXPLAIN_SECONDS", 0.2)
    running = sidecar(roots=[str(root)])
    with running.client() as client:
        reply = client.prune(request(root / "t0", hostile.encoded(hostile.one_of(100)), names))
        assert reply.skipped > 0
        report = client.explain(reply.report_id)
        assert "Ask again" in report
        assert [job.wanted for job in planning] == ["explanation"]  # too much for a thread, though the plan is not
        planning.gate.set()
        wait_until(lambda: running.sidecar.service.tables.expensive_waiting == 0)
        assert "planned elsewhere" in client.explain(reply.report_id)
    assert [job.wanted for job in planning] == ["explanation", "help"]
