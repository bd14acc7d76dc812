"""Texts that several views print: counts, sizes, times, shortened and foreign texts, and bars."""

from __future__ import annotations

import datetime
from collections.abc import Iterable

from rich.text import Text

__all__ = ["bar", "count_text", "longest_word", "minute_text", "of_text", "shortened", "size_text", "visible"]

BAR_WIDTH = 24
_UNITS = ("B", "KB", "MB", "GB", "TB", "PB")


def bar(part: int, whole: int, style: str, width: int = BAR_WIDTH) -> Text:
    """A share as a bar of ``width`` characters."""
    filled = round(width * part / whole) if whole else 0
    return Text.assemble(("█" * filled, style), ("░" * (width - filled), "dim"))


def count_text(count: int, noun: str, plural: str = "") -> str:
    """``1 file``, ``2 files``; ``plural`` where it is not the noun with an s."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def of_text(count: int, total: int, noun: str) -> str:
    """``3 of 14 files``, ``0 of 1 file``."""
    return f"{count:,} of {total:,} {noun if total == 1 else noun + 's'}"


def longest_word(texts: Iterable[str]) -> int:
    """The length of the longest word: a column of this width breaks no name in two."""
    return max((len(word) for text in texts for word in text.split()), default=0)


def size_text(size: int) -> str:
    """A number of bytes with three digits, such as ``1.23 MB``."""
    value, unit = float(size), 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value, unit = value / 1000, unit + 1
    return f"{size} B" if unit == 0 else f"{value:.3g} {_UNITS[unit]}"


def shortened(text: str, limit: int) -> str:
    """The text, cut to ``limit`` characters with an ellipsis."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def minute_text(seconds: float) -> str:
    """A time (seconds since 1970) in UTC, to the minute."""
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M")


def visible(text: str) -> str:
    """A text that somebody else named, on one line: what is not printable is shown as an escape such as ``\\u202e``.

    Not printable are control characters (C0, DEL, C1), separators other than the space (line feeds, U+2028), format
    characters (bidirectional overrides, zero-width characters, tags), lone surrogates and unassigned characters.
    """
    return text if text.isprintable() else "".join(char if char.isprintable() else _escape(char) for char in text)


def _escape(char: str) -> str:
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
