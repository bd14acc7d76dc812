"""The network: framed Thrift calls over TCP, with or without TLS, on one event loop.

A connection carries one call at a time. The memory that a peer uses is bounded by the bytes that it has sent, not by
the length that it announces. A connection is closed

    at once                   beyond ``max_connections`` and ``max_bytes_in_flight``, and for a frame longer than
                              ``max_frame_bytes``, before the frame is read
    after ``read_seconds``    when a frame is incomplete, or the peer does not read its answer
    after ``idle_seconds``    without a call
    after an exception        when the frame is not a call of the IDL

Frames are decoded from the buffer that they are received into.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from handler.sidecar import wire
from handler.sidecar.idl import Refused, refuse
from handler.sidecar.journal import Journal
from handler.sidecar.metrics import Metrics
from handler.sidecar.service import Service
from handler.sidecar.settings import Settings, SettingsError

__all__ = ["Server", "tls_context"]

_HEADER = 4
#: The buffer of a connection that has not announced a longer frame.
_SMALL_BUFFER = 16 << 10
_SWEEP_SECONDS = 0.5


def tls_context(settings: Settings) -> ssl.SSLContext | None:
    """The context for TLS 1.2 or newer of the settings, or None. Raises SettingsError when a file cannot be used."""
    if settings.tls_certificate is None or settings.tls_key is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    try:
        context.load_cert_chain(settings.tls_certificate, settings.tls_key)
        if settings.tls_client_ca is not None:
            context.load_verify_locations(settings.tls_client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(f"tls: {error}") from error
    return context


class Server:
    """Listens, and passes calls to a service."""

    def __init__(self, settings: Settings, service: Service, metrics: Metrics, journal: Journal) -> None:
        self.settings = settings
        self.service = service
        self.metrics = metrics
        self.journal = journal
        self.connections: set[_Connection] = set()
        self.bytes_held = 0
        self.calls: set[asyncio.Task[None]] = set()
        self._listening: asyncio.Server | None = None
        self._sweeping: asyncio.Task[None] | None = None

    async def start(self) -> tuple[str, int]:
        """Listen; returns the address and the port. Raises SettingsError when that is not possible."""
        loop = asyncio.get_running_loop()
        context = tls_context(self.settings)
        timeout = None if context is None else self.settings.read_seconds
        try:
            self._listening = await loop.create_server(
                lambda: _Connection(self),
                self.settings.host,
                self.settings.port,
                ssl=context,
                backlog=256,
                ssl_handshake_timeout=timeout,
            )
        except OSError as error:
            raise SettingsError(f"cannot listen on {self.settings.host}:{self.settings.port}: {error}") from error
        self._sweeping = loop.create_task(self._sweep())
        host, port = self._listening.sockets[0].getsockname()[:2]
        return str(host), int(port)

    async def stop(self) -> None:
        """Accept no more calls, wait ``drain_seconds`` for the running ones, then close all connections."""
        self.service.stopping = True
        if self._listening is not None:
            self._listening.close()
        for connection in list(self.connections):
            if not connection.is_busy:
                connection.close("stopping")
        if self.calls:
            await asyncio.wait(self.calls, timeout=self.settings.drain_seconds)
        for connection in list(self.connections):
            connection.close("stopping")
        if self._sweeping is not None:
            self._sweeping.cancel()

    async def _sweep(self) -> None:
        """Close the connections whose time is up, forever."""
        while True:
            await asyncio.sleep(min(_SWEEP_SECONDS, self.settings.read_seconds / 2, self.settings.idle_seconds / 2))
            now = time.monotonic()
            for connection in list(self.connections):
                connection.check_time(now)

    # -- calls

    async def answer(self, frame: memoryview) -> tuple[bytes, bool]:
        """The reply to a frame, and whether the connection stays open."""
        call: wire.ThriftCall | None = None
        started = time.perf_counter()
        method, end = "unknown", "failed"
        try:
            call = wire.read_call(frame)
            method = call.method
            value = await self._method(method)(*call.arguments)
            end = "answered"
            return wire.result(call, value), True
        except wire.FrameError as error:
            end = "refused"
            self.metrics.refused.labels("frame").inc()
            return wire.failure(None, error.why), False
        except Refused as error:
            end = "refused"
            self.metrics.refused.labels(error.code).inc()
            self.journal.say("refused", method=method, code=error.code, why=error.why)
            assert call is not None
            return wire.result(call, refused=refuse(error)), True
        except Exception as error:
            self.journal.failure(method, error)
            return wire.failure(call, "the sidecar failed"), call is not None
        finally:
            self.metrics.requests.labels(method, end).inc()
            self.metrics.seconds.labels(method).observe(time.perf_counter() - started)

    def _method(self, name: str) -> Callable[..., Awaitable[Any]]:
        methods: dict[str, Callable[..., Awaitable[Any]]] = {
            "prune": self.service.prune,
            "explain": self.service.explain,
            "health": self.service.health,
            "version": self.service.version,
        }
        return methods[name]


def _new_buffer(size: int, content: bytes | memoryview) -> memoryview:
    """A buffer that begins with this content. The memory of the rest is allocated when it is written."""
    buffer: memoryview = np.empty(size, np.uint8).data
    buffer[: len(content)] = content
    return buffer


class _Connection(asyncio.BufferedProtocol):
    """One peer. ``_buffer`` contains the first ``_filled`` bytes of its next frame."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._transport: asyncio.Transport | None = None
        self._buffer = _new_buffer(_SMALL_BUFFER, b"")
        self._filled = 0
        self._since = time.monotonic()
        self._held = 0
        self.is_busy = False
        self._is_stalled = False

    # -- called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if len(self._server.connections) >= self._server.settings.max_connections or self._server.service.stopping:
            self.close("too many")
            return
        self._server.connections.add(self)
        self._server.metrics.connections.set(len(self._server.connections))

    def connection_lost(self, error: Exception | None) -> None:
        del error
        self._server.connections.discard(self)
        self._server.metrics.connections.set(len(self._server.connections))
        self._hold(-self._held)

    def get_buffer(self, sizehint: int) -> memoryview:
        del sizehint
        if self._filled == len(self._buffer):  # more than one call, sent ahead of the answer
            self._buffer = _new_buffer(self._filled + _SMALL_BUFFER, self._buffer)
        return self._buffer[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        if not self._filled:
            self._since = time.monotonic()
        self._filled += nbytes
        self._hold(nbytes)
        if self._server.bytes_held > self._server.settings.max_bytes_in_flight:
            self.close("memory")
            return
        self._take_frame()

    def eof_received(self) -> bool:
        return False

    def pause_writing(self) -> None:
        self._is_stalled = True
        self._since = time.monotonic()

    def resume_writing(self) -> None:
        self._is_stalled = False

    # -- frames

    def _take_frame(self) -> None:
        """Start the next call if its frame is complete, else enlarge the buffer to the frame."""
        if self.is_busy or self._filled < _HEADER:
            return
        length = int.from_bytes(self._buffer[:_HEADER], "big", signed=True)
        if not 0 < length <= self._server.settings.max_frame_bytes:
            self.close("frame")
            return
        end = _HEADER + length
        if self._filled < end:
            if len(self._buffer) < end:
                self._buffer = _new_buffer(end, self._buffer[: self._filled])
            return
        frame = self._buffer[_HEADER:end]
        rest = bytes(self._buffer[end : self._filled])
        self._buffer = _new_buffer(max(_SMALL_BUFFER, len(rest)), rest)
        self._filled = len(rest)
        self.is_busy = True
        assert self._transport is not None
        self._transport.pause_reading()
        task = asyncio.ensure_future(self._answer(frame))
        self._server.calls.add(task)
        task.add_done_callback(self._server.calls.discard)

    async def _answer(self, frame: memoryview) -> None:
        reply, stays_open = await self._server.answer(frame)
        self._hold(-(_HEADER + len(frame)))
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        transport.write(len(reply).to_bytes(_HEADER, "big") + reply)
        self.is_busy = False
        self._since = time.monotonic()
        if not stays_open or self._server.service.stopping:
            transport.close()
            return
        transport.resume_reading()
        self._take_frame()

    def _hold(self, nbytes: int) -> None:
        self._held += nbytes
        self._server.bytes_held += nbytes

    # -- ends

    def check_time(self, now: float) -> None:
        """Close the connection when its time is up."""
        settings, waited = self._server.settings, now - self._since
        if self.is_busy:
            return
        if (self._filled or self._is_stalled) and waited > settings.read_seconds:
            self.close("slow")
        elif waited > settings.idle_seconds:
            self.close("idle")

    def close(self, because: str) -> None:
        """Close at once."""
        if self._transport is not None and not self._transport.is_closing():
            self._server.metrics.connections_closed.labels(because).inc()
            self._transport.abort()
