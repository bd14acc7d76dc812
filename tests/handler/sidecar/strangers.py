"""Calls of peers that have no secret, or show it, and what becomes of their connections."""

import struct
import time

from handler.sidecar.client import Client
from tests.handler.sidecar.conftest import SECRET
from tests.handler.sidecar.test_server import STRING, field, framed, read_frame
from tests.handler.sidecar.test_service import I_IS_100

MAX_FIRST_FRAME = 8192
EXCEPTION, REPLY = 3, 2


def text(value):
    return struct.pack("!i", len(value)) + value


def call_of(method, *fields):
    return b"\x80\x01\x00\x01" + text(method.encode()) + struct.pack("!i", 77) + b"".join(fields) + b"\0"


HEALTH = framed(call_of("health"))


def version(secret):
    return framed(call_of("version", field(STRING, 1, text(secret.encode()))))


def ask(connection, call):
    connection.sendall(call)
    return read_frame(connection)


def is_closed(connection):
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def is_answered(running, main_cow, names, timeout=20.0):
    client = Client(f"127.0.0.1:{running.port}", secret=SECRET, seconds=timeout)
    return client.prune(str(main_cow), I_IS_100.encode(), names).skipped > 0


def until(condition):
    for _ in range(2_000):
        if condition():
            return True
        time.sleep(0.01)
    return False
