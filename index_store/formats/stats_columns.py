"""Column statistics of many files as columns: what ``StatsRecord`` says of one file, without an object for each.

    keys      (n, key size) uint8                 names   Arrow binary, n long
    rows, nulls, size   (n,) int64, NO_COUNT = null        deleted, tight   (n,) bool
    ordinal   (n,) int64                          info    (n,) uint64: up to 7 bytes, lowest first, their number on top
    lo, hi    for each bound its wrapper (an index into ``wrappers``, 0 = null), and its bits or its text

``bits`` are the value of an integer or a boolean, and the bits of a float or double.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from index_store.formats.avro_columns import StatsRecord

__all__ = ["NO_COUNT", "Side", "StatsColumns"]

NO_COUNT = -(1 << 63)


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One side's bounds. ``text`` is empty where the bound is not of bytes, and None if none is."""

    wrapper: npt.NDArray[np.uint8]
    bits: npt.NDArray[np.int64]
    text: Any

    def values(self, rows: npt.NDArray[np.intp], kind: str) -> Any:
        """The bounds of some rows, whose wrapper is of this kind: an array, or Arrow binary."""
        if kind == "bytes":
            return self.text.take(pa.array(rows))
        bits = self.bits[rows]
        if kind == "double":
            return bits.view(np.float64)
        return bits.astype(np.uint32).view(np.float32).astype(np.float64) if kind == "float" else bits

    def value(self, row: int, kind: str) -> Any:
        """One bound, as ``StatsRecord`` has it."""
        if kind == "bytes":
            return self.text[row].as_py()
        bits = int(self.bits[row])
        match kind:
            case "double":
                return struct.unpack("<d", struct.pack("<q", bits))[0]
            case "float":
                return struct.unpack("<f", struct.pack("<I", bits))[0]
            case "boolean":
                return bits != 0
            case "null":
                return None
        return bits


@dataclass(frozen=True, slots=True, eq=False)
class StatsColumns:
    """Statistics of one column, a row for each record. ``wrappers`` are names and kinds, by their branch."""

    wrappers: tuple[tuple[str, str], ...]
    column: bytes
    keys: npt.NDArray[np.uint8]
    names: Any
    lo: Side
    hi: Side
    rows: npt.NDArray[np.int64]
    nulls: npt.NDArray[np.int64]
    size: npt.NDArray[np.int64]
    deleted: npt.NDArray[np.bool_]
    tight: npt.NDArray[np.bool_]
    ordinal: npt.NDArray[np.int64]
    info: npt.NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.keys)

    def key(self, row: int) -> bytes:
        found: bytes = self.keys[row].tobytes()
        return found

    def record(self, row: int) -> StatsRecord:
        """One row as a record."""
        lo_wrapper, lo_kind = self.wrappers[self.lo.wrapper[row]]
        hi_wrapper, hi_kind = self.wrappers[self.hi.wrapper[row]]
        rows, nulls, size = (None if one[row] == NO_COUNT else int(one[row])
                             for one in (self.rows, self.nulls, self.size))
        return StatsRecord(self.names[row].as_py(), self.column, lo_wrapper, self.lo.value(row, lo_kind), hi_wrapper,
                           self.hi.value(row, hi_kind), rows, nulls, bool(self.deleted[row]), bool(self.tight[row]),
                           int(self.ordinal[row]), info_text(int(self.info[row])), size)

    def kinds(self, side: Side) -> list[tuple[npt.NDArray[np.intp], str, int, bytes, str]]:
        """The rows of each way in which this side's bounds are stored: wrapper, ordinal, info, and the kind of value.

        Rows without a bound are in none.
        """
        found: list[tuple[npt.NDArray[np.intp], str, int, bytes, str]] = []
        ways = np.zeros(len(self), [("wrapper", np.uint8), ("ordinal", np.int64), ("info", np.uint64)])
        ways["wrapper"], ways["ordinal"], ways["info"] = side.wrapper, self.ordinal, self.info
        if len(self) and (ways == ways[0]).all():
            distinct, which = ways[:1], np.zeros(len(self), np.intp)
        else:
            distinct, which = np.unique(ways, return_inverse=True)
        for i, (wrapper, ordinal, info) in enumerate(distinct.tolist()):
            name, kind = self.wrappers[wrapper]
            if name:
                found.append((np.flatnonzero(which == i), name, ordinal, info_text(info), kind))
        return found

    def take(self, chosen: npt.NDArray[np.intp]) -> StatsColumns:
        """Some of the rows."""
        places = pa.array(chosen)

        def side(one: Side) -> Side:
            return Side(one.wrapper[chosen], one.bits[chosen], None if one.text is None else one.text.take(places))

        return StatsColumns(self.wrappers, self.column, self.keys[chosen], self.names.take(places), side(self.lo),
                            side(self.hi), self.rows[chosen], self.nulls[chosen], self.size[chosen],
                            self.deleted[chosen], self.tight[chosen], self.ordinal[chosen], self.info[chosen])

    @classmethod
    def joined(cls, parts: Sequence[StatsColumns]) -> StatsColumns:
        """The rows of parts of one column of one HFile, one behind the other."""
        if len(parts) == 1:
            return parts[0]

        def array(name: str) -> npt.NDArray[Any]:
            return np.concatenate([getattr(part, name) for part in parts])

        def side(name: str) -> Side:
            sides: list[Side] = [getattr(part, name) for part in parts]
            texts = None
            if any(one.text is not None for one in sides):
                texts = _chunked([_empty(len(one.wrapper)) if one.text is None else one.text for one in sides])
            return Side(np.concatenate([one.wrapper for one in sides]), np.concatenate([one.bits for one in sides]),
                        texts)

        return cls(parts[0].wrappers, parts[0].column, array("keys"), _chunked([part.names for part in parts]),
                   side("lo"), side("hi"), array("rows"), array("nulls"), array("size"), array("deleted"),
                   array("tight"), array("ordinal"), array("info"))


def info_text(code: int) -> bytes:
    """The bytes that an ``info`` stands for."""
    return code.to_bytes(8, "little")[:code >> 56]


def _chunked(parts: Sequence[Any]) -> Any:
    """Arrays as one; more than 2 GB of them stay in chunks."""
    return pa.chunked_array(parts, pa.binary())


def _empty(count: int) -> Any:
    return pa.array([b""], pa.binary()).take(pa.array(np.zeros(count, np.int64)))
