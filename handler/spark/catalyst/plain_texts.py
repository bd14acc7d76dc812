"""Texts that compare columns with numbers and strings, and call nothing: their tokens, without Spark's parser."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["Token", "plain_tokens"]

#: A group and what it matched.
Token = tuple[str, str]

_TOKEN = re.compile(
    r"\s*(?:(?P<word>[A-Za-z_]\w*)(?!['\"\w])|(?P<open>\()|(?P<close>\))|(?P<symbol>,|<>|[<>]=?|!=|==?)"
    r"|(?P<number>-?\d+(?:\.\d+)?)(?![\w.])|'(?P<string>[^'\\]*)')",
    re.ASCII,
)
_JOINING, _OTHER_KEYWORDS, _CONSTANTS = {"and", "or", "in"}, {"is", "not"}, {"null", "true", "false"}


def plain_tokens(text: str, columns: Iterable[str]) -> list[Token] | None:
    """The tokens of a text that is plainly without a function: comparisons of these columns with numbers and strings.

    None says nothing: Spark's parser knows.
    """
    operands = {name.lower() for name in columns} | _CONSTANTS
    text = text.rstrip()
    tokens: list[Token] = []
    end, after_operand, may_open = 0, False, True
    while end < len(text):
        match = _TOKEN.match(text, end)
        if match is None:
            return None
        kind = str(match.lastgroup)
        word = match[kind].lower() if kind == "word" else ""
        if kind == "open" and not may_open:
            return None
        if word in _JOINING or word in _OTHER_KEYWORDS:
            after_operand, may_open = False, after_operand and word in _JOINING
        elif word and word not in operands:
            return None
        else:
            after_operand = kind not in ("open", "symbol")
            may_open = not after_operand
        tokens.append((kind, match[kind]))
        end = match.end()
    return tokens
