"""A manifest: a state of a table, and the names of the folders that hold its arrays."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from evaluator.language.records import record
from index_store.snapshots.state import FORMAT, State

__all__ = ["Manifest"]

_DIGEST = re.compile(r"[0-9a-f]{32}")


@record
class Manifest:
    """A state of a table, and the folders of its base and of its delta (None: the state has none).

    ``instant`` is that of its slices, ``source`` where the list of files came from.
    """

    state: State
    base: str
    delta: str | None
    instant: str | None
    source: str

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "format": FORMAT,
            "state": self.state.to_dict(),
            "base": self.base,
            "since": self.delta,
            "instant": self.instant,
            "source": self.source,
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Manifest:
        """The reverse of ``to_dict``. Raises KeyError, TypeError or ValueError."""
        if plain["format"] != FORMAT:
            raise ValueError("another format")
        names = [plain["base"], *([] if plain["since"] is None else [plain["since"]])]
        if not all(isinstance(name, str) and _DIGEST.fullmatch(name) for name in names):
            raise ValueError("no name of a folder")
        return cls(
            State.from_dict(plain["state"]), plain["base"], plain["since"], plain["instant"], str(plain["source"])
        )
