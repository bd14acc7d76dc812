"""Comparisons with a range of the clock: ``dt >= current_date() - interval 7 days``.

A constant has one value, which is brought into the domain of the column. Of the clock only a range is known, so both
sides are taken to the type in which the engine compares them, as for two columns. What has no column is folded.

    d >= current_date() - interval 7 days      d >= [2026-11-15, ...]    skips what ends before 2026-11-15
    d < current_date()                         open: the clock moves on
    p >= current_date(), p a text              CAST(p AS date) >= [2026-11-22, ...]
"""

from __future__ import annotations

from typing import TypeGuard

from evaluator.binding import rules
from evaluator.binding.constant_tests import between_constants
from evaluator.binding.dates_as_text import as_read
from evaluator.binding.interval_evaluation import interval_of
from evaluator.binding.leaves import Comparison, Fixed, Test
from evaluator.binding.operand_comparisons import between_operands
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundFunction, BoundOperand, columns_of
from evaluator.binding.type_coercion import type_for_text
from evaluator.language import outcome
from evaluator.language.epoch import DAY
from evaluator.language.errors import UnsupportedError
from evaluator.language.function_names import MIRRORED
from evaluator.language.interval import Interval
from evaluator.language.literal import instants_shown
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, TIMESTAMP, TIMESTAMP_LTZ, Kind, Type
from evaluator.statistics.ranges import range_of

__all__ = ["compared_with_clock", "is_range", "may_be_out_of_range"]


def is_range(operand: BoundOperand) -> TypeGuard[BoundConstant]:
    """Whether an operand is a constant of the clock with more than one possible value."""
    return isinstance(operand, BoundConstant) and operand.is_range


def _as_compared(left: BoundOperand, right: BoundOperand, semantics: Semantics) -> tuple[BoundOperand, BoundOperand]:
    """Both sides: a text beside a moment as the moment that it is read as, an instant of the clock in any zone."""
    right = _text_as_read(left.type, right, semantics)
    kinds = (left.type.kind, right.type.kind)
    if kinds[0] is not kinds[1]:
        left, right = (_in_any_zone(side, semantics) for side in (left, right))
    if is_range(right) and semantics.utc_timestamps:
        right = _as_hive_compares(left.type.kind, right, semantics)
    elif is_range(left) and semantics.utc_timestamps:
        left = _as_hive_compares(right.type.kind, left, semantics)
    if kinds[0].is_text == kinds[1].is_text:
        return left, right
    if kinds[1].is_text or isinstance(left, BoundConstant):
        raise UnsupportedError(f"{left.type} compared with {right.type} is not decided")
    read_as = type_for_text(right.type, left.type, semantics)
    if read_as.kind is not right.type.kind:
        raise UnsupportedError(f"{left.type} compared with {right.type} is not decided")
    return BoundFunction("cast", (left,), read_as, semantics), right


def _text_as_read(other: Type, operand: BoundOperand, semantics: Semantics) -> BoundOperand:
    """A text of the clock beside an integer, a date or a wall clock as what it is read as; another operand as it is."""
    if not is_range(operand) or not operand.form:
        return operand
    if other.kind.is_integer and semantics.functions_of_spark:
        return as_read(operand, other, semantics)
    if other != DATE and (other != TIMESTAMP or semantics.moments_as_text):
        return operand
    return as_read(operand, other, semantics)


def _as_hive_compares(other: Kind, moment: BoundConstant, semantics: Semantics) -> BoundConstant:
    """A moment of Hive beside a date or a timestamp of another kind. Hive 2 may compare both as dates."""
    interval, kind = moment.interval, moment.type.kind
    if not interval.is_bounded or not (kind is Kind.DATE or kind.is_timestamp):
        return moment
    lo, hi = interval.lo, interval.hi
    if other is Kind.DATE and kind is Kind.TIMESTAMP and semantics.date_hides_timestamp:
        return _moments(interval, lo // DAY, -(-hi // DAY), DATE)
    if other.is_timestamp and kind is Kind.DATE and semantics.date_hides_timestamp:
        lo, hi, kind = lo * DAY, hi * DAY + DAY - 1, Kind.TIMESTAMP
    if other is Kind.TIMESTAMP_LTZ and kind is Kind.TIMESTAMP:
        return _moments(interval, *instants_shown(lo, hi, semantics), TIMESTAMP_LTZ)
    return moment if kind is moment.type.kind else _moments(interval, lo, hi, TIMESTAMP)


def _moments(interval: Interval, lo: object, hi: object, moment_type: Type) -> BoundConstant:
    return BoundConstant(None, interval.with_bounds(lo, hi), moment_type, True)


def _in_any_zone(operand: BoundOperand, semantics: Semantics) -> BoundOperand:
    if not is_range(operand) or operand.type.kind is not Kind.TIMESTAMP_LTZ or semantics.clock is None:
        return operand
    return BoundConstant(None, semantics.clock.beyond_zone(operand.interval), operand.type, True)


def _folded(operand: BoundOperand) -> BoundOperand:
    """A function without columns as its range; any other operand as it is."""
    if not isinstance(operand, BoundFunction) or columns_of(operand):
        return operand
    return BoundConstant(None, interval_of(operand, {}, ordinal=False), operand.type, True)


def may_be_out_of_range(left: BoundOperand, right: BoundOperand) -> BoundColumn | None:
    """A column of integers on the left that does not hold all that the clock on the right may be; else None."""
    if not (is_range(right) and isinstance(left, BoundColumn) and left.type.kind.is_integer):
        return None
    smallest, largest = left.type.integer_range()
    ends = (right.interval.lo, right.interval.hi)
    return left if any(end is None or not smallest <= end <= largest for end in ends) else None


def compared_with_clock(op: str, left: BoundOperand, right: BoundOperand, semantics: Semantics) -> Test:
    """A comparison with a range of the clock: by its bounds, in the type in which the engine compares."""
    if isinstance(left, BoundConstant) and not isinstance(right, BoundConstant):
        op, left, right = MIRRORED[op], right, left
    if isinstance(left, BoundConstant) and not left.interval.value:
        op, left, right = MIRRORED[op], right, left
    if isinstance(right, BoundConstant) and not right.interval.value:
        return between_constants(op, left, right) if isinstance(left, BoundConstant) else Fixed(outcome.UNKNOWN)
    left, right = _as_compared(left, right, semantics)
    test = between_operands(op, left, right, semantics)
    if isinstance(test, Comparison):
        left, right = _folded(test.left), _folded(test.right)
        test = Comparison(op, left, right)
        if isinstance(left, BoundConstant) and isinstance(right, BoundConstant):
            test = Fixed(int(rules.pack(rules.compare(op, range_of(left.interval), range_of(right.interval)))))
    return test
