"""RLIKE with a pattern that starts with fixed text: the LIKE that the text must satisfy.

Java searches for the pattern anywhere in the text, so only ``^`` ties it to the start. After ``^``, plain characters
match themselves up to the first character with a special meaning. A pattern with ``|`` has alternatives, and ``(?`` may
set flags: neither is decided.

    ===========  ================================
    pattern      condition
    ===========  ================================
    ``^ba``      ``LIKE 'ba%'``, exactly
    ``^ba.*n``   ``LIKE 'ba%'`` AND unknown
    ``^bab?``    ``LIKE 'ba%'`` AND unknown: the b may be absent
    ``ba``       not decided
    ``^a|b``     not decided
    ===========  ================================
"""

from __future__ import annotations

import re

from evaluator.language.expression import And, HudiExpression, Like, Operand, Unknown
from evaluator.language.like import escape_text

__all__ = ["matches"]

_START = re.compile(r"\^((?:[A-Za-z0-9 _%/:;,=<>@#&~!\"'`-](?![?*{]))+)(.*)", re.DOTALL)


def matches(operand: Operand, pattern: str) -> HudiExpression:
    """``operand RLIKE pattern``, by Java's regular expressions."""
    match = None if "|" in pattern or "(?" in pattern else _START.fullmatch(pattern)
    if match is None:
        return Unknown("a regular expression without a fixed start is not decided")
    prefix = Like(operand, escape_text(match[1]) + "%")
    return prefix if not match[2] else And((prefix, Unknown("the rest of a regular expression is not decided")))
