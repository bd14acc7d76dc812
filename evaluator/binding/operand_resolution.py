"""Operands of a filter bound to a table's columns: names are resolved, functions of constants are computed.

    lower(s)                           a function of the column s
    date '1994-01-01' + interval ...   the constant that the engine computes
    current_date()                     a range of the clock

Pitfall P15 is described in docs/facts/pitfalls.md#p15.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from evaluator.binding.column_operands import column_operand
from evaluator.binding.date_shifts import DateShift, date_shift, moment_shift, read_texts_as_dates
from evaluator.binding.dates_as_text import OF_DAYS, as_read, as_text_of_date, gives_text, read_back
from evaluator.binding.function_types import agreed, implied_cast, result_of, wrong_arguments
from evaluator.binding.operands import (
    BindCondition,
    BoundColumn,
    BoundConstant,
    BoundFunction,
    BoundIf,
    BoundOperand,
    BoundSingle,
    BoundTruth,
    Condition,
    applied,
    columns_of,
    literal_interval,
)
from evaluator.functions import FUNCTIONS
from evaluator.functions.base import Argument
from evaluator.functions.clock_order import as_instants, as_texts, in_order
from evaluator.functions.clock_ranges import in_any_zone, moment, moved, shown_seconds, written_form
from evaluator.functions.constants import constant_result, with_dates, with_times
from evaluator.functions.conversions import keeps_value
from evaluator.functions.single_values import RESULTS, result_of_single_values
from evaluator.language import expression as ex
from evaluator.language.clock import MOMENT_FUNCTIONS
from evaluator.language.construction import condition_of_truth
from evaluator.language.errors import UnsupportedError
from evaluator.language.function_names import SYNONYMS
from evaluator.language.interval import UNKNOWN, Interval, point
from evaluator.language.literal import kept_digits
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics
from evaluator.language.time_spans import TimeSpan
from evaluator.language.types import BOOLEAN, DATE, DOUBLE, STRING, TIMESTAMP, TIMESTAMP_LTZ, Kind, Type

__all__ = ["resolve_operand", "span_of"]

#: A reason shows a constant in at most so many characters.
_MAX_SHOWN = 120
#: Two bigints nearer to 0 than this have a difference that is a bigint.
_HALF_OF_LONGS = 1 << 62
#: Spark's functions that are NULL where another one fails.
_TRIED = {
    "try_cast": "cast",
    "try_add": "+",
    "try_subtract": "-",
    "try_multiply": "*",
    "try_divide": "/",
    "try_to_timestamp": "to_timestamp",
    "try_to_date": "to_date",
}


def resolve_operand(
    operand: ex.Operand, schema: Schema, semantics: Semantics, bind_condition: BindCondition
) -> BoundOperand:
    """Resolve names and types of an operand, bottom-up. Raises UnsupportedError(why) if it cannot be decided.

    ``bind_condition`` binds the condition of a conditional operand, like a filter of its own.
    """
    bound = _resolved(operand, schema, semantics, bind_condition)
    if isinstance(bound, BoundConstant) and isinstance(bound.value, TimeSpan):
        raise UnsupportedError("an interval is not compared")
    return bound


def span_of(
    operand: ex.Operand, schema: Schema, semantics: Semantics, bind_condition: BindCondition
) -> TimeSpan | None:
    """The interval that an operand without columns is; None for any other. Raises UnsupportedError as above."""
    if ex.column_names(operand):
        return None
    bound = _resolved(operand, schema, semantics, bind_condition)
    return bound.value if isinstance(bound, BoundConstant) and isinstance(bound.value, TimeSpan) else None


def _resolved(operand: ex.Operand, schema: Schema, semantics: Semantics, bind_condition: BindCondition) -> BoundOperand:
    def bind(node: ex.Node, arguments: list[BoundOperand]) -> BoundOperand:
        match node:
            case ex.Column():
                return column_operand(node, schema, semantics)
            case ex.Call(function=name, arguments=()) if name in MOMENT_FUNCTIONS:
                return _bind_moment(name, schema, semantics)
            case ex.Call(function="rand" | "random") if all(isinstance(seed, BoundConstant) for seed in arguments):
                return BoundConstant(None, Interval(0.0, 1.0, null=False), DOUBLE, True)
            case ex.Literal(value=value, type=literal_type):
                if literal_type.kind.is_timestamp and isinstance(value, Fraction):
                    value = kept_digits(value, semantics)
                return BoundConstant(value, literal_interval(value, literal_type), literal_type)
            case ex.Call() if _are_constants(arguments) and gives_text(_name(node), DATE, semantics):
                return _bind_text_of_date(node, arguments, semantics)
            case ex.Cast() | ex.Call() if _are_constants(arguments):
                return _bind_constant(node, arguments, semantics)
            case ex.Cast() | ex.Call():
                return _bind_call(node, arguments, semantics)
            case ex.If():
                return _bind_if(node, arguments, semantics, bind_condition)
            case ex.Opaque(reason=reason):
                raise UnsupportedError(reason)
            case _:
                raise UnsupportedError(f"{type(node).__name__} as a value is not decided")

    is_simple = isinstance(operand, ex.Column | ex.Literal)
    return bind(operand, []) if is_simple else ex.fold(operand, bind, _operands_of)


def _bind_call(node: ex.Cast | ex.Call, arguments: list[BoundOperand], semantics: Semantics) -> BoundOperand:
    if isinstance(node, ex.Call) and node.function in _TRIED and semantics.functions_of_spark:
        node, semantics = _untried(node), replace(semantics, unreadable_rows_are_null=True)
    shift = None if isinstance(node, ex.Cast) else date_shift(node.function, arguments, semantics)
    if shift is not None and not _are_constants(arguments):
        return _bind_shift(shift, node.type, semantics)
    moved = None if isinstance(node, ex.Cast) else moment_shift(node.function, arguments)
    if moved is not None:
        result = moved[0].type if semantics.functions_of_spark else TIMESTAMP
        return _bind_function("+", moved, agreed("+", result, node.type), semantics)
    if any(isinstance(argument, BoundConstant) and isinstance(argument.value, TimeSpan) for argument in arguments):
        raise UnsupportedError("an interval is not decided here")
    if isinstance(node, ex.Cast):
        return _bind_function("cast", read_back("cast", node.type, arguments, semantics), node.type, semantics)
    try:
        return _bind_ranged(node, arguments, semantics)
    except UnsupportedError:
        constants = [one for one in arguments if isinstance(one, BoundConstant)]
        if _name(node) not in RESULTS or len(constants) == len(arguments) or any(one.is_range for one in constants):
            raise
    return _bind_single(node, arguments, semantics)


def _bind_ranged(node: ex.Call, arguments: list[BoundOperand], semantics: Semantics) -> BoundOperand:
    """A function whose results lie in an interval that follows from those of its arguments."""
    name = node.function
    if name not in FUNCTIONS:
        raise UnsupportedError(f"function {name} is not decided")
    arguments = [
        _cast(one, implied_cast(_name(node), place, one, semantics), semantics)
        for place, one in enumerate(read_back(name, None, read_texts_as_dates(name, arguments), semantics))
    ]
    result = result_of(name, [a.type for a in arguments])
    if gives_text(name, result, semantics) and not _are_constants(arguments):
        agreed(name, STRING, node.type)
        return _bind_function("cast", [_bind_function(name, arguments, DATE, semantics)], STRING, semantics)
    return _bind_function(name, arguments, agreed(name, result, node.type), semantics)


def _cast(operand: BoundOperand, target: Type | None, semantics: Semantics) -> BoundOperand:
    """An operand as another type; as it is without one."""
    if target is None:
        return operand
    if not isinstance(operand, BoundConstant):
        return _bind_function("cast", [operand], target, semantics)
    return _bind_constant(ex.Cast(ex.Literal(operand.value, operand.type), target), [operand], semantics)


def _bind_single(node: ex.Call, arguments: list[BoundOperand], semantics: Semantics) -> BoundOperand:
    """A function that is known of single values."""
    name = _name(node)
    if name == "lpad" and semantics.functions_of_spark:
        arguments = [_as_number(arguments[0]), *arguments[1:]]
    result = agreed(name, result_of_single_values(name, [a.type for a in arguments], semantics), node.type)
    return BoundSingle(name, tuple(arguments), result, semantics)


def _as_number(operand: BoundOperand) -> BoundOperand:
    """An integer that is written as text, without the cast: the function writes it likewise."""
    match operand:
        case BoundFunction(function="cast", arguments=(source,), type=target) if target == STRING:
            return source if source.type.kind.is_integer else operand
        case _:
            return operand


def _bind_shift(shift: DateShift, declared: Type | None, semantics: Semantics) -> BoundOperand:
    """A date of a column that an operator moves."""
    result = agreed(shift.function, TIMESTAMP if shift.as_timestamp else DATE, declared)
    moved = _bind_function(shift.function, [shift.date, shift.count], DATE, semantics)
    return _bind_function("cast", [moved], result, semantics) if shift.as_timestamp else moved


def _bind_text_of_date(node: ex.Call, arguments: list[BoundOperand], semantics: Semantics) -> BoundOperand:
    """A function of constants whose date the engine gives as text."""
    agreed(node.function, STRING, node.type)
    date = _bind_constant(replace(node, type=None), arguments, semantics)
    text = _bind_constant(ex.Cast(node, STRING), [date], semantics)
    return as_text_of_date(text)


def _bind_constant(node: ex.Cast | ex.Call, arguments: list[BoundOperand], semantics: Semantics) -> BoundOperand:
    """A function of constants, as the constant that it is. Raises UnsupportedError, which names it, if that is open."""
    semantics = semantics.of_constants()
    if isinstance(node, ex.Call) and node.function in _TRIED and semantics.functions_of_spark:
        node = _untried(node)
    name = _name(node)
    arguments = read_back(name, node.type, arguments, semantics)
    constants = [one for one in arguments if isinstance(one, BoundConstant)]
    if any(one.is_range for one in constants):
        return _bind_range(node, constants, semantics)
    given = [Argument(one.type, one.interval) for one in constants]
    of_clock = any(one.of_clock for one in constants)
    read = with_times(name, with_dates(name, given), semantics)
    arguments = [
        old if argument is before else BoundConstant(argument.interval.lo, argument.interval, argument.type, of_clock)
        for old, before, argument in zip(arguments, given, read, strict=True)
    ]
    try:
        folded = constant_result(name, read, node.type if name == "cast" else None, semantics)
        if folded is not None:
            value, result = folded
            if name != "cast" and not isinstance(value, TimeSpan):
                result = agreed(name, result, node.type)
            interval = literal_interval(value, result) if isinstance(value, float) else point(value)
            bound: BoundOperand = BoundConstant(value, interval, result, of_clock)
        else:
            bound = _bind_call(node, arguments, semantics)
        if name == "cast" and semantics.casts_may_vanish and _changes_number(read[0], bound):
            raise UnsupportedError("Hive 3.1 may leave the cast out")
        return bound
    except UnsupportedError as error:
        text = ex.to_text(node)
        shown = text if len(text) <= _MAX_SHOWN else text[: _MAX_SHOWN - 1] + "…"
        message = f"the constant {shown} is not computed ({error}): write its value as a literal"
        raise UnsupportedError(message) from error


def _are_constants(arguments: Sequence[BoundOperand]) -> bool:
    return all(isinstance(argument, BoundConstant) for argument in arguments)


def _name(node: ex.Cast | ex.Call) -> str:
    return "cast" if isinstance(node, ex.Cast) else SYNONYMS.get(node.function, node.function)


def _untried(node: ex.Call) -> ex.Cast | ex.Call:
    """The function that Spark's try_... tries. Where modes differ, no bound is known of it, and NULL is possible."""
    if node.function == "try_cast" and node.type is not None and len(node.arguments) == 1:
        return ex.Cast(node.arguments[0], node.type)
    return ex.Call(_TRIED[node.function], node.arguments)


def _changes_number(given: Argument, result: BoundOperand) -> bool:
    """Whether a cast of a number to another numeric type is not known to be the same number."""
    if not (given.type.kind.is_number and result.type.kind.is_number) or not isinstance(result, BoundConstant):
        return False
    if not given.interval.value:
        return False
    before, after = given.interval, result.interval
    return not (before.is_point and after.is_point and before.lo == after.lo)


def _bind_moment(name: str, schema: Schema, semantics: Semantics) -> BoundConstant:
    """A function of the clock. Raises UnsupportedError where a column of this name may be meant."""
    if name != "unix_timestamp" and schema.resolve(name, case_sensitive=False) is not None:
        raise UnsupportedError(f"{name} is a function, or the column of this name")
    interval, result = moment(name, semantics)
    return _of_clock(interval, result)


def _of_clock(interval: Interval, result: Type, form: str = "") -> BoundConstant:
    if interval.value and interval.lo is None and interval.hi is None:
        raise UnsupportedError("it depends on the moment of the query in a way that is not decided")
    return BoundConstant(interval.lo if interval.is_point else None, interval, result, True, form)


def _bind_range(node: ex.Cast | ex.Call, arguments: list[BoundConstant], semantics: Semantics) -> BoundOperand:
    """A function of constants of which some are ranges of the clock."""
    name = _name(node)
    target = node.type if isinstance(node, ex.Cast) else DATE if name in OF_DAYS else None
    if name == "to_timestamp" and semantics.functions_of_spark:
        target = TIMESTAMP_LTZ
    [first, *others] = [as_read(one, target, semantics) if one.form and target else one for one in arguments]
    if (
        name in ("cast", "to_date", "to_timestamp")
        and first is not arguments[0]
        and first.type == target
        and not others
    ):
        return first
    given = [Argument(one.type, one.interval) for one in (first, *others)]
    given = as_texts(name, as_instants(name, given, semantics), semantics)
    moved_range = moved(name, given, semantics) or in_order(name, given, target, semantics)
    if moved_range is not None:
        return _of_clock(*moved_range)
    if name == "from_unixtime" and (not semantics.is_utc or not (semantics.clock and semantics.clock.zone_known)):
        return _of_clock(shown_seconds(given, semantics), STRING, written_form(name, given, target))
    read = [
        BoundConstant(one.value, argument.interval, argument.type, one.of_clock)
        for one, argument in zip((first, *others), in_any_zone(name, given, target, semantics), strict=True)
    ]
    bound = _bind_call(node, list(read), semantics)
    assert isinstance(bound, BoundConstant)
    return _of_clock(bound.interval, bound.type, written_form(name, given, target))


def _operands_of(node: ex.Node) -> tuple[ex.Node, ...]:
    """The children of an operand that have a value: not the condition of an IF."""
    if condition_of_truth(node) is not None:
        return ()
    return (node.then, node.otherwise) if isinstance(node, ex.If) else ex.children_of(node)


def _bind_if(
    node: ex.If, branches: list[BoundOperand], semantics: Semantics, bind_condition: BindCondition
) -> BoundOperand:
    """A conditional. Its condition is bound like a filter of its own, so a part that is not decided is unknown."""
    truth = condition_of_truth(node)
    if truth is not None:
        return _bind_truth(bind_condition(truth), semantics, _longs_below(truth, semantics))
    result = agreed("if", result_of("branches", [branch.type for branch in branches]), node.type)
    condition = bind_condition(_nullif_as_hive(node, branches[1].type) if semantics.nullif_converts else node.condition)
    columns = [BoundColumn(column, column.type) for column in condition.columns]
    longs_below = _longs_below(node.condition, semantics)
    conditional = BoundIf("if", (*columns, *branches), result, semantics, condition, longs_below)
    if columns_of(conditional):
        return conditional
    constants = [branch for branch in branches if isinstance(branch, BoundConstant)]
    interval = conditional.interval([branch.interval for branch in constants])
    if any(branch.of_clock for branch in constants) or condition.of_clock:
        return _of_clock(interval, result)
    if interval.value and (interval.null or not interval.is_point):
        raise UnsupportedError("a conditional of constants is not decided")
    return BoundConstant(interval.lo, interval, result)


def _longs_below(condition: ex.HudiExpression, semantics: Semantics) -> int | None:
    """How near to 0 bigints have to be for the engine to compare them right where the result is a value."""
    if not semantics.long_tests_wrap:
        return None
    constants = [node.value for node in ex.walk_distinct(condition) if isinstance(node, ex.Literal)]
    return 0 if any(isinstance(one, int) and abs(one) >= _HALF_OF_LONGS for one in constants) else _HALF_OF_LONGS


def _bind_truth(condition: Condition, semantics: Semantics, longs_below: int | None) -> BoundOperand:
    """A condition used as a value."""
    columns = [BoundColumn(column, column.type) for column in condition.columns]
    truth = BoundTruth("if", tuple(columns), BOOLEAN, semantics, condition, longs_below)
    if columns:
        return truth
    interval = truth.interval([])
    if condition.of_clock:
        return _of_clock(interval, BOOLEAN)
    if interval.value and (interval.null or not interval.is_point):
        raise UnsupportedError("a condition over constants, used as a value, is not decided")
    return BoundConstant(bool(interval.lo) if interval.value else None, interval, BOOLEAN)


def _nullif_as_hive(node: ex.If, value_type: Type) -> ex.HudiExpression:
    """The condition of a conditional, not known where it may be Hive's ``nullif`` of two types.

    Hive casts the second argument to the first one's type: ``nullif(i, 0.5)`` is NULL for 0.
    """
    match node:
        case ex.If(ex.Compare("=", left, right), ex.Literal(value=None), otherwise) if left == otherwise:
            is_same = isinstance(right, ex.Literal) and keeps_value(right.type, value_type)
            return node.condition if is_same else ex.Unknown("nullif of different types")
        case _:
            return node.condition


def _bind_function(name: str, arguments: list[BoundOperand], result_type: Type, semantics: Semantics) -> BoundOperand:
    if name == "cast" and arguments[0].type.kind is Kind.CHAR and result_type.kind is Kind.STRING:
        return arguments[0]  # Hive trims the padding: a comparison with CHAR allows for that (P15)
    if any(a.type.kind is Kind.CHAR for a in arguments):
        raise UnsupportedError("CHAR in a function is not decided: it may be stored padded or not")
    function = BoundFunction(name, tuple(arguments), result_type, semantics)
    # Computed once with unknown columns: types that are never decided raise here, with the reason.
    constant = all(isinstance(a, BoundConstant) for a in arguments)
    unbound = [Argument(a.type, a.interval if isinstance(a, BoundConstant) else UNKNOWN) for a in arguments]
    try:
        interval = applied(name, unbound, result_type, semantics)
    except (IndexError, ValueError, TypeError) as error:
        raise wrong_arguments(name, len(arguments)) from error
    if not constant:
        return function
    if any(isinstance(a, BoundConstant) and a.of_clock for a in arguments):
        return _of_clock(interval, result_type)
    if not interval.value and not semantics.functions_of_spark and arguments[0].type.kind.is_text and name == "cast":
        raise UnsupportedError("Hive may say FALSE or NULL beside a constant text that it cannot read")
    if interval.is_bounded and not interval.is_point and not interval.null and result_type.kind is Kind.DOUBLE:
        return BoundConstant(None, interval, result_type, True)  # exp(1), up to its last digit
    if interval.value and (interval.null or not interval.is_point):
        raise UnsupportedError("its value depends on the version, the settings or the last digit")
    return BoundConstant(interval.lo, interval, result_type)
