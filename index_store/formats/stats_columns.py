"""Column statistics of many files as arrays: the fields of ``StatsRecord``, without an object for each file.

    keys      (n, key size) uint8                 names   Arrow binary, n long
    rows, nulls, size   (n,) int64, NO_COUNT = null        deleted, tight   (n,) bool
    ordinal   (n,) int64                          info    (n,) uint64: up to 7 bytes, lowest first, their number on top
    lo, hi    for each bound its wrapper (an index into ``wrappers``, 0 = null), and its bits or its text

``bits`` are the value of an integer or a boolean, and the bits of a float or double.
"""

from __future__ import annotations

import operator
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from evaluator.language.arrow_arrays import to_arrow, to_binary
from evaluator.language.records import entity, frozen
from index_store.formats.avro_columns import StatsRecord

__all__ = ["NO_COUNT", "Side", "StatsColumns", "signed_numbers"]

NO_COUNT = -(1 << 63)


@entity
class Side:
    """One side's bounds. ``text`` is empty where the bound is not of bytes, and None if none is."""

    wrapper: npt.NDArray[np.uint8]
    bits: npt.NDArray[np.int64]
    text: Any

    def values(self, rows: npt.NDArray[np.intp], kind: str) -> Any:
        """The bounds of some rows, whose wrapper is of this kind: an array, or Arrow binary."""
        if kind == "bytes":
            return self.text.take(to_arrow(rows))
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


@frozen(eq=False, kw_only=True)
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
        rows, nulls, size = (
            None if one[row] == NO_COUNT else int(one[row]) for one in (self.rows, self.nulls, self.size)
        )
        return StatsRecord(
            file_name=self.names[row].as_py(),
            column=self.column,
            lo_wrapper=lo_wrapper,
            lo=self.lo.value(row, lo_kind),
            hi_wrapper=hi_wrapper,
            hi=self.hi.value(row, hi_kind),
            rows=rows,
            nulls=nulls,
            deleted=bool(self.deleted[row]),
            tight=bool(self.tight[row]),
            ordinal=int(self.ordinal[row]),
            info=info_text(int(self.info[row])),
            size=size,
        )

    def kinds(self, side: Side) -> list[tuple[npt.NDArray[np.intp], str, int, bytes, str]]:
        """The rows of each way in which this side's bounds are stored: wrapper, ordinal, info, and the kind of value.

        Rows without a bound are in none.
        """
        found: list[tuple[npt.NDArray[np.intp], str, int, bytes, str]] = []
        code = np.zeros(len(self), np.int64)
        for part in (side.wrapper, self.ordinal, self.info):
            code = _distinct(code * (1 << 32) + _distinct(part))
        _, firsts = np.unique(code, return_index=True) if code.any() else (None, np.arange(min(len(self), 1)))
        for first in firsts.tolist():
            name, kind = self.wrappers[side.wrapper[first]]
            if name:
                found.append(
                    (
                        np.flatnonzero(code == code[first]),
                        name,
                        int(self.ordinal[first]),
                        info_text(int(self.info[first])),
                        kind,
                    )
                )
        return found

    def take(self, chosen: npt.NDArray[np.intp]) -> StatsColumns:
        """Some of the rows."""
        places = to_arrow(chosen)

        def side(one: Side) -> Side:
            return Side(one.wrapper[chosen], one.bits[chosen], None if one.text is None else one.text.take(places))

        return StatsColumns(
            wrappers=self.wrappers,
            column=self.column,
            keys=self.keys[chosen],
            names=self.names.take(places),
            lo=side(self.lo),
            hi=side(self.hi),
            rows=self.rows[chosen],
            nulls=self.nulls[chosen],
            size=self.size[chosen],
            deleted=self.deleted[chosen],
            tight=self.tight[chosen],
            ordinal=self.ordinal[chosen],
            info=self.info[chosen],
        )

    @classmethod
    def of(
        cls, keys: Sequence[bytes], records: Sequence[StatsRecord], wrappers: tuple[tuple[str, str], ...]
    ) -> StatsColumns:
        """Single records of one column as rows. Raises ValueError, TypeError or OverflowError for a wrong value."""
        branches = {name: i for i, (name, _) in enumerate(wrappers)}

        def side(names: Sequence[str], values: Sequence[Any]) -> Side:
            wrapper = [branches.get(name, -1) for name in names]
            if -1 in wrapper:
                raise ValueError("a wrapper that the other records do not know")
            kinds = [wrappers[i][1] for i in wrapper]
            bits = [_bits(value, kind) for value, kind in zip(values, kinds, strict=True)]
            texts = [value if kind == "bytes" else b"" for value, kind in zip(values, kinds, strict=True)]
            return Side(np.array(wrapper, np.uint8), np.array(bits, np.int64), _chunked([pa.array(texts, pa.binary())]))

        def counts(values: Sequence[int | None]) -> npt.NDArray[np.int64]:
            return np.array([NO_COUNT if value is None else value for value in values], np.int64)

        if len({record.column for record in records}) != 1 or len({len(key) for key in keys}) != 1:
            raise ValueError("records of several columns, or keys of several sizes")
        return cls(
            wrappers=wrappers,
            column=records[0].column,
            keys=np.frombuffer(b"".join(keys), np.uint8).reshape(len(keys), -1),
            names=_chunked([pa.array([record.file_name for record in records], pa.binary())]),
            lo=side([record.lo_wrapper for record in records], [record.lo for record in records]),
            hi=side([record.hi_wrapper for record in records], [record.hi for record in records]),
            rows=counts([record.rows for record in records]),
            nulls=counts([record.nulls for record in records]),
            size=counts([record.size for record in records]),
            deleted=np.array([record.deleted for record in records], np.bool_),
            tight=np.array([record.tight for record in records], np.bool_),
            ordinal=np.array([record.ordinal for record in records], np.int64),
            info=np.array([_info_code(record.info) for record in records], np.uint64),
        )

    @classmethod
    def joined(cls, parts: Sequence[StatsColumns]) -> StatsColumns:
        """The rows of parts of one column and with the same wrappers, one behind the other."""
        if len(parts) == 1:
            return parts[0]

        def array(name: str) -> npt.NDArray[Any]:
            return np.concatenate([getattr(part, name) for part in parts])

        def side(name: str) -> Side:
            sides: list[Side] = [getattr(part, name) for part in parts]
            texts = None
            if any(one.text is not None for one in sides):
                texts = _chunked([_empty(len(one.wrapper)) if one.text is None else one.text for one in sides])
            return Side(
                np.concatenate([one.wrapper for one in sides]), np.concatenate([one.bits for one in sides]), texts
            )

        return cls(
            wrappers=parts[0].wrappers,
            column=parts[0].column,
            keys=array("keys"),
            names=_chunked([part.names for part in parts]),
            lo=side("lo"),
            hi=side("hi"),
            rows=array("rows"),
            nulls=array("nulls"),
            size=array("size"),
            deleted=array("deleted"),
            tight=array("tight"),
            ordinal=array("ordinal"),
            info=array("info"),
        )


def _distinct(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The values as numbers from 0 on, equal for equal values."""
    if not len(values) or (values == values[0]).all():
        return np.zeros(len(values), np.int64)
    return np.unique(values, return_inverse=True)[1].astype(np.int64)


def info_text(code: int) -> bytes:
    """The bytes that an ``info`` stands for."""
    return code.to_bytes(8, "little")[: code >> 56]


def signed_numbers(texts: Any) -> npt.NDArray[np.int64] | None:
    """Big-endian numbers in two's complement, from Arrow binary; None if one has more than 8 bytes."""
    chunks = texts.chunks if isinstance(texts, pa.ChunkedArray) else [texts]
    found: list[npt.NDArray[np.int64]] = []
    for chunk in chunks:
        _, edges, content = chunk.buffers()
        places = np.frombuffer(edges, np.int32)[chunk.offset : chunk.offset + len(chunk) + 1].astype(np.int64)
        size = np.diff(places)
        if size.max(initial=0) > 8:
            return None
        data = np.concatenate([np.zeros(8, np.uint8), np.frombuffer(content or b"", np.uint8)])
        words = np.ndarray((len(data) - 7,), ">i8", data.data, 0, (1,))
        unused = np.minimum(8 * (8 - size), 63)
        numbers = words[places[1:]].astype(np.int64) << unused >> unused  # the 8 bytes that end with the number
        found.append(np.where(size > 0, numbers, 0))
    return np.concatenate(found) if found else np.empty(0, np.int64)


def _bits(value: Any, kind: str) -> int:
    match kind:
        case "double":
            bits: int = struct.unpack("<q", struct.pack("<d", value))[0]
            return bits
        case "float":
            narrow: int = struct.unpack("<I", struct.pack("<f", value))[0]
            return narrow
        case "long" | "boolean":
            return operator.index(value)
        case "bytes" | "null":
            return 0
    raise ValueError("a bound of an unknown kind")


def _info_code(text: bytes) -> int:
    if len(text) > 7:
        raise ValueError("more information than there is room for")
    return int.from_bytes(text, "little") | len(text) << 56


def _chunked(parts: Sequence[Any]) -> Any:
    """Arrays as one; more than 2 GB of them stay in chunks."""
    chunks = [chunk for part in parts for chunk in (part.chunks if isinstance(part, pa.ChunkedArray) else [part])]
    return pa.chunked_array(chunks, pa.binary())


def _empty(count: int) -> Any:
    return to_binary([b""]).cast(pa.binary()).take(to_arrow(np.zeros(count, np.int64)))
