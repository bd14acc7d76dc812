"""Functions of constant texts in Spark, where the result for these arguments is the same in every version and setting.

    replace('BUILD_NG', '_', 'I')         'BUILDING'
    concat(1994 + 1, '-01-01')            '1995-01-01'
    initcap('saudi arabia')               'Saudi Arabia': of ASCII letters and spaces only
    cast('1995-1-1 00:00:00' as date)     DATE '1995-01-01'

Sources: Spark ``UTF8String``, ``SparkDateTimeUtils.stringToDate``; ``test_constant_texts.py`` asks Spark.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from typing import Any

from evaluator.language.epoch import EPOCH_ORDINAL

__all__ = ["CONCATENATED", "TEXT_FUNCTIONS", "day_of_text"]

#: Functions of any number of texts; of ``concat`` also of integers.
CONCATENATED: dict[str, Callable[[Sequence[Any]], str]] = {
    "concat": lambda values: "".join(map(str, values)),
    "concat_ws": lambda values: values[0].join(values[1:]),
}
_MAX_PADDED = 10_000
_WORDS = re.compile(r"[A-Za-z ]*")
_DAY = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?", re.ASCII | re.DOTALL)


def _ascii(change: Callable[[str], str]) -> Callable[[str], str | None]:
    """Spark changes the case of ASCII letters without the locale, which Hive asks: 'i' has a dot there in Turkish."""
    return lambda text: change(text) if text.isascii() else None


def _initcap(text: str) -> str | None:
    return " ".join(word.capitalize() for word in text.split(" ")) if _WORDS.fullmatch(text) else None


def _replace(text: str, search: str, new: str = "") -> str:
    return text.replace(search, new) if search else text


def _translate(text: str, old: str, new: str) -> str | None:
    if not (text + old + new).isascii() or "\0" in old + new:
        return None
    images = {old[place]: new[place : place + 1] for place in reversed(range(len(old)))}
    return "".join(images.get(char, char) for char in text)


def _right(text: str, length: int) -> str:
    return text[-length:] if length > 0 else ""


def _padding(text: str, length: int, pad: str) -> str | None:
    if length > _MAX_PADDED:
        return None
    missing = max(length - len(text), 0)
    return (pad * missing)[:missing]


def _padded_left(text: str, length: int, pad: str = " ") -> str | None:
    padding = _padding(text, length, pad)
    return None if padding is None else padding + text[: max(length, 0)]


def _padded_right(text: str, length: int, pad: str = " ") -> str | None:
    padding = _padding(text, length, pad)
    return None if padding is None else text[: max(length, 0)] + padding


def _trimmed(text: str, characters: str = " ") -> str:
    return text.strip(characters) if characters else text


def _before(text: str, separator: str, count: int) -> str | None:
    """substring_index with a separator of one character."""
    if len(separator) != 1:
        return None
    parts = text.split(separator)
    return separator.join(parts[:count] if count > 0 else parts[max(len(parts) + count, 0) :] if count else [])


#: Each is asked with texts, and integers where the row names them, by name and number of arguments. None: left open.
TEXT_FUNCTIONS: dict[tuple[str, int], tuple[Callable[..., str | None], str]] = {
    ("lower", 1): (_ascii(str.lower), "t"),
    ("upper", 1): (_ascii(str.upper), "t"),
    ("initcap", 1): (_initcap, "t"),
    ("reverse", 1): (lambda text: text[::-1], "t"),
    ("replace", 2): (_replace, "tt"),
    ("replace", 3): (_replace, "ttt"),
    ("translate", 3): (_translate, "ttt"),
    ("right", 2): (_right, "ti"),
    ("lpad", 2): (_padded_left, "ti"),
    ("lpad", 3): (_padded_left, "tit"),
    ("rpad", 2): (_padded_right, "ti"),
    ("rpad", 3): (_padded_right, "tit"),
    ("btrim", 1): (_trimmed, "t"),
    ("btrim", 2): (_trimmed, "tt"),
    ("substring_index", 3): (_before, "tti"),
}


def day_of_text(text: str) -> int | None:
    """The day, counted from 1970, as which Spark reads a text: '1995', '1995-1', '1995-1-1', '1995-01-01 00:00:00'."""
    match = _DAY.fullmatch(text)
    if match is None:
        return None
    try:
        date = datetime.date(*(int(part or 1) for part in match.groups()))
    except ValueError:
        return None
    return date.toordinal() - EPOCH_ORDINAL
