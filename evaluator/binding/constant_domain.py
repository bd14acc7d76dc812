"""A constant brought into the domain of the operand that it is compared with (contract C7).

CAST(i AS bigint) = 5      i = 5: the cast keeps every value
CAST(i AS double) < 1.5    i < 1.5, the constant rounded as a double is
s < 5                      CAST(s AS double) < 5, or as the engine reads texts
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from evaluator.binding.operands import BoundColumn, BoundConstant, BoundFunction, BoundOperand
from evaluator.binding.type_coercion import adds_midnight, only_rounds, type_for_text
from evaluator.functions.calendar import as_shown
from evaluator.functions.conversions import keeps_value
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.literal import in_domain, to_ordinals
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type

__all__ = ["equal_in_any_type", "in_domain_of"]


def in_domain_of(
    operand: BoundOperand, constant: BoundConstant, semantics: Semantics, via: Type | None = None
) -> tuple[BoundColumn | BoundFunction, Interval]:
    """The operand without the casts that can be looked through, and the constant in that operand's domain.

    ``via``: the binary type in which the comparison is done, where that is not the type of either side.
    """
    while isinstance(operand, BoundFunction) and operand.function == "cast":
        source = operand.arguments[0]
        if keeps_value(source.type, operand.type):
            if via is None and operand.type.kind.is_fractional and not source.type.kind.is_fractional:
                via = operand.type  # the constant is rounded, though the operand is not
            operand = source
        elif only_rounds(source.type, operand.type, semantics) or adds_midnight(
            source.type, operand.type, constant.type
        ):
            via = operand.type if via is None or operand.type.kind is Kind.FLOAT else via
            operand = source
        else:
            break
    if isinstance(operand, BoundConstant):
        raise UnsupportedError("a comparison of constants is not decided")
    if operand.type.kind in (Kind.STRING, Kind.VARCHAR):
        read_as = type_for_text(constant.type, operand.type, semantics)
        if read_as != operand.type:
            operand = BoundFunction("cast", (operand,), read_as, semantics)
    interval = in_domain(constant.value, constant.type, operand.type, semantics, via)
    if isinstance(operand, BoundFunction) and operand.type.kind is Kind.TIMESTAMP:
        interval = as_shown(interval, semantics)
    return operand, interval


def equal_in_any_type(operand: BoundOperand, member: BoundConstant, semantics: Semantics) -> list[Any]:
    """The value of an exact column that is the member itself: equal numbers stay equal when both are rounded."""
    target, interval = in_domain_of(operand, member, semantics)
    if not (isinstance(target, BoundColumn) and interval.is_point) or target.type.kind.is_fractional:
        return []
    ordinal = to_ordinals(interval, target.type).lo
    return [] if isinstance(ordinal, Fraction) else [ordinal]
