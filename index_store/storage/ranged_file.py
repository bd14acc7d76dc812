"""Reads ranges of a large file in few requests.

    read_at     one request, unless the bytes are cached; a read at the end of the file, where formats keep their index,
                fetches the bytes before it as well
    expect      ranges that will be read soon: near ones are joined, and the rest is fetched side by side

On a local disk every ``read_at`` is one read and nothing is cached. Cached bytes are returned once and then dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Any, TypeVar

from index_store.storage.client import ShortReplyError
from index_store.storage.errors import FormatError
from index_store.storage.pace import Pace

__all__ = ["AT_A_TIME", "RangedFile", "joined"]

T = TypeVar("T")

#: The last bytes of a file, read together: trailer, file info and index of an HFile of many thousand blocks.
TAIL = 256 << 10
#: Bytes that are cheaper to read than a request of their own is to make, at most (``Pace.gap``).
GAP = 1 << 20
#: No request is larger, so that large ranges come side by side.
LARGEST_REQUEST = 16 << 20
SIDE_BY_SIDE = 8
#: Ranges that a reader of many expects together; all but the last ones wait in memory.
AT_A_TIME = 8

Range = tuple[int, int]


def joined(ranges: Iterable[Range], gap: int = GAP, largest: int = LARGEST_REQUEST) -> list[Range]:
    """(offset, length) pairs in order, near ones as one; a pair that is larger than ``largest`` stays alone."""
    found: list[Range] = []
    for offset, length in sorted(ranges):
        if found:
            start, size = found[-1]
            end = max(start + size, offset + length)
            if offset <= start + size + gap and end - start <= largest:
                found[-1] = (start, end - start)
                continue
        found.append((offset, length))
    return found


class RangedFile:
    """Random access to a file of ``size`` bytes.

    stream   the open file; ``reopen`` opens it once more, after a failure or for a read beside another
    run      makes an attempt patient and names the file in errors
    local    nothing is read ahead and nothing is kept
    shared   one stream serves several threads at once
    pace     how fast the file system answers, which says what ranges are near
    """

    __slots__ = ("_free", "_kept", "_local", "_pace", "_reopen", "_run", "_shared", "size")

    def __init__(
        self,
        size: int,
        stream: Any,
        reopen: Callable[[], Any],
        run: Callable[[Callable[[], bytes]], bytes],
        *,
        local: bool,
        shared: bool,
        pace: Pace | None = None,
    ) -> None:
        self.size = size
        self._free: list[Any] = [stream]
        self._reopen = reopen
        self._run = run
        self._local = local
        self._shared = shared
        self._pace = pace or Pace()
        self._kept: list[tuple[int, bytes]] = []

    def read_at(self, offset: int, length: int) -> bytes:
        """Exactly the bytes of this range. Raises TableError, or FormatError when the file has no such range."""
        if offset < 0 or length < 0 or offset + length > self.size:
            raise FormatError("a range lies outside of the file", offset)
        if self._local:
            return self._fetched((offset, length))
        for start, data in self._kept:
            if start <= offset and offset + length <= start + len(data):
                return data[offset - start : offset - start + length]
        if offset + length == self.size and length < TAIL:
            start = max(0, self.size - TAIL)
            self._kept.append((start, self._fetched((start, self.size - start))))
            return self._kept[-1][1][offset - start :]
        return self._fetched((offset, length))

    def expect(self, ranges: Sequence[Range]) -> None:
        """Fetch ranges that ``read_at`` will read, in place of those expected before. No effect on a local disk."""
        if self._local:
            return
        tail = [kept for kept in self._kept if kept[0] + len(kept[1]) == self.size]
        missing = [
            one
            for one in joined(ranges, self._pace.gap)
            if not any(start <= one[0] and sum(one) <= start + len(data) for start, data in tail)
        ]
        if len(missing) > 1:
            with ThreadPoolExecutor(min(SIDE_BY_SIDE, len(missing)), "sargo-ranges") as pool:
                fetched = list(pool.map(self._fetched, missing))
        else:
            fetched = [self._fetched(one) for one in missing]
        self._kept = tail + [(start, data) for (start, _), data in zip(missing, fetched, strict=True)]

    def _fetched(self, wanted: Range) -> bytes:
        offset, length = wanted

        def attempt() -> bytes:
            stream = self._taken()
            try:
                data: bytes = self._pace.timed(partial(stream.read_at, length, offset))
            except BaseException:
                with suppress(ValueError):
                    self._free.remove(stream)  # a broken connection may not come back
                raise
            if len(data) != length:
                raise ShortReplyError(len(data), length, offset)
            if not self._shared:
                self._free.append(stream)
            return data

        return self._run(attempt)

    def _taken(self) -> Any:
        """A stream that no other thread reads from, or one that serves several."""
        try:
            return self._free[-1] if self._shared else self._free.pop()
        except IndexError:
            stream = self._reopen()
            if self._shared:
                self._free.append(stream)
            return stream
