"""What an index of our own is: its name, its kind, and which sketch is kept of which column or expression.

    Definition("by_city", (Entry("city", "bloom_filter(fpp=0.01)"), Entry("lower(city)", "min_max")))

The texts are kept as they were given: what an expression or a sketch means is decided by who builds and reads it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from index_store.storage.errors import FormatError

__all__ = ["KINDS", "SECONDARY_INDEX", "SKETCHES", "Definition", "Entry", "check_name"]

SKETCHES, SECONDARY_INDEX = "sketches", "secondary_index"
KINDS = (SKETCHES, SECONDARY_INDEX)
#: Rises when a definition of a new form could be misread by an older reader.
FORMAT = 1
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A column or expression, as its text, and the text of a sketch of it ("" where the kind needs none)."""

    on: str
    sketch: str = ""


@dataclass(frozen=True, slots=True)
class Definition:
    """An index. ``options`` are what its kind wants to remember, such as the zone in which expressions were computed.

    Raises ValueError for a name that is none of a folder, an unknown kind, and no entry or one twice.
    """

    name: str
    entries: tuple[Entry, ...]
    kind: str = SKETCHES
    options: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_name(self.name)
        if self.kind not in KINDS:
            raise ValueError(f"an index of kind {self.kind!r} is not known (known: {', '.join(KINDS)})")
        if not self.entries:
            raise ValueError("an index needs a column or an expression")
        twice = [one for place, one in enumerate(self.entries) if one in self.entries[:place]]
        if twice:
            raise ValueError(f"{' '.join((twice[0].sketch, 'of', twice[0].on)).strip()} is named twice")

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "format": FORMAT,
            "name": self.name,
            "kind": self.kind,
            "options": dict(self.options),
            "entries": [{"on": one.on, "sketch": one.sketch} for one in self.entries],
        }

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Definition:
        """The reverse of ``to_dict``. Raises FormatError."""
        try:
            if plain["format"] != FORMAT:
                raise ValueError(f"format {plain['format']} of a definition is not known")
            entries = tuple(Entry(_text(one["on"]), _text(one["sketch"])) for one in plain["entries"])
            options = {_text(name): _text(value) for name, value in plain["options"].items()}
            return cls(_text(plain["name"]), entries, _text(plain["kind"]), options)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FormatError(f"no definition of an index: {error}") from error


def check_name(name: str) -> None:
    """Raise ValueError for a name that is not one of an index: it names a folder."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of an index: letters, digits, _, - and . only, at most 100")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value
