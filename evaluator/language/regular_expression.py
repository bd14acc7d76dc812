"""RLIKE as far as its pattern starts with fixed text: what the text must start with.

Java looks for the pattern anywhere, so only ``^`` ties it to the start; behind it, plain characters must follow one by
one until a character has a meaning of its own. A ``|`` may offer another way, ``(?`` may change what characters mean.

    ===========  ================================
    pattern      condition
    ===========  ================================
    ``^ba``      ``LIKE 'ba%'``: just that
    ``^ba.*n``   ``LIKE 'ba%'``, and more
    ``^bab?``    ``LIKE 'ba%'``: the b may be absent
    ``ba``       not decided
    ``^a|b``     not decided
    ===========  ================================
"""

from __future__ import annotations

import re

from evaluator.language.expression import And, HudiExpression, Like, Operand, Unknown

__all__ = ["matches"]

_START = re.compile(r"\^((?:[A-Za-z0-9 _%/:;,=<>@#&~!\"'`-](?![?*{]))+)(.*)", re.DOTALL)


def matches(operand: Operand, pattern: str) -> HudiExpression:
    """``operand RLIKE pattern``, by Java's regular expressions."""
    found = None if "|" in pattern or "(?" in pattern else _START.fullmatch(pattern)
    if found is None:
        return Unknown("a regular expression without a fixed start is not decided")
    prefix = Like(operand, re.sub(r"([%_])", r"\\\1", found[1]) + "%")
    return prefix if not found[2] else And((prefix, Unknown("the rest of a regular expression is not decided")))
