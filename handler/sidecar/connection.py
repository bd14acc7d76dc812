"""One peer of the sidecar: collects the bytes of a call, has it answered, and is closed when its time is up.

A connection carries one call at a time. The memory that a peer uses is bounded by the bytes that it has sent, not by
the length that it announces. A connection is closed

    at once                       for a frame longer than ``max_frame_bytes``, before the frame is read; and as the one
                                  that holds the most bytes when all peers together hold ``max_bytes_in_flight``
    after an answer               to a frame that is not a call of the IDL, and to one that is too long for a peer that
                                  has not shown the secret
    after ``first_call_seconds``  when the peer has not shown the secret, or made a call where there is none. The time
                                  of the TLS handshake is part of it
    after ``read_seconds``        when a frame is incomplete, or the peer does not read its answer
    after ``idle_seconds``        without a call

Frames are decoded from the buffer that they are received into.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
import time
from typing import Protocol

import numpy as np

from handler.sidecar.recording.metrics import Metrics
from handler.sidecar.settings import Settings
from handler.sidecar.slots import Slots

__all__ = ["Connection", "Host"]

_HEADER = 4
#: The buffer of a connection that has not announced a longer frame: as long as its last frame, within these limits.
_SMALL_BUFFER, _EXPECTED_BUFFER = 16 << 10, 256 << 10
#: The bytes of a frame that are enough to say which call it is.
_HEAD = 128
#: Seconds in which a peer must take leave after the last answer.
_CLOSING_SECONDS = 2.0


class Host(Protocol):
    """What a connection needs of the server."""

    settings: Settings
    metrics: Metrics
    slots: Slots[Connection]
    trusts_certificates: bool

    @property
    def is_stopping(self) -> bool:
        """Whether no more calls are answered."""

    def max_frame_bytes(self, connection: Connection) -> int:
        """The longest frame that this peer may send."""

    def refuse_large(self, head: bytes) -> bytes:
        """The reply to a frame that is longer, of which the first bytes are given."""

    def answer(self, connection: Connection, frame: memoryview, *, is_last: bool) -> None:
        """Answer a frame, or start to: ``connection.write_answer`` is called with the reply.

        ``is_last``: no other frame waits behind it. Then it may be called before this returns.
        """

    def hold(self, nbytes: int) -> None:
        """Count bytes that peers have sent; closes connections when there are too many."""


def _new_buffer(size: int, content: bytes | memoryview) -> memoryview:
    """A buffer that begins with this content. The memory of the rest is allocated when it is written."""
    buffer: memoryview = np.empty(size, np.uint8).data
    buffer[: len(content)] = content
    return buffer


class Connection(asyncio.BufferedProtocol):
    """One peer. ``_buffer`` contains the first ``_filled`` bytes of its next frame.

    held   the bytes of frames that are not complete
    """

    def __init__(self, host: Host) -> None:
        self._host = host
        self._transport: asyncio.Transport | None = None
        self._socket: socket.socket | None = None
        self._opening: asyncio.Task[None] | None = None
        self._buffer = _new_buffer(0, b"")
        self._filled = 0
        self._to_discard = 0
        self._since = self._accepted = time.monotonic()
        self._is_busy = self._is_stalled = self._is_closed = self._is_closing = False
        self.held = 0

    def open(self, accepted: socket.socket, tls: ssl.SSLContext | None) -> None:
        """Begin: the TLS handshake, then the first call."""
        self._socket = accepted
        self._opening = asyncio.get_running_loop().create_task(self._open(accepted, tls))

    async def _open(self, accepted: socket.socket, tls: ssl.SSLContext | None) -> None:
        seconds = None if tls is None else self._host.settings.first_call_seconds
        try:
            await asyncio.get_running_loop().connect_accepted_socket(
                lambda: self, accepted, ssl=tls, ssl_handshake_timeout=seconds
            )
        except OSError:  # also what ssl raises
            self.close("handshake")

    def close_inherited(self) -> None:
        """In a forked process: close the copy of the socket. No event loop runs there."""
        if self._socket is not None:
            self._socket.close()

    # -- called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._buffer = _new_buffer(_SMALL_BUFFER, b"")
        if self._is_closed or self._host.is_stopping:
            transport.abort()
        elif self._host.trusts_certificates:
            self._host.slots.make_known(self)

    def connection_lost(self, error: Exception | None) -> None:
        del error
        self._leave()

    def get_buffer(self, sizehint: int) -> memoryview:
        del sizehint
        if self._filled == len(self._buffer):  # more than one call, sent ahead of the answer
            self._buffer = _new_buffer(self._filled + _SMALL_BUFFER, self._buffer)
        return self._buffer[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        if self._is_closed:
            return
        if self._is_closing:
            self._discard(nbytes)
            return
        if not self._filled:
            self._since = time.monotonic()
        self._filled += nbytes
        self._hold(nbytes)
        if not self._is_closed:
            self._take_frame()

    def eof_received(self) -> bool:
        return False

    def pause_writing(self) -> None:
        self._is_stalled = True
        self._since = time.monotonic()

    def resume_writing(self) -> None:
        self._is_stalled = False
        if not self._is_busy:
            self._listen()

    # -- frames

    @property
    def silent_since(self) -> float | None:
        return None if self._is_busy else self._since

    @property
    def is_busy(self) -> bool:
        """Whether a call is being answered."""
        return self._is_busy

    @property
    def is_closed(self) -> bool:
        return self._is_closed

    def _listen(self) -> None:
        """Take the next call: of those that were sent ahead, or when it arrives."""
        if self._transport is not None and not self._transport.is_closing() and not self._is_closing:
            self._transport.resume_reading()
            self._take_frame()

    def _take_frame(self) -> None:
        """Start the next call if its frame is complete, else enlarge the buffer to the frame."""
        if self._is_busy or self._is_closing or self._filled < _HEADER:
            return
        length = int.from_bytes(self._buffer[:_HEADER], "big", signed=True)
        if not 0 < length <= self._host.settings.max_frame_bytes:
            self.close("frame")
            return
        end = _HEADER + length
        if length > self._host.max_frame_bytes(self):
            if self._filled >= min(end, _HEADER + _HEAD):
                self._refuse_large(end)
            return
        if self._filled < end:
            if len(self._buffer) < end:
                self._buffer = _new_buffer(end, self._buffer[: self._filled])
            return
        frame = self._buffer[_HEADER:end]
        rest = bytes(self._buffer[end : self._filled])
        self._buffer = _new_buffer(max(_SMALL_BUFFER, len(rest), min(end, _EXPECTED_BUFFER)), rest)
        self._filled = len(rest)
        self._is_busy = True
        self.held -= end  # from here on the call holds them
        assert self._transport is not None
        self._host.answer(self, frame, is_last=not self._filled)
        if self._is_busy or self._is_stalled:
            self._transport.pause_reading()

    def write_answer(self, reply: bytes, stays_open: bool) -> None:
        """Send the answer to the frame that was taken, and take the next one."""
        self._is_busy = False
        self._since = time.monotonic()
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        transport.write(len(reply).to_bytes(_HEADER, "big") + reply)
        if not stays_open:
            self.finish()
        elif not self._is_stalled:
            self._listen()

    def _refuse_large(self, end: int) -> None:
        """Answer at once, and discard the rest of the frame: a client reads no answer before it has sent all."""
        reply = self._host.refuse_large(bytes(self._buffer[_HEADER : _HEADER + _HEAD]))
        assert self._transport is not None
        self._transport.write(len(reply).to_bytes(_HEADER, "big") + reply)
        self._to_discard = end
        self._is_closing = True
        self._discard(self._filled)

    def _discard(self, nbytes: int) -> None:
        self._hold(-self.held)
        self._filled = 0
        self._to_discard -= nbytes
        if self._to_discard <= 0 and self._transport is not None:
            self.finish()

    def _hold(self, nbytes: int) -> None:
        self.held += nbytes
        self._host.hold(nbytes)

    # -- ends

    def check_time(self, now: float) -> None:
        """Close the connection when its time is up."""
        if self._is_closing and not self._to_discard:
            late, because = now - self._since > _CLOSING_SECONDS, "slow"
        else:
            late, because = self._is_late(now)
        if late:
            self.close(because)

    def _is_late(self, now: float) -> tuple[bool, str]:
        settings, waited = self._host.settings, now - self._since
        may_be_large = self._host.max_frame_bytes(self) == settings.max_frame_bytes
        is_first_call_due = not (self._host.slots.is_known(self) or (self._filled and may_be_large))
        if is_first_call_due and now - self._accepted > settings.first_call_seconds:
            return True, "slow" if self._filled or self._to_discard else "silent"
        if self._is_busy:
            return False, ""
        if self._filled or self._is_stalled:
            return waited > settings.read_seconds, "slow"
        return waited > settings.idle_seconds, "idle"

    def finish(self) -> None:
        """Close when what was written has been sent."""
        self._is_closing = True
        self._to_discard = 0
        self._since = time.monotonic()
        if self._transport is not None:
            self._transport.close()

    def close(self, because: str) -> None:
        """Close at once, and leave the slot."""
        if self._is_closed:
            return
        self._host.metrics.connections_closed.labels(because).inc()
        self._leave()
        if self._transport is not None:
            self._transport.abort()
        elif self._socket is not None:
            with contextlib.suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)  # ends the handshake, and with it the socket

    def _leave(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._hold(-self.held)
            self._host.slots.leave(self)
            self._host.metrics.connections.set(len(self._host.slots))
