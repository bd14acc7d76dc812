"""LIKE patterns as a literal prefix and the rest (docs/facts/pitfalls.md#p5).

Escapes are resolved first. The prefix then runs up to the first ``%`` or ``_``:

    =================  ===========  ================================
    pattern            prefix       form
    =================  ===========  ================================
    ``abc``            abc          EQUALS: no wildcard at all
    ``abc%``, ``a%%``  abc, a       STARTS: nothing but % after the prefix
    ``ab_%``, ``a%z``  ab, a        LONGER: the prefix is necessary
    ``50\\%``           50%          EQUALS
    ``%z``, ``_a``     (empty)      LONGER
    =================  ===========  ================================
"""

from __future__ import annotations

import enum
import re

from evaluator.language.errors import UnsupportedError
from evaluator.language.records import record

__all__ = ["Form", "LikePattern", "Token", "escape_text", "parse_like"]

#: A character, or one of the two wildcards.
Token = tuple[str, bool]
_ANY, _ONE = ("%", True), ("_", True)
#: Steps of one match; a longer match is not decided.
_MAX_STEPS = 1_000_000


class Form(enum.Enum):
    """What a pattern demands beyond its prefix."""

    EQUALS = "equals"
    STARTS = "starts"
    LONGER = "longer"


@record
class LikePattern:
    """A parsed LIKE pattern."""

    prefix: str
    form: Form
    tokens: tuple[Token, ...] = ()

    def matches(self, text: str) -> bool | None:
        """Whether one text matches; None when the match would take too many steps.

        Greedy: each ``%`` takes the shortest run that lets the next tokens match. Only the last ``%`` is ever extended,
        so a match takes at most len(text) * len(pattern) steps.
        """
        tokens = self.tokens
        if len(text) * len(tokens) > _MAX_STEPS:
            return None
        at = token = 0
        last_any, resume = -1, 0
        while at < len(text):
            if token < len(tokens) and tokens[token] == _ANY:
                last_any, resume = token, at
                token += 1
            elif token < len(tokens) and (tokens[token] == _ONE or tokens[token] == (text[at], False)):
                token, at = token + 1, at + 1
            elif last_any >= 0:
                resume += 1
                token, at = last_any + 1, resume
            else:
                return False
        return all(rest == _ANY for rest in tokens[token:])


def escape_text(text: str) -> str:
    """The pattern, with the backslash as its escape, that only this text matches: ``50%`` becomes ``50\\%``."""
    return re.sub(r"([\\%_])", r"\\\1", text)


def parse_like(pattern: str, escape: str) -> LikePattern:
    """Parse a pattern. Raises UnsupportedError where engines differ: an escape before another character, or at the
    end.
    """
    tokens: list[Token] = []
    position = 0
    while position < len(pattern):
        char = pattern[position]
        if escape and char == escape:
            following = pattern[position + 1 : position + 2]
            if following not in ("%", "_", escape) or not following:
                raise UnsupportedError("a LIKE pattern with a dangling escape is not decided")
            tokens.append((following, False))
            position += 2
        else:
            if char != "%" or not tokens or tokens[-1] != _ANY:  # a run of % means the same as one
                tokens.append((char, char in "%_"))
            position += 1
    length = next((i for i, (_, wild) in enumerate(tokens) if wild), len(tokens))
    prefix = "".join(char for char, _ in tokens[:length])
    rest = tokens[length:]
    form = Form.EQUALS if not rest else Form.STARTS if all(token == _ANY for token in rest) else Form.LONGER
    return LikePattern(prefix, form, tuple(tokens))
