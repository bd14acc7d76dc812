"""A 64-bit hash of many values at once, the same on every machine: Bloom filters and shards are made with it.

    word 0, 1, ...   8 bytes of the value each, little-endian, the last one filled up with zeros
    hash             h = mix(length), then h = mix(h ^ word) for each word; mix is the finalizer of SplitMix64

Sources: Steele, Lea, Flood, "Fast splittable pseudorandom number generators" (2014), and Stafford's variant 13 of it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa

__all__ = ["hash_of", "hashes", "mix"]

Hashes = npt.NDArray[np.uint64]

_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_ALL = (1 << 64) - 1
_GAMMA = np.uint64(0x9E3779B97F4A7C15)
#: Masks that keep the first 0 to 8 bytes of a word: bytes beyond the end of a value are zero.
_KEPT = np.array([(1 << 8 * kept) - 1 for kept in range(8)] + [(1 << 64) - 1], np.uint64)


def mix(words: Hashes) -> Hashes:
    """Spread 64 bits over 64 bits."""
    with np.errstate(over="ignore"):
        words = words + _GAMMA
        words = (words ^ words >> np.uint64(30)) * _FIRST
        words = (words ^ words >> np.uint64(27)) * _SECOND
    mixed: Hashes = words ^ words >> np.uint64(31)
    return mixed


def hash_of(value: bytes) -> int:
    """``hashes`` of one value, without arrays."""
    state = _mix(len(value))
    for start in range(0, len(value), 8):
        state = _mix(state ^ int.from_bytes(value[start : start + 8], "little"))
    return state


def _mix(word: int) -> int:
    word = (word + int(_GAMMA)) & _ALL
    word = ((word ^ word >> 30) * int(_FIRST)) & _ALL
    word = ((word ^ word >> 27) * int(_SECOND)) & _ALL
    return word ^ word >> 31


def hashes(values: pa.Array) -> Hashes:
    """``(n,) uint64`` of a large_binary array without NULL."""
    values = values.cast(pa.large_binary())
    n = len(values)
    if not n:
        return np.zeros(0, np.uint64)
    _, offsets, content = values.buffers()
    edges = np.frombuffer(offsets, np.int64)[values.offset : values.offset + n + 1]
    starts, lengths = edges[:-1], np.diff(edges)
    held = np.frombuffer(content or b"", np.uint8)[int(edges[0]) : int(edges[-1])]
    padded = np.concatenate([held, np.zeros(8, np.uint8)])
    words = np.ndarray((len(padded) - 7,), "<u8", padded, strides=(1,))
    state = mix(lengths.astype(np.uint64))
    rows = np.arange(n)
    at = 0
    while len(rows := rows[lengths[rows] > at]):
        word = words[starts[rows] - int(edges[0]) + at] & _KEPT[np.minimum(lengths[rows] - at, 8)]
        state[rows] = mix(state[rows] ^ word)
        at += 8
    return state
