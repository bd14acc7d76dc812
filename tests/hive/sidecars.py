"""Sidecars for the tests: the real one as its own process, and ones that fail in a chosen way."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from handler.sidecar.idl import PruneReply
from handler.sidecar.wire import ThriftCall, read_call, result
from tests.hive.server import free_port


class Sidecar:
    """`sargo serve` on a port of its own."""

    def __init__(
        self,
        root: Path | str,
        log: Path,
        port: int | None = None,
        more: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._environment = {**os.environ, **(environment or {})}
        self.port = port or free_port()
        self.address = f"127.0.0.1:{self.port}"
        self._command = [
            sys.executable,
            "-c",
            "from handler.cli.main import main; main()",
            "serve",
            "--roots",
            str(root),
            "--port",
            str(self.port),
            "--metrics-port",
            "-1",
            "--request-seconds",
            "20",
            *more,
        ]
        self._log = log
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> Sidecar:
        with self._log.open("ab") as out:
            self.process = subprocess.Popen(self._command, env=self._environment, stdout=out, stderr=subprocess.STDOUT)
        until = time.monotonic() + 60
        while time.monotonic() < until and self.process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return self
            time.sleep(0.1)
        raise RuntimeError(f"sargo serve did not start:\n{self._log.read_text()[-2000:]}")

    def stop(self) -> None:
        if self.process is not None:
            self.process.terminate()
            self.process.wait(30)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait(30)


def read_exactly(connection: socket.socket, n: int) -> bytes:
    data = b""
    while len(data) < n:
        piece = connection.recv(n - len(data))
        if not piece:
            raise ConnectionError("closed")
        data += piece
    return data


def read_frame(connection: socket.socket) -> bytes:
    return read_exactly(connection, int.from_bytes(read_exactly(connection, 4), "big"))


def framed(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def skip_everything(call: ThriftCall, **wrong: Any) -> bytes:
    """The most harmful answer possible, with the fields in `wrong` false: the client must refuse it."""
    request = call.arguments[0]
    n = request.name_count
    bits = bytearray(b"\xff" * ((n + 7) // 8))
    if n % 8:
        bits[-1] = (1 << n % 8) - 1
    fields: dict[str, Any] = {
        "protocol_version": 1,
        "skip": bytes(bits),
        "name_count": n,
        "skipped": n,
        "instant": "0",
        "digest": zlib.crc32(request.names),
    }
    fields.update({name: value(fields[name]) if callable(value) else value for name, value in wrong.items()})
    return framed(result(call, PruneReply(**fields)))


class FailingSidecar:
    """Answers every call by `behave(connection, frame)`, in a thread a connection."""

    def __init__(self, behave: Callable[[socket.socket, bytes], None]) -> None:
        self._behave = behave
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.calls = self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                while True:
                    frame = read_frame(connection)
                    self.calls += 1
                    self._behave(connection, frame)
            except OSError:
                return

    def stop(self) -> None:
        self._socket.close()


def answering(answer: Callable[[ThriftCall], bytes]) -> Callable[[socket.socket, bytes], None]:
    def behave(connection: socket.socket, frame: bytes) -> None:
        connection.sendall(answer(read_call(memoryview(frame))))

    return behave


def forwarding(port: int, seen: Callable[[ThriftCall], object]) -> Callable[[socket.socket, bytes], None]:
    """Forwards to the real sidecar at this port, after calling `seen` with the request."""

    def behave(connection: socket.socket, frame: bytes) -> None:
        seen(read_call(memoryview(frame)))
        with socket.create_connection(("127.0.0.1", port)) as real:
            real.sendall(framed(frame))
            connection.sendall(framed(read_frame(real)))

    return behave
