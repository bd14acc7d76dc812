"""Type coercion: the type in which an engine compares two operands, and the values that it loses (C7, P10, P11).

Pitfalls P10 and P11 are described in docs/facts/pitfalls.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

from evaluator.binding.operands import BoundFunction, BoundOperand
from evaluator.functions.base import common_digits, decimal_parts
from evaluator.functions.conversions import keeps_value, vanishes
from evaluator.language.interval import Interval
from evaluator.language.semantics import Semantics
from evaluator.language.types import DOUBLE, FLOAT, TIMESTAMP, Kind, Type, decimal_type

__all__ = [
    "adds_midnight",
    "as_rounded",
    "common_decimal",
    "has_one_form",
    "in_38_digits",
    "meets_in_38_digits",
    "only_rounds",
    "rounding_type",
    "type_for_text",
    "without_lossless_casts",
]


def meets_in_38_digits(a: Type, b: Type, semantics: Semantics) -> bool:
    """Whether the comparison converts an exact number to a decimal that may not hold it."""
    exact = all(t.kind.is_integer or t.kind is Kind.DECIMAL for t in (a, b))
    return (
        semantics.decimals_meet_in_38_digits
        and exact
        and Kind.DECIMAL in (a.kind, b.kind)
        and common_digits((a, b)) > 38
    )


def common_decimal(a: Type, b: Type) -> tuple[Type, int]:
    """The decimal of 38 digits in which two types are compared, and the least power of ten that it cannot hold."""
    scale = max(decimal_parts(t)[1] for t in (a, b))
    return decimal_type(38, scale), 10 ** (38 - scale)


def in_38_digits(operand: BoundOperand, other: Type, semantics: Semantics) -> BoundOperand:
    """An operand in the decimal of 38 digits in which it is compared with another type.

    Spark 3 keeps the digits behind the point, and a number that does not fit is NULL. Spark 4 keeps those before it,
    and rounds: ``d20 = 5.00000000000000000001BD`` is TRUE for 5. The operand may be either.
    """
    common, _ = common_decimal(operand.type, other)
    scale = max(38 - max(decimal_parts(t)[0] for t in (operand.type, other)), 0)
    kept = _cast(operand, common, semantics)
    if decimal_parts(operand.type)[1] <= scale:
        return kept
    return BoundFunction("branches", (kept, _cast(operand, decimal_type(38, scale), semantics)), common, semantics)


def as_rounded(interval: Interval, a: Type, b: Type) -> Interval:
    """The constant of a comparison in 38 digits: it may be rounded, too (see ``in_38_digits``)."""
    scale = max(38 - max(decimal_parts(t)[0] for t in (a, b)), 0)
    bounds = [Fraction(interval.lo), Fraction(interval.hi)]
    units = [bound * 10**scale for bound in bounds]
    ends = [*bounds, *(Fraction(end, 10**scale) for unit in units for end in (math.floor(unit), math.ceil(unit)))]
    return interval if all(unit.denominator == 1 for unit in units) else interval.with_bounds(min(ends), max(ends))


def _cast(operand: BoundOperand, target: Type, semantics: Semantics) -> BoundOperand:
    return operand if operand.type == target else BoundFunction("cast", (operand,), target, semantics)


def only_rounds(source: Type, target: Type, semantics: Semantics) -> bool:
    """Whether a cast takes an exact number to floating point; it keeps the order, and ``in_domain`` allows for it."""
    exact = source.kind.is_integer or (source.kind is Kind.DECIMAL and not vanishes(source, semantics))
    return exact and target.kind.is_fractional


def rounding_type(types: Iterable[Type]) -> Type | None:
    """The binary type in which engines may compare a list of these types, its column among them; None for no such type.

    One double or float takes the whole list to binary, exact numbers included: ``l IN (1.5D, 9007199254740993)`` is
    TRUE for 9007199254740992. Beside a float the type is float or double, by the engine and its settings. Rounding to
    float moves a number by more, so it stands for both.
    """
    kinds = {t.kind for t in types}
    return FLOAT if Kind.FLOAT in kinds else DOUBLE if Kind.DOUBLE in kinds else None


def type_for_text(constant: Type, text: Type, semantics: Semantics) -> Type:
    """The type in which a text is compared with a constant, for the texts that ``functions.from_text`` decides."""
    if constant.kind.is_number:
        return constant if constant.kind.is_integer and semantics.text_takes_column_type else DOUBLE
    if constant.kind is Kind.DATE:
        return constant
    if constant.kind is Kind.TIMESTAMP_LTZ and semantics.functions_of_spark:
        return constant
    return TIMESTAMP if constant.kind is Kind.TIMESTAMP else text


def adds_midnight(source: Type, target: Type, constant: Type) -> bool:
    """Whether a cast takes a date to the midnight of its day, for a comparison with a constant moment."""
    return source.kind is Kind.DATE and target.kind.is_timestamp and constant.kind is Kind.TIMESTAMP


def has_one_form(value_type: Type) -> bool:
    """Whether equal values of a type are identical, but for the two zeros, so that their keys can be looked up."""
    return value_type.kind not in (Kind.CHAR, Kind.VOID, Kind.OTHER)


def without_lossless_casts(operand: BoundOperand) -> BoundOperand:
    """The operand below all casts that keep every value."""
    while (
        isinstance(operand, BoundFunction)
        and operand.function == "cast"
        and keeps_value(operand.arguments[0].type, operand.type)
    ):
        operand = operand.arguments[0]
    return operand
