"""The oracle (contract C9): the value of a filter on one row, by SQL's three-valued logic, in the obvious slow way.

It takes a row in the value form of ``evaluator.language.types`` and gives TRUE, FALSE or NULL (None). Tests and proofs
compare it with the outcomes of the rules; pruning never uses it. It imports the language (tree, types, semantics) and
none of the code that it checks.

    filter                      row                          value
    fare > 50 AND city = 'sf'   fare = 60, city = NULL       NULL
    fare > 50 AND city = 'sf'   fare = 40, city = NULL       FALSE

Where engines differ in a way that ``Semantics`` does not tell, the filter "has no row form": UnsupportedError.
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfoNotFoundError

import numpy as np

from evaluator.language import expression as ex
from evaluator.language.clock import MOMENT_FUNCTIONS
from evaluator.language.epoch import DAY, EPOCH, MICROSECOND
from evaluator.language.errors import UnsupportedError
from evaluator.language.function_names import SYNONYMS
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DATE, DOUBLE, TIMESTAMP, TIMESTAMP_LTZ, Kind, Type
from evaluator.language.zones import zone_named
from evaluator.reference.row_dates import dates_in_text, moves_a_date, special_call
from evaluator.reference.row_functions import call, convert
from evaluator.reference.row_types import result_type

__all__ = ["value_of"]

_Typed = tuple[Any, Type]
_UTC = datetime.timezone.utc
#: Texts that all engines convert alike.
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,14})(\.\d{1,6})?")
_MOMENT = re.compile(r"\d{4}-\d{2}-\d{2}( \d{2}:\d{2}:\d{2})?")


#: Functions whose result is one of their arguments, unchanged.
_UNIX_SECONDS = ("unix_timestamp", "to_unix_timestamp")
_CHOICES = ("coalesce", "greatest", "least")


def value_of(
    expression: ex.HudiExpression, row: Mapping[str, Any], schema: Schema, semantics: Semantics
) -> bool | None:
    """The value of a filter on a row, which maps column names to values; a missing column is NULL.

    Raises UnsupportedError where the filter holds something unknown, or a function that has no row form here.
    """

    def visit(node: ex.Node, children: list[Any]) -> Any:
        match node:
            case ex.And():
                return False if False in children else None if None in children else True
            case ex.Or():
                return True if True in children else None if None in children else False
            case ex.Not():
                return None if children[0] is None else not children[0]
            case ex.Constant(value=value):
                return value
            case ex.Compare(op=op, left=a, right=b):
                if not isinstance(a, ex.Literal) and not isinstance(b, ex.Literal) and _is_char_beside_text(children):
                    raise UnsupportedError("CHAR compared with a text that is no constant has no row form")
                return _compare(op, children[0], children[1], semantics)
            case ex.In():
                _check_one_family(
                    [children[0][1], *(value_type for value, value_type in children[1:] if value is not None)],
                    semantics,
                )
                children = _as_one_number_type(children)
                results = [_compare("=", children[0], member, semantics) for member in children[1:]]
                return True if True in results else None if None in results or children[0][0] is None else False
            case ex.InKeys(keys=keys):
                members = [(ex.key_value(key, keys.type), keys.type) for key in keys]
                results = [_compare("=", children[0], member, semantics) for member in members]
                return True if True in results else None if children[0][0] is None else False
            case ex.IsNull():
                return children[0][0] is None
            case ex.Like(pattern=pattern, escape=escape):
                text = children[0][0]
                return None if text is None else _like(text, pattern, escape)
            case ex.Column():
                return _column(node, row, schema, semantics)
            case ex.Literal(value=value, type=value_type):
                return (
                    math.floor(value) if semantics.micros_only and isinstance(value, Fraction) else value
                ), value_type
            case ex.Cast(type=target):
                value, value_type = children[0] if target.kind is Kind.TIMESTAMP_LTZ else _shown(children[0], semantics)
                return (None if value is None else convert(value, value_type, target)), target
            case ex.Call(function="try_cast", type=Type() as target) if semantics.functions_of_spark and children:
                return _tried(*_shown(children[0], semantics), target), target
            case ex.Call(function=function, arguments=()) if function in MOMENT_FUNCTIONS:
                return _of_clock(function, semantics)
            case ex.Call(function="unix_timestamp" | "to_unix_timestamp", arguments=arguments) if not semantics.is_utc:
                return _seconds_of_instant(arguments, row, schema, semantics), BIGINT
            case ex.Call(function="from_utc_timestamp" | "to_utc_timestamp" as function):
                return _of_zone(function, children, semantics)
            case ex.Call(function=function):
                name = SYNONYMS.get(function, function)
                operands = children if name in _CHOICES else [_shown(argument, semantics) for argument in children]
                if name == "from_unixtime" and not semantics.is_utc:
                    operands = _seconds_shown(operands, semantics)
                if not any(isinstance(part, ex.Column) for part in ex.walk(node)) or moves_a_date(name, operands):
                    operands = dates_in_text(name, operands)
                    special = special_call(name, operands, semantics)
                    if special is not None:
                        return special
                if semantics.functions_of_spark and name in _UNIX_SECONDS and _is_moment(operands):
                    moment = operands[0][0]
                    return (None if moment is None else _without_fraction(math.floor(moment), semantics)), BIGINT
                return _call(name, operands)
            case ex.If():
                return children[1] if children[0] is True else children[2]
            case ex.Unknown(reason=reason) | ex.Opaque(reason=reason):
                raise UnsupportedError(reason)
            case _:
                raise UnsupportedError(f"{type(node).__name__} has no value on a row")

    result: bool | None = ex.fold(expression, visit)
    return result


def _column(column: ex.Column, row: Mapping[str, Any], schema: Schema, semantics: Semantics) -> _Typed:
    field = schema.resolve(column.name, case_sensitive=semantics.case_sensitive)
    if field is None:
        raise UnsupportedError(f"column {column.name} is not in the table, or its name is ambiguous")
    value = row.get(field.name)
    column_type = column.type if column.type is not None and column.type.kind is Kind.CHAR else field.type
    return value, column_type


def _of_clock(name: str, semantics: Semantics) -> _Typed:
    """What the clock of the query shows, where it stands still."""
    clock = semantics.clock
    if clock is None or clock.first != clock.last:
        raise UnsupportedError(f"{name} has no value before the query runs")
    if name == "unix_timestamp":
        return clock.first // 1_000_000, BIGINT
    shown = _wall_clock(clock.first, semantics)
    if name in ("current_date", "curdate"):
        return shown // DAY, DATE
    if name == "localtimestamp" or not semantics.functions_of_spark:
        return shown, TIMESTAMP
    return clock.first, TIMESTAMP_LTZ


def _shown(operand: _Typed, semantics: Semantics) -> _Typed:
    """An instant as the wall clock of the session, on which functions work."""
    value, value_type = operand
    if value_type.kind is not Kind.TIMESTAMP_LTZ:
        return operand
    return None if value is None else _wall_clock(value, semantics), TIMESTAMP


def _wall_clock(micros: int, semantics: Semantics) -> int:
    moment = EPOCH.replace(tzinfo=_UTC) + datetime.timedelta(microseconds=micros)
    local = moment.astimezone(zone_named(semantics.time_zone)).replace(tzinfo=None)
    return (local - EPOCH) // MICROSECOND


def _seconds_of_instant(
    arguments: tuple[ex.Operand, ...], row: Mapping[str, Any], schema: Schema, semantics: Semantics
) -> int | None:
    """Seconds since the epoch of a column of instants; of wall clocks outside UTC they depend on the engine's zone."""
    field = (
        schema.resolve(arguments[0].name, case_sensitive=semantics.case_sensitive)
        if (len(arguments) == 1 and isinstance(arguments[0], ex.Column))
        else None
    )
    if field is None or field.type.kind is not Kind.TIMESTAMP_LTZ or semantics.utc_timestamps:
        raise UnsupportedError("unix_timestamp of a wall clock outside UTC has no row form")
    value = row.get(field.name)
    return None if value is None else _without_fraction(value, semantics)


def _seconds_shown(operands: list[_Typed], semantics: Semantics) -> list[_Typed]:
    """The seconds at which UTC shows what the session zone shows."""
    if not semantics.functions_of_spark or not operands or not operands[0][1].kind.is_integer:
        raise UnsupportedError("from_unixtime outside UTC has no row form")
    (seconds, value_type), *others = operands
    shown = None if seconds is None else _wall_clock(seconds * 1_000_000, semantics) // 1_000_000
    return [(shown, value_type), *others]


def _of_zone(function: str, operands: list[_Typed], semantics: Semantics) -> _Typed:
    """A moment moved by the offset of a zone: an instant in Spark, a wall clock in Hive."""
    if len(operands) != 2:
        raise UnsupportedError(f"{function} of {len(operands)} arguments has no row form")
    (micros, value_type), (name, _) = operands
    is_decided = value_type.kind is (Kind.TIMESTAMP_LTZ if semantics.functions_of_spark else Kind.TIMESTAMP)
    if not is_decided or (semantics.moves_by_instant and not semantics.functions_of_spark) or "/" not in (name or "/"):
        raise UnsupportedError(f"{function} of {value_type} in {name} has no row form")
    if micros is None or name is None:
        return None, value_type
    try:
        zone = zone_named(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise UnsupportedError(f"the zone {name} has no row form") from None
    moment = EPOCH + datetime.timedelta(microseconds=math.floor(micros))
    if function == "from_utc_timestamp":
        offset = moment.replace(tzinfo=_UTC).astimezone(zone).utcoffset()
    else:
        offset = moment.replace(tzinfo=zone).utcoffset()
    assert offset is not None
    sign = 1 if function == "from_utc_timestamp" else -1
    return micros + sign * (offset // MICROSECOND), value_type


def _is_moment(operands: list[_Typed]) -> bool:
    return len(operands) == 1 and operands[0][1].kind is Kind.TIMESTAMP


def _without_fraction(micros: int, semantics: Semantics) -> int:
    """Whole seconds: Spark's ``UnixTime`` divides as Java does, towards 0."""
    return math.trunc(Fraction(micros, 1_000_000)) if semantics.functions_of_spark else micros // 1_000_000


def _tried(value: Any, source: Type, target: Type) -> Any:
    """Spark's try_cast: NULL where the value does not fit, where CAST may wrap it."""
    if value is None:
        return None
    result = convert(value, source, target)
    is_whole = source.kind.is_integer and target.kind.is_integer
    return result if not is_whole or result == value else None


def _call(name: str, arguments: list[_Typed]) -> _Typed:
    if not arguments:
        raise UnsupportedError(f"{name} without arguments has no row form")
    try:
        result = result_type(name, [argument_type for _, argument_type in arguments])
        return call(name, arguments, result), result
    except IndexError:
        raise UnsupportedError(f"{name} with {len(arguments)} arguments has no row form") from None


def _compare(op: str, left: _Typed, right: _Typed, semantics: Semantics) -> bool | None:
    if left[0] is None or right[0] is None:
        _check_null_beside(left, right)
    if op == "<=>":
        if left[0] is None or right[0] is None:
            return left[0] is None and right[0] is None
        op = "="
    if left[0] is None or right[0] is None:
        return None
    x, y = _comparable(left, right, semantics)
    order = _order(x, y)
    return {"=": order == 0, "!=": order != 0, "<": order < 0, "<=": order <= 0, ">": order > 0, ">=": order >= 0}[op]


def _check_null_beside(left: _Typed, right: _Typed) -> None:
    """Engines fold a comparison with a constant that no value of the column equals, and differ on NULL rows then."""
    (x, a), (y, b) = left, right
    (value, value_type), column = ((y, b), a) if x is None else ((x, a), b)
    if value is None or Kind.VOID in (a.kind, b.kind):
        return
    if value_type.precision >= 38 or (column.kind in (Kind.CHAR, Kind.VARCHAR) and len(str(value)) > column.precision):
        raise UnsupportedError(f"NULL beside {value!r} has no row form")
    if value_type.kind is column.kind:
        return
    if value_type.kind.is_text and column.kind.is_number and _NUMBER.fullmatch(value):
        value, value_type = Decimal(value), DOUBLE
    if value_type.kind.is_text and _is_temporal(column) and _MOMENT.fullmatch(value):
        return
    if value_type.kind.is_text != column.kind.is_text:
        raise UnsupportedError(f"NULL beside {value!r} has no row form")
    if column.kind.is_number and value_type.kind.is_number:
        if isinstance(value, float) and not math.isfinite(value):
            raise UnsupportedError(f"NULL beside {value} has no row form")
        smallest, largest = column.integer_range() if column.kind.is_integer else (-(10**38), 10**38)
        if not smallest <= value <= largest:
            raise UnsupportedError(f"NULL beside {value} has no row form")


def _is_char_beside_text(operands: list[_Typed]) -> bool:
    kinds = [operand_type.kind for _, operand_type in operands]
    return Kind.CHAR in kinds and kinds[0] is not kinds[1]


def _order(x: Any, y: Any) -> int:
    """-1, 0 or 1; NaN equals itself and is the largest, as Spark and Double.compare have it."""
    if isinstance(x, float) and isinstance(y, float) and (math.isnan(x) or math.isnan(y)):
        return int(math.isnan(x)) - int(math.isnan(y))
    return int(x > y) - int(x < y)


def _comparable(left: _Typed, right: _Typed, semantics: Semantics) -> tuple[Any, Any]:
    (x, a), (y, b) = left, right
    if a.kind.is_number and b.kind.is_number:
        if a.kind.is_fractional or b.kind.is_fractional:
            return _as_doubles((x, a), (y, b), semantics)
        return _as_exact_numbers((x, a), (y, b), semantics)
    if a.kind.is_text and b.kind.is_text:
        if Kind.CHAR not in (a.kind, b.kind):
            return x, y
        if any(text.endswith(" ") and of.kind is not Kind.CHAR for text, of in (left, right)):
            raise UnsupportedError("CHAR compared with a text that ends in a blank has no row form")
        return x.rstrip(" "), y.rstrip(" ")
    if a.kind is b.kind:
        if a.kind is Kind.TIMESTAMP and not (_is_shown(x, semantics) and _is_shown(y, semantics)):
            raise UnsupportedError("a wall clock in a gap has no row form: Spark may compare it as an instant")
        return x, y
    if _is_temporal(a) and _is_temporal(b):
        if Kind.TIMESTAMP_LTZ in (a.kind, b.kind) and not semantics.utc_timestamps:
            return _instant(x, a, semantics), _instant(y, b, semantics)
        return _moment(x, a, semantics), _moment(y, b, semantics)
    if b.kind.is_text and (a.kind.is_number or _is_temporal(a)):
        return _read_as(y, a, x, semantics)
    if a.kind.is_text and (b.kind.is_number or _is_temporal(b)):
        second, first = _read_as(x, b, y, semantics)
        return first, second
    raise UnsupportedError(f"{a} compared with {b} has no row form")


def _check_one_family(types: list[Type], semantics: Semantics) -> None:
    """Engines compare a list of mixed types in one type of their own choice, and differ in that."""
    families = {
        "number"
        if member_type.kind.is_number
        else "text"
        if member_type.kind.is_text
        else "moment"
        if _is_temporal(member_type)
        else member_type.kind.value
        for member_type in types
    }
    if (
        len(families) > 1
        and any(member_type.kind.is_text for member_type in types[1:])
        and any(not member_type.kind.is_text for member_type in types[1:])
    ):
        raise UnsupportedError("a list of text and other types has no row form")
    if len(families) > 1 and types[0].kind.is_text:
        raise UnsupportedError("text in a list of other types has no row form")
    exact = [member_type for member_type in types if member_type.kind.is_integer or member_type.kind is Kind.DECIMAL]
    if _common_digits(exact) > 38:
        raise UnsupportedError("a list of numbers that have no common decimal has no row form")
    if len(families) > 1 and types[0].kind.is_number and not types[0].kind.is_integer:
        raise UnsupportedError("a number in a list of text has no row form")
    if semantics.zeros_differ_in_lists and any(member_type.kind.is_fractional for member_type in types):
        raise UnsupportedError("a list of doubles that is looked up by bits has no row form")
    if types[0].kind is Kind.BINARY and semantics.binary_lists_fail:
        raise UnsupportedError("a list of binary values has no row form")


def _as_one_number_type(operands: list[_Typed]) -> list[_Typed]:
    """The column and the members of a list in the type in which they are compared, when a double or float is there.

    That type is double, or float for integers and floats where ANSI mode is off.
    """
    types = [operand_type for _, operand_type in operands if operand_type.kind is not Kind.VOID]
    kinds = {operand_type.kind for operand_type in types}
    if not (kinds & {Kind.FLOAT, Kind.DOUBLE} and all(kind.is_number for kind in kinds)):
        return operands
    if not kinds & {Kind.DOUBLE, Kind.DECIMAL} and any(
        value is not None and abs(value) > 1 << 24 for value, of in operands if of.kind.is_integer
    ):
        raise UnsupportedError("integers of more than 24 bits in a list with floats have no row form")
    return [
        operand if value is None or operand_type.kind is Kind.VOID else (float(value), DOUBLE)
        for operand in operands
        for value, operand_type in (operand,)
    ]


def _common_digits(types: list[Type]) -> int:
    """Digits of the decimal that contains all values of these types; 0 where none of them is a decimal."""
    if not any(number_type.kind is Kind.DECIMAL for number_type in types):
        return 0
    whole = {Kind.TINYINT: 3, Kind.SMALLINT: 5, Kind.INT: 10, Kind.BIGINT: 20}
    return max(
        number_type.precision - number_type.scale if number_type.kind is Kind.DECIMAL else whole[number_type.kind]
        for number_type in types
    ) + max(number_type.scale for number_type in types)


def _as_doubles(left: _Typed, right: _Typed, semantics: Semantics) -> tuple[float, float]:
    (x, a), (y, b) = left, right
    rounded = {a.kind, b.kind} == {Kind.FLOAT, Kind.DOUBLE} and semantics.constants_take_column_type
    if rounded and any(math.isfinite(v) and not float(_single(v)) == v == float(str(_single(v))) for v in (x, y)):
        raise UnsupportedError("a float compared with a double that is no float has no row form")
    if semantics.constants_take_column_type and any(
        number_type.kind.is_integer and abs(v) > 1 << 53 for v, number_type in (left, right)
    ):
        raise UnsupportedError("an integer of more than 53 bits compared with a double has no row form")
    if Kind.FLOAT in (a.kind, b.kind) and not (a.kind.is_fractional and b.kind.is_fractional):
        number = y if a.kind is Kind.FLOAT else x
        if math.isfinite(number) and float(_single(number)) != number:
            raise UnsupportedError("a float compared with a number that is no float has no row form")
    if (
        Kind.DECIMAL in (a.kind, b.kind)
        and semantics.decimals_may_be_null
        and any(
            not abs(v) < 1 << 53 or number_type.scale > 18 or number_type.precision >= 38
            for v, number_type in (left, right)
        )
    ):
        raise UnsupportedError("a decimal compared with a double has no row form")
    return float(x), float(y)


def _single(number: Any) -> np.float32:
    with np.errstate(over="ignore"):
        single: np.float32 = np.float32(float(number))
    return single


def _as_exact_numbers(left: _Typed, right: _Typed, semantics: Semantics) -> tuple[Fraction, Fraction]:
    (x, a), (y, b) = left, right
    digits = _common_digits([a, b])
    if semantics.decimals_may_be_null and max(a.precision, b.precision) >= 38:
        raise UnsupportedError("a decimal of 38 digits has no row form")
    if (
        digits > 38
        and semantics.decimals_meet_in_38_digits
        and any(abs(v) >= 10 ** (38 - max(a.scale, b.scale)) for v in (x, y))
    ):
        raise UnsupportedError("a number that the common decimal does not hold has no row form")
    return Fraction(x), Fraction(y)


def _is_temporal(value_type: Type) -> bool:
    return value_type.kind is Kind.DATE or value_type.kind.is_timestamp


def _instant(value: Any, value_type: Type, semantics: Semantics) -> Any:
    """A moment as an instant; of a wall clock that is shown twice the first one, of one in a gap the later one."""
    if value_type.kind is Kind.TIMESTAMP_LTZ:
        return value
    clock = value * DAY if value_type.kind is Kind.DATE else value
    local = (EPOCH + math.floor(clock) * MICROSECOND).replace(tzinfo=zone_named(semantics.time_zone))
    return (local - EPOCH.replace(tzinfo=_UTC)) // MICROSECOND + (clock - math.floor(clock))


def _is_shown(wall_clock: Any, semantics: Semantics) -> bool:
    """Whether a clock of the session zone ever shows this time."""
    whole = math.floor(wall_clock)
    return semantics.is_utc or _wall_clock(_instant(whole, TIMESTAMP, semantics), semantics) == whole


def _moment(value: Any, value_type: Type, semantics: Semantics) -> Any:
    if value_type.kind is Kind.DATE:
        return value * DAY
    return _wall_clock(value, semantics) if value_type.kind is Kind.TIMESTAMP_LTZ else value


def _read_as(text: str, target: Type, value: Any, semantics: Semantics) -> tuple[Any, Any]:
    """(the other operand, the text converted to its type), for texts that all engines convert alike."""
    if target.kind.is_number:
        if not _NUMBER.fullmatch(text):
            raise UnsupportedError(f"{text!r} compared with a number has no row form")
        number = Fraction(Decimal(text))
        if target.kind.is_integer:
            smallest, largest = target.integer_range()
            if number.denominator != 1 or "." in text or not smallest <= number <= largest:
                raise UnsupportedError(f"{text!r} compared with {target} has no row form")
            return Fraction(value), number
        if target.kind is Kind.FLOAT and float(_single(number)) != float(number):
            raise UnsupportedError(f"{text!r} is no float")
        if target.kind is Kind.DECIMAL and max(len(text), len(str(value))) > 15:
            raise UnsupportedError("a decimal of more digits than a double compared with text has no row form")
        return float(value), float(number)
    if not _MOMENT.fullmatch(text) or (
        target.kind.is_timestamp and (semantics.moments_as_text or semantics.bare_date_is_null)
    ):
        raise UnsupportedError(f"{text!r} compared with {target} has no row form")
    try:
        moment = (datetime.datetime.fromisoformat(text) - EPOCH) // MICROSECOND
    except ValueError as error:
        raise UnsupportedError(f"{text!r} is no date") from error
    if target.kind is Kind.DATE:
        return value, moment // DAY
    return _moment(value, target, semantics), moment


def _like(text: str, pattern: str, escape: str) -> bool:
    regex = ""
    position = 0
    while position < len(pattern):
        char = pattern[position]
        if char == escape and position + 1 < len(pattern):
            position += 1
            regex += re.escape(pattern[position])
        else:
            regex += {"%": ".*", "_": "."}.get(char, re.escape(char))
        position += 1
    return re.fullmatch(regex, text, re.DOTALL) is not None
