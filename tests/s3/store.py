"""Runs the small S3 in a thread, and says what was asked of it: requests, and rounds on the longest chain."""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.s3.server import Server

BUCKET = "lake"


class Store:
    """A server over ``root``, with a bucket BUCKET in it."""

    def __init__(self, root: Path, server: type[Server] = Server) -> None:
        self.root = root
        self.bucket = root / BUCKET
        self.bucket.mkdir(parents=True, exist_ok=True)
        self.server = server(root)
        self.port = 0

    @property
    def options(self) -> dict[str, str]:
        return {
            "endpoint": f"http://127.0.0.1:{self.port}",
            "access_key": "AKIAIOSFODNN7SARGO00",
            "secret_key": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYSARGOKEY00",
            "region": "us-east-1",
        }

    def uri(self, name: str) -> str:
        return f"s3://{BUCKET}/{name}"

    @contextmanager
    def answering(self, *faults: Mapping[str, Any], latency: float = 0.0, seed: int = 0) -> Iterator[None]:
        """Inside the block, requests meet these faults; what was asked before is forgotten."""
        self.take()
        self.server.faults, self.server.random = [dict(fault) for fault in faults], random.Random(seed)
        self.server.latency = latency
        try:
            yield
        finally:
            self.server.faults, self.server.latency = [], 0.0

    def take(self) -> list[dict[str, Any]]:
        """The requests since the last call, in the order in which they came."""
        taken, self.server.requests = self.server.requests, []
        return taken


def kinds(requests: list[dict[str, Any]]) -> Counter[str]:
    """How many requests of each kind: GET, HEAD, LIST, PUT, ..."""
    return Counter(request["kind"] for request in requests)


def rounds(requests: list[dict[str, Any]]) -> int:
    """The longest chain of requests of which each came after the one before had been answered."""
    ended: list[tuple[float, int]] = []
    for request in sorted((one for one in requests if one.get("end")), key=lambda one: one["t"]):
        before = max((depth for end, depth in ended if end <= request["t"]), default=0)
        ended.append((request["end"], before + 1))
    return max((depth for _, depth in ended), default=0)


@contextmanager
def running(root: Path, server: type[Server] = Server) -> Iterator[Store]:
    """The server on a free port of this machine. ``server``: another dialect (``dialects``)."""
    store, ready = Store(root, server), threading.Event()
    stop: list[Any] = []

    async def serve() -> None:
        ended = asyncio.Event()
        stop.extend((asyncio.get_running_loop(), ended))
        listening = await asyncio.start_server(store.server.client, "127.0.0.1", 0, limit=1 << 20)
        store.port = listening.sockets[0].getsockname()[1]
        ready.set()
        await ended.wait()
        listening.close()

    thread = threading.Thread(target=asyncio.run, args=(serve(),), daemon=True)
    thread.start()
    ready.wait()
    try:
        yield store
    finally:
        loop, ended = stop
        loop.call_soon_threadsafe(ended.set)
        thread.join()
