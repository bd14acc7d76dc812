"""How many arguments each function takes in every engine.

An engine refuses a call with another count, or it is another function: ``add_months(d, 1, 'yyyy')`` of Hive is a text
in that pattern, ``log(2, x)`` has its base first, ``floor(x, 1)`` of Spark keeps a digit. Such a call is not decided.
"""

from __future__ import annotations

from evaluator.language.errors import UnsupportedError
from evaluator.language.function_names import SYNONYMS

__all__ = ["ARGUMENT_COUNTS", "check_count"]

_COUNTS: dict[tuple[int, int | None], str] = {
    (1, 1): "abs negative positive floor ceil sign exp expm1 ln log log10 log1p log2 sqrt isnan "
    "year quarter month day dayofyear hour minute second last_day to_date to_timestamp unix_timestamp "
    "sin cos asin acos atan tanh degrees radians cbrt factorial md5 sha1 crc32 bin ascii "
    "weekofyear yearofweek dayofweek weekday ~ to_unix_timestamp lower upper initcap trim ltrim rtrim length hex "
    "unix_date unix_seconds unix_millis unix_micros date_from_unix_date timestamp_seconds timestamp_millis "
    "timestamp_micros",
    (1, 2): "round bround from_unixtime",
    (
        2,
        2,
    ): "+ - * / % pmod div & | ^ shiftleft shiftright shiftrightunsigned from_utc_timestamp to_utc_timestamp "
    "date_add date_sub add_months datediff trunc date_trunc date_format left repeat pow sha2 next_day",
    (2, 3): "substring months_between",
    (3, 3): "substring_index timestampdiff",
    (1, None): "greatest least concat coalesce branches",
}
#: The least and the greatest count by the name of a function; None: there is no greatest one.
ARGUMENT_COUNTS = {name: counts for counts, names in _COUNTS.items() for name in names.split()}


def check_count(name: str, count: int) -> None:
    """Raises UnsupportedError for a count of arguments that the function, or its synonym, does not take."""
    least, greatest = ARGUMENT_COUNTS[SYNONYMS.get(name, name)]
    if count < least or (greatest is not None and count > greatest):
        raise UnsupportedError(f"function {name} with {count} argument{'' if count == 1 else 's'} is not decided")
