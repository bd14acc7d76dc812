"""Texts that no engine reads as a number, a date or a moment: a cast of them is NULL, or an error.

Engines read many forms: signs, spaces, exponents, ``1e3``, ``0x1p3``, ``NaN``, ``Infinity``, ``now``, digits of other
scripts. All of them have a digit, or are one of a few words; those that begin with a letter are such a word, or a time
of day (``T12:30``). What is said here holds for every engine and setting.
"""

from __future__ import annotations

__all__ = ["is_unreadable", "none_is_readable"]

_WORDS = ("nan", "inf", "epoch", "now", "today", "tomorrow", "yesterday")
#: What engines leave out at both ends.
_SPACES = "".join(map(chr, range(0x21))) + "\x7f"
#: How a text that is read begins, in lower case: with a space or sign, a digit or point, or one of the words.
_FIRST = frozenset(_SPACES + "+-.0123456789")
_LAST_FIRST = "\x7f"
_FIRST_LETTERS = frozenset(word[0] for word in _WORDS)
_FIRST_TWO = frozenset(word[:2] for word in _WORDS)


def is_unreadable(text: str) -> bool:
    """Whether a text is read as no number, date or moment."""
    if _begins_as_nothing(text):
        return True
    rest = text.strip(_SPACES).lstrip("+-").lower()
    return text.isascii() and not any(char.isdigit() for char in text) and not rest.startswith(_WORDS)


def none_is_readable(lo: str, hi: str) -> bool:
    """Whether no text from lo to hi is read as a number, date or moment; true of every part of such a range, too."""
    if lo == hi:
        return is_unreadable(lo)
    if not lo or not hi or hi[0] > _LAST_FIRST:
        return False
    if len(lo) > 1 and lo[:2] == hi[:2]:
        return _begins_as_nothing(lo)
    first = {chr(code).lower() for code in range(ord(lo[0]), ord(hi[0]) + 1)}
    return not first & (_FIRST | _FIRST_LETTERS)


def _begins_as_nothing(text: str) -> bool:
    """Whether no text with these first two characters is read: ``k1``, ``id``, but not ``T1``, an hour of today."""
    first, second = text[:1].lower(), text[1:2]
    if not first or first > _LAST_FIRST or first in _FIRST:
        return False
    return first not in _FIRST_LETTERS or (second.isascii() and second.isalpha() and text[:2].lower() not in _FIRST_TWO)
