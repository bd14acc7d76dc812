"""A filter's bytes as the items that Kryo's reader took from them, and mutations of these items.

An item is a number, a length, a reference, a flag or a string, with the place of its bytes. Unlike flipped bits, a
changed item leaves the bytes around it readable, so the fault is met deep in the decoder.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sarg.hive_tree.build import TOP_NODE
from sarg.hive_tree.searchargument import TOP_ARGUMENT
from sarg.kryo.errors import DecodeError
from sarg.kryo.layout import load_layouts
from sarg.kryo.profiles import EXPRESSION_PROFILES, SEARCH_ARGUMENT_PROFILES, Profile
from sarg.kryo.reader import Reader
from sarg.kryo.wire import Wire

__all__ = ["Item", "Parsed", "mutate_items", "parsed"]

_METHODS = (
    "byte", "flag", "raw", "count", "flagged_count", "zigzag_int", "zigzag_long", "positive_int", "positive_long",
    "unsigned_long", "fixed_int", "fixed_long", "short", "char", "float32", "float64", "string",
)  # fmt: skip
_VARINTS = ("count", "flagged_count", "zigzag_int", "zigzag_long", "positive_int", "positive_long", "unsigned_long")
_EXTREMES = (
    0, 1, 2, 3, 4, 7, 0x3F, 0x40, 0x7F, 0x80, 0xFF, 0x3FFF, 0x4000, 250_000, 800_000, 1_600_000, (1 << 20) + 1,
    (1 << 24) + 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1,
)  # fmt: skip
_TEXTS = (
    "", "a", "x" * 63, "x" * 64, "x" * 5000, "é" * 40, "\ud800", "\U0001f600", "\0", "int", "string", "void",
    "decimal(10,2)", "decimal(-1,99999999999)", "char(0)", "varchar(2147483648)", "array<" * 120, "map<int,array<x>>",
    "struct<a:int,b:struct<c:string>>", "timestamp with local time zone", "uniontype<int>", "1e999999999", "NaN",
    "2020-02-30", "-290000000-01-01", "java.lang.Integer", "java.util.ArrayList", "[I", "[[[[B", "[Lx;",
    "org.apache.hadoop.hive.ql.udf.generic.GenericUDFIn", "java.util.TreeMap", "java.util.Collections$EmptyList",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Item:
    """What one call of the wire read."""

    kind: str
    start: int
    end: int
    value: Any


@dataclass(frozen=True, slots=True)
class Parsed:
    """Bytes, their items in order, the profile that reads them, and the object graph."""

    data: bytes
    items: tuple[Item, ...]
    profile: Profile
    graph: Any


class _RecordingWire(Wire):
    """Notes what was read; an inner call at the same place is replaced by the outer one."""

    def __init__(self, data: bytes, little_endian: bool) -> None:
        super().__init__(data, little_endian)
        self.items: list[Item] = []


def _recording(name: str) -> Any:
    method = getattr(Wire, name)

    def read(self: _RecordingWire, *given: Any) -> Any:
        start, before = self.position, len(self.items)
        value = method(self, *given)
        del self.items[before:]
        self.items.append(Item(name, start, self.position, value))
        return value

    return read


for _name in _METHODS:
    setattr(_RecordingWire, _name, _recording(_name))


def parsed(data: bytes) -> Parsed | None:
    """The items of a filter; None when no profile reads it."""
    for profiles, top in ((EXPRESSION_PROFILES, TOP_NODE), (SEARCH_ARGUMENT_PROFILES, TOP_ARGUMENT)):
        for profile in profiles:
            reader = Reader(data, load_layouts(profile.tables), profile.generation)
            wire = _RecordingWire(data, profile.generation.value == 5)
            reader.wire = wire
            try:
                graph = reader.read(top)
            except DecodeError:
                continue
            return Parsed(data, tuple(wire.items), profile, graph)
    return None


def mutate_items(rng: random.Random, filter_: Parsed, other: Parsed) -> bytes:
    """The bytes with one to four of their items changed, taken out, doubled, swapped, or cut off with what follows."""
    data, items = filter_.data, filter_.items
    edits: list[tuple[int, int, bytes]] = []
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3, 4))):
        item = rng.choice(items)
        here = data[item.start : item.end]
        match rng.randrange(12):
            case 0:
                edits.append((item.start, item.end, b""))
            case 1:
                edits.append((item.end, item.end, here * rng.choice((1, 1, 2, 50))))
            case 2:
                same = [one for one in items if one.kind == item.kind]
                chosen = rng.choice(same)
                edits.append((item.start, item.end, data[chosen.start : chosen.end]))
            case 3:
                edits.append((item.start, len(data), b""))
            case 4:
                edits.append((item.start, item.end, _from(rng, item, other)))
            case 5:
                theirs = rng.choice(other.items)
                edits.append((item.start, len(data), other.data[theirs.start :]))
            case 6:
                end = min(len(items) - 1, items.index(item) + rng.randrange(1, 30))
                piece = data[item.start : items[end].end]
                place = rng.choice(items).start
                edits.append((place, place, piece))
            case _:
                edits.append((item.start, item.end, _changed(rng, item)))
    return _edited(data, edits)


def _from(rng: random.Random, item: Item, other: Parsed) -> bytes:
    same = [one for one in other.items if one.kind == item.kind] or list(other.items)
    chosen = rng.choice(same)
    return other.data[chosen.start : chosen.end]


def _changed(rng: random.Random, item: Item) -> bytes:
    """Other bytes of the same form."""
    if item.kind == "string":
        return _string(rng, item.value)
    if item.kind in _VARINTS:
        value = item.value[1] if isinstance(item.value, tuple) else item.value
        near = rng.choice((value + 1, value - 1, value + 2, value * 2, value ^ 1))
        value = rng.choice((near, near, rng.randrange(12), rng.choice(_EXTREMES)))
        return _varint(rng, value % (1 << 64))
    length = max(1, item.end - item.start)
    return rng.choice(
        (bytes(length), b"\xff" * length, b"\x7f" + b"\xff" * (length - 1), b"\x80" + bytes(length - 1),
         rng.randbytes(length), rng.randbytes(rng.randrange(12)))
    )  # fmt: skip


def _varint(rng: random.Random, value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    if rng.random() < 0.15:  # the same number in more bytes than it needs
        out[-1] |= 0x80
        out += b"\x80" * rng.randrange(9) + b"\x00"
    return bytes(out)


def _string(rng: random.Random, text: str | None) -> bytes:
    text = text or ""
    chosen = rng.choice(
        (text[:-1], text + "x", text.upper(), text[::-1], text * rng.choice((2, 100)), *rng.sample(_TEXTS, 4))
    )
    units = chosen.encode("utf-16-le", "surrogatepass")
    length = len(units) // 2 + rng.choice((1, 1, 1, 1, 1, 0, 2, 1000, 1 << 21))
    if chosen.isascii() and len(chosen) > 1 and rng.random() < 0.7:
        return chosen[:-1].encode() + bytes([ord(chosen[-1]) | 0x80])
    body = chosen.encode("utf-8", "surrogatepass") if rng.random() < 0.8 else rng.randbytes(len(chosen))
    head = 0x80 | length & 0x3F | (0x40 if length > 0x3F else 0)
    return bytes([head]) + (_varint(rng, length >> 6) if length > 0x3F else b"") + body


def _edited(data: bytes, edits: Sequence[tuple[int, int, bytes]]) -> bytes:
    """The data after replacements, from the back; those that overlap an earlier one are left out."""
    low = len(data) + 1
    for start, end, new in sorted(edits, key=lambda edit: edit[0], reverse=True):
        if end <= low:
            data = data[:start] + new + data[end:]
            low = start
    return data
