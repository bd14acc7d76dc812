"""Hostile Thrift frames: calls of the IDL with hostile arguments, structures of no IDL, and broken bytes."""

from __future__ import annotations

import base64
import random
import struct
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from handler.sidecar.idl import PruneRequest
from handler.sidecar.wire import call_message
from tests.fuzz.frames_sidecar import FRAME_BYTES, SECRET
from tests.fuzz.kryo import KryoFuzzer

__all__ = ["body", "framed"]

_TEXTS = (
    "", "x", "\0", "a\nb", "\x1b[2J", "\u2028", "\u202e", "../../etc/passwd", "/", "file:///etc/passwd", "x" * 5000,
    "s3://bucket/t", "file://host/t", "%2e%2e/%2e%2e", "é\U0001f600", "2020-01-01", "20260101000000000",
    "-1", "🦄" * 300,
)  # fmt: skip
_ZONES = ("UTC", "Europe/Berlin", "../UTC", "/etc/localtime", "+25:00", "x" * 3000, "\0")
_NUMBERS = (0, 1, -1, 2, 14, 100, 2**31 - 1, -(2**31), 65536)
_METHODS = ("prune", "explain", "health", "version", "drop", "", "prune" * 20, "PRUNE", "prune\0")
_FIXED = {2: 1, 3: 1, 4: 8, 6: 2, 8: 4, 10: 8}


def framed(rng: random.Random, content: bytes) -> bytes:
    """A frame; its length is wrong now and then."""
    length = len(content)
    if rng.random() < 0.12:
        length = rng.choice((0, 1, length - 1, length + 1, length + 1000, FRAME_BYTES, FRAME_BYTES + 1, -1, 2**31 - 1))
    return struct.pack("!i", max(length, -1)) + content


def body(rng: random.Random, table: str, names: Sequence[str]) -> bytes:
    """The content of a frame."""
    match rng.randrange(10):
        case 0 | 1 | 2 | 3:
            content = _prune(rng, table, names)
        case 4:
            method = rng.choice(("explain", "health", "version"))
            arguments = {"report_id": rng.choice((*_TEXTS, None))} if method == "explain" else {}
            content = _call(method, arguments)
        case 5 | 6:
            content = _structure(rng)
        case 7:
            content = rng.choice(
                (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64),
                 rng.randbytes(rng.randrange(200)), bytes(rng.choice((12, 5000, 100_000))), b"\xff" * 40)
            )  # fmt: skip
        case _:
            content = _damaged(rng, _prune(rng, table, names))
    return content


def _prune(rng: random.Random, table: str, names: Sequence[str]) -> bytes:
    listed, compressed = "\n".join(names).encode(), False
    fields: dict[str, Any] = {
        "protocol_version": 1,
        "table": table,
        "filter": base64.b64encode(KryoFuzzer().draw(rng)[: FRAME_BYTES // 2]),
        "engine": "hive4",
        "time_zone": "UTC",
        "names": listed,
        "name_count": len(names),
        "secret": SECRET
        if rng.random() < 0.7
        else rng.choice((None, "", "x" * 200_000, SECRET[:-1], SECRET + "\0", "é")),
    }
    for name, change in rng.sample(sorted(_changes(table).items()), rng.choice((0, 0, 1, 1, 2, 4))):
        if name == "names":
            listed, compressed = _names(rng, names)
            fields |= {"names": listed, "names_compressed": compressed}
        else:
            fields[name] = change(rng)
    return _call("prune", {"request": PruneRequest(**fields)})


def _changes(table: str) -> dict[str, Callable[[random.Random], Any]]:
    return {
        "protocol_version": lambda rng: rng.choice(_NUMBERS),
        "table": lambda rng: rng.choice(
            (*_TEXTS, f"{table}/..", f"{table}/.", f"file:{table}", table + "?x", table + "x")
        ),
        "filter": lambda rng: rng.choice(
            (b"", b"\xff" * 100, b"AQ==", rng.randbytes(50), b"A" * rng.choice((10, 700_000)), b"\n" * 1000)
        ),
        "filter_text": lambda rng: rng.choice((*_TEXTS, "x" * 200_000)),
        "engine": lambda rng: rng.choice(("hive", "hive3", "spark", "HIVE4", *_TEXTS)),
        "engine_version": lambda rng: rng.choice(_TEXTS),
        "time_zone": lambda rng: rng.choice((*_ZONES, *_TEXTS)),
        "query_type": lambda rng: rng.choice(("snapshot", "read_optimized", "incremental", *_TEXTS)),
        "instant": lambda rng: rng.choice(_TEXTS),
        "names": lambda _: b"",
        "name_count": lambda rng: rng.choice(_NUMBERS),
        "names_compressed": lambda _: True,
        "query_id": lambda rng: rng.choice(_TEXTS),
        "user": lambda rng: rng.choice(_TEXTS),
        "secret": lambda rng: rng.choice((None, *_TEXTS)),
    }


def _names(rng: random.Random, names: Sequence[str]) -> tuple[bytes, bool]:
    """A list of names, compressed or not, that may not be what it announces."""
    plain = "\n".join(names).encode()
    made = rng.choice(
        (plain * rng.choice((2, 50)), plain[:-1], plain + b"\n", b"\n" * rng.choice((10, 300_000)), b"", b"\xff\xfe",
         b"/".join([plain] * 3), b"a" * 300_000, plain.replace(b".", b"\0"), b"\n".join([b"x.parquet"] * 30_000))
    )  # fmt: skip
    match rng.randrange(5):
        case 0:
            return zlib.compress(made), True
        case 1:
            return zlib.compress(bytes([rng.choice(b"\nax")]) * rng.choice((1 << 20, 8 << 20, 64 << 20)), 9), True
        case 2:
            return zlib.compress(made)[: -rng.randrange(1, 9)] + rng.randbytes(rng.randrange(4)), True
        case 3:
            return made[:FRAME_BYTES], True
        case _:
            return made[:FRAME_BYTES], False


def _call(method: str, arguments: dict[str, Any]) -> bytes:
    return call_message(method, arguments)


def _structure(rng: random.Random) -> bytes:
    """A message of any method with fields of any type, nested and repeated."""
    name = rng.choice(_METHODS).encode()
    head = struct.pack("!hBBi", -32767, 0, rng.choice((1, 1, 1, 1, 2, 3, 4, 0)), len(name)) + name
    out = bytearray(head + struct.pack("!i", rng.choice(_NUMBERS)))
    depth = 1
    for _ in range(rng.choice((0, 1, 3, 10, 200))):
        kind = rng.choice(
            (2, 3, 4, 6, 8, 10, 11, 11, 12, 12, 13, 14, 15, 1, 16, 77) if rng.random() < 0.4 else (8, 11, 12)
        )
        out += struct.pack("!bh", kind, rng.choice((0, 1, 2, 3, 5, 99, -1, 32767)))
        if kind in _FIXED:
            out += rng.randbytes(_FIXED[kind])
        elif kind == 11:
            text = rng.choice(_TEXTS).encode()
            out += struct.pack("!i", rng.choice((len(text),) * 6 + _NUMBERS)) + text
        elif kind == 12:
            depth += 1
        else:
            out += struct.pack("!bi", rng.choice((8, 11, 12)), rng.choice(_NUMBERS))
        if depth > 1 and rng.random() < 0.3:
            out.append(0)
            depth -= 1
    many = struct.pack("!bhi", 8, 99, 1) * rng.choice((0, 0, 0, 0, 100, 20_000, 140_000))
    return bytes(out + many + bytes(depth))[:FRAME_BYTES]


def _damaged(rng: random.Random, content: bytes) -> bytes:
    out = bytearray(content)
    for _ in range(rng.choice((1, 2, 5))):
        at = rng.randrange(len(out)) if rng.random() < 0.4 else rng.randrange(min(len(out), 120))
        match rng.randrange(4):
            case 0:
                out[at] ^= 1 << rng.randrange(8)
            case 1:
                out[at : at + 4] = struct.pack("!i", rng.choice(_NUMBERS))
            case 2:
                del out[at : at + rng.randrange(1, 20)]
            case _:
                out[at:at] = rng.randbytes(rng.randrange(8))
        if not out:
            return b"\0"
    return bytes(out)
