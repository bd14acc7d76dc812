"""Functions of constant texts, where the result for these arguments is the same in every version and setting.

    replace('BUILD_NG', '_', 'I')         'BUILDING'
    concat(1994 + 1, '-01-01')            '1995-01-01'
    initcap('saudi arabia')               'Saudi Arabia': of ASCII letters and spaces only
    split_part('a-b-c', '-', -1)          'c'
    regexp_replace('1995-01', '[-/]', '')  '199501': of a pattern of plain characters and sets of them
    cast('1995-1-1 00:00:00' as date)     DATE '1995-01-01'

They are Spark's. Some are Hive's too, for fewer arguments (``is_alike_in_hive``): ``replace`` of an empty text puts the
new one between all characters there, and ``lpad`` with nothing is NULL.

Sources: Spark ``UTF8String``, ``SparkDateTimeUtils.stringToDate``; ``test_constant_texts.py`` asks Spark. Hive
``UDFReplace``, ``GenericUDFBasePad``, ``GenericUDFTranslate`` and their like. The classes of ``lpad``, ``rpad``,
``translate``, ``instr``, ``locate`` and ``substring_index`` were run in 4.0.1 only, the others in 2.3.10, too.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from typing import Any

from evaluator.language.epoch import DAY, EPOCH_ORDINAL

__all__ = ["CONCATENATED", "TEXT_FUNCTIONS", "clock_of_text", "day_of_text", "in_hive", "is_alike_in_hive"]

#: Functions of any number of texts; of ``concat`` also of integers.
CONCATENATED: dict[str, Callable[[Sequence[Any]], str]] = {
    "concat": lambda values: "".join(map(str, values)),
    "concat_ws": lambda values: values[0].join(values[1:]),
}
_MAX_PADDED = 10_000
_WORDS = re.compile(r"[A-Za-z ]*")
#: Plain characters and sets of them, each once or several times.
_PLAIN_PATTERN = re.compile(
    r"(?:[A-Za-z0-9 _:;,/=%#@~-]\+?|\[\^?-?(?:[A-Za-z0-9 _:;,/=%#@~.]|[A-Z]-[A-Z]|[a-z]-[a-z]|[0-9]-[0-9])+-?\]\+?)+"
)
_CLOCK = re.compile(r"(\d{4}-\d{1,2}-\d{1,2})[ T](\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,6}))?)?", re.ASCII)
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


def _place(text: str, searched: str, start: int = 1) -> int | None:
    """The place of a text in another one, counted from 1; 0 where it is not in it."""
    if start < 1:
        return None
    return text.find(searched, start - 1) + 1 if searched else 1


def _located(searched: str, text: str, start: int = 1) -> int | None:
    return 0 if start == 0 else _place(text, searched, start)


def _part(text: str, separator: str, number: int) -> str | None:
    if not separator or not number:
        return None
    parts = text.split(separator)
    index = number - 1 if number > 0 else len(parts) + number
    return parts[index] if 0 <= index < len(parts) else ""


def _element(number: int, *texts: str) -> str | None:
    return texts[number - 1] if 1 <= number <= len(texts) else None


def _replaced_by_pattern(text: str, pattern: str, new: str) -> str | None:
    """regexp_replace with a pattern that Java and Python read alike."""
    if not text.isascii() or not _PLAIN_PATTERN.fullmatch(pattern) or "$" in new or "\\" in new:
        return None
    return re.sub(pattern, lambda _: new, text)


def _character(number: int) -> str:
    return "" if number < 0 else chr(number % 256)


def _hex(value: int | str) -> str:
    return f"{value % (1 << 64):X}" if isinstance(value, int) else value.encode().hex().upper()


def _bits_of_number(number: int) -> str:
    return f"{number % (1 << 64):b}"


#: By name and number of arguments. Each is asked with texts (t), integers (i), either (*), and integers that are
#: written as text (n), as its row says. None: left open.
TEXT_FUNCTIONS: dict[tuple[str, int], tuple[Callable[..., str | int | None], str]] = {
    ("lower", 1): (_ascii(str.lower), "t"),
    ("upper", 1): (_ascii(str.upper), "t"),
    ("initcap", 1): (_initcap, "t"),
    ("reverse", 1): (lambda text: text[::-1], "t"),
    ("replace", 2): (_replace, "tt"),
    ("replace", 3): (_replace, "ttt"),
    ("translate", 3): (_translate, "ttt"),
    ("right", 2): (_right, "ti"),
    ("lpad", 2): (_padded_left, "ni"),
    ("lpad", 3): (_padded_left, "nit"),
    ("rpad", 2): (_padded_right, "ni"),
    ("rpad", 3): (_padded_right, "nit"),
    ("btrim", 1): (_trimmed, "t"),
    ("btrim", 2): (_trimmed, "tt"),
    ("substring_index", 3): (_before, "tti"),
    ("instr", 2): (_place, "tt"),
    ("locate", 2): (_located, "tt"),
    ("locate", 3): (_located, "tti"),
    ("split_part", 3): (_part, "tti"),
    ("regexp_replace", 3): (_replaced_by_pattern, "ttt"),
    ("regexp_replace", 4): (lambda *of: _replaced_by_pattern(*of[:3]) if of[3] == 1 else None, "ttti"),
    ("trim", 2): (_trimmed, "tt"),
    ("ltrim", 2): (lambda text, characters: text.lstrip(characters) if characters else text, "tt"),
    ("rtrim", 2): (lambda text, characters: text.rstrip(characters) if characters else text, "tt"),
    ("hex", 1): (_hex, "*"),
    ("ascii", 1): (lambda text: ord(text[0]) if text else 0, "t"),
    ("octet_length", 1): (lambda text: len(text.encode()), "t"),
    ("bit_length", 1): (lambda text: 8 * len(text.encode()), "t"),
    ("chr", 1): (_character, "i"),
    ("char", 1): (_character, "i"),
    ("space", 1): (lambda count: " " * count if count <= _MAX_PADDED else None, "i"),
    ("bin", 1): (_bits_of_number, "i"),
    **{("elt", count): (_element, "i" + "n" * (count - 1)) for count in range(2, 12)},
}


def _always(_: Sequence[Any]) -> bool:
    return True


def _is_padding(values: Sequence[Any]) -> bool:
    text, length, pad = values
    return length >= 0 and bool(pad) and (text + pad).isascii()


#: By name and number of arguments: whether Hive's result for these values, texts where Spark's has texts, is Spark's.
_ALIKE_IN_HIVE: dict[tuple[str, int], Callable[[Sequence[Any]], bool]] = {
    ("reverse", 1): _always,
    ("replace", 3): lambda values: bool(values[1]),
    ("translate", 3): _always,
    ("lpad", 3): _is_padding,
    ("rpad", 3): _is_padding,
    ("regexp_replace", 3): _always,
    ("substring_index", 3): lambda values: bool(values[1]),
    ("instr", 2): _always,
    ("locate", 2): _always,
    ("locate", 3): lambda values: bool(values[0]) and values[2] >= 0,
    ("octet_length", 1): _always,
}


def in_hive(name: str, count: int) -> bool:
    """Whether a function of so many arguments is known in Hive, too."""
    return (name, count) in _ALIKE_IN_HIVE or (name == "concat_ws" and count > 1)


def is_alike_in_hive(name: str, values: Sequence[Any]) -> bool:
    """Whether Hive has the function, and Spark's result for these values. All but lengths and places must be texts."""
    expected = TEXT_FUNCTIONS[name, len(values)][1] if (name, len(values)) in TEXT_FUNCTIONS else "t" * len(values)
    if not in_hive(name, len(values)):
        return False
    if not all(isinstance(value, int if want == "i" else str) for value, want in zip(values, expected, strict=True)):
        return False
    return name == "concat_ws" or _ALIKE_IN_HIVE[name, len(values)](values)


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


def clock_of_text(text: str) -> int | None:
    """The wall clock, in microseconds, as which Spark reads a text: '1995-1-1', '1995-01-01T10:00'."""
    match = _CLOCK.fullmatch(text)
    day = day_of_text(text if match is None else match[1])
    if day is None or (match is None and len(text) > len("1995-01-01")):
        return None
    if match is None:
        return day * DAY
    hour, minute, second = (int(part or 0) for part in match.groups()[1:4])
    if hour > 23 or minute > 59 or second > 59:
        return None
    micros = ((hour * 60 + minute) * 60 + second) * 1_000_000 + int((match[5] or "").ljust(6, "0"))
    return day * DAY + micros
