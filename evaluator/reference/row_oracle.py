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
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfoNotFoundError

from evaluator.language import expression as ex
from evaluator.language.clock import MOMENT_FUNCTIONS
from evaluator.language.epoch import DAY, EPOCH, MICROSECOND
from evaluator.language.errors import UnsupportedError
from evaluator.language.function_names import SYNONYMS
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DATE, STRING, TIMESTAMP, TIMESTAMP_LTZ, Kind, Type
from evaluator.language.zones import zone_named
from evaluator.reference.row_calendar import instant_of_seconds
from evaluator.reference.row_comparisons import (
    Typed,
    as_one_number_type,
    check_one_family,
    compare,
    is_char_beside_text,
    wall_clock,
)
from evaluator.reference.row_dates import counts_time, dates_in_text, moves_a_date, moves_an_instant, special_call
from evaluator.reference.row_functions import call, convert
from evaluator.reference.row_texts import cast_text, reads_text
from evaluator.reference.row_types import result_type

__all__ = ["value_of"]

_UTC = datetime.timezone.utc

_UNIX_SECONDS = ("unix_timestamp", "to_unix_timestamp")
_UNITS_OF_INSTANTS = ("unix_seconds", "unix_millis", "unix_micros")
#: Functions whose result is one of their arguments, unchanged.
_CHOICES = ("coalesce", "greatest", "least")
#: Functions of which Hive gives the date as text.
_DATES_AS_TEXT = ("add_months", "last_day", "next_day", "trunc")


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
                if not isinstance(a, ex.Literal) and not isinstance(b, ex.Literal) and is_char_beside_text(children):
                    raise UnsupportedError("CHAR compared with a text that is no constant has no row form")
                return compare(op, children[0], children[1], semantics)
            case ex.In():
                check_one_family(
                    [children[0][1], *(value_type for value, value_type in children[1:] if value is not None)],
                    semantics,
                )
                children = as_one_number_type(children)
                results = [compare("=", children[0], member, semantics) for member in children[1:]]
                return True if True in results else None if None in results or children[0][0] is None else False
            case ex.InKeys(keys=keys):
                members = [(ex.key_value(key, keys.type), keys.type) for key in keys]
                results = [compare("=", children[0], member, semantics) for member in members]
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
            case ex.Cast(type=Type(kind=Kind.TIMESTAMP_LTZ) as target) if _are_seconds(children[0], semantics):
                value, _ = children[0]
                return (None if value is None else instant_of_seconds(value)), target
            case ex.Cast(type=target) if reads_text(children[0][1], target, semantics):
                text = children[0][0]
                return (None if text is None else cast_text(text, target, semantics)), target
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
                keeps = name in _CHOICES or name in _UNITS_OF_INSTANTS or moves_an_instant(children, semantics)
                operands = children if keeps else [_shown(argument, semantics) for argument in children]
                if name == "from_unixtime" and not semantics.is_utc:
                    operands = _seconds_shown(operands, semantics)
                has_column = any(isinstance(part, ex.Column) for part in ex.walk(node))
                if not has_column or moves_a_date(name, operands) or counts_time(name, operands):
                    operands = dates_in_text(name, operands)
                    special = special_call(name, operands, semantics)
                    if special is not None:
                        return _given_by(name, special, semantics)
                if semantics.functions_of_spark and name in _UNIX_SECONDS and _is_moment(operands):
                    moment = operands[0][0]
                    return (None if moment is None else _without_fraction(math.floor(moment), semantics)), BIGINT
                return _given_by(name, _call(name, operands), semantics)
            case ex.If():
                value, _ = children[1] if children[0] is True else children[2]
                return value, result_type("branches", [value_type for _, value_type in children[1:]])
            case ex.Unknown(reason=reason) | ex.Opaque(reason=reason):
                raise UnsupportedError(reason)
            case _:
                raise UnsupportedError(f"{type(node).__name__} has no value on a row")

    result: bool | None = ex.fold(expression, visit)
    return result


def _are_seconds(operand: Typed, semantics: Semantics) -> bool:
    """Whether Spark makes an instant of a number."""
    return semantics.functions_of_spark and operand[1].kind.is_number


def _column(column: ex.Column, row: Mapping[str, Any], schema: Schema, semantics: Semantics) -> Typed:
    field = schema.resolve(column.name, case_sensitive=semantics.case_sensitive)
    if field is None:
        raise UnsupportedError(f"column {column.name} is not in the table, or its name is ambiguous")
    value = row.get(field.name)
    column_type = column.type if column.type is not None and column.type.kind is Kind.CHAR else field.type
    return value, column_type


def _of_clock(name: str, semantics: Semantics) -> Typed:
    """What the clock of the query shows, where it stands still."""
    clock = semantics.clock
    if clock is None or clock.first != clock.last:
        raise UnsupportedError(f"{name} has no value before the query runs")
    if name == "unix_timestamp":
        return clock.first // 1_000_000, BIGINT
    shown = wall_clock(clock.first, semantics)
    if name in ("current_date", "curdate"):
        return shown // DAY, DATE
    if name == "localtimestamp" or not semantics.functions_of_spark:
        return shown, TIMESTAMP
    return clock.first, TIMESTAMP_LTZ


def _shown(operand: Typed, semantics: Semantics) -> Typed:
    """An instant as the wall clock of the session, on which functions work."""
    value, value_type = operand
    if value_type.kind is not Kind.TIMESTAMP_LTZ:
        return operand
    return None if value is None else wall_clock(value, semantics), TIMESTAMP


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


def _seconds_shown(operands: list[Typed], semantics: Semantics) -> list[Typed]:
    """The seconds at which UTC shows what the session zone shows."""
    if not semantics.functions_of_spark or not operands or not operands[0][1].kind.is_integer:
        raise UnsupportedError("from_unixtime outside UTC has no row form")
    (seconds, value_type), *others = operands
    shown = None if seconds is None else wall_clock(seconds * 1_000_000, semantics) // 1_000_000
    return [(shown, value_type), *others]


def _of_zone(function: str, operands: list[Typed], semantics: Semantics) -> Typed:
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


def _is_moment(operands: list[Typed]) -> bool:
    return len(operands) == 1 and operands[0][1].kind is Kind.TIMESTAMP


def _without_fraction(micros: int, semantics: Semantics) -> int:
    """Whole seconds: Spark's ``UnixTime`` divides as Java does, towards 0."""
    return math.trunc(Fraction(micros, 1_000_000)) if semantics.functions_of_spark else micros // 1_000_000


def _given_by(name: str, result: Typed, semantics: Semantics) -> Typed:
    """The result in the type in which the engine gives it."""
    value, value_type = result
    if name in _DATES_AS_TEXT and value_type == DATE and not semantics.functions_of_spark:
        return (None if value is None else convert(value, DATE, STRING)), STRING
    return result


def _tried(value: Any, source: Type, target: Type) -> Any:
    """Spark's try_cast: NULL where the value does not fit, where CAST may wrap it."""
    if value is None:
        return None
    result = convert(value, source, target)
    is_whole = source.kind.is_integer and target.kind.is_integer
    return result if not is_whole or result == value else None


def _call(name: str, arguments: list[Typed]) -> Typed:
    if not arguments:
        raise UnsupportedError(f"{name} without arguments has no row form")
    try:
        result = result_type(name, [argument_type for _, argument_type in arguments])
        return call(name, arguments, result), result
    except IndexError:
        raise UnsupportedError(f"{name} with {len(arguments)} arguments has no row form") from None


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
