"""The slots for connections: which connection gives way when there are no more.

A connection is **known** when its peer has shown the secret, or a client certificate where no secret is configured.
Where neither is configured, everybody may ask, and a connection is known from its first call on. Others are unknown.

    a new connection arrives, and       gives way to it
    ---------------------------------   --------------------------------------------------------------------------
    half of the slots are unknown       the oldest unknown connection
    all slots are taken                 the known connection that has been silent longest, if it has been silent for
                                        ``yields_after`` seconds (0 where everybody may ask); else the oldest unknown
                                        one; else the new one

Peers without the secret therefore never take more than half of the slots, and cannot keep a new peer out: a connection
that makes its call at once is served before others have pushed it out.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

__all__ = ["Slots"]


class _Connection(Protocol):
    """What a slot is taken by."""

    @property
    def silent_since(self) -> float | None:
        """The time since which nothing has been asked; None while a call is answered."""

    def close(self, because: str) -> None:
        """Close at once, and leave the slot."""


_C = TypeVar("_C", bound=_Connection)


class Slots(Generic[_C]):
    """At most ``limit`` connections."""

    def __init__(self, limit: int, yields_after: float) -> None:
        self._limit = limit
        self._yields_after = yields_after
        self._unknown: dict[_C, None] = {}  # in the order of their arrival
        self._known: dict[_C, None] = {}  # in the order of their latest call

    def __len__(self) -> int:
        return len(self._unknown) + len(self._known)

    def __iter__(self) -> Iterator[_C]:
        yield from [*self._unknown, *self._known]

    def admit(self, connection: _C) -> bool:
        """Give a slot to a new connection, if need be that of another one. False when none gives way."""
        gives_way = None
        if len(self._unknown) >= max(1, self._limit // 2):
            gives_way = next(iter(self._unknown))
        elif len(self) >= self._limit:
            gives_way = self._silent() or next(iter(self._unknown), None)
            if gives_way is None:
                return False
        if gives_way is not None:
            gives_way.close("room")
        self._unknown[connection] = None
        return True

    def _silent(self) -> _C | None:
        latest = time.monotonic() - self._yields_after
        for connection in self._known:
            since = connection.silent_since
            if since is not None:
                return connection if since <= latest else None
        return None

    def is_known(self, connection: _C) -> bool:
        return connection in self._known

    def make_known(self, connection: _C) -> None:
        """The peer has shown who it is, or has asked again. Does nothing for a connection that has left."""
        if connection in self._unknown or connection in self._known:
            self.leave(connection)
            self._known[connection] = None

    def leave(self, connection: _C) -> None:
        self._unknown.pop(connection, None)
        self._known.pop(connection, None)
