"""``prefix_set(limit=100, length=16)``: the first characters of the texts of a file. Answers LIKE 'p%', = and IN.

A file stores prefixes of the greatest length, up to ``length`` characters, at which there are at most ``limit``:

    'ada-1', 'ada-2', 'bob'       limit=2        prefix 'ada-', whole text 'bob'

A prefix is a part of the file: its bounds are the prefix and the least text above all texts that begin with it. A text
that is not longer than the prefixes is a part with both bounds the text. So LIKE 'l%' is impossible in a file of
'aachen' and 'rome', although the bounds of the file span it. Only text has prefixes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.text_order import successor
from evaluator.language.types import Type
from evaluator.statistics.stored_bounds import StoredBounds, encoded
from index_store.own.sketches.base import Batch, FileBounds, FileParts, Sketch, SketchStatistics, Stored, flatten_lists
from index_store.own.sketches.value_list import bounds_of_parts

__all__ = ["PrefixSet", "make"]

_MOST, _LONGEST = 10_000, 100


def make(options: Mapping[str, str]) -> Sketch:
    """``prefix_set(limit=100, length=16)``. Raises ValueError for another option or value."""
    given = dict(options)
    limit, length = int(given.pop("limit", "100")), int(given.pop("length", "16"))
    if given or not 0 < limit <= _MOST or not 0 < length <= _LONGEST:
        raise ValueError(f"prefix_set has the options limit, from 1 to {_MOST}, and length, from 1 to {_LONGEST}")
    return PrefixSet(limit, length)


class PrefixSet:
    """The prefixes of a file's texts."""

    name = "prefix_set"
    fields = (pa.field("prefixes", pa.list_(pa.large_binary())), pa.field("whole", pa.list_(pa.large_binary())))
    from_footers = False
    is_filter = False
    skips_files = True

    def __init__(self, limit: int, length: int) -> None:
        self.limit, self.length = limit, length
        self.text = f"prefix_set(limit={limit}, length={length})"

    def why_not(self, of: Type) -> str:
        return "" if of.kind.is_text else f"values of type {of} have no prefixes"

    def collect(self) -> _Collector:
        return _Collector(self.limit, self.length)

    def decode(self, stored: Stored) -> SketchStatistics:
        if not stored.type.kind.is_text:
            return SketchStatistics()
        lists, whole = stored.columns["prefixes"], stored.columns["whole"]
        file, prefixes = flatten_lists(lists)
        exact_file, texts = flatten_lists(whole)
        low = prefixes.cast(pa.large_binary())
        ends, which = np.unique(np.asarray(StoredBounds(low, stored.type)), return_inverse=True)
        above = [successor(prefix) for prefix in ends.tolist()]
        high = np.empty(len(low), object)
        high[:] = np.array([above_one or "" for above_one in above] or [""], object)[which] if len(low) else []
        bounded = (
            np.array([one is not None for one in above] or [True], np.bool_)[which]
            if len(low)
            else np.ones(0, np.bool_)
        )
        order = np.argsort(np.concatenate([file, exact_file]), kind="stable")
        texts = texts.cast(pa.large_binary())
        lo = StoredBounds(pa.concat_arrays([low, texts]).take(pa.array(order)), stored.type)
        hi = StoredBounds(pa.concat_arrays([encoded(high), texts]).take(pa.array(order)), stored.type)
        all_true = np.ones(len(order), np.bool_)
        hi_known = np.concatenate([bounded, np.ones(len(exact_file), np.bool_)])[order]
        parts = FileParts(
            np.concatenate([file, exact_file])[order],
            FileBounds(lo, hi, all_true, hi_known),
            lists.is_valid().to_numpy(zero_copy_only=False),
        )
        return SketchStatistics(bounds=bounds_of_parts(parts, stored), parts=parts)


class _Collector:
    """Keeps prefixes at the greatest length that the limit allows, and shortens them when there are too many.

    A text that is not longer than that length is kept whole.
    """

    def __init__(self, limit: int, length: int) -> None:
        self._limit, self._length = limit, length
        self._prefixes: set[str] = set()
        self._whole: set[str] = set()
        self._known = True

    def add(self, batch: Batch) -> None:
        if not self._known:
            return
        if not batch.type.type.kind.is_text:
            self._known = False
            return
        texts = batch.distinct.cast(pa.large_string())
        cut = pc.unique(pc.utf8_slice_codeunits(texts, 0, self._length + 1))
        for text in cut.to_pylist():
            self._put(text)

    def _put(self, text: str) -> None:
        if len(text) > self._length:
            self._prefixes.add(text[: self._length])
        else:
            self._whole.add(text)
        while self._length > 0 and len(self._prefixes) + len(self._whole) > self._limit:
            self._length -= 1
            old, self._prefixes = self._prefixes, {prefix[: self._length] for prefix in self._prefixes}
            del old
            for whole in [one for one in self._whole if len(one) > self._length]:
                self._whole.remove(whole)
                self._prefixes.add(whole[: self._length])
        if self._length == 0:
            self._known = False

    def stored(self) -> Mapping[str, Any]:
        if not self._known:
            return {"prefixes": None, "whole": None}
        return {
            "prefixes": sorted(one.encode() for one in self._prefixes),
            "whole": sorted(one.encode() for one in self._whole),
        }
