"""One of several sidecars: the next one answers within the deadline, and who is down is left alone."""

import contextlib
import socket
import threading

import pytest

from handler.sidecar.client import ClientError, Clients
from handler.sidecar.client.addresses import in_order
from handler.sidecar.idl import Refused
from tests.handler.sidecar.conftest import SECRET
from tests.handler.sidecar.test_service import I_IS_100

TABLE = "file:/warehouse/t"


@contextlib.contextmanager
def hung():
    """The address of somebody who accepts connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"127.0.0.1:{listener.getsockname()[1]}"


def asked(clients, outcomes):
    """The addresses that a question goes to when each answers as told: what it returns, or an exception."""
    calls = []

    def call(client):
        calls.append(client.address)
        outcome = outcomes[client.address]
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    try:
        return calls, clients.ask(TABLE, call)
    except (ClientError, Refused) as error:
        return calls, error


@pytest.fixture
def three():
    addresses = ["a:1", "b:2", "c:3"]
    clock = [100.0]
    clients = Clients(",".join(addresses), breaker_seconds=30, clock=lambda: clock[0])
    return clients, clock, in_order(addresses, TABLE)


def test_the_preferred_sidecar_of_the_table_is_asked_and_no_other(three):
    clients, _, order = three
    assert asked(clients, dict.fromkeys(order, "yes")) == (order[:1], "yes")


@pytest.mark.parametrize("failure", [ClientError("down"), Refused("busy", "x"), Refused("stopping", "x")], ids=repr)
def test_the_next_one_answers_for_one_that_cannot(three, failure):
    clients, _, order = three
    outcomes = {order[0]: failure, order[1]: "yes", order[2]: "no"}
    assert asked(clients, outcomes) == (order[:2], "yes")


def test_a_refusal_of_the_request_ends_the_question(three):
    clients, _, order = three
    calls, error = asked(clients, dict.fromkeys(order, Refused("table", "not below the roots")))
    assert (calls, error.code) == (order[:1], "table")


def test_all_are_named_when_nobody_answers(three):
    clients, _, order = three
    _, error = asked(clients, {address: ClientError(f"{address}: down") for address in order})
    assert str(error) == "; ".join(f"{address}: down" for address in order)
    _, refused = asked(Clients("a:1,b:2"), {"a:1": Refused("busy", "x"), "b:2": Refused("busy", "y")})
    assert isinstance(refused, Refused)
    assert refused.code == "busy"
    assert sorted(refused.why.split("; ")) == ["a:1: x", "b:2: y"]


def test_an_address_that_failed_twice_is_left_alone_for_a_while_and_then_asked_once(three):
    clients, clock, order = three
    down = {order[0]: ClientError("down"), order[1]: "yes", order[2]: "yes"}
    assert [asked(clients, down)[0] for _ in range(3)] == [order[:2], order[:2], order[1:2]]
    clock[0] += 31
    assert [asked(clients, down)[0] for _ in range(2)] == [order[:2], order[1:2]]
    clock[0] += 31
    up = dict.fromkeys(order, "yes")
    assert [asked(clients, up)[0] for _ in range(2)] == [order[:1], order[:1]]


def test_the_breaker_of_one_address_is_not_that_of_another(three):
    clients, _, order = three
    asked(clients, {order[0]: ClientError("down"), order[1]: ClientError("down"), order[2]: "yes"})
    asked(clients, {order[0]: ClientError("down"), order[1]: "yes", order[2]: "yes"})
    assert asked(clients, {order[1]: "yes", order[2]: "no"}) == (order[1:2], "yes")


def test_after_the_pause_one_of_many_callers_tries(three):
    clients, clock, order = three
    for _ in range(2):
        asked(clients, {order[0]: ClientError("down"), order[1]: "yes"})
    clock[0] += 31
    barrier, calls = threading.Barrier(8), []

    def call(client):
        calls.append(client.address)
        barrier.wait(10)
        return "yes"

    threads = [threading.Thread(target=clients.ask, args=(TABLE, call)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (calls.count(order[0]), calls.count(order[1])) == (1, 7)


def test_a_sidecar_that_hangs_costs_its_share_of_the_time(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)])
    answering = f"127.0.0.1:{running.port}"
    Clients(answering).prune(str(main_cow), I_IS_100.encode(), names)  # the table is open
    with contextlib.ExitStack() as stack:
        silent = next(
            one
            for one in (stack.enter_context(hung()) for _ in range(1000))
            if in_order([one, answering], str(main_cow))[0] == one
        )
        clients = Clients(f"{silent},{answering}", seconds=4)
        assert clients.prune(str(main_cow), I_IS_100.encode(), names).skipped > 0
    gone = Clients(f"{silent},{answering}")
    assert [gone.prune(str(main_cow), I_IS_100.encode(), names).skipped > 0 for _ in range(3)] == [True] * 3


def test_the_report_is_shown_by_the_sidecar_that_has_it(sidecar, main_cow, names, tmp_path):
    running = [sidecar(roots=[str(main_cow)], secret=SECRET) for _ in range(2)]
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    both = Clients(",".join(f"127.0.0.1:{one.port}" for one in running), secret_file=secret)
    for client in both.clients.values():
        report = client.prune(str(main_cow), I_IS_100.encode(), names).report_id
        assert "i = 100" in both.explain(report)
    with pytest.raises(Refused) as refused:
        both.explain("none")
    assert refused.value.code == "unknown_report"


def test_a_list_without_an_address_is_refused():
    for text in ("", " , ", "a:1,b"):
        with pytest.raises(ClientError, match="HOST:PORT"):
            Clients(text)
