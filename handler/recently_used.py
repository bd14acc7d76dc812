"""What was used last: entries by key, up to a number of them and of their bytes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from typing import Generic, TypeVar

__all__ = ["RecentlyUsed"]

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RecentlyUsed(Generic[K, V]):
    """Drops what was not used for longest. For one thread at a time.

    most         how many entries stay
    most_bytes   how many bytes of them stay, as ``bytes_of`` counts an entry
    keeps_one    the newest entry stays whatever its bytes are
    """

    def __init__(
        self,
        most: int,
        most_bytes: int | None = None,
        bytes_of: Callable[[V], int] = lambda _: 0,
        *,
        keeps_one: bool = False,
    ) -> None:
        self._entries: OrderedDict[K, V] = OrderedDict()
        self.most, self.most_bytes = most, most_bytes
        self._bytes_of = bytes_of
        self._least = 1 if keeps_one else 0
        #: The bytes of all entries.
        self.nbytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[K]:
        """The keys, the one that was used last at the end."""
        return iter(self._entries)

    def latest(self, count: int) -> list[V]:
        """At most ``count`` entries, the one that was used last at the end."""
        return list(self._entries.values())[-count:]

    def peek(self, key: K) -> V | None:
        """The entry, which does not count as used."""
        return self._entries.get(key)

    def get(self, key: K) -> V | None:
        """The entry, used now."""
        found = self._entries.get(key)
        if found is not None:
            self._entries.move_to_end(key)
        return found

    def put(self, key: K, entry: V) -> list[V]:
        """Add or replace an entry, used now. Returns what is gone for it."""
        gone = [] if (replaced := self.pop(key)) is None else [replaced]
        self._entries[key] = entry
        self.nbytes += self._bytes_of(entry)
        while len(self._entries) > self.most or (
            self.most_bytes is not None and self.nbytes > self.most_bytes and len(self._entries) > self._least
        ):
            dropped = self._entries.popitem(last=False)[1]
            self.nbytes -= self._bytes_of(dropped)
            gone.append(dropped)
        return gone

    def pop(self, key: K) -> V | None:
        """Take the entry out."""
        entry = self._entries.pop(key, None)
        if entry is not None:
            self.nbytes -= self._bytes_of(entry)
        return entry
