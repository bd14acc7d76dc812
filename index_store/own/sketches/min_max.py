"""``min_max``: the least and the greatest value of a file. Answers comparisons, IN and LIKE 'p%'.

    values of the file        stored                     why
    ------------------------  -------------------------  ----------------------------------------------------------
    3, 9, NULL                3 .. 9
    'a', 500 times 'z'        'a' .. 'z' * 99 + '{'      text is cut after 100 characters, the upper end upward
    1.5, NaN                  nothing                    NaN has no place in an order (P3)
    nanoseconds 1, 1999       0 .. 2 microseconds        outward (P13)
    nothing but NULL          nothing                    the number of NULLs is enough

A footer is enough where it proves its bounds (``build.footer_bounds``).

Pitfalls P3 and P13 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.text_order import successor
from evaluator.language.types import Kind, Type
from evaluator.statistics.columns import filler
from index_store.own.sketches.base import Batch, FileBounds, Sketch, SketchStatistics, Stored, has_nan, refuse_options
from index_store.own.sketches.values import decoded, value_bytes

__all__ = ["LONGEST", "MinMax", "cut_off", "make", "raised"]

#: Characters of text, or bytes, that a bound keeps.
LONGEST = 100


def make(options: Mapping[str, str]) -> Sketch:
    """``min_max`` has no options."""
    refuse_options("min_max", options)
    return MinMax()


class MinMax:
    """Bounds of all values."""

    name = text = "min_max"
    fields = (pa.field("lo", pa.large_binary()), pa.field("hi", pa.large_binary()))
    from_footers = True
    is_filter = False
    skips_files = True

    def why_not(self, of: Type) -> str:
        return "" if of.kind is not Kind.OTHER else f"values of type {of} have no order"

    def collect(self) -> _Collector:
        return _Collector()

    def decode(self, stored: Stored) -> SketchStatistics:
        lo, hi = (stored.columns[name] for name in ("lo", "hi"))
        (low, lo_known), (high, hi_known) = _side(lo, stored.type), _side(hi, stored.type)
        return SketchStatistics(bounds=FileBounds(low, high, lo_known, hi_known))


def _side(stored: pa.Array, of: Type) -> tuple[Any, Any]:
    known = stored.is_valid().to_numpy(zero_copy_only=False)
    if not known.all():
        fill: Any = filler(of)
        fill = fill.encode() if isinstance(fill, str) else value_bytes(fill, of)
        stored = pc.fill_null(stored, pa.scalar(fill, stored.type))
    return decoded(stored, of), known


class _Collector:
    def __init__(self) -> None:
        self._lo: Any = None
        self._hi: Any = None
        self._type: Type | None = None
        self._nan = False

    def add(self, batch: Batch) -> None:
        self._type = batch.type.type
        self._nan = self._nan or has_nan(batch)
        ends = pc.min_max(batch.present)
        lo, hi = ends["min"].as_py(), ends["max"].as_py()
        if lo is None:
            return
        if batch.is_rounded:
            hi += 1
        self._lo = lo if self._lo is None else min(lo, self._lo)
        self._hi = hi if self._hi is None else max(hi, self._hi)

    def stored(self) -> Mapping[str, Any]:
        if self._lo is None or self._type is None or self._nan:
            return {"lo": None, "hi": None}
        if isinstance(self._lo, bytes):
            is_text = self._type.kind.is_text
            return {"lo": cut_off(self._lo, is_text=is_text), "hi": raised(self._hi, is_text=is_text)}
        return {"lo": value_bytes(self._lo, self._type), "hi": value_bytes(self._hi, self._type)}


def cut_off(value: bytes, *, is_text: bool) -> bytes:
    """A lower bound of text or binary with at most ``LONGEST`` characters or bytes."""
    if len(value) <= LONGEST:
        return value
    return value.decode("utf-8")[:LONGEST].encode() if is_text else value[:LONGEST]


def raised(value: bytes, *, is_text: bool) -> bytes | None:
    """An upper bound likewise; None when there is none that short."""
    if len(value) <= LONGEST:
        return value
    if is_text:
        text = value.decode("utf-8")
        above = text if len(text) <= LONGEST else successor(text[:LONGEST])
        return None if above is None else above.encode("utf-8")
    for end in range(LONGEST, 0, -1):
        if value[end - 1] < 255:
            return value[: end - 1] + bytes([value[end - 1] + 1])
    return None
