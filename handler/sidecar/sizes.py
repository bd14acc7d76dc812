"""An estimate of the memory of an object, to decide which table to close.

Arrays count with their bytes, and references are followed once. Of a long sequence a sample is measured, so that a
million file slices take milliseconds.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np
import pyarrow as pa

__all__ = ["bytes_of"]

_SAMPLE = 256
_PLAIN = (str, bytes, int, float, complex, bool, type(None), type, FunctionType, MethodType, ModuleType)


def bytes_of(*things: object) -> int:
    """Bytes of memory that these objects hold together."""
    seen: set[int] = set()
    waiting: deque[tuple[Any, float]] = deque((thing, 1.0) for thing in things)
    total = 0.0
    while waiting:
        thing, weight = waiting.pop()
        if id(thing) in seen:
            continue
        seen.add(id(thing))
        total += weight * _own_bytes(thing)
        if not isinstance(thing, _PLAIN):
            waiting.extend(_parts(thing, weight))
    return int(total)


def _own_bytes(thing: Any) -> int:
    if isinstance(thing, np.ndarray):
        return int(thing.nbytes) if thing.base is None else 0
    if isinstance(thing, pa.Array | pa.ChunkedArray | pa.Table | pa.Buffer):
        return int(thing.size if isinstance(thing, pa.Buffer) else thing.nbytes)
    return sys.getsizeof(thing, 64)


def _parts(thing: Any, weight: float) -> Iterable[tuple[Any, float]]:
    match thing:
        case np.ndarray():
            if thing.dtype == object:
                yield from _sampled(thing.ravel(), weight)
            elif thing.base is not None:
                yield thing.base, weight
        case dict():
            yield from _sampled(list(thing), weight)
            yield from _sampled(list(thing.values()), weight)
        case list() | tuple() | set() | frozenset() | deque():
            yield from _sampled(thing if isinstance(thing, list | tuple) else list(thing), weight)
        case _:
            for name in (name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())):
                if name not in ("__dict__", "__weakref__") and hasattr(thing, name):
                    yield getattr(thing, name), weight
            yield from ((part, weight) for part in list(getattr(thing, "__dict__", {}).values()))


def _sampled(row: Any, weight: float) -> Iterable[tuple[Any, float]]:
    n = len(row)
    if n <= 2 * _SAMPLE:
        return [(part, weight) for part in row]
    step = n // _SAMPLE
    return [(row[i], weight * step) for i in range(0, n, step)]
