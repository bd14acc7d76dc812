"""Dates that become text and are read as dates again.

Hive's functions of dates give text, which is compared as text. Functions of dates read it as the date that it was:

    Hive      last_day(d) = '2020-2-29'           FALSE on each row: the text is '2020-02-29'
    Hive      last_day(d) = date '2020-02-29'     the text is read as a date
    Hive      year(last_day(d)) = 2020            likewise
    all       to_date(cast(d as string))          d
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from evaluator.binding.operands import BoundConstant, BoundFunction, BoundOperand
from evaluator.functions.calendar import through_text
from evaluator.functions.clock_ranges import DATE_FORM, read_text
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, STRING, Kind, Type

__all__ = ["OF_DAYS", "as_read", "as_text_of_date", "beside", "gives_text", "read_back"]

#: Functions of days, which read a text of the clock as a date.
OF_DAYS = frozenset(["year", "quarter", "month", "day", "dayofyear", "date_add", "date_sub", "add_months", "last_day"])
OF_DAYS |= frozenset(["to_date", "trunc", "datediff"])
_READ_DATES = OF_DAYS | frozenset(["weekofyear", "dayofweek", "date_format", "months_between", "next_day"])
_GIVE_TEXT = frozenset(["add_months", "last_day", "next_day", "trunc"])


def gives_text(name: str, result: Type, semantics: Semantics) -> bool:
    """Whether the engine gives the date of this function as text."""
    return name in _GIVE_TEXT and result == DATE and not semantics.functions_of_spark


def as_text_of_date(constant: BoundOperand) -> BoundOperand:
    """The text that an engine makes of a constant date, known as one."""
    return replace(constant, form=DATE_FORM) if isinstance(constant, BoundConstant) else constant


def as_read(constant: BoundConstant, target: Type, semantics: Semantics) -> BoundConstant:
    """A text of a known form as the value of a type that it is read as; the text itself where that is not decided."""
    interval = read_text(constant.form, constant.interval, target, semantics)
    if interval is None:
        return constant
    return BoundConstant(interval.lo if interval.is_point else None, interval, target, constant.of_clock)


def read_back(
    name: str, target: Type | None, arguments: Sequence[BoundOperand], semantics: Semantics
) -> list[BoundOperand]:
    """The arguments of a function without their cast to text, where reading the text gives the value back.

    ``target``: the type to which a cast goes.
    """
    match arguments:
        case [BoundFunction(function="cast", arguments=(source,), type=text)] if (
            text.kind is Kind.STRING and through_text(name, target, source.type)
        ):
            return [source]
        case _ if name in _READ_DATES and not (name == "to_date" and len(arguments) > 1):
            return [_date_of(argument, semantics) for argument in arguments]
        case _:
            return list(arguments)


def beside(operand: BoundOperand, others: Sequence[BoundOperand], semantics: Semantics) -> BoundOperand:
    """The operand as it is compared with others: the text of a date is read as this date beside nothing but dates."""
    return _date_of(operand, semantics) if all(other.type == DATE for other in others) else operand


def _date_of(operand: BoundOperand, semantics: Semantics) -> BoundOperand:
    match operand:
        case BoundFunction(function="cast", arguments=(BoundFunction(function=name, type=of) as date,)) if (
            name in _GIVE_TEXT and of == DATE and operand.type == STRING
        ):
            return date
        case BoundConstant(form=form) if form == DATE_FORM:
            return as_read(operand, DATE, semantics)
        case _:
            return operand
