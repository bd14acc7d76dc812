"""What connections of peers without the secret can cost: slots, time and memory are given back."""

import contextlib
import gc
import ssl
import struct
import threading
import time
import weakref

import pytest

from handler.sidecar import connection as connection_module
from handler.sidecar.idl import RefusedMessage
from handler.sidecar.view import View
from tests.bench.sidecar import frame
from tests.handler.sidecar.conftest import SECRET, request
from tests.handler.sidecar.strangers import (
    EXCEPTION,
    HEALTH,
    REPLY,
    ask,
    call_of,
    is_answered,
    is_closed,
    text,
    until,
    version,
)
from tests.handler.sidecar.test_server import STRING, connect, field, framed, prune_call
from tests.handler.sidecar.test_service import I_IS_100

# -- connections


def test_silent_connections_do_not_lock_others_out(guarded, main_cow, names):
    running = guarded(max_connections=16, first_call_seconds=60)
    with contextlib.ExitStack() as stack:
        known = stack.enter_context(connect(running.port))
        assert ask(known, version(SECRET))[3] == REPLY
        silent = [stack.enter_context(connect(running.port)) for _ in range(60)]
        for _ in range(3):
            assert is_answered(running, main_cow, names)
        assert ask(known, HEALTH)[3] == REPLY
        assert until(lambda: running.metric("sargo_connections") == 1 + 7)
        assert is_closed(silent[0])
    assert running.metric("sargo_connections_closed_total", because="room") >= 52


@pytest.mark.parametrize("held", ["health", "half a frame", "a wrong secret"])
def test_connections_that_talk_without_the_secret_do_not_lock_others_out(guarded, main_cow, names, held):
    running = guarded(max_connections=8, first_call_seconds=60)
    sent = {"health": HEALTH, "half a frame": HEALTH[:-3], "a wrong secret": version("no")}[held]
    with contextlib.ExitStack() as stack:
        for _ in range(30):
            stack.enter_context(connect(running.port)).sendall(sent)
        assert is_answered(running, main_cow, names)


def test_where_everybody_may_ask_who_is_silent_longest_gives_way(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)], max_connections=8)
    with contextlib.ExitStack() as stack:
        held = []
        for _ in range(30):
            held.append(stack.enter_context(connect(running.port)))
            assert ask(held[-1], HEALTH)[3] == REPLY
        assert running.metric("sargo_connections") <= 8
        assert is_answered(running, main_cow, names)
        assert ask(held[-1], HEALTH)[3] == REPLY
        assert is_closed(held[0])


@pytest.mark.parametrize(
    "sent",
    [b"", b"\0", HEALTH[:-1], HEALTH, version("no"), struct.pack("!i", 60 << 20) + call_of("prune") * 9],
    ids=len,
)
def test_the_time_to_show_the_secret_is_short(guarded, sent):
    running = guarded(first_call_seconds=0.4)
    with connect(running.port) as known, connect(running.port) as connection:
        assert ask(known, version(SECRET))[3] == REPLY
        connection.sendall(sent)
        while connection.recv(65536):
            pass
        assert ask(known, HEALTH)[3] == REPLY
    closed = sum(running.metric("sargo_connections_closed_total", because=why) or 0 for why in ("silent", "slow"))
    assert closed == 1


@pytest.mark.parametrize("piece", [HEALTH, b"\0\0\x10\0" + b"x" * 100], ids=["calls", "a frame"])
def test_bytes_sent_one_at_a_time_do_not_extend_it(guarded, piece):
    running = guarded(first_call_seconds=0.5)
    with connect(running.port) as connection:
        with contextlib.suppress(OSError):
            for _ in range(200):
                for byte in piece:
                    connection.sendall(bytes([byte]))
                    time.sleep(0.005)
        with contextlib.suppress(OSError):
            while connection.recv(65536):
                pass
    assert until(lambda: running.metric("sargo_connections") == 0)


@pytest.mark.parametrize(
    "sent", [b"", b"\x16\x03\x01", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", HEALTH], ids=len
)
def test_a_tls_handshake_that_never_ends_takes_a_slot_and_little_time(guarded, main_cow, certificates, sent):
    running = guarded(
        tls_certificate=certificates / "cert.pem",
        tls_key=certificates / "key.pem",
        first_call_seconds=60,
        max_connections=8,
    )
    context = ssl.create_default_context(cafile=certificates / "ca.pem")
    with contextlib.ExitStack() as stack:
        hanging = [stack.enter_context(connect(running.port)) for _ in range(40)]
        for connection in hanging:
            with contextlib.suppress(OSError):
                connection.sendall(sent)
        with connect(running.port) as plain, context.wrap_socket(plain, server_hostname="localhost") as connection:
            assert ask(connection, version(SECRET))[3] == REPLY
        assert running.metric("sargo_connections") <= 5


def test_a_tls_handshake_has_the_time_of_the_first_call(guarded, certificates):
    running = guarded(
        tls_certificate=certificates / "cert.pem", tls_key=certificates / "key.pem", first_call_seconds=0.4
    )
    with connect(running.port) as connection:
        connection.sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
        assert is_closed(connection)
    assert until(lambda: running.metric("sargo_connections") == 0)


def test_a_tls_peer_that_takes_no_leave_is_forgotten(guarded, certificates):
    running = guarded(tls_certificate=certificates / "cert.pem", tls_key=certificates / "key.pem")
    context = ssl.create_default_context(cafile=certificates / "ca.pem")
    with connect(running.port) as plain:
        connection = context.wrap_socket(plain, server_hostname="localhost", do_handshake_on_connect=True)
        connection.sendall(framed(b"no call at all"))
        assert until(lambda: running.metric("sargo_connections") == 0)
        connection.close()


# -- memory


def test_a_peer_that_leaves_while_it_is_answered_gives_its_bytes_back_once(sidecar, main_cow, names, monkeypatch):
    gate = threading.Event()
    decide = View.decide
    monkeypatch.setattr(View, "decide", lambda self, question: (gate.wait(30), decide(self, question))[1])
    running = sidecar(roots=[str(main_cow)])
    call = frame(main_cow, names, 5)
    try:
        for _ in range(3):
            with connect(running.port) as connection:
                connection.sendall(call)
                assert until(lambda: running.sidecar.server.calls)
        assert running.metric("sargo_bytes_in_flight") > 0
        gate.set()
        assert until(lambda: not running.sidecar.server.calls)
        assert running.metric("sargo_bytes_in_flight") == 0
    finally:
        gate.set()


def test_half_sent_frames_take_no_memory_from_short_calls(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)], max_bytes_in_flight=100_000)
    with connect(running.port) as first, connect(running.port) as second:
        first.sendall(struct.pack("!i", 1 << 20) + b"x" * 60_000)
        assert until(lambda: running.metric("sargo_bytes_in_flight") >= 60_000)
        second.sendall(struct.pack("!i", 1 << 20) + b"x" * 39_980)
        assert until(lambda: running.metric("sargo_bytes_in_flight") >= 99_980)
        assert is_answered(running, main_cow, names)  # the longest one makes room
        assert is_closed(first)
    assert running.metric("sargo_connections_closed_total", because="memory") == 1


def test_the_bytes_of_a_request_are_given_back_however_it_ends(sidecar, main_cow, tmp_path, names, monkeypatch):
    buffers, new_buffer = [], connection_module._new_buffer

    def noting(size, content):
        buffer = new_buffer(size, content)
        if size > 1 << 20:
            buffers.append(weakref.ref(buffer.obj))
        return buffer

    monkeypatch.setattr(connection_module, "_new_buffer", noting)
    running = sidecar(roots=[str(main_cow), str(tmp_path)])
    much = b"\n" * (2 << 20)
    gc.collect()
    gc.disable()  # the collector counts objects, not bytes
    try:
        for table in (main_cow, tmp_path / "none", "/etc"):
            for changed in ({}, {"names_compressed": True}, {"protocol_version": 2}, {"engine": "none"}):
                asked = request(table, I_IS_100, names, **changed)
                asked.names = much
                with running.client() as client, contextlib.suppress(RefusedMessage):
                    client.prune(asked)
        for body in (prune_call(field(STRING, 2, text(much)), b"\x4d"), b"\0" * len(much)):
            with connect(running.port) as connection:
                assert ask(connection, framed(body))[3] == EXCEPTION
        assert len(buffers) == 14
        assert until(lambda: not any(buffer() is not None for buffer in buffers))
    finally:
        gc.enable()


def test_answers_that_are_not_read_do_not_pile_up(guarded):
    running = guarded(read_seconds=60)
    with connect(running.port) as connection:
        assert ask(connection, version(SECRET))[3] == REPLY
        connection.settimeout(1)
        with contextlib.suppress(TimeoutError):
            for _ in range(400):
                connection.sendall(HEALTH * 1_000)
        [held] = running.sidecar.server.slots
        assert held._transport.get_write_buffer_size() < 1 << 20
        assert running.metric("sargo_bytes_in_flight") < 1 << 20
