"""What peers may send: every frame is answered or its connection closed, and all the others are served on."""

import contextlib
import json
import os
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handler.sidecar.view import View
from handler.sidecar.wire import FrameError, check, read_call
from tests.bench.sidecar import frame
from tests.handler.sidecar.conftest import request
from tests.handler.sidecar.test_service import I_IS_100
from tests.sampling import examples

HEADER = b"\x80\x01\x00\x01" + struct.pack("!i", 5) + b"prune" + struct.pack("!i", 1)
STRUCT, LIST, MAP, STRING = 12, 15, 13, 11


def field(kind, number, content=b""):
    return struct.pack("!bh", kind, number) + content


def prune_call(*fields):
    return HEADER + field(STRUCT, 1) + b"".join(fields) + b"\0\0"


HOSTILE = {
    "empty": b"",
    "text": b"GET / HTTP/1.1\r\n\r\n",
    "no version": struct.pack("!i", 5) + b"prune" + b"\x01" + struct.pack("!i", 1) + b"\0",
    "a reply": b"\x80\x01\x00\x02" + HEADER[4:] + b"\0",
    "a name that is too long": b"\x80\x01\x00\x01" + struct.pack("!i", 1 << 30) + b"prune\0\0\0\0\0",
    "a negative name": b"\x80\x01\x00\x01" + struct.pack("!i", -5) + b"prune\0\0\0\0\0",
    "an unknown method": b"\x80\x01\x00\x01" + struct.pack("!i", 4) + b"drop" + struct.pack("!i", 1) + b"\0",
    "cut": prune_call(field(STRING, 2, struct.pack("!i", 3) + b"/t"))[:-4],
    "a string longer than the frame": prune_call(field(STRING, 2, struct.pack("!i", 1 << 30) + b"/t")),
    "a string of negative length": prune_call(field(STRING, 2, struct.pack("!i", -1) + b"/t")),
    "a list of two thousand million nothings": prune_call(field(LIST, 99, b"\0" + struct.pack("!i", 2**31 - 1))),
    "a map": prune_call(field(MAP, 99, b"\x0b\x0b" + struct.pack("!i", 0))),
    "structs nested": HEADER + field(STRUCT, 1) * 100_000,
    "an unknown type": prune_call(field(77, 1)),
    "bytes behind the end": prune_call() + b"\0",
    "text that is not UTF-8": prune_call(field(STRING, 2, struct.pack("!i", 2) + b"\xff\xfe")),
}


def connect(port, timeout=20):
    return socket.create_connection(("127.0.0.1", port), timeout=timeout)


def framed(body):
    return struct.pack("!i", len(body)) + body


def read_frame(connection):
    """The next frame, or b"" when the connection is closed."""
    data = b""
    try:
        while len(data) < 4 or len(data) < 4 + struct.unpack("!i", data[:4])[0]:
            piece = connection.recv(65536)
            if not piece:
                return b""
            data += piece
    except ConnectionResetError:
        return b""
    return data[4:]


def trickle(connection, piece, times, pause):
    """Send a piece now and then; False when the peer closed the connection meanwhile."""
    try:
        for _ in range(times):
            connection.sendall(piece)
            time.sleep(pause)
    except OSError:
        return False
    return True


@pytest.mark.parametrize("name", [name for name in HOSTILE if name != "empty"])
def test_bytes_that_are_no_call_get_an_exception_and_the_connection_is_closed(sidecar, main_cow, names, name):
    running = sidecar(roots=[str(main_cow)])
    with connect(running.port) as connection:
        connection.sendall(framed(HOSTILE[name]))
        answer = read_frame(connection)
        assert answer[3] == 3  # TMessageType.EXCEPTION
        assert read_frame(connection) == b""
    with running.client() as client:
        assert client.prune(request(main_cow, I_IS_100, names)).skipped > 0


@pytest.mark.parametrize("length", [0, -1, -(2**31), 2**31 - 1, (64 << 20) + 1], ids=str)
def test_a_frame_of_an_impossible_length_closes_the_connection_unread(sidecar, main_cow, length):
    running = sidecar(roots=[str(main_cow)])
    with connect(running.port) as connection:
        connection.sendall(struct.pack("!i", length))
        assert read_frame(connection) == b""
    assert running.metric("sargo_connections_closed_total", because="frame") == 1


def test_a_frame_that_is_announced_but_not_sent_takes_no_memory_and_is_closed(sidecar, main_cow):
    running = sidecar(roots=[str(main_cow)], read_seconds=0.4)
    with connect(running.port) as connection:
        connection.sendall(struct.pack("!i", 64 << 20) + b"x")
        for _ in range(5):
            if running.metric("sargo_bytes_in_flight") == 5:
                break
            time.sleep(0.05)
        assert running.metric("sargo_bytes_in_flight") == 5
        assert read_frame(connection) == b""
    assert running.metric("sargo_connections_closed_total", because="slow") == 1
    assert running.metric("sargo_bytes_in_flight") == 0


def test_a_peer_that_sends_a_byte_now_and_then_is_closed(sidecar, main_cow):
    running = sidecar(roots=[str(main_cow)], read_seconds=0.6)
    with connect(running.port) as connection:
        connection.sendall(struct.pack("!i", 1000))
        assert not trickle(connection, b"x", 100, 0.05)
    assert running.metric("sargo_connections_closed_total", because="slow") == 1


def test_a_silent_connection_is_closed(sidecar, main_cow):
    running = sidecar(roots=[str(main_cow)], idle_seconds=0.4)
    with connect(running.port) as connection:
        assert read_frame(connection) == b""
    assert running.metric("sargo_connections_closed_total", because="idle") == 1


def test_more_bytes_than_all_peers_may_hold_close_the_connection_that_sent_them(sidecar, main_cow):
    running = sidecar(roots=[str(main_cow)], max_bytes_in_flight=100_000)
    with connect(running.port) as connection:
        connection.sendall(struct.pack("!i", 1 << 20))
        assert not trickle(connection, b"x" * 10_000, 200, 0.005)
    assert running.metric("sargo_connections_closed_total", because="memory") == 1


def test_one_connection_too_many_is_closed_and_the_others_live(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)], max_connections=1, secret="s3cret", first_call_seconds=60)
    with running.client() as client:
        assert json.loads(client.version("s3cret"))["protocol"] == 1
        with connect(running.port) as second:
            assert read_frame(second) == b""
        assert client.prune(request(main_cow, I_IS_100, names, secret="s3cret")).skipped > 0
    assert running.metric("sargo_connections_closed_total", because="too many") == 1


def test_calls_that_are_sent_ahead_are_answered_one_after_the_other(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)])
    call = frame(main_cow, names, 5)
    with connect(running.port) as connection:
        connection.sendall(call * 5 + call[:7])
        connection.sendall(call[7:])
        connection.settimeout(20)
        expected, data = 6, b""
        while expected:
            data += connection.recv(65536)
            while len(data) >= 4 and len(data) >= 4 + struct.unpack("!i", data[:4])[0]:
                length = struct.unpack("!i", data[:4])[0]
                assert data[7] == 2  # TMessageType.REPLY
                data = data[4 + length :]
                expected -= 1


@settings(max_examples=examples(58, at_night=3000))
@given(data=st.data())
def test_a_mutated_call_is_read_or_refused(main_cow, data):
    body = bytearray(frame(main_cow, ["a", "b"], 5)[4:])
    for _ in range(data.draw(st.integers(1, 6))):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    body = bytes(body[: data.draw(st.integers(0, len(body)))] if data.draw(st.booleans()) else body)
    try:
        check(memoryview(body))
    except FrameError:
        with pytest.raises(FrameError):
            read_call(memoryview(body))
        return
    with contextlib.suppress(FrameError):  # a method, or text, that is not ours
        read_call(memoryview(body))


@pytest.mark.parametrize("given_secret", [None, "", "wrong", "s3cret ", "s3cre"], ids=repr)
def test_a_request_without_the_secret_is_refused_whatever_it_asks(sidecar, main_cow, names, given_secret):
    running = sidecar(roots=[str(main_cow)], secret="s3cret")
    with running.client() as client:
        for table in (main_cow, "/etc"):
            with pytest.raises(Exception, match="secret") as refused:
                client.prune(request(table, I_IS_100, names, secret=given_secret))
            assert refused.value.code == "secret"
        assert client.prune(request(main_cow, I_IS_100, names, secret="s3cret")).skipped > 0
    assert "s3cret" not in running.log.getvalue()


def test_with_tls_plain_bytes_are_not_answered_and_a_client_that_checks_is(sidecar, main_cow, names, certificates):
    running = sidecar(
        roots=[str(main_cow)],
        tls_certificate=certificates / "cert.pem",
        tls_key=certificates / "key.pem",
        tls_client_ca=certificates / "ca.pem",
        read_seconds=2,
    )
    call = frame(main_cow, names, 5)
    with connect(running.port) as connection:
        connection.sendall(call)
        assert b"\x80\x01\x00\x02" not in read_frame(connection)
    context = ssl.create_default_context(cafile=certificates / "ca.pem")
    answer = b""
    with (
        contextlib.suppress(OSError),
        connect(running.port) as plain,
        context.wrap_socket(plain, server_hostname="localhost") as connection,
    ):
        connection.sendall(call)
        answer = connection.recv(100)
    assert answer == b""  # no certificate was shown
    context.load_cert_chain(certificates / "cert.pem", certificates / "key.pem")
    with connect(running.port) as plain, context.wrap_socket(plain, server_hostname="localhost") as connection:
        connection.sendall(call)
        assert read_frame(connection)[3] == 2


def test_pages_show_metrics_and_health_and_nothing_else(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)], page=False)
    with running.client() as client:
        reply = client.prune(request(main_cow, I_IS_100, names))
    page = f"http://127.0.0.1:{running.sidecar.metrics_port}"
    text = urllib.request.urlopen(f"{page}/metrics", timeout=20).read().decode()
    assert f"sargo_files_skipped_total {float(reply.skipped)}" in text
    assert f"sargo_files_listed_total {float(len(names))}" in text
    assert 'sargo_requests_total{end="answered",method="prune"} 1.0' in text
    assert 'sargo_request_seconds_count{method="prune"} 1.0' in text
    assert str(main_cow) not in text
    assert json.loads(urllib.request.urlopen(f"{page}/healthz", timeout=20).read())["status"] == "ok"
    with pytest.raises(urllib.error.HTTPError, match="404") as refused:
        urllib.request.urlopen(f"{page}/", timeout=20)
    refused.value.close()


def test_the_log_is_json_and_holds_no_values_unless_asked(sidecar, main_cow, names):
    for wanted in (False, True):
        running = sidecar(roots=[str(main_cow)], log_values=wanted)
        with running.client() as client:
            client.prune(request(main_cow, I_IS_100, names, query_id="hive_7", filter_text="(i = 100)"))
        lines = [json.loads(line) for line in running.log.getvalue().splitlines()]
        answered = next(line for line in lines if line["event"] == "answered")
        assert (answered["query_id"], answered["listed"]) == ("hive_7", len(names))
        assert ("i = 100" in running.log.getvalue()) is wanted


def test_sigterm_lets_the_running_call_end_and_takes_no_new_one(main_cow, names):
    command = [
        sys.executable,
        "-c",
        "from handler.cli.main import main; main()",
        "serve",
        "--roots",
        str(main_cow),
        "--port",
        "0",
        "--metrics-port",
        "-1",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        port = json.loads(process.stderr.readline())["port"]
        call = frame(main_cow, names, 5)
        with connect(port) as idle, connect(port) as busy:
            busy.sendall(call)  # the first call opens the table, which takes a while
            time.sleep(0.05)
            process.terminate()
            assert read_frame(busy)[3] == 2
            assert read_frame(idle) == b""
        assert process.wait(30) == 0
        events = [json.loads(line)["event"] for line in process.stderr.read().splitlines()]
    assert "stopping" in events
    assert events[-1] == "stopped"
    with pytest.raises(OSError):  # noqa: PT011
        connect(port, timeout=1)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a file that never gives its bytes")
def test_a_store_that_hangs_does_not_hold_up_the_end(tmp_path, names):
    (tmp_path / "t" / ".hoodie").mkdir(parents=True)
    os.mkfifo(tmp_path / "t" / ".hoodie" / "hoodie.properties")
    command = [
        sys.executable,
        "-c",
        "from handler.cli.main import main; main()",
        "serve",
        "--roots",
        str(tmp_path),
        "--port",
        "0",
        "--metrics-port",
        "-1",
        "--request-seconds",
        "0.5",
        "--drain-seconds",
        "5",
    ]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            port = json.loads(process.stderr.readline())["port"]
            with connect(port) as busy:
                busy.sendall(frame(tmp_path / "t", names, 5))
                assert b"not ready in time" in read_frame(busy)
            process.terminate()
            assert process.wait(30) == 0
        finally:
            process.kill()
        assert json.loads(process.stderr.read().splitlines()[-1])["event"] == "stopped"


def test_the_end_waits_for_running_calls_no_longer_than_it_was_told(sidecar, main_cow, names, monkeypatch):
    gate = threading.Event()
    decide = View.decide
    monkeypatch.setattr(View, "decide", lambda self, question: (gate.wait(30), decide(self, question))[1])
    running = sidecar(roots=[str(main_cow)], drain_seconds=0.2)
    try:
        with connect(running.port) as busy:
            busy.sendall(frame(main_cow, names, 5))
            while not running.sidecar.server.calls:
                time.sleep(0.01)
            running.stop()  # ends while the plan is still being made
            assert read_frame(busy) == b""
        assert not gate.is_set()
    finally:
        gate.set()


def test_more_requests_at_once_than_allowed_are_refused_and_those_running_are_answered(
    sidecar, main_cow, names, monkeypatch
):
    gate = threading.Event()
    decide = View.decide
    monkeypatch.setattr(View, "decide", lambda self, question: (gate.wait(30), decide(self, question))[1])
    running = sidecar(roots=[str(main_cow)], max_requests=2)
    try:
        with contextlib.ExitStack() as stack:
            busy = [stack.enter_context(connect(running.port)) for _ in range(2)]
            for connection in busy:
                connection.sendall(frame(main_cow, names, 5))
            while len(running.sidecar.server.calls) < 2:
                time.sleep(0.01)
            with running.client() as client:
                with pytest.raises(Exception, match="requests are being answered") as refused:
                    client.prune(request(main_cow, I_IS_100, names))
                assert refused.value.code == "busy"
                assert json.loads(client.health())["running"] == 2
                gate.set()
                for connection in busy:
                    assert read_frame(connection)[3] == 2
                assert client.prune(request(main_cow, I_IS_100, names)).skipped > 0
    finally:
        gate.set()
    assert running.metric("sargo_refused_total", code="busy") == 1


def test_many_clients_at_once_get_their_own_answers(sidecar, main_cow, names):
    running = sidecar(roots=[str(main_cow)])
    faults = []

    def ask(count):
        part = names[:count]
        with running.client() as client:
            for _ in range(20):
                reply = client.prune(request(main_cow, I_IS_100, part))
                if (reply.name_count, len(reply.skip)) != (count, (count + 7) // 8 if reply.skipped else 0):
                    faults.append((count, reply))

    threads = [threading.Thread(target=ask, args=(1 + i % len(names),)) for i in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    for _ in range(100):  # a reply is counted after it was sent
        if (counted := running.metric("sargo_requests_total", method="prune", end="answered")) == 32 * 20:
            break
        time.sleep(0.05)
    assert counted == 32 * 20
