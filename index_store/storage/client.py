"""What a storage asks of a file system: few requests, each of one known version of a file.

    whole     all bytes of a file in one request, and the version that they are of
    open      a file of which ranges are read, all of one version
    listed    a directory with sizes and versions, so that no file is asked for them again
    write     a whole file, which appears when it is complete

A client makes one attempt. Retries, time limits and messages are the storage's (``index_store.storage.storage``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from evaluator.language.records import record

__all__ = ["ChangedError", "Client", "File", "LargeFileError", "Listed", "ShortReplyError", "Whole"]


class ChangedError(OSError):
    """A file is not of the version any more that its size, or a part of it, was taken from."""


class LargeFileError(Exception):
    """A file has more bytes than may be read at once: ``size``. ``file`` is open for reading ranges of it."""

    def __init__(self, size: int, file: File) -> None:
        super().__init__(f"it has {size} bytes")
        self.size = size
        self.file = file


class ShortReplyError(ConnectionError):
    """A reply has fewer bytes than were asked for. It may be whole when it is asked for again."""

    def __init__(self, received: int, expected: int, offset: int = 0) -> None:
        super().__init__(f"the reply ends early: {received} of {expected} bytes at {offset}")


@record
class Listed:
    """A file of a listing: path in the terms of the file system, bytes, version ("" if unknown), seconds since 1970."""

    path: str
    size: int
    version: str = ""
    written: float = 0.0


@record
class Whole:
    """All bytes of a file, and their version ("" if unknown)."""

    data: bytes
    version: str = ""


class File(Protocol):
    """Random access to a file; pyarrow's readers take it, too. Ranges may be read in several threads."""

    def size(self) -> int: ...

    def read_at(self, nbytes: int, offset: int) -> bytes: ...

    def close(self) -> None: ...

    def __enter__(self) -> Any: ...

    def __exit__(self, *error: object) -> None: ...


class Client(Protocol):
    """One file system. Paths are in its terms; errors are its own, FileNotFoundError for what is not there."""

    #: pyarrow's name of the kind of file system: ``local``, ``s3``, ``gcs``, ``abfs``, ...
    kind: str
    #: Whether one open file serves several threads.
    shares_files: bool
    #: Whether a file appears under its name only when it is complete.
    writes_at_once: bool

    def whole(self, path: str, limit: int) -> Whole:
        """Raises LargeFileError for more than ``limit`` bytes, ChangedError for a file that changed meanwhile."""

    def open(self, path: str, listed: Listed | None = None) -> Any:
        """A ``File``. With its listing no request is made for the size, and ranges are of that version."""

    def listed(self, path: str, *, recursive: bool = False) -> list[Listed]:
        """The files of a directory, in no order; an absent directory has none."""

    def folders(self, path: str) -> list[str]:
        """The directories of a directory."""

    def exists(self, path: str) -> bool:
        """Whether there is a file or directory."""

    def create_folder(self, path: str) -> None:
        """Create a directory and those above it; object stores have none."""

    def write(self, path: str, source: Path, *, new: bool = False) -> None:
        """The bytes of a local file. ``new``: where the store can, only if there is no file of this name."""

    def move(self, path: str, to: str) -> None:
        """Rename a file; needed where files are not written at once."""

    def remove(self, path: str) -> None:
        """Remove a file. Raises FileNotFoundError where the file system knows."""

    def remove_all(self, path: str) -> None:
        """Remove a directory with all that is in it."""
