"""Walks over values in Thrift's compact protocol, in which Parquet keeps footers and page headers.

Nothing is built: structs are counted, and the numbers of one struct are given. Parquet has no maps and no deep structs.
Source: the Thrift specification, "thrift-compact-protocol"; ``parquet.thrift``.
"""

from __future__ import annotations

from index_store.storage.errors import FormatError

__all__ = ["count_structs", "numbers_of"]

_TRUE, _FALSE, _BYTE, _DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 1, 2, 3, 7, 8, 9, 10, 12
_VARINTS = (4, 5, 6)
_MAX_DEPTH = 32


def count_structs(data: bytes, most: int) -> int:
    """The structs in a struct that is all of ``data``. Raises FormatError for more than ``most``, and for damage."""
    walk = _Walk(data, most)
    try:
        walk.pass_over(0, _STRUCT)
    except IndexError as error:
        raise FormatError("a Thrift value is cut off") from error
    return walk.structs


def numbers_of(data: bytes, at: int) -> tuple[dict[int, int], int]:
    """The integer fields of a struct by their ids, and where it ends. Raises FormatError, IndexError at the end."""
    numbers: dict[int, int] = {}
    walk, field = _Walk(data, 1000), 0
    while True:
        head = data[at]
        at += 1
        if head == 0:
            return numbers, at
        if head >> 4:
            field += head >> 4
        else:
            field, at = _zig_zag(data, at)
        kind = head & 15
        if kind in _VARINTS:
            numbers[field], at = _zig_zag(data, at)
        elif kind not in (_TRUE, _FALSE):
            at = walk.pass_over(at, kind)


class _Walk:
    def __init__(self, data: bytes, most: int) -> None:
        self._data = data
        self._most = most
        self.structs = 0

    def pass_over(self, at: int, kind: int) -> int:
        """Where the value of this kind ends."""
        data = self._data
        #: What is open: values left of a list and their kind, or -1 for the fields of a struct.
        pending = [(1, kind)]
        while pending:
            left, kind = pending.pop()
            if left < 0:
                head = data[at]
                at += 1
                if head == 0:
                    continue
                pending.append((-1, 0))
                if not head >> 4:
                    _, at = _varint(data, at)
                kind = head & 15
                if kind in (_TRUE, _FALSE):
                    continue
            elif left == 0:
                continue
            else:
                pending.append((left - 1, kind))
            if kind in _VARINTS:
                while data[at] >= 128:
                    at += 1
                at += 1
            elif kind == _BINARY:
                length, at = _varint(data, at)
                at += length
            elif kind == _STRUCT:
                self._count(1)
                pending.append((-1, 0))
            elif kind in (_LIST, _SET):
                count, at = data[at] >> 4, at + 1
                items = data[at - 1] & 15
                if count == 15:
                    count, at = _varint(data, at)
                if count > len(data) - at:
                    raise FormatError("a Thrift list claims more items than there are bytes", at)
                if items == _STRUCT:
                    self._count(0, count)
                pending.append((count, items))
            elif kind == _DOUBLE:
                at += 8
            elif kind in (_TRUE, _FALSE, _BYTE):
                at += 1
            else:
                raise FormatError(f"a Thrift value of kind {kind}", at)
            if at > len(data):
                raise IndexError
            if len(pending) > _MAX_DEPTH:
                raise FormatError("a Thrift value is too deep", at)
        return at

    def _count(self, structs: int, announced: int = 0) -> None:
        self.structs += structs
        if self.structs + announced > self._most:
            raise FormatError(f"a Thrift value of {len(self._data)} bytes has too many structs")


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
    raise FormatError("a Thrift number does not end", at)


def _zig_zag(data: bytes, at: int) -> tuple[int, int]:
    raw, at = _varint(data, at)
    return (raw >> 1) ^ -(raw & 1), at
