"""Reads of the fields of column statistics at many cursors at once: numbers, texts and branches of unions."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.arrow_arrays import to_arrow
from index_store.formats.stats_columns import NO_COUNT
from index_store.formats.vectorised_avro import Cursors, Fallback, Positions

__all__ = ["Texts", "copy_texts", "optional_number", "optional_text", "same_bytes", "skip_number", "value_type_at"]


class Texts(NamedTuple):
    """Where strings are in the buffer."""

    start: Positions
    length: Positions


def _present(at: Cursors, branch: int | None) -> npt.NDArray[np.intp] | None:
    """Step over the branch of an optional value: which records have one (None: all)."""
    if branch is None:
        return None
    found = at.byte()
    present = found == branch
    if present.all():
        return None
    if (found[~present] != 2 - branch).any():
        raise Fallback
    return np.flatnonzero(present)


def optional_number(at: Cursors, branch: int | None) -> npt.NDArray[np.int64]:
    """Counts; ``NO_COUNT`` where there is none."""
    rows = _present(at, branch)
    if rows is None:
        return _counted(at)
    places = at.places.copy()
    found = np.full(len(places), NO_COUNT)
    if len(rows):
        part = at.part(rows)
        found[rows] = _counted(part)
        places[rows] = part.places
        at.move(places)
    return found


def skip_number(at: Cursors, branch: int | None) -> None:
    """Step over an optional number."""
    rows = _present(at, branch)
    if rows is None:
        at.skip_number()
    elif len(rows):
        places = at.places.copy()
        part = at.part(rows)
        part.skip_number()
        places[rows] = part.places
        at.move(places)


def _counted(at: Cursors) -> npt.NDArray[np.int64]:
    found = at.number()
    if found.min() == NO_COUNT:
        raise Fallback  # a count that would be taken for none
    return found


def optional_text(at: Cursors, branch: int | None) -> Texts:
    """Where optional strings are; empty where there is none."""
    rows = _present(at, branch)
    if rows is None:
        return Texts(*at.text())
    places = at.places.copy()
    start, length = places.copy(), np.zeros(len(places), np.int64)
    if len(rows):
        part = at.part(rows)
        start[rows], length[rows] = part.text()
        places[rows] = part.places
        at.move(places)
    return Texts(start, length)


def value_type_at(at: Cursors, words: npt.NDArray[np.uint64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]:
    """Type ordinal and additional information, which is a few digits: "10,2"."""
    rows = _present(at, 2)
    if rows is None:
        ordinal = at.number()
        return ordinal, _packed(optional_text(at, 2), words)
    places = at.places.copy()
    ordinal, info = np.zeros(len(places), np.int64), np.zeros(len(places), np.uint64)
    if len(rows):
        part = at.part(rows)
        ordinal[rows] = part.number()
        info[rows] = _packed(optional_text(part, 2), words)
        places[rows] = part.places
        at.move(places)
    return ordinal, info


def _packed(text: Texts, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Strings of up to 7 bytes as numbers: the bytes, lowest first, and their count in the highest byte."""
    longest = int(text.length.max(initial=0))
    if not longest:
        return np.zeros(len(text.length), np.uint64)
    if longest > 7:
        raise Fallback
    length = text.length.astype(np.uint64)
    mask = (np.uint64(1) << (length << np.uint64(3))) - np.uint64(1)
    try:
        content = words[text.start] & mask
    except IndexError as error:
        raise Fallback from error
    packed: npt.NDArray[np.uint64] = content | length << np.uint64(56)
    return packed


def same_bytes(at: Cursors, data: npt.NDArray[np.uint8], branch: int | None) -> bytes:
    """An optional string that all records have, or none has: stepped over as it stands in the first."""
    place = int(at.places[0])
    one = at.part(np.zeros(1, np.intp))
    start, length = optional_text(one, branch)
    end = int(start[0] + length[0])
    if end > len(data):
        raise Fallback
    at.expect(data[place : int(one.places[0])].tobytes())
    return data[int(start[0]) : end].tobytes()


def copy_texts(data: npt.NDArray[np.uint8], text: Texts) -> Any:
    """Strings of ascending places as Arrow binary: they and what is between them are one array, of which half stays."""
    count = len(text.start)
    if len(data) >= 1 << 31:
        raise Fallback
    edges = np.empty(2 * count + 1, np.int32)
    edges[:-1:2] = text.start
    edges[1::2] = text.start + text.length
    edges[-1] = edges[-2]
    if edges[-1] > len(data) or (edges[1:] < edges[:-1]).any():
        raise Fallback
    every = pa.Array.from_buffers(pa.binary(), 2 * count, [None, pa.py_buffer(edges), pa.py_buffer(data)])
    return every.take(to_arrow(np.arange(0, 2 * count, 2, dtype=np.int32)))
