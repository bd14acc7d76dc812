"""Comparisons of two columns, or of functions of columns, in the type in which an engine compares them.

Where neither side is a constant, both are taken to a common type: numbers to a double beside a double, dates and
timestamps to instants in Spark and to wall clocks in Hive.
"""

from __future__ import annotations

from evaluator.binding.leaves import Comparison, OutOfRange, Test
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundFunction, BoundOperand
from evaluator.binding.type_coercion import in_38_digits, meets_in_38_digits, without_lossless_casts
from evaluator.language.errors import UnsupportedError
from evaluator.language.semantics import Semantics
from evaluator.language.types import DOUBLE, TIMESTAMP, TIMESTAMP_LTZ, Kind, Type

__all__ = ["between_operands"]

#: A column beside itself: what the comparison is wherever it is not NULL.
_OF_ITSELF = {"=": True, "<=": True, ">=": True, "!=": False, "<": False, ">": False}


def between_operands(op: str, left: BoundOperand, right: BoundOperand, semantics: Semantics) -> Test:
    """The comparison of two columns or functions. Raises UnsupportedError(why) if it cannot be decided."""
    if left == right and isinstance(left, BoundColumn) and op in _OF_ITSELF and not _holds_nan(left, semantics):
        return OutOfRange(left, _OF_ITSELF[op])
    left, right = without_lossless_casts(left), without_lossless_casts(right)
    kinds = (left.type.kind, right.type.kind)
    if Kind.CHAR in kinds or Kind.OTHER in kinds:
        raise UnsupportedError(f"{left.type} compared with {right.type} is not decided")
    if any(kind.is_fractional for kind in kinds):
        if semantics.signed_zero_differs or not all(kind.is_number for kind in kinds):
            raise UnsupportedError("two floating-point operands are not decided under this engine")
        if not all(kind.is_fractional for kind in kinds):
            if Kind.FLOAT in kinds:
                raise UnsupportedError("a float compared with a number of another type is not decided")
            left, right = (_cast(side, DOUBLE, semantics) for side in (left, right))
    elif (Kind.DATE in kinds and any(kind.is_timestamp for kind in kinds)) or set(kinds) == {
        Kind.TIMESTAMP,
        Kind.TIMESTAMP_LTZ,
    }:
        if semantics.date_hides_timestamp:
            raise UnsupportedError("a date compared with a timestamp is not decided under this engine")
        # Spark compares instants, Hive wall clocks.
        as_instants = Kind.TIMESTAMP_LTZ in kinds and not semantics.utc_timestamps
        common = TIMESTAMP_LTZ if as_instants else TIMESTAMP
        left, right = (_cast(side, common, semantics) for side in (left, right))
    elif not (kinds[0] is kinds[1] or all(k.is_number for k in kinds) or all(k.is_text for k in kinds)):
        raise UnsupportedError(f"{left.type} compared with {right.type} is not decided")
    elif all(kind.is_number for kind in kinds) and meets_in_38_digits(left.type, right.type, semantics):
        left, right = (
            in_38_digits(left, right.type, semantics),
            in_38_digits(right, left.type, semantics),
        )
    if not (
        isinstance(left, BoundColumn)
        and isinstance(right, BoundColumn | BoundConstant)
        and ((left.type.kind is not Kind.DECIMAL and right.type.kind is not Kind.DECIMAL) or left.type == right.type)
    ):
        left, right = (_as_function(side, semantics) for side in (left, right))
    return Comparison(op, left, right)


def _holds_nan(column: BoundColumn, semantics: Semantics) -> bool:
    """Whether the column may hold a NaN that the engine does not take for equal to itself."""
    return column.type.kind.is_fractional and not semantics.functions_of_spark


def _cast(operand: BoundOperand, target: Type, semantics: Semantics) -> BoundOperand:
    return operand if operand.type == target else BoundFunction("cast", (operand,), target, semantics)


def _as_function(operand: BoundOperand, semantics: Semantics) -> BoundOperand:
    """A column in value form: a cast to its own type."""
    return BoundFunction("cast", (operand,), operand.type, semantics) if isinstance(operand, BoundColumn) else operand
