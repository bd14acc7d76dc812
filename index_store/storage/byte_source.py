"""Random access to bytes: of a file, or in memory."""

from __future__ import annotations

from typing import Protocol

from evaluator.language.records import record

__all__ = ["ByteSource", "Bytes"]


class ByteSource(Protocol):
    """Random access to bytes. ``read_at`` returns exactly the bytes of a range or raises."""

    @property
    def size(self) -> int: ...

    def read_at(self, offset: int, length: int) -> bytes: ...


@record
class Bytes:
    """A byte source in memory."""

    data: bytes

    @property
    def size(self) -> int:
        return len(self.data)

    def read_at(self, offset: int, length: int) -> bytes:
        return self.data[offset : offset + length]
