"""A server that speaks S3, in this process (moto), which counts its requests; for tests."""

from __future__ import annotations

import logging
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyarrow import fs

BUCKET = "lake"
ACCESS_KEY, SECRET_KEY = "AKIAIOSFODNN7SARGO00", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYSARGOKEY00"


@dataclass
class ObjectStore:
    """The server.

    requests   method, path and range of each request
    latency    seconds before each answer
    refuse     status codes that the next requests get
    """

    port: int
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    latency: float = 0.0
    refuse: list[int] = field(default_factory=list)
    at_once: int = 0
    most_at_once: int = 0

    @property
    def options(self) -> dict[str, str]:
        return {
            "endpoint": f"http://127.0.0.1:{self.port}",
            "access_key": ACCESS_KEY,
            "secret_key": SECRET_KEY,
            "region": "us-east-1",
        }

    def put(self, folder: Path, name: str) -> str:
        """Copy a folder into the bucket; its URI."""
        client = fs.S3FileSystem(
            access_key=ACCESS_KEY,
            secret_key=SECRET_KEY,
            region="us-east-1",
            scheme="http",
            endpoint_override=f"127.0.0.1:{self.port}",
            allow_bucket_creation=True,
        )
        client.create_dir(BUCKET)
        fs.copy_files(str(folder), f"{BUCKET}/{name}", destination_filesystem=client)
        return f"s3a://{BUCKET}/{name}"

    def take_requests(self) -> list[tuple[str, str, str]]:
        """The requests since the last call."""
        taken, self.requests[:] = list(self.requests), []
        return taken

    def check_credentials(self, *, strictly: bool) -> None:
        """Whether from now on a key must be one that the server knows; none is."""
        body = b"0" if strictly else b"inf"
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}/moto-api/reset-auth", body, {"Content-Type": "text/plain"}
        )
        with urllib.request.urlopen(request):
            pass


@contextmanager
def running() -> Iterator[ObjectStore]:
    """A server on a free port."""
    from moto.server import ThreadedMotoServer

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    store = ObjectStore(server.get_host_and_port()[1])
    answer = server._server.app

    def recorded(environ: dict[str, Any], start_response: Any) -> Any:
        if not environ["PATH_INFO"].startswith("/moto-api"):
            store.requests.append((environ["REQUEST_METHOD"], environ["PATH_INFO"], environ.get("HTTP_RANGE", "")))
            store.at_once += 1
            store.most_at_once = max(store.most_at_once, store.at_once)
            time.sleep(store.latency)
            store.at_once -= 1
            if store.refuse:
                start_response(f"{store.refuse.pop(0)} Slow Down", [("Content-Length", "0")])
                return [b""]
        return answer(environ, start_response)

    server._server.app = recorded
    try:
        yield store
    finally:
        server.stop()
