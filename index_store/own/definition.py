"""The definition of an own index: its name, its kind, and which sketch it keeps of which column or expression.

    Definition("by_city", (Entry("city", "bloom_filter(fpp=0.01)"), Entry("lower(city)", "min_max")))

A definition stores texts. ``build.sketching.SketchPlan`` parses them for a table.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from typing import Any

from evaluator.language.records import frozen
from index_store.storage.errors import FormatError

__all__ = ["KINDS", "SECONDARY_INDEX", "SKETCHES", "Definition", "Entry", "check_name"]

SKETCHES, SECONDARY_INDEX = "sketches", "secondary_index"
KINDS = (SKETCHES, SECONDARY_INDEX)
#: Raised when an older reader could misread a new definition.
FORMAT = 1
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


@frozen
class Entry:
    """The text of a column or expression, and the text of a sketch of it ("" for a secondary index)."""

    on: str
    sketch: str = ""


@frozen
class Definition:
    """An index. ``options`` belong to its kind: the trees of expressions and the zone in which they are computed.

    Raises ValueError for a name that cannot be a folder's, an unknown kind, no entry, and an entry that stands twice.
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
        twice = [entry for number, entry in enumerate(self.entries) if entry in self.entries[:number]]
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
    """Raises ValueError for a name that an index cannot have: it is the name of its folder."""
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of an index: letters, digits, _, - and . only, at most 100")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is not a text")
    return value
