"""Looks up single keys and prefixes in one HFile: the index gives the block, a search in the block the entry.

    block    bisect in the first keys, which are in memory; a block that is read again is cached (``BlockCache``)
    entry    the first times: the key's own bytes are searched in the block
             from the third question on: bisect in the list of the block's keys, which one walk makes

A key is looked for with its length before it and Hudi's ten bytes behind it. Hudi's keys are UTF-8, in which no byte is
0xff, so those ten bytes stand at a key's end only; whether the lengths before the key are those of an entry is checked,
and where anything else could be meant the block is walked. A file whose first block has an entry that ends otherwise
(other writers than Hudi) is walked always.
"""

from __future__ import annotations

import itertools
import threading
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence

from index_store.formats.hfile import HFile, after_prefix, entries

__all__ = ["BlockCache", "HFileSearch"]

#: What follows a key's content in every file that Hudi writes: no column, the latest time, "put".
KEY_END = b"\0\x7f\xff\xff\xff\xff\xff\xff\xff\x04"
_WALKED_AT = 3
_NUMBERS = itertools.count()
_SEEN = 8192

#: The number of a file and of a block in it.
_Key = tuple[int, int]

Place = tuple[bytes, int, int]


class BlockCache:
    """The most recently used blocks, up to a sum of inflated bytes. Files and threads may share one cache.

    A block is cached from its second use on, while the first is remembered: new memory costs half as much again as
    inflating into old memory, and most blocks are used once. The last block is always cached.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most = most_bytes
        self._blocks: OrderedDict[_Key, _Block] = OrderedDict()
        self._seen: OrderedDict[_Key, None] = OrderedDict()
        self._last: tuple[_Key, _Block] | None = None
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, file: HFileSearch, number: int) -> _Block:
        """Block ``number`` of a file, inflated now or before. Raises FormatError and what the source raises."""
        key = (file.number, number)
        last = self._last
        if last is not None and last[0] == key:
            return last[1]
        block = self._blocks.get(key)
        if block is not None:
            with self._lock:
                if key in self._blocks:
                    self._blocks.move_to_end(key)
            return block
        self._last = last = None  # its memory is what the next block is inflated into
        block = _Block(file.hfile.block(number).inflated())
        self._last = (key, block)
        with self._lock:
            if key in self._seen:
                self._keep(key, block)
            else:
                self._seen[key] = None
                if len(self._seen) > _SEEN:
                    self._seen.popitem(last=False)
        return block

    def _keep(self, key: _Key, block: _Block) -> None:
        del self._seen[key]
        self._blocks[key] = block
        self._bytes += len(block.data)
        while self._bytes > self._most and len(self._blocks) > 1:
            gone, old = self._blocks.popitem(last=False)
            self._bytes -= len(old.data)
            self._seen[gone] = None

    def forget(self, file: HFileSearch) -> None:
        """Drop the blocks of a file that is closed."""
        with self._lock:
            self._last = None
            for key in [key for key in self._blocks if key[0] == file.number]:
                self._bytes -= len(self._blocks.pop(key).data)


class HFileSearch:
    """An open HFile to look keys up in. Its source must stay open. Keys may repeat; the last entry counts.

    ``path`` is for messages, ``number`` is unique in this process.
    """

    def __init__(self, hfile: HFile, cache: BlockCache, path: str = "") -> None:
        self.hfile = hfile
        self.path = path
        self.number = next(_NUMBERS)
        self._cache = cache
        self._firsts = [entry.key for entry in hfile.index]
        self._ends_known: bool | None = None

    def find(self, key: bytes) -> Place | None:
        """The block that holds the key's value, and where it starts and ends in it; None when there is no such key."""
        firsts = self._firsts
        number = bisect_right(firsts, key) - 1
        if number < 0:
            return None
        found = self._in_block(number, key)
        while found is None and number and firsts[number] == key:  # equal keys may end the block before
            number -= 1
            found = self._in_block(number, key)
        return found

    def starting_with(self, prefix: bytes) -> Iterator[tuple[bytes, bytes, int, int]]:
        """The entries whose key starts with a prefix, in order: key, block, and where the value starts and ends."""
        first = max(0, bisect_left(self._firsts, prefix) - 1)
        last = bisect_left(self._firsts, after_prefix(prefix)) if prefix else len(self._firsts)
        for number in range(first, last):
            block = self._cache.get(self, number)
            keys, spans = block.listed()
            for i in range(bisect_left(keys, prefix), len(keys)):
                if not keys[i].startswith(prefix):
                    break
                yield keys[i], block.data, *spans[i]

    def _in_block(self, number: int, key: bytes) -> Place | None:
        block = self._cache.get(self, number)
        block.lookups += 1
        if block.lookups < _WALKED_AT and self._ends_as_hudi_writes() and b"\0" not in key:
            found = _search(block.data, key)
            if found is not _UNCERTAIN:
                return None if found is None else (block.data, *found)
        return block.find(key)

    def _ends_as_hudi_writes(self) -> bool:
        """Whether the entries of the file's first block all end as Hudi's keys do."""
        if self._ends_known is None:
            data = self._cache.get(self, 0).data
            self._ends_known = all(data[start - len(KEY_END) : start] == KEY_END for _, start, _ in entries(data))
        return self._ends_known


class _Block:
    """An inflated block, and its keys in order once they were listed."""

    __slots__ = ("_listed", "data", "lookups")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.lookups = 0
        self._listed: tuple[Sequence[bytes], Sequence[tuple[int, int]]] | None = None

    def listed(self) -> tuple[Sequence[bytes], Sequence[tuple[int, int]]]:
        """The keys, ascending, and where the value of each starts and ends."""
        if self._listed is None:
            found = [(key, (start, end)) for key, start, end in entries(self.data)]
            if any(found[i][0] > found[i + 1][0] for i in range(len(found) - 1)):
                found.sort(key=lambda one: one[0])
            self._listed = [key for key, _ in found], [span for _, span in found]
        return self._listed

    def find(self, key: bytes) -> Place | None:
        keys, spans = self.listed()
        at = bisect_right(keys, key) - 1
        return (self.data, *spans[at]) if at >= 0 and keys[at] == key else None


_UNCERTAIN = (-1, -1)
_LONGEST_GAP = 4096
_SLOPE = bytes(range(255, -1, -1)) * (_LONGEST_GAP // 256 + 2)


def _search(data: bytes, key: bytes) -> tuple[int, int] | None:
    """Where the value of a key without NUL starts and ends; ``_UNCERTAIN`` when only walking the block can tell.

    Before the key stand the lengths of its entry. Another entry could end in the same bytes only if it starts between
    the key before it and here: then its length, read there, would reach to the same end.
    """
    needle = len(key).to_bytes(2, "big") + key + KEY_END
    middle = _middle(data, key)
    at = data.find(needle, *middle)
    if at < 0:
        at = data.find(needle)  # a guess may be wrong
        if at < 0:
            return None
    end = at + len(needle)
    start = at - 8
    if start < 0 or int.from_bytes(data[start : start + 4], "big") != len(needle):
        return _UNCERTAIN
    size = int.from_bytes(data[start + 4 : at], "big")
    if end + size >= len(data) or data.find(needle, end, end + size + 10 + len(needle)) >= 0:
        return _UNCERTAIN
    before = data.rfind(KEY_END, 0, start)
    begin = before + len(KEY_END) if before >= 0 else 0
    if start - begin > _LONGEST_GAP or _other_start(data, begin, start, end):
        return _UNCERTAIN
    return end, end + size


def _middle(data: bytes, key: bytes) -> tuple[int, int]:
    """The half of a block in which the key is likely, if its keys are of one length."""
    half = data.find(KEY_END, len(data) // 2)
    if half < len(key) + 2:
        return 0, len(data)
    return (0, half + len(KEY_END)) if key <= data[half - len(key) : half] else (half - len(key), len(data))


def _other_start(data: bytes, begin: int, start: int, end: int) -> bool:
    """Whether an entry whose key ends at ``end`` could start in ``data[begin:start]``: the length there would say so.

    All places at once: the last byte of such a length falls by one from place to place.
    """
    low = data[begin + 3 : start + 3]
    first = (263 - end + begin) & 255  # where in the slope the first place's last byte stands
    unlike = int.from_bytes(low, "big") ^ int.from_bytes(_SLOPE[first : first + len(low)], "big")
    alike = unlike.to_bytes(len(low), "big")
    place = alike.find(0)
    while place >= 0:
        if int.from_bytes(data[begin + place : begin + place + 4], "big") == end - begin - place - 8:
            return True
        place = alike.find(0, place + 1)
    return False
