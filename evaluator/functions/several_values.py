"""Functions that ``single_values`` knows of one value, over ranges: what follows from how all texts of a range begin.

    replace(s, 'user-', '')           on ['user-0011', 'user-0012']       begins with '001'
    split_part(s, '-', 2)             on ['user-0011', 'user-0012']       ['0011', '0012']
    lpad(n, 6, '0')                   on [99, 1200]                       ['000099', '001200']
    make_date(y, m, 1)                on [2026, 2026] and [3, 5]          [2026-03-01, 2026-05-01]
    to_date(s, 'yyyyMMdd')            on ['20260501', '20260512']         [2026-05-01, 2026-05-31]
    concat_ws('-', y, m)              on [2026, 2026] and [3, 5]          ['2026-3', '2026-5']

Nothing is known of the others. A text that is not read is NULL, so reading is known only where that is no error.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from evaluator.functions.base import Argument, strict, within_type
from evaluator.functions.constant_texts import TEXT_FUNCTIONS
from evaluator.functions.conversions import cast
from evaluator.functions.java_patterns import date_form
from evaluator.functions.text import before_first, joined
from evaluator.functions.text_moments import FARTHEST_ZONE, days_read, nearest_day
from evaluator.language.epoch import DAY
from evaluator.language.interval import UNKNOWN, Interval
from evaluator.language.semantics import Semantics
from evaluator.language.text_order import common_prefix_length, successor
from evaluator.language.types import STRING, Kind

__all__ = ["of_several_values"]

_Compute = Callable[[Sequence[Argument], Semantics], Interval]

#: A pattern of one character, or one set of them, once or several times.
_ONE_CHARACTER = re.compile(r"(?:[A-Za-z0-9 _:;,/=%#@~-]|\[[^\[\]\\]+\])\+?")
_PLAIN = re.compile(r"[A-Za-z0-9 _:;,/=%#@~-]+")
_ASCII = re.compile(r"[\x00-\x7f]*")
_YEARS = (1583, 9999)
_DEFAULT_PATTERN = "yyyy-MM-dd HH:mm:ss"


def of_several_values(name: str, arguments: Sequence[Argument], semantics: Semantics) -> Interval:
    """The range of the results, of arguments that all have values; ``UNKNOWN`` where nothing is known."""
    if not semantics.known_casts and any(one.type.kind.is_integer for one in arguments[:1]):
        return UNKNOWN
    compute = _FUNCTIONS.get((name, len(arguments))) or (_joined_by if name == "concat_ws" else None)
    return UNKNOWN if compute is None else compute(arguments, semantics)


def _constants(arguments: Sequence[Argument]) -> list[Any] | None:
    """The values of arguments that are constants, as all but the first have to be."""
    if not all(one.interval.is_point and not one.interval.null for one in arguments):
        return None
    return [one.interval.lo for one in arguments]


def _start_of(argument: Argument) -> str | None:
    """How all texts of an argument begin."""
    lo, hi = argument.interval.lo, argument.interval.hi
    return lo[: common_prefix_length(lo, hi)] if isinstance(lo, str) and isinstance(hi, str) else None


def _beginning_with(arguments: Sequence[Argument], start: str) -> Interval:
    return strict(arguments, start, successor(start))


def _replaced(arguments: Sequence[Argument], _: Semantics) -> Interval:
    """replace: what is replaced in the start, up to where a searched text may lie half in it."""
    start, others = _start_of(arguments[0]), _constants(arguments[1:])
    if start is None or others is None or not others[0]:
        return UNKNOWN
    searched, new = others[0], others[1] if len(others) > 1 else ""
    parts, at = [], 0
    while at < len(start) and not (len(start) - at < len(searched) and searched.startswith(start[at:])):
        found = start.startswith(searched, at)
        parts.append(new if found else start[at])
        at += len(searched) if found else 1
    return _beginning_with(arguments, "".join(parts))


def _changed_one_by_one(name: str) -> _Compute:
    """translate, and regexp_replace of single characters: what becomes of the start is the start of the result."""

    def compute(arguments: Sequence[Argument], _: Semantics) -> Interval:
        start, others = _start_of(arguments[0]), _constants(arguments[1:])
        if start is None or others is None:
            return UNKNOWN
        changed_of = TEXT_FUNCTIONS[name, len(arguments)][0]
        for known in (start, _ASCII.match(start)[0]):  # type: ignore[index]
            changed = changed_of(known, *others)
            if isinstance(changed, str):
                return _beginning_with(arguments, changed)
        return UNKNOWN

    return compute


def _replaced_by_pattern(arguments: Sequence[Argument], semantics: Semantics) -> Interval:
    """regexp_replace of a plain text, or of one character or set of them."""
    others = _constants(arguments[1:])
    if others is None or others[2:] not in ([], [1]):
        return UNKNOWN
    pattern, new = others[:2]
    if _ONE_CHARACTER.fullmatch(pattern):
        return _changed_one_by_one("regexp_replace")(arguments[:3], semantics)
    is_plain = _PLAIN.fullmatch(pattern) and "$" not in new and "\\" not in new
    return _replaced(arguments[:3], semantics) if is_plain else UNKNOWN


def _part(arguments: Sequence[Argument], _: Semantics) -> Interval:
    """split_part: of texts that have the same parts before this one."""
    start, others = _start_of(arguments[0]), _constants(arguments[1:])
    if start is None or others is None or not others[0] or others[1] < 1:
        return UNKNOWN
    separator, number = others
    before = start.split(separator)[: number - 1]
    at = sum(len(part) + len(separator) for part in before)
    if len(before) < number - 1 or at > len(start):
        return UNKNOWN
    whole = arguments[0].interval
    rest = Argument(STRING, whole.with_bounds(whole.lo[at:], whole.hi[at:]))
    return before_first(rest, separator)


def _padded(arguments: Sequence[Argument], _: Semantics) -> Interval:
    """lpad of integers with zeros, none of them cut: they keep their order."""
    numbers, others = within_type(arguments[0]), _constants(arguments[1:])
    if others is None or not arguments[0].type.kind.is_integer or not numbers.is_bounded or others[1] != "0":
        return UNKNOWN
    length = others[0]
    if numbers.lo < 0 or not 0 < length <= 38 or numbers.hi >= 10**length:
        return UNKNOWN
    return strict(arguments, f"{numbers.lo:0{length}}", f"{numbers.hi:0{length}}")


def _joined_by(arguments: Sequence[Argument], semantics: Semantics) -> Interval:
    """concat_ws of texts and integers."""
    separator, *others = arguments
    texts = [Argument(STRING, cast(one, STRING, semantics)) if one.type.kind.is_integer else one for one in others]
    if not texts or any(one.type.kind not in (Kind.STRING, Kind.VARCHAR) for one in (separator, *texts)):
        return UNKNOWN
    result = texts[0]
    for text in texts[1:]:
        result = joined(joined(result, separator), text)
    return result.interval


def _made_date(arguments: Sequence[Argument], semantics: Semantics) -> Interval:
    """make_date: NULL, or an error in ANSI mode, for days that no month has."""
    years, months, days = (within_type(one) for one in arguments)
    if not (
        years.is_bounded and months.is_bounded and days.is_bounded and _YEARS[0] <= years.lo <= years.hi <= _YEARS[1]
    ):
        return UNKNOWN
    is_valid = 1 <= months.lo <= months.hi <= 12 and 1 <= days.lo <= days.hi <= 28
    if not is_valid and not semantics.unreadable_rows_are_null:
        return UNKNOWN
    first, last = (min(max(month, 1), 12) for month in (months.lo, months.hi))
    return strict(
        arguments,
        nearest_day(years.lo, first, days.lo),
        nearest_day(years.hi, last, days.hi),
        null=not is_valid,
    )


def _read_by_pattern(target: Kind) -> _Compute:
    """to_date, to_timestamp and unix_timestamp of texts with a pattern."""

    def compute(arguments: Sequence[Argument], semantics: Semantics) -> Interval:
        texts, others = arguments[0].interval, _constants(arguments[1:])
        if not semantics.unreadable_rows_are_null or not semantics.functions_of_spark or others is None:
            return UNKNOWN
        pattern = others[0] if others else _DEFAULT_PATTERN
        form = date_form(pattern) if isinstance(pattern, str) else None
        if form is None or not (isinstance(texts.lo, str) and isinstance(texts.hi, str)):
            return UNKNOWN
        days = days_read(texts.lo, texts.hi, form)
        if days is None:
            return UNKNOWN
        # What the session's zone shows of a moment of another zone, or of one in a gap, may be on another day.
        is_exact = semantics.is_utc and not form.has_zone
        first, last = (days[0], days[1]) if is_exact else (days[0] - 2, days[1] + 2)
        if target is Kind.DATE:
            return strict(arguments, first, last, null=True)
        lo, hi = first * DAY, (last + 1) * DAY - 1
        if target is Kind.BIGINT:
            away = 0 if is_exact else FARTHEST_ZONE
            lo, hi = (lo - away) // 1_000_000, (hi + away) // 1_000_000
        return strict(arguments, lo, hi, null=True)

    return compute


_SECONDS = _read_by_pattern(Kind.BIGINT)
_FUNCTIONS: dict[tuple[str, int], _Compute] = {
    ("replace", 2): _replaced,
    ("replace", 3): _replaced,
    ("translate", 3): _changed_one_by_one("translate"),
    ("regexp_replace", 3): _replaced_by_pattern,
    ("regexp_replace", 4): _replaced_by_pattern,
    ("split_part", 3): _part,
    ("lpad", 3): _padded,
    ("make_date", 3): _made_date,
    ("to_date", 2): _read_by_pattern(Kind.DATE),
    ("to_timestamp", 2): _read_by_pattern(Kind.TIMESTAMP),
    **{(name, count): _SECONDS for name in ("unix_timestamp", "to_unix_timestamp") for count in (1, 2)},
}
