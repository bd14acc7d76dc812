"""A file that is read at offsets, as the file object that pyarrow's readers take."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeVar

__all__ = ["FileObject"]

Self = TypeVar("Self", bound="FileObject")


class FileObject(ABC):
    """A position on top of ``size`` and ``read_at``, which may be called in several threads."""

    def __init__(self) -> None:
        self._at = 0
        self.closed = False

    @abstractmethod
    def size(self) -> int:
        """Bytes of the file."""

    @abstractmethod
    def read_at(self, nbytes: int, offset: int) -> bytes:
        """The bytes from ``offset`` on, at most ``nbytes``: fewer only at the end of the file."""

    def read(self, nbytes: int = -1) -> bytes:
        data = self.read_at(self.size() - self._at if nbytes is None or nbytes < 0 else nbytes, self._at)
        self._at += len(data)
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = (0, self._at, self.size() if whence == 2 else 0)[whence] + offset
        return self._at

    def tell(self) -> int:
        return self._at

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def writable(self) -> bool:
        return False

    def close(self) -> None:
        self.closed = True

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()
