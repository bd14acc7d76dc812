"""Functions that are known of single values: of the one value that a slice has, as of a constant.

    lpad(month, 2, '0')          on a partition column with '3' in the slice    '03'
    to_date(day, 'yyyyMMdd')     with '20200301'                                 DATE '2020-03-01'
    instr(s, 'x')                with 'abc' .. 'abx'                             nothing: more than one value
    lpad(month, 2, '0')          with 3 .. 5                                     what ``several_values`` knows

The results are those of ``constants``, which every version and setting agrees on. Most functions are Spark's, some are
Hive's too (``constant_texts``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evaluator.functions import constant_dates, constant_moments, constant_numbers
from evaluator.functions.base import Argument
from evaluator.functions.constant_texts import CONCATENATED, TEXT_FUNCTIONS, in_hive
from evaluator.functions.constants import constant_result, with_dates, with_times
from evaluator.functions.several_values import of_several_values
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import UNKNOWN, Interval
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DATE, INT, STRING, TIMESTAMP, Kind, Type

__all__ = ["RESULTS", "of_single_values", "result_of_single_values"]

#: The functions, and the types of their results.
RESULTS: Mapping[str, Type] = {
    **dict.fromkeys(("reverse", "replace", "translate", "right", "lpad", "rpad", "regexp_replace"), STRING),
    **dict.fromkeys(("concat", "concat_ws"), STRING),
    **dict.fromkeys(("trim", "ltrim", "rtrim", "btrim", "substring_index", "split_part"), STRING),
    **dict.fromkeys(("instr", "locate", "octet_length", "bit_length", "dayofweek_iso"), INT),
    **dict.fromkeys(("next_day", "make_date", "to_date"), DATE),
    "to_timestamp": TIMESTAMP,
    **dict.fromkeys(("unix_timestamp", "to_unix_timestamp"), BIGINT),
}
#: Functions that are not NULL wherever an argument is.
_SKIP_NULLS = frozenset(["concat_ws"])
_TABLES = (TEXT_FUNCTIONS, constant_dates.FUNCTIONS, constant_moments.FUNCTIONS, constant_numbers.FUNCTIONS)


def result_of_single_values(name: str, types: Sequence[Type], semantics: Semantics) -> Type:
    """The type of the result. Raises UnsupportedError for a function, or for types, of which nothing is known."""
    is_known = name in CONCATENATED or any((name, len(types)) in table for table in _TABLES)
    if name not in RESULTS or not is_known or not (semantics.functions_of_spark or in_hive(name, len(types))):
        raise UnsupportedError(f"function {name} is not decided")
    for one in types:
        if not (one.kind in (Kind.STRING, Kind.VARCHAR, Kind.DATE) or one.kind.is_integer or one.kind.is_timestamp):
            raise UnsupportedError(f"function {name} over {one} is not decided")
    return RESULTS[name]


def of_single_values(name: str, arguments: Sequence[Argument], result: Type, semantics: Semantics) -> Interval:
    """The one result; unknown where an argument has several values, or where engines and settings differ."""
    intervals = [argument.interval for argument in arguments]
    may_be_null = any(interval.null for interval in intervals)
    if may_be_null and name in _SKIP_NULLS:
        return UNKNOWN
    if not all(interval.value for interval in intervals):
        return Interval(null=True, value=False)
    if not all(interval.is_point for interval in intervals):
        return of_several_values(name, arguments, semantics)
    given = [Argument(_plain(one.type), Interval(one.interval.lo, one.interval.hi, null=False)) for one in arguments]
    read = with_times(name, with_dates(name, given), semantics)
    folded = constant_result(name, read, None, semantics)
    if folded is None and name == "to_date" and read[0].type == DATE:
        folded = read[0].interval.lo, DATE
    if folded is None or folded[1] != result:
        return of_several_values(name, arguments, semantics)
    return Interval(folded[0], folded[0], null=may_be_null)


def _plain(of: Type) -> Type:
    return STRING if of.kind is Kind.VARCHAR else of
