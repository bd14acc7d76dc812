"""What an index of one function says of the column itself, and of its other case.

    filter                 index        so a matching row has
    =====================  ===========  ==================================================
    s = 'ZEBRA'            lower(s)     lower(s) = 'zebra'
    s IN ('a', 'bc')       length(s)    length(s) = 1 or length(s) = 2
    dt = date'2020-03-15'  month(dt)    month(dt) = 3
    upper(s) = 'ZEBRA'     lower(s)     lower(s) from 'z' on and below '{', by the texts that have this upper case

The image of a value is an interval that contains it in every locale (``evaluator.functions.letter_case``).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evaluator.binding.bind import bind
from evaluator.binding.leaves import Lookup
from evaluator.binding.statistics_provider import StatisticsProvider
from evaluator.evaluation.evaluate import evaluate
from evaluator.functions import FUNCTIONS
from evaluator.functions.base import Argument
from evaluator.functions.letter_case import LOWER, UPPER
from evaluator.language import expression as ex
from evaluator.language.function_names import spellings
from evaluator.language.interval import Interval, point
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.statistics.columns import ColumnStatistics
from index_store.kinds.expression_functions import ExpressionFunction

__all__ = ["images_of", "might_lie_in"]

#: The look-ups of more values are left to the other kinds.
_MAX_VALUES = 200
_WRITER = Semantics.named("spark", "UTC")
_CASES = {"lower": LOWER, "upper": UPPER}
_RESULT = "result"


def images_of(function: ExpressionFunction, lookup: Lookup) -> list[Interval] | None:
    """Where the function's result lies in a row that has one of the values; None where that is not known."""
    if len(lookup.values) > _MAX_VALUES:
        return None
    if not lookup.function:
        found = [_image(function, lookup.column, value) for value in lookup.values]
    elif function.letters and lookup.function in spellings("upper" if function.letters == "lower" else "lower"):
        found = [image for value in lookup.values for image in _of_other_case(function.letters, str(value))]
    else:
        return None
    return found if all(one.lo is not None for one in found) else None


def _image(function: ExpressionFunction, column: Field, value: object) -> Interval:
    return FUNCTIONS[function.names[0]].compute([Argument(column.type, point(value))], function.result, _WRITER)


def _of_other_case(letters: str, value: str) -> list[Interval]:
    """Where ``letters`` of the texts lies that have this value in the other case."""
    of, other = _CASES[letters], _CASES["upper" if letters == "lower" else "lower"]
    return [Interval(*of.bounds(lo, hi), null=False) if lo else Interval() for lo, hi in other.sources(value)]


def might_lie_in(intervals: Sequence[Interval], statistics: ColumnStatistics) -> npt.NDArray[np.bool_]:
    """``(n,) bool``: where a function with these statistics may have a result in one of the intervals."""
    column = ex.Column((_RESULT,))
    wanted: list[ex.HudiExpression] = []
    for one in intervals:
        ends = [("<=", one.hi)] if one.hi is not None else []
        tests = [ex.Compare(op, column, ex.Literal(end, statistics.type)) for op, end in [(">=", one.lo), *ends]]
        wanted.append(ex.And(tuple(tests)) if len(tests) > 1 else tests[0])
    condition = ex.Or(tuple(wanted)) if len(wanted) > 1 else wanted[0]
    bound = bind(condition, Schema([Field(_RESULT, statistics.type)]), _WRITER)
    return evaluate(bound, len(statistics), [StatisticsProvider("", {_RESULT: statistics})]).keep
