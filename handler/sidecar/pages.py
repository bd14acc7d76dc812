"""The pages for operators: ``/metrics`` for Prometheus and ``/healthz``, over HTTP, on an address of their own."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from socketserver import ThreadingMixIn
from typing import Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CollectorRegistry, make_wsgi_app

from handler.sidecar.settings import SettingsError

__all__ = ["Pages"]


class _Threads(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    timeout = 10  # seconds that a peer may be silent

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Scrapes are not logged."""


class Pages:
    """Serves both pages from a thread. ``health`` returns JSON whose status is "ok" or "stopping"."""

    def __init__(self, host: str, port: int, registry: CollectorRegistry, health: Callable[[], str]) -> None:
        """Raises SettingsError when the address cannot be used."""
        metrics = make_wsgi_app(registry)

        def app(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            path = environ.get("PATH_INFO", "")
            if path == "/metrics":
                page: Iterable[bytes] = metrics(environ, start_response)
                return page
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
