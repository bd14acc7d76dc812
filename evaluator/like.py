"""LIKE patterns as a literal prefix and the rest (pitfall P5).

The escape is handled first; then the prefix runs up to the first ``%`` or ``_``:

    =================  ===========  ================================
    pattern            prefix       form
    =================  ===========  ================================
    ``abc``            abc          EQUALS: no wildcard at all
    ``abc%``, ``a%%``  abc, a       STARTS: nothing but % behind it
    ``ab_%``, ``a%z``  ab, a        LONGER: the prefix is necessary
    ``50\\%``           50%          EQUALS
    ``%z``, ``_a``     (empty)      LONGER
    =================  ===========  ================================
"""

from __future__ import annotations

import enum
from dataclasses import dataclass

from evaluator.errors import UnsupportedError

__all__ = ["Form", "LikePattern", "parse_like"]


class Form(enum.Enum):
    """What a pattern asks beyond its prefix."""

    EQUALS = "equals"
    STARTS = "starts"
    LONGER = "longer"


@dataclass(frozen=True, slots=True)
class LikePattern:
    """A parsed LIKE pattern."""

    prefix: str
    form: Form


def parse_like(pattern: str, escape: str) -> LikePattern:
    """Parse a pattern. Raises UnsupportedError where engines differ: an escape before another character, or at the
    end.
    """
    prefix: list[str] = []
    position = 0
    while position < len(pattern):
        char = pattern[position]
        if escape and char == escape:
            following = pattern[position + 1 : position + 2]
            if following not in ("%", "_", escape) or not following:
                raise UnsupportedError("a LIKE pattern with a dangling escape is not decided")
            prefix.append(following)
            position += 2
        elif char in "%_":
            rest = pattern[position:]
            return LikePattern("".join(prefix), Form.STARTS if set(rest) == {"%"} else Form.LONGER)
        else:
            prefix.append(char)
            position += 1
    return LikePattern("".join(prefix), Form.EQUALS)
