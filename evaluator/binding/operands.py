"""Bound operands: a column, a constant or a function of columns, with its type, ready to give an interval per slice.

``operand_resolution.py`` makes them of a filter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from evaluator.binding.declared_types import NUMBERS
from evaluator.functions import FUNCTIONS
from evaluator.functions.base import Argument, within_type
from evaluator.functions.conversions import cast
from evaluator.functions.single_values import of_single_values
from evaluator.language import expression as ex
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import UNKNOWN, Interval, hull
from evaluator.language.literal import exact_number, to_ordinals
from evaluator.language.outcome import FALSE, NULL, TRUE
from evaluator.language.records import record
from evaluator.language.schema import Field
from evaluator.language.semantics import Semantics
from evaluator.language.time_spans import TimeSpan
from evaluator.language.types import Kind, Type

__all__ = [
    "BindCondition",
    "BoundColumn",
    "BoundConstant",
    "BoundFunction",
    "BoundIf",
    "BoundOperand",
    "BoundReading",
    "BoundTruth",
    "Condition",
    "applied",
    "columns_of",
    "literal_interval",
]


@record
class BoundColumn:
    """A column of the table; ``type`` is how the filter sees it (CHAR, say, where the table stores a string)."""

    field: Field
    type: Type

    @property
    def is_nested(self) -> bool:
        return "." in self.field.name


@record
class BoundConstant:
    """A constant: one value, NULL, or an interval of the values that an engine may read it as.

    of_clock   it depends on the moment of the query, or on the last digit of a double, so ``value`` may be left out:
               the interval has all that it may be
    form       the pattern in which a text of the clock, or of a date of Hive, is written; "" for another constant
    """

    value: object
    interval: Interval
    type: Type
    of_clock: bool = False
    form: str = ""

    @property
    def is_range(self) -> bool:
        """Whether more than one value is possible, by the clock or by the last digit."""
        return self.of_clock and (self.interval.null or not self.interval.is_point)


@record
class BoundFunction:
    """A function or a cast over operands, at least one of which reads a column. ``type`` is that of the result."""

    function: str
    arguments: tuple[BoundOperand, ...]
    type: Type
    semantics: Semantics

    def interval(self, arguments: Sequence[Interval]) -> Interval:
        """The interval of the result, given those of the arguments; unknown where it is not decided."""
        try:
            return applied(
                self.function,
                [Argument(operand.type, interval) for operand, interval in zip(self.arguments, arguments, strict=True)],
                self.type,
                self.semantics,
            )
        except (UnsupportedError, OverflowError):
            return UNKNOWN  # other bounds may be decided, these are not


@record
class BoundSingle(BoundFunction):
    """A function that is known where each argument has one value (``evaluator.functions.single_values``)."""

    def interval(self, arguments: Sequence[Interval]) -> Interval:
        """The interval of the result: one value, NULL, or unknown."""
        given = [Argument(operand.type, one) for operand, one in zip(self.arguments, arguments, strict=True)]
        try:
            return of_single_values(self.function, given, self.type, self.semantics)
        except (UnsupportedError, ArithmeticError, ValueError):
            return UNKNOWN


@record
class Condition:
    """A bound condition, as a conditional operand uses it.

    columns   the columns that the condition reads
    outcome   its outcome in one slice, from an interval for each of these columns, in the form of their arrays
    of_clock  whether it depends on the moment of the query
    """

    columns: tuple[Field, ...]
    outcome: Callable[[Mapping[str, Interval]], int]
    of_clock: bool = False


BindCondition = Callable[[ex.HudiExpression], Condition]


@record
class BoundIf(BoundFunction):
    """IF. Its arguments are the columns of the condition, the branch for TRUE and the branch for FALSE and NULL.

    longs_below   the condition may be TRUE or FALSE where an integer of it is not known to be nearer to 0 than this
    """

    condition: Condition
    longs_below: int | None = None

    def outcome(self, of_columns: Sequence[Interval]) -> int:
        """The outcome of the condition in a slice."""
        intervals, wraps = {}, 0
        for column, interval in zip(self.condition.columns, of_columns, strict=True):
            intervals[column.name] = to_ordinals(interval, column.type)
            if self.longs_below is not None and column.type.kind.is_integer:
                closed = within_type(Argument(column.type, interval))
                near = not interval.value or (-self.longs_below < closed.lo and closed.hi < self.longs_below)
                wraps |= 0 if near else TRUE | FALSE
        return self.condition.outcome(intervals) | wraps

    def interval(self, arguments: Sequence[Interval]) -> Interval:
        """The branch that is taken, or both when the condition may be TRUE and something else."""
        *of_columns, then, otherwise = arguments
        outcome = self.outcome(of_columns)
        return hull([then] * bool(outcome & TRUE) + [otherwise] * bool(outcome & (FALSE | NULL)))


@record
class BoundTruth(BoundIf):
    """A condition as a value: its outcome in the slice. Its arguments are the columns of the condition."""

    def interval(self, arguments: Sequence[Interval]) -> Interval:
        """0 for FALSE, 1 for TRUE."""
        outcome = self.outcome(arguments)
        return Interval(int(not outcome & FALSE), int(outcome & TRUE), bool(outcome & NULL), bool(outcome & ~NULL))


@record
class BoundReading(BoundFunction):
    """A column of which readers show something else: the first characters of a text; an instant's milliseconds, or
    NULL; the number in the file that stands for an instant.

    It has no canonical key and no look-ups: no index knows what a reader makes of a value.
    """

    def interval(self, arguments: Sequence[Interval]) -> Interval:
        """From the least that a reader makes of the lower bound to the most that it makes of the upper bound."""
        [stored] = arguments
        lo, hi = stored.lo, stored.hi
        if self.type.kind is Kind.BIGINT:
            [column] = columns_of(self).values()
            size = NUMBERS[column.unit]
            return stored.with_bounds(None if lo is None else lo // size, None if hi is None else hi // size)
        if self.type.kind.is_timestamp:
            lo, hi = (None if lo is None else lo - 999), (None if hi is None else hi if hi >= 0 else hi + 999)
            return Interval(lo, hi, null=True, value=stored.value)
        return stored.with_bounds(None if lo is None else lo[: self.type.precision], hi)


BoundOperand = BoundColumn | BoundConstant | BoundFunction


def columns_of(operand: BoundOperand) -> Mapping[str, Field]:
    """The columns that an operand reads, by name."""
    columns: dict[str, Field] = {}
    stack: list[BoundOperand] = [operand]
    while stack:
        match stack.pop():
            case BoundColumn(field=field):
                columns[field.name] = field
            case BoundFunction(arguments=arguments):
                stack.extend(arguments)
            case _:
                pass
    return columns


def literal_interval(value: object, literal_type: Type) -> Interval:
    """A constant as an interval in the value form of its own type; NaN has no bounds."""
    if value is None:
        return Interval(null=True, value=False)
    match literal_type.kind:
        case Kind.BOOLEAN:
            plain: object = int(bool(value))
        case Kind.DECIMAL:
            plain = exact_number(value)
        case Kind.FLOAT | Kind.DOUBLE if isinstance(value, float) and value != value:
            return Interval(null=False)
        case Kind.OTHER if not isinstance(value, TimeSpan):
            raise UnsupportedError(f"a constant of type {literal_type} is not decided")
        case _:
            plain = value
    return Interval(plain, plain, null=False)


def applied(name: str, arguments: Sequence[Argument], result_type: Type, semantics: Semantics) -> Interval:
    """The results of a function, or of a cast to ``result_type``, for the ranges of its arguments."""
    if name == "cast":
        return cast(arguments[0], result_type, semantics)
    return FUNCTIONS[name].compute(arguments, result_type, semantics)
