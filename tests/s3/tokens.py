"""The services that give out credentials, small: AWS's for machines and containers, Azure's and Google's.

Each credential has a number, so that a store knows the newest one, and lives ``life`` seconds. ``broken``: a status
that is answered instead.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs


class Tokens:
    """``asked``: method, path, form and headers of each request. ``given``: how many credentials there are so far."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, dict[str, str], dict[str, str]]] = []
        self.given, self.life, self.broken, self.url = 0, 3600.0, 0, ""

    @property
    def newest(self) -> str:
        """The access key, or the token, that was given last."""
        return f"ASIASARGO{self.given:04d}"

    def aws(self) -> dict[str, str]:
        self.given += 1
        ends = datetime.now(timezone.utc) + timedelta(seconds=self.life)
        return {
            "Code": "Success",
            "Type": "AWS-HMAC",
            "AccessKeyId": self.newest,
            "SecretAccessKey": "secretsecret",
            "Token": f"token-of-{self.newest}",
            "SessionToken": f"token-of-{self.newest}",
            "Expiration": ends.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "LastUpdated": "2026-01-01T00:00:00Z",
        }

    def bearer(self) -> dict[str, object]:
        self.given += 1
        seconds = int(self.life)
        ends = int(datetime.now(timezone.utc).timestamp()) + seconds
        return {"access_token": self.newest, "token_type": "Bearer", "expires_in": seconds, "expires_on": str(ends)}

    def answer(self, path: str) -> str:
        place = path.partition("?")[0]
        if place == "/latest/api/token":
            return "imds-session"
        if place.rstrip("/") == "/latest/meta-data/iam/security-credentials":
            return "role-of-the-machine"
        if place.endswith(("/role-of-the-machine", "/container")):
            return json.dumps(self.aws())
        return json.dumps(self.bearer())


@contextmanager
def giving() -> Iterator[Tokens]:
    """The services on a free port of this machine."""
    tokens = Tokens()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            form = self.rfile.read(int(self.headers.get("content-length") or 0)).decode()
            fields = {name: values[0] for name, values in parse_qs(form).items()}
            headers = {name.lower(): value for name, value in self.headers.items()}
            tokens.asked.append((self.command, self.path, fields, headers))
            if tokens.broken:
                body = b'{"error": "broken", "error_description": "it is broken"}'
                self.send_response(tokens.broken)
            else:
                body = tokens.answer(self.path).encode()
                self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Metadata-Flavor", "Google")
            self.send_header("x-aws-ec2-metadata-token-ttl-seconds", "21600")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_PUT = do_POST = do_GET  # noqa: N815

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    tokens.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield tokens
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
