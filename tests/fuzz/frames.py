"""Fuzzes the sidecar: hostile frames with and without the secret, in pieces, from slow peers and peers that vanish.

Invariants, after every case: it is alive, answers a good client rightly, logged no undocumented exception, and what it
holds and took stays within bounds.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import json
import random
import socket
import struct
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from handler.demo.run import unpack_table
from tests.fuzz.frames_calls import body, framed
from tests.fuzz.frames_sidecar import FuzzedSidecar
from tests.fuzz.smaller import without_pieces

__all__ = ["FramesFuzzer", "Peer"]

_SEND_SECONDS, _READ_SECONDS = 2.0, 0.25
_ENDS = ("read", "read", "read", "close", "reset", "half", "silent")
#: The folder of the table stands in cases as this, so that a case can be repeated elsewhere; slashes fill its length.
_TABLE = "/TABLE".ljust(120, "_")


@dataclass(frozen=True)
class Peer:
    """A connection: pieces with the milliseconds before each, and what the peer does after the last one."""

    pieces: tuple[tuple[int, bytes], ...]
    end: str


class FramesFuzzer:
    """A case is some peers that talk at the same time."""

    name = "frames"
    cpu_seconds = 60.0
    memory = 512 << 20
    sidecar: FuzzedSidecar

    @contextlib.contextmanager
    def prepared(self, folder: Path) -> Iterator[None]:
        self.sidecar = FuzzedSidecar(folder)
        try:
            yield
        finally:
            self.sidecar.stop()

    def draw(self, rng: random.Random) -> tuple[Peer, ...]:
        if rng.random() < 0.03:  # more than may be connected at once, most of them silent
            peer = self._peer(rng)
            crowd = tuple(Peer((), "silent") for _ in range(60))
            return (*crowd, replace(peer, end="silent"))
        return tuple(self._peer(rng) for _ in range(rng.choice((1, 1, 1, 2, 3, 6))))

    def _peer(self, rng: random.Random) -> Peer:
        names = _names()[: rng.choice((1, 14, 14, 300))]
        content = b"".join(framed(rng, body(rng, _TABLE, names)) for _ in range(rng.choice((0, 1, 1, 1, 1, 2, 5))))
        if rng.random() < 0.15:
            content = content[: rng.randrange(len(content) + 1)]
        pieces = []
        while content and len(pieces) < 6:
            size = (
                len(content)
                if rng.random() < 0.6 or len(pieces) == 5
                else rng.randrange(1, min(len(content), 4000) + 1)
            )
            pieces.append((rng.choice((0, 0, 0, 2, 20)), content[:size]))
            content = content[size:]
        return Peer(tuple(pieces), rng.choice(_ENDS))

    def check(self, case: tuple[Peer, ...]) -> str:
        self.sidecar.start()
        with self._talking(case) as answered:
            self.sidecar.check()
        return "answered" if answered else "closed"

    @contextlib.contextmanager
    def _talking(self, peers: tuple[Peer, ...]) -> Iterator[bool]:
        """Send the peers' pieces in turns; gives whether one of them got bytes back. Silent ones stay connected."""
        table, answered = str(self.sidecar.table).encode(), False
        sent = [_at(peer.pieces, table) for peer in peers]
        open_: list[tuple[int, socket.socket]] = []
        try:
            for number in range(len(peers)):
                with contextlib.suppress(OSError):
                    connection = socket.create_connection(("127.0.0.1", self.sidecar.port), timeout=_SEND_SECONDS)
                    open_.append((number, connection))
            for turn in range(max((len(peer.pieces) for peer in peers), default=0)):
                for number, connection in open_:
                    if turn < len(sent[number]):
                        milliseconds, piece = sent[number][turn]
                        time.sleep(milliseconds / 1000)
                        with contextlib.suppress(OSError):
                            connection.sendall(piece)
            for number, connection in open_:
                with contextlib.suppress(OSError):
                    answered |= _end(peers[number].end, connection)
            yield answered
        finally:
            for _, connection in open_:
                connection.close()

    def smaller(self, case: tuple[Peer, ...]) -> Iterator[tuple[Peer, ...]]:
        for peers in without_pieces(case):
            yield tuple(peers)
        for place, peer in enumerate(case):
            whole = b"".join(piece for _, piece in peer.pieces)
            for smaller in (replace(peer, pieces=((0, whole),)), replace(peer, end="read")):
                if smaller != peer:
                    yield (*case[:place], smaller, *case[place + 1 :])

    def dump(self, case: tuple[Peer, ...]) -> bytes:
        plain = [[[[wait, base64.b64encode(data).decode()] for wait, data in one.pieces], one.end] for one in case]
        return json.dumps(plain).encode()

    def load(self, data: bytes) -> tuple[Peer, ...]:
        return tuple(
            Peer(tuple((wait, base64.b64decode(text)) for wait, text in pieces), end)
            for pieces, end in json.loads(data)
        )


def _at(pieces: tuple[tuple[int, bytes], ...], table: bytes) -> list[tuple[int, bytes]]:
    """The pieces, as long as they were, with the real table in the place of its stand-in."""
    whole = b"".join(piece for _, piece in pieces).replace(_TABLE.encode(), table.ljust(len(_TABLE), b"/"))
    found, at = [], 0
    for wait, piece in pieces:
        found.append((wait, whole[at : at + len(piece)]))
        at += len(piece)
    return found


@functools.cache
def _names() -> tuple[str, ...]:
    """The names of the table's base files and some others."""
    with tempfile.TemporaryDirectory() as folder:
        table = unpack_table(Path(folder))
        found = sorted(path.relative_to(table).as_posix() for path in table.rglob("*.parquet"))
    return (*(path for path in found if not path.startswith(".")), *(f"f{number}.parquet" for number in range(300)))


def _end(end: str, connection: socket.socket) -> bool:
    match end:
        case "read":
            connection.settimeout(_READ_SECONDS)
            return bool(connection.recv(1 << 16))
        case "reset":
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            connection.close()
        case "half":
            connection.shutdown(socket.SHUT_WR)
            connection.settimeout(_READ_SECONDS)
            return bool(connection.recv(1 << 16))
        case "close":
            connection.close()
    return False
