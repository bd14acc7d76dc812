"""A slow sidecar: the next one is asked beside it, the first answer is used, and the other calls end."""

import contextlib
import socket
import threading
from pathlib import Path

import pytest

from handler.sidecar.client import Client, ClientError, Clients
from handler.sidecar.client.addresses import in_order
from handler.sidecar.client.cancellation import Cancellation
from handler.sidecar.idl import Refused
from tests.handler.sidecar.recording.test_audit import wait_for
from tests.handler.sidecar.test_service import I_IS_100

TABLE = "file:/warehouse/t"
ADDRESSES = ["a:1", "b:2", "c:3", "d:4"]
#: For a whole question to four sidecars: the share of each is a quarter.
SECONDS = 4


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    yield
    wait_for(lambda: not calls_under_way())


def calls_under_way():
    return [thread for thread in threading.enumerate() if thread.name == "sargo-ask"]


class Sidecars:
    """Calls that wait for each other. ``begun`` and ``may_end`` are events of each place in the order."""

    def __init__(self, seconds=SECONDS):
        self.clients = Clients(",".join(ADDRESSES), seconds, breaker_seconds=1000)
        self.order = in_order(ADDRESSES, TABLE)
        self.begun = [threading.Event() for _ in self.order]
        self.may_end = [threading.Event() for _ in self.order]
        self.outcomes = ["yes"] * len(self.order)

    def __call__(self, client):
        place = self.order.index(client.address)
        self.begun[place].set()
        assert self.may_end[place].wait(20)
        outcome = self.outcomes[place]
        if isinstance(outcome, Exception):
            raise outcome
        return f"{outcome} of {place}"

    def ask(self):
        return self.clients.ask(TABLE, self)

    def end_all(self):
        for event in self.may_end:
            event.set()

    def failed(self):
        """The places of those that have failed: one more failure, and they are left alone."""
        for address in self.order:
            self.clients._breakers.record(address, is_answer=False)
        return [place for place, address in enumerate(self.order) if not self.clients._breakers.passes(address)]


@pytest.fixture
def sidecars():
    made = Sidecars()
    yield made
    made.end_all()


def when(event, *then):
    """Set the others once this event is set."""

    def run():
        assert event.wait(20)
        for one in then:
            one.set()

    threading.Thread(target=run).start()


def test_the_answer_of_a_slow_one_is_used_that_comes_after_the_next_was_asked(sidecars):
    when(sidecars.begun[1], sidecars.may_end[0])
    assert sidecars.ask() == "yes of 0"
    assert [event.is_set() for event in sidecars.begun] == [True, True, False, False]
    assert sidecars.failed() == []  # the second one was given up, and has not failed


def test_one_that_is_overtaken_has_failed(sidecars):
    sidecars.may_end[1].set()
    assert sidecars.ask() == "yes of 1"
    assert sidecars.failed() == [0]


def test_a_refusal_of_the_request_by_the_next_one_ends_the_question(sidecars):
    sidecars.outcomes[1] = Refused("table", "not below the roots")
    sidecars.may_end[1].set()
    with pytest.raises(Refused, match="below the roots"):
        sidecars.ask()
    assert sidecars.failed() == [0]


def test_a_slow_one_that_fails_brings_in_nobody_else_while_the_next_one_works(sidecars):
    sidecars.outcomes[0] = ClientError("down")
    when(sidecars.begun[1], sidecars.may_end[0])
    threading.Timer(0.3, sidecars.may_end[1].set).start()
    assert sidecars.ask() == "yes of 1"
    assert not sidecars.begun[2].is_set()
    assert sidecars.failed() == [0]


def test_the_next_one_that_fails_brings_in_another_at_once_and_the_slow_one_may_still_answer(sidecars):
    sidecars.outcomes[1] = ClientError("down")
    sidecars.may_end[1].set()
    when(sidecars.begun[2], sidecars.may_end[0])
    assert sidecars.ask() == "yes of 0"
    assert sidecars.failed() == [1]


def test_all_that_say_nothing_until_the_deadline_have_failed(sidecars):
    with pytest.raises(ClientError) as error:
        sidecars.ask()
    asked = [address for address, event in zip(sidecars.order, sidecars.begun, strict=True) if event.is_set()]
    assert asked == sidecars.order
    assert error.value.why == "; ".join(f"{address}: timed out" for address in asked)
    assert sidecars.failed() == [0, 1, 2, 3]


def test_a_fault_of_the_caller_is_raised_to_the_caller(sidecars):
    sidecars.outcomes[0] = ZeroDivisionError("a fault")
    sidecars.may_end[0].set()
    with pytest.raises(ZeroDivisionError):
        sidecars.ask()


# -- connections


class Silent:
    """Accepts connections and says nothing. ``closed`` is set when the other side has closed one."""

    def __init__(self):
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.asked, self.closed = threading.Event(), threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        with contextlib.suppress(OSError):  # closed
            while True:
                connection, _ = self._socket.accept()
                with connection:
                    while connection.recv(1 << 16):
                        self.asked.set()
                    self.closed.set()

    def close(self):
        self._socket.close()


def silent_before(address, table):
    """A silent one that is asked before the other about this table."""
    while True:
        made = Silent()
        if in_order([made.address, address], table)[0] == made.address:
            return made
        made.close()


def test_the_connection_to_a_hung_sidecar_is_closed_when_the_next_one_has_answered(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)])
    address = f"127.0.0.1:{running.port}"
    Clients(address, 20).prune(str(main_cow), I_IS_100.encode(), names)  # the table is open
    with contextlib.closing(silent_before(address, str(main_cow))) as silent:
        clients = Clients(f"{silent.address},{address}", SECONDS)
        assert clients.prune(str(main_cow), I_IS_100.encode(), names).skipped > 0
        assert silent.asked.is_set()
        assert silent.closed.wait(20)


def test_a_call_that_waits_for_an_answer_ends_when_it_is_cancelled():
    with contextlib.closing(Silent()) as silent:
        assert "closed" in cancelled(Client(silent.address), silent.asked.is_set)


def test_a_call_that_shakes_hands_for_tls_ends_when_it_is_cancelled(certificates):
    with contextlib.closing(Silent()) as silent:
        client = Client(silent.address, tls_ca=certificates / "ca.pem")
        assert "TLS" in cancelled(client, silent.asked.is_set)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="counts connections as Linux shows them")
def test_a_call_that_connects_ends_when_it_is_cancelled():
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener, contextlib.ExitStack() as waiting:
        port = listener.getsockname()[1]
        while not connecting_to(port):  # nobody accepts, until no more connections may wait
            one = waiting.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        before = connecting_to(port)
        assert cancelled(Client(f"127.0.0.1:{port}"), lambda: connecting_to(port) > before)


def connecting_to(port):
    """How many connections to this port have not been taken."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    return sum(remote.endswith(f":{port:04X}") and state == "02" for _, _, remote, state, *_ in rows)


def test_a_cancelled_call_opens_no_connection():
    with contextlib.closing(Silent()) as silent:
        cancellation = Cancellation()
        cancellation.cancel()
        with pytest.raises(ClientError, match="cancel"):
            Client(silent.address).within(20, cancellation).version()
        assert not silent.asked.is_set()


def cancelled(client, is_under_way):
    """What a call says that is cancelled once it is under way."""
    cancellation, said = Cancellation(), []

    def call():
        with pytest.raises(ClientError) as error:
            client.within(1000, cancellation).version()
        said.append(error.value.why)

    thread = threading.Thread(target=call)
    thread.start()
    wait_for(is_under_way)
    cancellation.cancel()
    thread.join(60)
    return said[0]
