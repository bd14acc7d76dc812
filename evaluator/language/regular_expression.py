"""RLIKE with a pattern that starts with fixed text: the LIKE that the text must satisfy.

Java searches for the pattern anywhere in the text, so only ``^`` ties it to the start. After ``^``, plain characters
match themselves up to the first character with a special meaning. ``(?`` may set flags, and is not decided.

    ==============  ===========================================
    pattern         condition
    ==============  ===========================================
    ``^ba``         ``LIKE 'ba%'``, exactly
    ``^ba.*n``      ``LIKE 'ba%'`` AND unknown
    ``^bab?``       ``LIKE 'ba%'`` AND unknown: the b may be absent
    ``^a|^b``       ``LIKE 'a%' OR LIKE 'b%'``
    ``^(a|b)``      ``LIKE 'a%' OR LIKE 'b%'``
    ``^(a|b)c``     ``(LIKE 'a%' OR LIKE 'b%')`` AND unknown
    ``ba``          not decided
    ``^a|b``        not decided: ``b`` may be anywhere
    ==============  ===========================================
"""

from __future__ import annotations

import re

from evaluator.language.expression import And, HudiExpression, Like, Operand, Or, Unknown
from evaluator.language.like import escape_text

__all__ = ["matches", "plain_text"]

_PLAIN = r"[A-Za-z0-9 _%/:;,=<>@#&~!\"'`-]"
_START = re.compile(rf"\^((?:{_PLAIN}(?![?*{{]))+)(.*)", re.DOTALL)
#: A group of plain alternatives at the start; a quantifier behind it may make it absent.
_GROUP = re.compile(rf"\^\(((?:{_PLAIN}+\|)*{_PLAIN}+)\)(?![?*{{])(.*)", re.DOTALL)
_SIGNS = r"[.|*+?^$(){}\[\]\\/,;:#_ -]"
#: A plain character, a sign behind a backslash, or a sign alone in brackets.
_ESCAPED = re.compile(rf"\\({_SIGNS})|\[([.|*+?$(){{}}/,;:#_ -])\]")
_PLAIN_TEXT = re.compile(rf"(?:{_PLAIN}|{_ESCAPED.pattern})+")
_REST = "the rest of a regular expression is not decided"


def matches(operand: Operand, pattern: str) -> HudiExpression:
    """``operand RLIKE pattern``, by Java's regular expressions."""
    found = None if "(?" in pattern else _of_group(operand, pattern) or _of_alternatives(operand, pattern)
    return found or Unknown("a regular expression without a fixed start is not decided")


def plain_text(pattern: str) -> str | None:
    """The one text that a regular expression matches; None for a pattern of another kind.

    >>> plain_text("-"), plain_text(r"\\|"), plain_text("[.]"), plain_text("a+"), plain_text("")
    ('-', '|', '.', None, None)
    """
    if _PLAIN_TEXT.fullmatch(pattern) is None:
        return None
    return _ESCAPED.sub(lambda found: found[1] or found[2], pattern)


def _of_alternatives(operand: Operand, pattern: str) -> HudiExpression | None:
    """A pattern with ``|`` at its top only: all alternatives must have a fixed start."""
    alternatives = pattern.split("|")
    if len(alternatives) > 1 and any(char in pattern for char in "()[]\\"):
        return None
    starts = [_START.fullmatch(one) for one in alternatives]
    if None in starts:
        return None
    texts = [(start[1], start[2]) for start in starts if start is not None]
    return _one_or(tuple(_with_rest(_starts_with(operand, text), rest) for text, rest in texts))


def _of_group(operand: Operand, pattern: str) -> HudiExpression | None:
    """A group of plain alternatives behind ``^``. A ``|`` behind the group may begin another alternative."""
    match = _GROUP.fullmatch(pattern)
    if match is None or "|" in match[2]:
        return None
    return _with_rest(_one_or(tuple(_starts_with(operand, text) for text in match[1].split("|"))), match[2])


def _starts_with(operand: Operand, text: str) -> HudiExpression:
    return Like(operand, escape_text(text) + "%")


def _with_rest(prefix: HudiExpression, rest: str) -> HudiExpression:
    return prefix if not rest else And((prefix, Unknown(_REST)))


def _one_or(conditions: tuple[HudiExpression, ...]) -> HudiExpression:
    return conditions[0] if len(conditions) == 1 else Or(conditions)
