"""Ends a call from another thread: its connection is shut down, so the thread that waits for it goes on at once."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import threading
from collections.abc import Iterator

__all__ = ["Cancellation"]


class Cancellation:
    """What a call and whoever may give it up share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._open: socket.socket | None = None
        self._is_cancelled = False

    @contextlib.contextmanager
    def closing(self, connection: socket.socket) -> Iterator[None]:
        """Close the connection at the end, and let ``cancel`` shut it down until then. Raises OSError after it."""
        try:
            self.watch(connection)
            yield
        finally:
            self.close(connection)

    def watch(self, connection: socket.socket) -> None:
        """The connection that the call uses from now on, in the place of the one before. Raises OSError."""
        with self._lock:
            if self._is_cancelled:
                raise OSError(errno.ECANCELED, os.strerror(errno.ECANCELED))
            self._open = connection

    def close(self, connection: socket.socket) -> None:
        with self._lock:
            if self._open is connection:
                self._open = None
        connection.close()

    def cancel(self) -> None:
        """Shut the connection down. The call opens no other."""
        with self._lock:
            self._is_cancelled = True
            if self._open is not None:
                with contextlib.suppress(OSError):  # not connected, or closed by the other side
                    socket.socket.shutdown(self._open, socket.SHUT_RDWR)  # of TLS too: without its last message
