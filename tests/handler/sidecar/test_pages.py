"""The HTTP pages under attack: whoever scrapes them is answered, and peers cost threads and time within limits."""

import contextlib
import random
import re
import socket
import threading
import time
import urllib.request

import pytest

from handler import open_table
from handler.sidecar import pages
from handler.sidecar.client import Client
from tests.handler.sidecar.test_service import I_IS_100


@pytest.fixture
def running(sidecar, main_cow):
    return sidecar(roots=[str(main_cow)], secret="open sesame")


def connect(running):
    return socket.create_connection(("127.0.0.1", running.sidecar.metrics_port), timeout=20)


def page(running, path="/healthz"):
    return urllib.request.urlopen(f"http://127.0.0.1:{running.sidecar.metrics_port}{path}", timeout=20).read().decode()


def threads():
    return sum("process_request_thread" in thread.name for thread in threading.enumerate())


@pytest.mark.parametrize("sent", [b"", b"GET /metr", b"GET /metrics HTTP/1.1\r\nHost: x\r\nA: b"], ids=len)
def test_silent_and_slow_peers_do_not_lock_others_out_and_take_few_threads(running, sent):
    with contextlib.ExitStack() as stack:
        for _ in range(120):
            stack.enter_context(connect(running)).sendall(sent)
        assert '"status": "ok"' in page(running)
        assert threads() <= 2 * pages._MAX_CONNECTIONS
        assert '"status": "ok"' in page(running)


@pytest.mark.parametrize("piece", [b"G", b"A: b\r\n", b"\r"])
def test_a_peer_that_sends_a_byte_now_and_then_is_closed(running, monkeypatch, piece):
    monkeypatch.setattr(pages, "_SECONDS", 0.5)
    with connect(running) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\n" if len(piece) > 1 else b"")
        with contextlib.suppress(OSError):
            for _ in range(80):  # more lines than that are refused in any case
                connection.sendall(piece)
                time.sleep(0.05)
            raise AssertionError("the connection is open")
    time.sleep(1)
    assert threads() == 0


def test_nothing_that_a_peer_does_is_printed(running, capfd, monkeypatch):
    monkeypatch.setattr(pages, "_SECONDS", 0.3)
    rng = random.Random(16)
    sent = [
        b"",
        b"\0",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"A" * 70_000,
        b"GET /" + b"%ff" * 9_000 + b" HTTP/1.1\r\n\r\n",
    ]
    sent += [b"GET /metrics HTTP/1.1\r\nAccept: application/openmetrics-text;version=\x1b[2J\xff\r\n\r\n"]
    sent += [b"GET /metrics?name[]=\xff\x80 HTTP/1.1\r\n\r\n", b"POST /metrics HTTP/1.1\r\nContent-Length: -1\r\n\r\n"]
    sent += [b"GET /metrics HTTP/1.1\r\n" + b"A: b\r\n" * 500, b"GET http://[::1 HTTP/1.1\r\n\r\n"]
    sent += [rng.randbytes(rng.randrange(1, 500)) for _ in range(60)]
    for one in sent:
        with connect(running) as connection:
            with contextlib.suppress(OSError):
                connection.sendall(one)
            if rng.random() < 0.5:
                connection.settimeout(1)
                with contextlib.suppress(OSError):
                    connection.recv(10)
    assert '"status": "ok"' in page(running)
    time.sleep(0.5)
    assert capfd.readouterr().err == ""
    assert "failure" not in running.log.getvalue()


def test_the_pages_name_no_table_user_query_or_value(running, main_cow):
    names = [item.base_file for item in open_table(main_cow).at().slices]
    client = Client(f"127.0.0.1:{running.port}", secret="open sesame")
    reply = client.prune(str(main_cow), I_IS_100.encode(), names)
    for path in ("/metrics", "/healthz"):
        text = page(running, path)
        for word in (str(main_cow), main_cow.name, names[0], reply.report_id, "open sesame", "127.0.0.1"):
            assert word not in text
    labels = set(re.findall(r'(\w+)="', page(running, "/metrics")))
    assert labels <= {"method", "end", "code", "because", "verdict", "le"}
