"""The hashed fields of a record key, and their values in the key's text.

    of_key     one key, only where every release of Hudi takes it apart alike (for pruning; None for other keys)
    hashes     a column of keys, as Hudi 1.x takes them apart (for writers); -1 where it gives a key no bucket
               ``every_release``: -1 also where 0.x would take it apart in another way

Most keys have no colon or comma in a value, and are taken apart by one pattern for the whole column.
"""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.records import frozen
from index_store.buckets.hashes import Values, ring_hash, ring_hashes, simple_hash, simple_hashes
from index_store.formats.record_key import EMPTY, NULL, split_key

__all__ = ["HashFields"]


@frozen(slots=False)
class HashFields:
    """The fields of the record key, and those that are hashed: in the key's order, whatever order the option has."""

    key: tuple[str, ...]
    fields: tuple[str, ...]

    def of_key(self, key: str) -> Values | None:
        """The hashed values of a record key; None when releases differ about it, or it is of another form."""
        if len(self.key) == 1:
            return (key,) if ":" not in key and key not in (NULL, EMPTY) else None
        parts = key.split(",")
        if len(parts) != len(self.key):
            return None
        found: dict[str, str | None] = {}
        for name, part in zip(self.key, parts, strict=True):
            head, colon, value = part.partition(":")
            if head != name or not colon or ":" in value:
                return None
            found[name] = {NULL: None, EMPTY: ""}.get(value, value)
        return tuple(found[name] for name in self.fields)

    def hashes(self, keys: pa.Array, *, on_ring: bool = False, every_release: bool = False) -> npt.NDArray[np.int64]:
        """``(n,)``: the hash of each record key, -1 where Hudi gives it no bucket (NULL, or a text it fails on)."""
        plain, columns = self._plain(keys)
        found = (ring_hashes if on_ring else simple_hashes)(columns)
        found[~plain] = -1
        for place in np.flatnonzero(~plain & np.asarray(pc.is_valid(keys))).tolist():
            key = keys[place].as_py()
            values = self.of_key(key) if every_release else split_key(key, self.fields)
            if values is not None:
                found[place] = (ring_hash if on_ring else simple_hash)(values)
        return found

    def _plain(self, keys: pa.Array) -> tuple[npt.NDArray[np.bool_], list[pa.Array]]:
        """Which keys can be taken apart in one way only, and the hashed values of these, a column for each field."""
        texts = keys.cast(pa.large_string())
        if len(self.key) == 1:
            odd = pc.or_(pc.match_substring(texts, ":"), pc.is_in(texts, pa.array([NULL, EMPTY], pa.large_string())))
            return ~np.asarray(pc.fill_null(odd, True)), [texts]
        parts = pc.extract_regex(texts, self._pattern)
        columns = []
        for number, name in enumerate(self.key):
            if name in self.fields:
                value = pc.struct_field(parts, number)
                value = pc.if_else(pc.equal(value, NULL), pa.scalar(None, value.type), value)
                columns.append(pc.if_else(pc.equal(value, EMPTY), pa.scalar("", value.type), value))
        return np.asarray(pc.is_valid(parts)), columns

    @cached_property
    def _pattern(self) -> str:
        return "^" + ",".join(f"{re.escape(name)}:(?P<f{number}>[^:,]*)" for number, name in enumerate(self.key)) + "$"
