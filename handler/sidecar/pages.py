"""The pages for operators: ``/metrics`` for Prometheus and ``/healthz``, over HTTP, on an address of their own.

Both pages are open to whoever reaches that address, which is on the loopback unless ``metrics_host`` says otherwise.
They hold counts and name no table, user or value. The page for people has a guard of its own (``status``). A peer
has ``_SECONDS`` for its request and for reading the answer;
of more than ``_MAX_CONNECTIONS`` the oldest one is closed.
"""

from __future__ import annotations

import contextlib
import io
import socket
import threading
import time
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

from handler.sidecar.settings import SettingsError

__all__ = ["PAGE_PATHS", "Pages"]

#: The page for people, and what belongs to it: ``status.web``.
PAGE_PATHS = frozenset({"/", "/status.json", "/explain"})
_MAX_CONNECTIONS = 16
_SECONDS = 5.0


class _Threads(ThreadingMixIn, WSGIServer):
    """A thread for each connection, as long as the connection may be open."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._open: dict[socket.socket, float] = {}  # in the order of their arrival, with the time of it
        self._lock = threading.Lock()
        super().__init__(*args, **kwargs)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            if len(self._open) >= _MAX_CONNECTIONS:
                self._end(next(iter(self._open)))
            self._open[request] = time.monotonic()
        super().process_request(request, client_address)

    def service_actions(self) -> None:
        """End the connections whose time is up; called several times a second."""
        with self._lock:
            latest = time.monotonic() - _SECONDS
            for request in [request for request, since in self._open.items() if since < latest]:
                self._end(request)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def _end(self, request: socket.socket) -> None:
        """Wake up the thread that reads or writes; it closes the socket. The caller holds the lock."""
        del self._open[request]
        with contextlib.suppress(OSError):
            request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A peer that leaves or sends nonsense is no fault of the sidecar. The base class would print a traceback."""


class _Quiet(WSGIRequestHandler):
    timeout = _SECONDS

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Scrapes are not logged."""

    def get_stderr(self) -> Any:
        """The log is not the place for tracebacks, which hold what the peer sent."""
        return io.StringIO()


class Pages:
    """Serves both pages from a thread. ``health`` returns JSON whose status is "ok", "starting" or "stopping"."""

    def __init__(
        self,
        host: str,
        port: int,
        registry: CollectorRegistry,
        health: Callable[[], str],
        for_people: Callable[..., Iterable[bytes]] | None = None,
    ) -> None:
        """``for_people`` answers for ``PAGE_PATHS``. Raises SettingsError when the address cannot be used."""
        metrics = make_wsgi_app(registry)

        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            path = environ.get("PATH_INFO", "")
            if path == "/metrics":
                page: Iterable[bytes] = metrics(environ, start_response)
                return page
            if for_people is not None and path in PAGE_PATHS:
                return for_people(environ, start_response)
            if path != "/healthz":
                start_response("404 Not Found", [("Content-Type", "text/plain")])
                return [b"see /metrics and /healthz\n"]
            text = health()
            ok = '"status": "ok"' in text
            start_response("200 OK" if ok else "503 Service Unavailable", [("Content-Type", "application/json")])
            return [text.encode() + b"\n"]

        try:
            self._server = make_server(host, port, app, _Threads, _Quiet)
        except OSError as error:
            raise SettingsError(f"cannot listen on {host}:{port} for metrics: {error}") from error
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="pages", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
