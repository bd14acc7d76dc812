"""A client over an object store (obstore, Rust's ``object_store``): one GET without a HEAD, true lengths, versions.

A path is ``bucket/key``, as in pyarrow. Ranges of one file carry the ETag of the listing or of the first answer
(If-Match), and the ETag and size of each answer are compared as well, since some stores ignore the condition: a file
that is replaced meanwhile is an error and never a mixture. A reply that is shorter than its range is an error.

Stores differ: Azure lists ETags without quotes and serves no "last n bytes"; Azure and Google delete what is not there
with an error; Google's condition for a new object is a generation of 0, which obstore sends.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from obstore.exceptions import AlreadyExistsError, BaseError, PreconditionError

from index_store.storage.client import ChangedError, LargeFileError, Listed, ShortReplyError, Whole
from index_store.storage.file_object import FileObject
from index_store.storage.store_errors import NO_SUCH_STORE, StoreError, cause_of, is_taken
from index_store.storage.tail_length import LEAST, TailLength

__all__ = ["ObjectClient", "ObjectFile", "request_options"]

T = TypeVar("T")

#: Bytes at the end of an object that are kept for the next read: footers with Bloom filters have half a megabyte.
_LONGEST_TAIL = 16 << 20
#: The range before the tail that was read last is kept up to this size: a reader checks it, and then reads it again.
_KEPT_RANGE = 4 << 20
_NO_SUCH_RANGE = 416  # an object without a byte has no range
#: How often a folder is listed again while others remove files of it, too.
_TRIES = 5


class ObjectClient:
    """One bucket. ``store``: of ``obstore.store``. ``has_suffixes``: the store serves "the last n bytes"."""

    shares_files = True
    writes_at_once = True

    def __init__(self, store: Any, bucket: str, kind: str, *, has_suffixes: bool = True) -> None:
        self._store = store
        self._bucket = bucket
        self._has_suffixes = has_suffixes
        self.kind = kind
        #: How many last bytes of an object are asked for, which say its size and hold what formats keep there.
        self.tail_length = TailLength()

    # -- reading

    def whole(self, path: str, limit: int) -> Whole:
        def answer() -> Whole:
            # Only the reply to a range says both the size of the object and that of the reply.
            found = self._store.get(self._file_key(path), options={"range": (0, limit + 1)})
            size, version = int(found.meta["size"]), _version(found.meta)
            if size > limit:
                raise LargeFileError(size, self.open(path, Listed(path, size, version)))
            data = bytes(found.bytes())
            if len(data) != size:
                raise ShortReplyError(len(data), size)
            return Whole(data, version)

        try:
            return self._told(answer)
        except StoreError as error:
            if error.status == _NO_SUCH_RANGE:
                return Whole(b"")
            raise

    def tail(self, path: str) -> tuple[int, str, bytes]:
        """Size, version and last bytes of an object."""

        def answer() -> tuple[int, str, bytes]:
            key = self._file_key(path)
            if not self._has_suffixes:
                meta = self._store.head(key)
                return int(meta["size"]), _version(meta), b""
            wanted = self.tail_length()
            found = self._store.get(key, options={"range": {"suffix": wanted}})
            size, data = int(found.meta["size"]), bytes(found.bytes())
            if len(data) != min(size, wanted):
                raise ShortReplyError(len(data), min(size, wanted), max(size - wanted, 0))
            return size, _version(found.meta), data

        return self._told(answer)

    def part(self, path: str, offset: int, length: int, version: str, size: int = -1) -> bytes:
        """The bytes of a range of the version, of any where it is "", and of an object of ``size`` bytes.

        Raises ChangedError.
        """

        def answer() -> bytes:
            options: dict[str, Any] = {"range": (offset, offset + length)}
            if version:
                options["if_match"] = version
            found = self._store.get(self._file_key(path), options=options)
            same = not version or _version(found.meta) in ("", version)
            if not same or size not in (-1, int(found.meta["size"])):
                raise ChangedError("it changed while it was read")
            data = bytes(found.bytes())
            if len(data) != length:
                raise ShortReplyError(len(data), length, offset)
            return data

        return self._told(answer) if length else b""

    def open(self, path: str, listed: Listed | None = None) -> ObjectFile:
        return ObjectFile(self, path, listed)

    def listed(self, path: str, *, recursive: bool = False) -> list[Listed]:
        def answer() -> list[Listed]:
            key = self._key(path)
            if recursive:
                found = [meta for batch in self._store.list(key or None) for meta in batch]
            else:
                found = list(self._store.list_with_delimiter(key or None)["objects"])
            return [
                Listed(
                    f"{self._bucket}/{meta['path']}",
                    int(meta["size"]),
                    _version(meta),
                    meta["last_modified"].timestamp(),
                )
                for meta in found
            ]

        return self._told(answer)

    def folders(self, path: str) -> list[str]:
        found = self._told(lambda: self._store.list_with_delimiter(self._key(path) or None)["common_prefixes"])
        return [f"{self._bucket}/{one}" for one in found]

    def exists(self, path: str) -> bool:
        with suppress(FileNotFoundError):
            self._told(lambda: self._store.head(self._file_key(path)))
            return True
        found = self._told(lambda: self._store.list_with_delimiter(self._key(path)))
        return bool(found["objects"] or found["common_prefixes"])

    # -- writing

    def create_folder(self, path: str) -> None:
        pass

    def write(self, path: str, source: Path, *, new: bool = False) -> None:
        mode = "create" if new else "overwrite"
        with suppress(AlreadyExistsError):  # names of new files are unique: an attempt before has written it
            self._told(lambda: self._store.put(self._file_key(path), source, mode=mode))

    def move(self, path: str, to: str) -> None:
        self._told(lambda: self._store.rename(self._file_key(path), self._file_key(to)))

    def remove(self, path: str) -> None:
        self._told(lambda: self._store.delete(self._file_key(path)))

    def remove_all(self, path: str) -> None:
        for _ in range(_TRIES):
            keys = [one.path.partition("/")[2] for one in self.listed(path, recursive=True)]
            if not keys:
                return
            with suppress(FileNotFoundError):  # somebody else removes files of it, too
                self._told(partial(self._store.delete, keys))
                return
        raise ChangedError("others write or remove files of it at the same time")

    # -- names and errors

    def _key(self, path: str) -> str:
        bucket, _, key = path.partition("/")
        if bucket != self._bucket:
            raise ValueError(f"{path} is not in the bucket {self._bucket}")
        return key

    def _file_key(self, path: str) -> str:
        key = self._key(path)
        if not key.strip("/"):
            raise IsADirectoryError(f"{path} is a bucket, not a file")
        return key

    def _told(self, operation: Callable[[], T]) -> T:
        """The operation's result. Raises what the store said, in few words."""
        try:
            return operation()
        except FileNotFoundError as error:
            if any(f"{code}</" in str(error) for code in NO_SUCH_STORE):
                raise cause_of(error, self._bucket) from None
            raise FileNotFoundError("no such file") from None
        except PreconditionError:
            raise ChangedError("it changed while it was read") from None
        except AlreadyExistsError as error:
            if is_taken(error):
                raise
            raise cause_of(error, self._bucket) from None
        except (BaseError, OSError) as error:
            if isinstance(error, ChangedError | StoreError | ShortReplyError):
                raise
            raise cause_of(error, self._bucket) from None


def _version(meta: Mapping[str, Any]) -> str:
    """The ETag as a condition takes it: in quotes, as Azure's answers but not its listings have it.

    A weak one says nothing about bytes, and no condition on it is ever met: "".
    """
    found: str = meta.get("e_tag") or ""
    if not found or found.startswith("W/"):
        return ""
    return found if found.startswith('"') else f'"{found}"'


class ObjectFile(FileObject):
    """Random access to an object. Reads in several threads are safe.

    Without a listing the first request fetches the last bytes (``TailLength``), which say the size as well. What is
    read right before them is kept with them, and so is the last other range: readers of formats come back to both.
    """

    def __init__(self, client: ObjectClient, path: str, listed: Listed | None) -> None:
        super().__init__()
        self._client = client
        self._path = path
        self._size = -1 if listed is None else listed.size
        self._version = "" if listed is None else listed.version
        self._grows = ".log." in path.rpartition("/")[2]  # Hudi's log files may be appended to
        self._tail = b""
        self._needed = 0
        self._range = (0, b"")

    def size(self) -> int:
        if self._size < 0:
            self._size, self._version, self._tail = self._client.tail(self._path)
        return self._size

    def read_at(self, nbytes: int, offset: int) -> bytes:
        size = self.size()
        end = min(offset + max(nbytes, 0), size)
        start = size - len(self._tail)
        if offset < start <= end and end - offset < _LONGEST_TAIL:
            first = min(offset, max(0, size - LEAST)) if end == size else offset
            self._tail = self._part(first, start - first) + self._tail
            start = first
        if offset >= start:
            self._needed = max(self._needed, size - offset)
            return self._tail[offset - start : end - start]
        kept_from, kept = self._range
        if kept_from <= offset and end <= kept_from + len(kept):
            return kept[offset - kept_from : end - kept_from]
        data = self._part(offset, end - offset)
        if len(data) <= _KEPT_RANGE:
            self._range = offset, data
        return data

    def _part(self, offset: int, length: int) -> bytes:
        return self._client.part(self._path, offset, length, self._version, -1 if self._grows else self.size())

    def close(self) -> None:
        if self._needed and not self.closed:
            self._client.tail_length.note(self._needed)
        self._range = 0, b""
        super().close()


def request_options(timeout: float, connect_timeout: float, *, allows_http: bool) -> dict[str, Any]:
    """Settings of the HTTP client. Retries happen in one place (``retries``)."""
    return {
        "client_options": {
            "timeout": f"{timeout}s",
            "connect_timeout": f"{connect_timeout}s",
            "allow_http": allows_http,
        },
        "retry_config": {"max_retries": 0},
    }
