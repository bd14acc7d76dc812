"""Range functions: the results that a function can have when its arguments lie in given intervals.

The contract: the resulting interval contains the function's result for every choice of arguments within theirs, or it
has no bounds. No function is taken for monotone by its name (docs/facts/pitfalls.md#p9). A family of functions is one
file, and ``base`` holds the interface:

    arithmetic.py    + - * / % abs negative exp ln log10 log2 sqrt greatest least ...
    rounding.py      floor ceil round bround
    bits.py          & | ^ ~ shiftleft shiftright ...
    conversions.py   CAST between all types
    from_text.py     CAST of text to numbers, dates and timestamps   (text_moments.py: the days of a range of texts)
    calendar.py      year month day quarter hour ... date_add datediff trunc to_date unix_timestamp ...
    epoch_numbers.py unix_date unix_seconds timestamp_seconds ...
    date_pattern.py  date_format
    zone_shifts.py   from_utc_timestamp to_utc_timestamp
    months_apart.py  months_between next_day
    moved_moments.py t + interval
    moment_differences.py  timestampdiff
    curves.py        pow cbrt sin atan degrees factorial ...
    text.py          lower upper substr left concat length ...   (letter_case.py: letters of a range)
    number_texts.py  hex and bin of integers, ascii
    digests.py       md5 sha1 sha2 crc32
    conditional.py   branches (IF, CASE), coalesce, nvl, nullif
    constants.py     of constants alone: their one result, where it is known exactly (constant_dates.py, ...)
    single_values.py of single values, as of constants: lpad instr replace to_date(text, pattern) ...
    several_values.py the same over ranges that begin alike
    clock_ranges.py  of the clock: the moments from the plan's own on (clock_order.py)

``argument_counts.py`` says how many arguments each has.

Imports ``language``.
"""

from __future__ import annotations

from collections.abc import Mapping

from evaluator.functions import (
    arithmetic,
    bits,
    calendar,
    conditional,
    curves,
    digests,
    epoch_numbers,
    moment_differences,
    months_apart,
    moved_moments,
    number_texts,
    rounding,
    text,
    zone_shifts,
)
from evaluator.functions.base import RangeFunction
from evaluator.language.function_names import SYNONYMS

__all__ = ["FUNCTIONS", "RangeFunction"]

_BY_NAME = {
    **arithmetic.FUNCTIONS,
    **bits.FUNCTIONS,
    **calendar.FUNCTIONS,
    **conditional.FUNCTIONS,
    **curves.FUNCTIONS,
    **digests.FUNCTIONS,
    **epoch_numbers.FUNCTIONS,
    **moment_differences.FUNCTIONS,
    **months_apart.FUNCTIONS,
    **moved_moments.FUNCTIONS,
    **rounding.FUNCTIONS,
    **text.FUNCTIONS,
    **number_texts.FUNCTIONS,
    **zone_shifts.FUNCTIONS,
}
#: Range functions by name and by synonym.
FUNCTIONS: Mapping[str, RangeFunction] = {
    **_BY_NAME,
    **{synonym: _BY_NAME[name] for synonym, name in SYNONYMS.items()},
}
