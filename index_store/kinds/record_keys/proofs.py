"""What was proven of the indexes of one state of a table: by a name for each proof, its outcome in a word.

A proof reads many entries of an index, or counts all of them, before the first key is looked up. Its outcome is the
same for every process that reads the same state, so a memory beside the snapshots keeps it.
"""

from __future__ import annotations

from collections.abc import Callable

from index_store.kinds.base import ProofMemory

__all__ = ["Proofs"]


class Proofs:
    """The outcomes that are known; each is worked out once, and what cannot be read is tried again."""

    def __init__(self) -> None:
        self._memory: ProofMemory | None = None
        self._known: dict[str, str] = {}

    def remember(self, memory: ProofMemory) -> None:
        """Take the outcomes that others kept, and keep those that are worked out."""
        self._memory = memory

    def outcome(self, name: str, prove: Callable[[], str]) -> str:
        """The outcome of this proof, known or worked out. Raises what ``prove`` raises, and keeps nothing then."""
        if name not in self._known and self._memory is not None:
            self._known = {**self._memory.read(), **self._known}
        if name not in self._known:
            self._known[name] = prove()
            if self._memory is not None:
                self._memory.write(self._known)
        return self._known[name]
