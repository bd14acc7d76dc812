"""An HFile of column statistics as large as wanted, built by numpy: four columns of every file, as Hudi 1.1 writes.

The columns hold a timestamp, a double, a string and a decimal. Names, counts and bounds are drawn; keys are real.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from index_store.formats.keys import column_id, file_name_id, partition_id
from tests.bench.hfile_parts import block, write_end
from tests.index_store.synthetic import KEY_SUFFIX, protobuf_varint

COLUMNS = ("event_ts", "amount", "merchant", "fee")
BLOCK_SIZE = 65536
_OWN_NAME = b"col-stats-0000-0_10-135-308_20260307162546607.hfile"


class Piece(NamedTuple):
    """A part of each of n values: its bytes, and how many of them count."""

    content: npt.NDArray[np.uint8]
    length: npt.NDArray[np.int64]


def write(path: Path, files: int) -> None:
    """Write the HFile of ``files`` files, 4 records each."""
    draw = np.random.default_rng(7)
    names = _names(draw, files)
    spelled = [bytes(name_bytes).decode() for name_bytes in names]
    partitions = [partition_id(f"dt=2026-{i:03d}") for i in range(500)]
    tails = np.frombuffer(
        b"".join(partitions[i % 500] + file_name_id(name) for i, name in enumerate(spelled)), np.uint8
    ).reshape(files, -1)
    order = np.argsort(tails.copy().view(f"S{tails.shape[1]}").ravel())
    rows = draw.integers(900, 500_000, files)
    nulls = np.where(draw.random(files) < 0.7, 0, draw.integers(0, 500_000, files) % rows)
    values = {column: _bounds(draw, column, files) for column in COLUMNS}
    with path.open("wb") as out:
        _write(
            out,
            [
                (
                    _keys(column, tails[order]),
                    [
                        Piece(piece.content[order], piece.length[order])
                        for piece in _value(draw, names, column, rows, nulls, *values[column])
                    ],
                )
                for column in sorted(COLUMNS, key=column_id)
            ],
        )


def _names(draw: np.random.Generator, files: int) -> list[bytes]:
    words = draw.integers(0, 1 << 32, (files, 4)).tolist()
    tasks = draw.integers(9, 90_000, (files, 3)).tolist()
    return [
        b"%08x-%04x-%04x-%04x-%04x%08x-0_%d-%d-%d_20260307%09d.parquet"
        % (a, b & 65535, b >> 16, c & 65535, c >> 16, d, i % 400, task, other, time * 10_000)
        for i, ((a, b, c, d), (task, other, time)) in enumerate(zip(words, tasks, strict=True))
    ]


def _bounds(draw: np.random.Generator, column: str, n: int) -> tuple[list[Piece], list[Piece], int, bytes]:
    """The encoded lower and upper bounds of a column, its type ordinal and the type's additional information."""
    if column == "event_ts":
        start = 1_767_225_600_000_000 + np.arange(n) * 40_000_000
        return (
            [_constant(b"\6", n), _number(start)],
            [_constant(b"\6", n), _number(start + draw.integers(0, 60_000_000, n))],
            16,
            b"",
        )
    if column == "amount":
        low = draw.random(n) * 1e6
        return [_constant(b"\x0a", n), _fixed(low)], [_constant(b"\x0a", n), _fixed(low + draw.random(n) * 1e3)], 6, b""
    if column == "merchant":
        number = draw.integers(0, 900_000, n)
        return (
            [_constant(b"\x0e", n), *_strings([b"merchant-%06d" % i for i in number.tolist()])],
            [
                _constant(b"\x0e", n),
                *_strings([b"merchant-%06d%s" % (i, b"x" * (i % 6)) for i in (number + 5000).tolist()]),
            ],
            7,
            b"",
        )
    unscaled = draw.integers(0, 1_000_000, n)
    return (
        [_constant(b"\x0c", n), *_decimals(unscaled)],
        [_constant(b"\x0c", n), *_decimals(unscaled + draw.integers(0, 100_000, n))],
        10,
        b"10,2",
    )


def _value(
    draw: np.random.Generator,
    names: Sequence[bytes],
    column: str,
    rows: npt.NDArray[np.int64],
    nulls: npt.NDArray[np.int64],
    lo: list[Piece],
    hi: list[Piece],
    ordinal: int,
    info: bytes,
) -> list[Piece]:
    n = len(names)
    present = _constant(b"\2", n)
    head = b"\0\0\0\0\2" + _string(_OWN_NAME) + b"\0\6\0\0\2"
    kind = b"\0\0\2" + protobuf_varint(ordinal << 1) + (b"\2" + _string(info) if info else b"\0")
    return [
        _constant(head, n),
        present,
        *_strings(names),
        _constant(b"\2" + _string(column.encode()), n),
        *lo,
        *hi,
        present,
        _number(rows),
        present,
        _number(nulls),
        present,
        _number(draw.integers(0, 10**6, n)),
        present,
        _number(draw.integers(0, 10**7, n)),
        _constant(kind + b"\0\0", n),
    ]


def _keys(column: str, tails: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    head = np.frombuffer(column_id(column), np.uint8)
    return np.concatenate([np.broadcast_to(head, (len(tails), len(head))), tails], axis=1)


def _entries(keys: npt.NDArray[np.uint8], value: list[Piece]) -> tuple[bytes, npt.NDArray[np.int64]]:
    """The entries of a column, one behind the other, and where each starts."""
    n, size = keys.shape
    length = sum((piece.length for piece in value), np.zeros(n, np.int64))
    stored = 2 + size + len(KEY_SUFFIX)
    pieces = [
        _constant(struct.pack(">i", stored), n),
        Piece(length.astype(">i4").view(np.uint8).reshape(n, 4), np.full(n, 4)),
        _constant(struct.pack(">h", size), n),
        Piece(keys, np.full(n, size)),
        _constant(KEY_SUFFIX, n),
        *value,
        _constant(b"\0", n),
    ]
    places = np.concatenate([[0], np.cumsum(length + stored + 9)])
    flat = []
    for start in range(0, n, 20_000):
        part = slice(start, start + 20_000)
        content = np.concatenate([piece.content[part] for piece in pieces], axis=1)
        counts = np.concatenate(
            [np.arange(piece.content.shape[1]) < piece.length[part, None] for piece in pieces], axis=1
        )
        flat.append(content[counts].tobytes())
    return b"".join(flat), places


def _write(out: Any, columns: Sequence[tuple[npt.NDArray[np.uint8], list[Piece]]]) -> None:
    index: list[tuple[int, int, bytes]] = []
    raw = records = 0
    with ThreadPoolExecutor() as pool:
        for keys, value in columns:
            data, places = _entries(keys, value)
            cuts = list(_cuts(places))
            parts = [data[places[first] : places[last]] for first, last in cuts]
            for (first, _), stored in zip(cuts, pool.map(block, parts), strict=True):
                index.append((out.tell(), len(stored), keys[first].tobytes()))
                out.write(stored)
            raw, records = raw + len(data), records + len(keys)
    write_end(out, index, raw, records)


def _cuts(places: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """First and last entry of each block: a block ends with the entry that fills it."""
    first = 0
    while first < len(places) - 1:
        last = min(int(np.searchsorted(places, places[first] + BLOCK_SIZE)), len(places) - 1)
        yield first, last
        first = last


def _constant(content: bytes, n: int) -> Piece:
    return Piece(np.broadcast_to(np.frombuffer(content, np.uint8), (n, len(content))), np.full(n, len(content)))


def _number(values: npt.NDArray[np.int64]) -> Piece:
    """Avro longs of at most 63 bits."""
    rest = (values << 1 ^ values >> 63).astype(np.uint64)
    content = np.empty((len(values), 9), np.uint8)
    length = np.ones(len(values), np.int64)
    for i in range(9):
        content[:, i] = rest & 127
        rest >>= np.uint64(7)
        content[rest > 0, i] |= 128
        length += rest > 0
    return Piece(content, length)


def _fixed(values: npt.NDArray[np.float64]) -> Piece:
    return Piece(values.astype("<f8").view(np.uint8).reshape(len(values), 8), np.full(len(values), 8))


def _strings(values: Sequence[bytes]) -> list[Piece]:
    length = np.array(list(map(len, values)), np.int64)
    content = np.array(values, f"S{length.max()}").view(np.uint8).reshape(len(values), -1)
    return [_number(length), Piece(content, length)]


def _decimals(unscaled: npt.NDArray[np.int64]) -> list[Piece]:
    """Bytes of numbers that are not negative: big-endian, the highest bit free for the sign."""
    length = np.ones(len(unscaled), np.int64)
    for bits in range(7, 63, 8):
        length += unscaled >= 1 << bits
    content = (unscaled << (8 * (8 - length))).astype(">i8").view(np.uint8).reshape(len(unscaled), 8)
    return [_number(length), Piece(content, length)]


def _string(content: bytes) -> bytes:
    return protobuf_varint(len(content) << 1) + content
