"""What is known of objects that nobody changes, by the object itself: to compare two of them may take long."""

from __future__ import annotations

from typing import Generic, TypeVar

__all__ = ["ByIdentity"]

K = TypeVar("K")
V = TypeVar("V")


class ByIdentity(Generic[K, V]):
    """Values of at most ``most`` objects; one more, and all are forgotten.

    The objects are kept, so that no other one gets the identity of one that is known.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[int, tuple[K, V]] = {}

    def __len__(self) -> int:
        return len(self._known)

    def get(self, one: K) -> V | None:
        """The value of this object, or None."""
        known = self._known.get(id(one))
        return known[1] if known is not None and known[0] is one else None

    def keep(self, one: K, value: V) -> None:
        """Remember the value of an object."""
        if len(self._known) >= self._most:
            self._known.clear()
        self._known[id(one)] = one, value
