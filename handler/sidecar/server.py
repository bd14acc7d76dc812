"""The network: framed Thrift calls over TCP, with or without TLS, on one event loop.

``slots`` says which connections may be open, ``connection`` collects the calls of one of them. Here a call is decoded,
its secret is checked, and it is passed to the service:

    1.  a frame of more than ``MAX_FIRST_FRAME_BYTES`` is refused on a connection that has not shown the secret
    2.  a frame of more than 256 KiB is decoded on a thread of its own, every other one on the event loop
    3.  the secret of the call is compared, before anything else of the call is looked at
    4.  ``prune``, ``plan``, ``layout``, ``aggregate`` and ``explain`` are answered to those who gave the
        secret, the other methods to everybody

A short ``prune`` whose answer is known is answered in the turn of the event loop in which it arrived, every other call
by a task.

Calls of peers that have not shown the secret are decoded one after the other, each in a turn of the event loop, so that
other connections are served in between.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import hmac
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from handler.sidecar import wire
from handler.sidecar.connection import Connection
from handler.sidecar.idl import MAX_FIRST_FRAME_BYTES, Refused, forget_frames, refuse
from handler.sidecar.recording.journal import Journal
from handler.sidecar.recording.metrics import Metrics
from handler.sidecar.service import Service
from handler.sidecar.settings import Settings, SettingsError
from handler.sidecar.slots import Slots

__all__ = ["Server", "tls_context"]

_HEADER = 4
_BACKLOG = 256
_SWEEP_SECONDS = 0.5
#: Longer frames are decoded off the event loop.
_LONG_FRAME = 256 << 10
#: Seconds to wait when no connection can be accepted.
_PAUSE_SECONDS = 0.1
#: The methods that are answered without the secret.
_OPEN = frozenset({"health", "version"})
_ABORTED = frozenset({errno.ECONNABORTED, errno.EPROTO, errno.EINTR})


def tls_context(settings: Settings) -> ssl.SSLContext | None:
    """The context for TLS 1.2 or newer of the settings, or None. Raises SettingsError when a file cannot be used."""
    if settings.tls_certificate is None or settings.tls_key is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_RENEGOTIATION
    try:
        context.load_cert_chain(settings.tls_certificate, settings.tls_key)
        if settings.tls_client_ca is not None:
            context.load_verify_locations(settings.tls_client_ca)
            context.verify_mode = ssl.CERT_REQUIRED
    except (OSError, ssl.SSLError) as error:
        raise SettingsError(f"tls: {error}") from error
    return context


class Server:
    """Listens, and passes calls to a service. Raises SettingsError when the secret cannot be read."""

    def __init__(self, settings: Settings, service: Service, metrics: Metrics, journal: Journal) -> None:
        self.settings = settings
        self.service = service
        self.metrics = metrics
        self.journal = journal
        self._secret = settings.shared_secret()
        self.trusts_certificates = self._secret is None and settings.tls_client_ca is not None
        is_anybody_known = self._secret is not None or self.trusts_certificates
        self.slots: Slots[Connection] = Slots(
            settings.max_connections, settings.first_call_seconds if is_anybody_known else 0.0
        )
        self.bytes_held = 0
        self.calls: set[asyncio.Task[None]] = set()
        self._decoding = ThreadPoolExecutor(1, thread_name_prefix="sargo-decode")
        self._listeners: Sequence[socket.socket] = ()
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def has_secret(self) -> bool:
        return self._secret is not None

    @property
    def is_stopping(self) -> bool:
        return self.service.stopping

    async def start(self) -> tuple[str, int]:
        """Listen; returns the address and the port. Raises SettingsError when that is not possible."""
        loop = asyncio.get_running_loop()
        tls = tls_context(self.settings)
        self._unknown_turn = asyncio.Lock()
        try:
            self._listeners = await _listen(self.settings.host, self.settings.port)
        except OSError as error:
            raise SettingsError(f"cannot listen on {self.settings.host}:{self.settings.port}: {error}") from error
        self._tasks = [loop.create_task(self._accept(listener, tls)) for listener in self._listeners]
        self._tasks.append(loop.create_task(self._sweep()))
        host, port = self._listeners[0].getsockname()[:2]
        return str(host), int(port)

    async def stop(self) -> None:
        """Accept no more calls, wait ``drain_seconds`` for the running ones, then close all connections."""
        self.service.stopping = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)  # they no longer watch the sockets
        for listener in self._listeners:
            listener.close()
        for connection in self.slots:
            if connection.silent_since is not None:
                connection.close("stopping")
        if self.calls:
            await asyncio.wait(self.calls, timeout=self.settings.drain_seconds)
        for connection in self.slots:
            connection.close("stopping")
        self._decoding.shutdown(wait=False, cancel_futures=True)

    def close_inherited(self) -> None:
        """In a process that was forked from the sidecar's: close the copies of its sockets, which the sidecar keeps."""
        for listener in self._listeners:
            listener.close()
        for connection in self.slots:
            connection.close_inherited()

    # -- connections

    async def _accept(self, listener: socket.socket, tls: ssl.SSLContext | None) -> None:
        """Give each new connection a slot, forever: one in a turn of the event loop."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(listener)
            except OSError as error:
                if error.errno not in _ABORTED:  # no file descriptor or memory is left
                    self.journal.say_seldom("accept_failed", "error", why=error.strerror)
                    await asyncio.sleep(_PAUSE_SECONDS)
                continue
            connection = Connection(self)
            if self.slots.admit(connection):
                self.metrics.connections.set(len(self.slots))
                connection.open(accepted, tls)
            else:
                self.metrics.connections_closed.labels("too many").inc()
                accepted.close()
            await asyncio.sleep(0)

    async def _sweep(self) -> None:
        """Close the connections whose time is up, forever."""
        given = self.settings
        seconds = min(given.read_seconds, given.idle_seconds, given.first_call_seconds) / 2
        while True:
            await asyncio.sleep(min(_SWEEP_SECONDS, seconds))
            now = time.monotonic()
            for connection in self.slots:
                connection.check_time(now)

    def hold(self, nbytes: int) -> None:
        """Count bytes that peers have sent. When there are too many, who has sent most loses the connection."""
        self.bytes_held += nbytes
        if nbytes > 0 and self.bytes_held > self.settings.max_bytes_in_flight:
            max(self.slots, key=lambda connection: connection.held).close("memory")

    def max_frame_bytes(self, connection: Connection) -> int:
        """The longest frame that this peer may send."""
        longest = self.settings.max_frame_bytes
        if self._secret is None or self.slots.is_known(connection):
            return longest
        return min(longest, MAX_FIRST_FRAME_BYTES)

    def refuse_large(self, head: bytes) -> bytes:
        """The reply to a frame that is longer, of which the first bytes are given."""
        why = (
            f"show the secret in a call of at most {MAX_FIRST_FRAME_BYTES} bytes on this connection first, "
            "such as version(secret)"
        )
        self.metrics.refused.labels("secret").inc()
        self.journal.say_seldom("refused", code="secret", why=why)
        try:
            return wire.result(wire.read_head(head), refused=refuse(Refused("secret", why)))
        except wire.FrameError:
            return wire.failure(None, why)

    # -- calls

    def answer(self, connection: Connection, frame: memoryview, *, is_last: bool) -> None:
        """Answer a frame: in this turn of the event loop if the answer is known, else by a task."""
        started = time.perf_counter()
        call = self._read_at_once(connection, frame) if is_last else None
        reply = None if call is None else self._known_reply(connection, call)
        if reply is not None:
            self.hold(-(_HEADER + len(frame)))
            connection.write_answer(reply, True)
            self._count("prune", "answered", started)
            return
        task = asyncio.ensure_future(self._answer(connection, frame, call))
        self.calls.add(task)
        task.add_done_callback(self.calls.discard)

    def _read_at_once(self, connection: Connection, frame: memoryview) -> wire.ThriftCall | None:
        """The call of a short frame of a peer that has shown the secret, if it can be read."""
        if len(frame) > _LONG_FRAME or not (self._secret is None or self.slots.is_known(connection)):
            return None
        try:
            return wire.read_call(frame)
        except wire.FrameError as error:  # raised again, and dealt with, by the task
            forget_frames(error)
            return None

    def _known_reply(self, connection: Connection, call: wire.ThriftCall) -> bytes | None:
        """The reply to a ``prune`` whose answer is known."""
        try:
            if call.method != "prune" or not self._is_shown(call):
                return None
            value = self.service.known_prune(*call.arguments)
        except Refused as error:  # raised again, and dealt with, by the task
            forget_frames(error)
            return None
        except Exception as error:
            self.journal.failure("prune", error)
            forget_frames(error)
            return None
        if value is None:
            return None
        self.slots.make_known(connection)
        return wire.result(call, value)

    def _count(self, method: str, end: str, started: float) -> None:
        self.metrics.requests.labels(method, end).inc()
        self.metrics.seconds.labels(method).observe(time.perf_counter() - started)

    async def _answer(self, connection: Connection, frame: memoryview, call: wire.ThriftCall | None) -> None:
        try:
            reply, stays_open = await self._reply(connection, frame, call)
        finally:
            self.hold(-(_HEADER + len(frame)))
        connection.write_answer(reply, stays_open and not self.is_stopping)

    async def _reply(
        self, connection: Connection, frame: memoryview, call: wire.ThriftCall | None
    ) -> tuple[bytes, bool]:
        """The reply to a frame, and whether the connection stays open. ``call``: what was read of it already."""
        started = time.perf_counter()
        method, end = "unknown", "failed"
        try:
            call = call or await self._read(connection, frame)
            method = call.method
            if self._is_shown(call):
                self.slots.make_known(connection)
            value = await self._method(method, connection)(*call.arguments)
            end = "answered"
            return wire.result(call, value), True
        except wire.FrameError as error:
            end = "refused"
            self.metrics.refused.labels("frame").inc()
            forget_frames(error)
            return wire.failure(None, error.why), False
        except Refused as error:
            end = "refused"
            self.metrics.refused.labels(error.code).inc()
            say = self.journal.say_seldom if error.code == "secret" else self.journal.say
            say("refused", method=method, code=error.code, why=error.why)
            forget_frames(error)
            assert call is not None
            return wire.result(call, refused=refuse(error)), True
        except Exception as error:
            self.journal.failure(method, error)
            forget_frames(error)
            return wire.failure(call, "the sidecar failed"), call is not None
        finally:
            self._count(method, end, started)

    async def _read(self, connection: Connection, frame: memoryview) -> wire.ThriftCall:
        """Decode a frame. Raises FrameError."""
        if len(frame) > _LONG_FRAME:
            return await asyncio.get_running_loop().run_in_executor(self._decoding, wire.read_call, frame)
        if self._secret is None or self.slots.is_known(connection):
            return wire.read_call(frame)
        async with self._unknown_turn:
            await asyncio.sleep(0)
            if connection.is_closed:
                raise wire.FrameError("the connection is closed")
            return wire.read_call(frame)

    def _is_shown(self, call: wire.ThriftCall) -> bool:
        """Whether the peer may be known after this call. Raises Refused when the call needs the secret."""
        if self._secret is None:
            return True
        if call.secret is None and call.method in _OPEN:
            return False
        digests = [hashlib.sha256(text).digest() for text in (self._secret, (call.secret or "").encode())]
        if not hmac.compare_digest(*digests):
            raise Refused("secret", "the secret is missing or wrong")
        return True

    def _method(self, name: str, connection: Connection) -> Callable[..., Awaitable[Any]]:
        methods: dict[str, Callable[..., Awaitable[Any]]] = {
            "prune": self.service.prune,
            "plan": self.service.plan,
            "layout": self.service.layout,
            "aggregate": self.service.aggregate,
            "explain": self.service.explain,
            "health": lambda: self.service.health(names_roots=self._secret is None or self.slots.is_known(connection)),
            "version": self.service.version,
        }
        return methods[name]


async def _listen(host: str, port: int) -> list[socket.socket]:
    """Sockets that listen on all addresses of the host. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(
        host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    listeners: list[socket.socket] = []
    try:
        for family, address in dict.fromkeys((family, address) for family, _, _, _, address in found):
            used = port or (listeners[0].getsockname()[1] if listeners else 0)
            listeners.append(socket.create_server((address[0], used, *address[2:]), family=family, backlog=_BACKLOG))
            listeners[-1].setblocking(False)
    except BaseException:
        for listener in listeners:
            listener.close()
        raise
    return listeners
