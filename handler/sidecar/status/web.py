"""The sidecar's page over HTTP: ``/``, ``/status.json`` for its live updates, ``/explain?id=`` for one report.

who may see it      with a secret, who sends it: as the password of HTTP Basic, with any name, or as a bearer token.
                    Without one, peers on the loopback that ask for an address or localhost by name: a page of
                    another site cannot make a browser read it under a name of its own
load                the document is made on the event loop at most once a second, however many pages are open
headers             a policy that runs only the page's own script and style, no sniffing, frames, caches or referrers
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import hmac
import html
import ipaddress
import json
import re
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterable
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any

from handler.pages.environment import render_page
from handler.pages.explain_page import explain_page
from handler.sidecar.decisions.planning import EXPLAINED_AT_ONCE, FilterQuery, TooExpensive, plan_at_once
from handler.sidecar.idl import Refused
from handler.sidecar.recording.metrics import Metrics
from handler.sidecar.service import Service
from handler.sidecar.status.document import status_document
from handler.sidecar.view import View

__all__ = ["StatusPage"]

#: How old a document may be, and how long one answer may take: the connection is closed after 5 s.
_FRESH_SECONDS, _ANSWER_SECONDS = 1.0, 4.6
#: Tables of more file slices are explained as text: the map of them takes long to make.
_MAX_SLICES = 20_000
_POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
_ID = re.compile(r"[0-9a-f]{32}")
_TEXT = "text/plain; charset=utf-8"


class StatusPage:
    """Answers for ``PAGE_PATHS``; called by the threads of the HTTP server."""

    def __init__(
        self, service: Service, metrics: Metrics, secret: bytes | None, loop: asyncio.AbstractEventLoop
    ) -> None:
        self._service = service
        self._metrics = metrics
        self._secret = None if secret is None else hashlib.sha256(secret).digest()
        self._loop = loop
        self._lock = threading.Lock()
        self._made: tuple[float, dict[str, Any]] | None = None

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        """A WSGI application."""
        refused = self._refusal(environ)
        if refused is not None:
            status, text, more = refused
            return _answer(start, status, _TEXT, text, more=more)
        if environ.get("REQUEST_METHOD") not in ("GET", "HEAD"):
            return _answer(start, "405 Method Not Allowed", _TEXT, "GET only\n", more=[("Allow", "GET, HEAD")])
        try:
            return self._shown(environ, start)
        except (TimeoutError, asyncio.TimeoutError, FutureTimeoutError, asyncio.CancelledError, RuntimeError):
            return _answer(start, "503 Service Unavailable", _TEXT, "the sidecar is busy or stopping; ask again\n")

    def _shown(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path = environ.get("PATH_INFO", "")
        if path == "/explain":
            return self._explained(environ, start)
        document = self._document()
        if path == "/status.json":
            return _answer(start, "200 OK", "application/json", json.dumps(document))
        page = render_page(
            "sidecar.html.j2",
            title="Sargo sidecar",
            scripts=("page.js", "sidecar.js"),
            data=document,
            connects=True,
        )
        return _answer(start, "200 OK", "text/html; charset=utf-8", page.html, page.policy)

    # -- who may see it

    def _refusal(self, environ: dict[str, Any]) -> tuple[str, str, list[tuple[str, str]]] | None:
        """The status, the text and the headers for a peer that may not see the page; None for one that may."""
        if self._secret is None:
            if _is_loopback(environ.get("REMOTE_ADDR", "")) and _is_local_name(environ.get("HTTP_HOST", "")):
                return None
            why = "without a secret, the page is shown to this machine only: set secret or secret_file\n"
            return "403 Forbidden", why, []
        given = _password(environ.get("HTTP_AUTHORIZATION", ""))
        if given is not None and hmac.compare_digest(self._secret, hashlib.sha256(given).digest()):
            return None
        if given is not None:
            self._metrics.refused.labels("secret").inc()
            self._service.journal.say_seldom("refused", method="page", code="secret", why="the secret is wrong")
        why = "the page needs the sidecar's secret as the password, with any name\n"
        return "401 Unauthorized", why, [("WWW-Authenticate", 'Basic realm="sargo sidecar", charset="UTF-8"')]

    # -- what is shown

    def _document(self) -> dict[str, Any]:
        with self._lock:
            made = self._made
            if made is None or time.monotonic() - made[0] > _FRESH_SECONDS:
                made = time.monotonic(), self._on_loop(self._make_document())
                self._made = made
            return made[1]

    async def _make_document(self) -> dict[str, Any]:
        return status_document(self._service, self._metrics)

    def _on_loop(self, work: Any) -> Any:
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(_ANSWER_SECONDS)
        except FutureTimeoutError:
            future.cancel()
            raise

    def _explained(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        given = urllib.parse.parse_qs(environ.get("QUERY_STRING", "")[:200]).get("id", [""])[0]
        if not _ID.fullmatch(given):
            return _answer(start, "404 Not Found", _TEXT, "there is no such report\n")
        try:
            page = self._on_loop(self._service.explain_page(given, _explain))
            if page is not None:
                policy = _POLICY.search(page)
                assert policy is not None
                return _answer(start, "200 OK", "text/html; charset=utf-8", page, html.unescape(policy[1]))
            return _answer(start, "200 OK", _TEXT, self._on_loop(self._service.explain(given)))
        except Refused as refused:
            return _answer(start, "404 Not Found", _TEXT, f"{refused.why}\n")


def _explain(view: View, query: FilterQuery) -> str | None:
    """The explain page of a small filter on a table that is not too large. In a thread that owns the table."""
    if len(view.files.slices) > _MAX_SLICES:
        return None
    try:
        return explain_page(plan_at_once(view.opened, view.as_of, query, EXPLAINED_AT_ONCE))
    except TooExpensive:
        return None


def _password(header: str) -> bytes | None:
    """The secret that a request carries; None when it carries none."""
    kind, _, value = header.partition(" ")
    if kind.lower() == "bearer":
        return value.strip().encode("latin-1", "replace")
    if kind.lower() != "basic":
        return None
    try:
        return base64.b64decode(value.strip(), validate=True).partition(b":")[2]
    except (binascii.Error, ValueError):
        return b""


def _is_loopback(address: str) -> bool:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return (mapped or parsed).is_loopback


def _is_local_name(host: str) -> bool:
    """Whether the Host of a request is an address or localhost, as nobody's own domain is."""
    name = host.rpartition(":")[0] if re.search(r":\d+$", host) else host
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return name.lower() == "localhost"
    return True


def _answer(
    start: Callable[..., Any],
    status: str,
    content_type: str,
    text: str,
    policy: str = "default-src 'none'",
    more: Iterable[tuple[str, str]] = (),
) -> list[bytes]:
    body = text.encode("utf-8", "replace")
    start(
        status,
        [
            ("Content-Type", content_type),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", f"{policy}; frame-ancestors 'none'"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "no-referrer"),
            ("Cache-Control", "no-store"),
            *more,
        ],
    )
    return [body]
