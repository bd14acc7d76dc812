"""What peers without the secret can cost: they get a refusal or are closed, and those with the secret are served on."""

import contextlib
import json
import random
import socket
import ssl
import struct
import threading
import time

import pytest
from thrift.Thrift import TApplicationException

from handler.sidecar import wire
from handler.sidecar.client import Client, ClientError
from handler.sidecar.idl import Refused, RefusedMessage
from tests.bench.sidecar import frame
from tests.handler.sidecar.conftest import SECRET, request
from tests.handler.sidecar.strangers import (
    EXCEPTION,
    HEALTH,
    MAX_FIRST_FRAME,
    REPLY,
    ask,
    call_of,
    is_answered,
    is_closed,
    text,
    until,
    version,
)
from tests.handler.sidecar.test_server import STRING, STRUCT, connect, field, framed, prune_call, read_frame
from tests.handler.sidecar.test_service import I_IS_100

# -- long frames


@pytest.mark.parametrize("secret", [SECRET, None], ids=["with a secret", "without"])
@pytest.mark.parametrize("kind", ["unknown fields", "nested structs"])
def test_a_frame_of_60_mib_of_fields_costs_no_time(sidecar, main_cow, names, secret, kind):
    running = sidecar(roots=[str(main_cow)], secret=secret)
    bomb = field(3, 99, b"x") * (15 << 20) if kind == "unknown fields" else (field(STRUCT, 9) + b"\0") * (15 << 20)
    call = framed(prune_call(bomb))
    with connect(running.port) as connection:
        before = time.process_time()
        answer = ask(connection, call)
        assert time.process_time() - before < 5  # it took 46 seconds
        assert answer[3] == REPLY if secret else answer[3] == EXCEPTION
        assert is_closed(connection)
    assert is_answered(running, main_cow, names)


def test_long_frames_are_decoded_off_the_event_loop(guarded, main_cow, names, monkeypatch):
    decoded, read_call = [], wire.read_call

    def noting(frame):
        decoded.append((len(frame) > 64 << 10, threading.current_thread().name.startswith("sargo-decode")))
        return read_call(frame)

    monkeypatch.setattr(wire, "read_call", noting)
    running = guarded()
    assert is_answered(running, main_cow, [*names, *(f"p/{i:0100d}" for i in range(5_000))])
    assert decoded == [(False, False), (True, True)]


@pytest.mark.parametrize("name", ["user", "query_id", "table", "engine", "time_zone", "instant", "filter_text"])
def test_a_text_of_more_than_a_mebibyte_is_refused_unless_nothing_needs_it(sidecar, main_cow, names, name):
    running = sidecar(roots=[str(main_cow)])
    asked = request(main_cow, I_IS_100, names)
    setattr(asked, name, "x" * ((1 << 20) + 1))
    with running.client() as client:
        if name == "filter_text":
            assert client.prune(asked).skipped > 0
        else:
            with pytest.raises(TApplicationException, match="a text has more than 1048576 bytes"):
                client.prune(asked)
    assert is_answered(running, main_cow, names)


def test_a_peer_that_has_shown_the_secret_may_send_no_more_fields_either(guarded, names, main_cow):
    running = guarded()
    with connect(running.port) as connection:
        assert ask(connection, version(SECRET))[3] == REPLY
        assert b"more than 64 fields" in ask(connection, framed(prune_call(field(3, 99, b"x") * (1 << 20))))
        assert is_closed(connection)


@pytest.mark.parametrize("count", [63, 64])
def test_so_many_fields_and_no_more_are_read(guarded, count):
    running = guarded()
    with connect(running.port) as connection:
        answer = ask(connection, framed(prune_call(field(3, 99, b"x") * count)))  # the request is a field too
        assert (answer[3], b"more than 64 fields" in answer) == ((REPLY, False) if count == 63 else (EXCEPTION, True))


@pytest.mark.parametrize("method", ["prune", "explain", "version", "health", "drop"])
def test_a_first_frame_that_is_too_long_is_refused_before_it_is_received(guarded, method):
    running = guarded()
    start = framed(call_of(method))[4:]
    with connect(running.port) as connection:
        connection.sendall(struct.pack("!i", 50 << 20) + start + b"\0" * 200)
        answer = read_frame(connection)
        assert b"show the secret" in answer
        assert answer[3] == (EXCEPTION if method in ("health", "drop") else REPLY)
        if answer[3] == REPLY:
            assert (answer[8 : 8 + len(method)], answer[8 + len(method) :][:4]) == (method.encode(), b"\0\0\0\x4d")
        for _ in range(3):
            connection.sendall(b"\0" * (1 << 20))
            assert until(lambda: running.metric("sargo_bytes_in_flight") == 0)
    assert running.metric("sargo_refused_total", code="secret") == 1


@pytest.mark.parametrize("content", [b"", b"\xff" * 300, b"GET / HTTP/1.1\r\n\r\n" * 20], ids=["zeros", "ones", "http"])
def test_a_first_frame_that_is_too_long_and_no_call_is_refused_too(guarded, content):
    running = guarded()
    with connect(running.port) as connection:
        connection.sendall(struct.pack("!i", 20_000) + content.ljust(20_000, b"\0"))
        assert read_frame(connection)[3] == EXCEPTION
        assert is_closed(connection)


@pytest.mark.parametrize(("more", "is_read"), [(0, True), (1, False)], ids=["at the limit", "a byte more"])
def test_the_longest_first_frame(guarded, main_cow, more, is_read):
    running = guarded()
    fields = [field(STRING, 14, text(SECRET.encode()))]
    padding = MAX_FIRST_FRAME + more - len(prune_call(*fields, field(STRING, 99, text(b""))))
    call = prune_call(*fields, field(STRING, 99, text(b"x" * padding)))
    assert len(call) == MAX_FIRST_FRAME + more
    with connect(running.port) as connection:
        answer = ask(connection, framed(call))
        assert (b"has no protocol version" in answer, b"show the secret" in answer) == (is_read, not is_read)


def test_a_client_of_an_earlier_version_is_refused_clearly_when_it_sends_much(guarded, main_cow, names):
    running = guarded()
    many = [*names, *(f"p/{i:0100d}" for i in range(50_000))]
    with running.client() as old:
        with pytest.raises(RefusedMessage, match="show the secret in a call of at most 8192 bytes") as refused:
            old.prune(request(main_cow, I_IS_100, many, secret=SECRET))
        assert refused.value.code == "secret"
    with running.client() as old:
        assert old.prune(request(main_cow, I_IS_100, names, secret=SECRET)).skipped > 0
        assert old.prune(request(main_cow, I_IS_100, many, secret=SECRET)).skipped > 0  # it has shown the secret


def test_our_client_shows_the_secret_before_it_sends_much(guarded, main_cow, names):
    running = guarded()
    many = [*names, *(f"p/{i:0100d}" for i in range(50_000))]
    assert is_answered(running, main_cow, many)
    client = Client(f"127.0.0.1:{running.port}", secret="another")
    with pytest.raises(Refused, match="missing or wrong"):
        client.prune(str(main_cow), I_IS_100.encode(), many)
    assert running.metric("sargo_requests_total", method="version", end="answered") == 1


# -- who may ask what


def test_explain_shows_filters_and_needs_the_secret(guarded, main_cow, names):
    running = guarded()
    report = Client(f"127.0.0.1:{running.port}", secret=SECRET).prune(str(main_cow), I_IS_100.encode(), names).report_id
    for given in (None, "", "wrong", SECRET + " ", SECRET[:-1], SECRET.upper(), "\u202e" + SECRET):
        with pytest.raises(Refused, match="secret"):
            Client(f"127.0.0.1:{running.port}", secret=given).explain(report)
    with running.client() as shown:
        shown.version(SECRET)
        with pytest.raises(RefusedMessage, match="secret"):
            shown.explain(report)
    assert "i = 100" in Client(f"127.0.0.1:{running.port}", secret=SECRET).explain(report)


def test_health_and_version_are_open_and_name_nothing(guarded, main_cow, names):
    running = guarded()
    assert is_answered(running, main_cow, names)
    with running.client() as stranger:
        health, versions = json.loads(stranger.health()), json.loads(stranger.version())
    assert health["status"] == "ok"
    assert set(versions) == {"sargo", "protocol"}
    assert all(isinstance(value, int | bool) for key, value in health.items() if key != "status")
    assert str(main_cow) not in str(health)


def test_the_secret_is_looked_at_before_the_version_and_the_table(guarded, main_cow, names):
    running = guarded()
    with running.client() as client:
        for changed in ({"protocol_version": 99}, {"table": "/etc"}, {"engine": "none"}, {"name_count": -1}):
            with pytest.raises(RefusedMessage) as refused:
                client.prune(request(changed.pop("table", main_cow), I_IS_100, names, **changed))
            assert refused.value.code == "secret"


def test_showing_a_wrong_secret_opens_nothing(guarded):
    running = guarded()
    with connect(running.port) as connection:
        assert b"missing or wrong" in ask(connection, version("open"))
        connection.sendall(struct.pack("!i", MAX_FIRST_FRAME + 1) + call_of("prune").ljust(300, b"\0"))
        assert b"show the secret" in read_frame(connection)


def test_a_client_certificate_counts_as_the_secret_where_there_is_none(sidecar, main_cow, certificates):
    running = sidecar(
        roots=[str(main_cow)],
        tls_certificate=certificates / "cert.pem",
        tls_key=certificates / "key.pem",
        tls_client_ca=certificates / "ca.pem",
        first_call_seconds=0.5,
        max_connections=2,
    )
    context = ssl.create_default_context(cafile=certificates / "ca.pem")
    context.load_cert_chain(certificates / "cert.pem", certificates / "key.pem")
    with connect(running.port) as plain, context.wrap_socket(plain, server_hostname="localhost") as connection:
        strangers = [connect(running.port) for _ in range(5)]
        time.sleep(1.2)  # no call, and yet it stays
        assert ask(connection, framed(b"\0" * 20_000))[3] == EXCEPTION  # long frames are read
        assert all(is_closed(stranger) for stranger in strangers)


# -- the log


def test_refusals_do_not_flood_the_log(guarded):
    running = guarded()
    with connect(running.port) as connection:
        for _ in range(300):
            assert b"missing or wrong" in ask(connection, version("no"))
    lines = [json.loads(line) for line in running.log.getvalue().splitlines()]
    assert 0 < sum(line["event"] == "refused" for line in lines) <= 21
    assert running.metric("sargo_refused_total", code="secret") == 300


# -- everything at once


def random_frames(seed, count):
    """Frames that are random, cut, mutated or announce another length than they have."""
    rng = random.Random(seed)
    whole = [version("no"), HEALTH, framed(prune_call(field(STRING, 2, text(b"/t")))), framed(call_of("explain"))]
    for _ in range(count):
        kind = rng.randrange(5)
        if kind == 0:
            yield rng.randbytes(rng.randrange(1, 200))
        elif kind == 1:
            yield framed(rng.randbytes(rng.randrange(1, 9_000)))
        elif kind == 2:
            one = rng.choice(whole)
            yield one[: rng.randrange(1, len(one))]
        elif kind == 3:
            one = bytearray(rng.choice(whole))
            for _ in range(rng.randint(1, 4)):
                one[rng.randrange(len(one))] = rng.randrange(256)
            yield bytes(one)
        else:
            yield struct.pack("!i", rng.choice([0, -1, 1, 8192, 8193, 1 << 20, (64 << 20) + 1])) + rng.choice(whole)


@pytest.mark.parametrize("seed", [16, 160])
def test_random_frames_from_strangers_leave_nothing_behind(guarded, main_cow, names, seed):
    running = guarded(max_connections=32, first_call_seconds=1)
    with contextlib.ExitStack() as stack:
        known = stack.enter_context(connect(running.port))
        assert ask(known, version(SECRET))[3] == REPLY
        for number, sent in enumerate(random_frames(seed, 300)):
            stranger = stack.enter_context(connect(running.port))
            with contextlib.suppress(OSError):
                stranger.sendall(sent)
            if number % 3 == 0:
                stranger.close()
            if number % 50 == 0:
                assert is_answered(running, main_cow, names)
                assert ask(known, HEALTH)[3] == REPLY
        assert until(lambda: running.metric("sargo_connections") == 1)
        assert running.metric("sargo_bytes_in_flight") == 0
        assert ask(known, HEALTH)[3] == REPLY
    assert '"event": "failure"' not in running.log.getvalue()


def test_a_certificate_is_no_substitute_for_a_configured_secret(sidecar, main_cow, names, certificates):
    running = sidecar(
        roots=[str(main_cow)],
        secret=SECRET,
        tls_certificate=certificates / "cert.pem",
        tls_key=certificates / "key.pem",
        tls_client_ca=certificates / "ca.pem",
    )
    context = ssl.create_default_context(cafile=certificates / "ca.pem")
    context.load_cert_chain(certificates / "cert.pem", certificates / "key.pem")
    with connect(running.port) as plain, context.wrap_socket(plain, server_hostname="localhost") as connection:
        assert b"missing or wrong" in ask(connection, frame(main_cow, names, 5))
    with pytest.raises(ClientError):
        Client(f"127.0.0.1:{running.port}", secret=SECRET, tls_ca=certificates / "ca.pem").health()


def test_a_host_with_several_addresses_is_listened_to_on_all(sidecar, main_cow):
    running = sidecar(roots=[str(main_cow)], host="localhost")
    addresses = {info[4][0] for info in socket.getaddrinfo("localhost", running.port, type=socket.SOCK_STREAM)}
    for address in addresses:
        with socket.create_connection((address, running.port), timeout=20) as connection:
            assert ask(connection, HEALTH)[3] == REPLY
