"""Where a text column has to lie for its texts to be read as a given number: ``zip = 94105``, ``CAST(s AS INT) = 5``.

The order of texts is not that of the numbers that they denote, but a text that is read as 94105 begins like one:

    s = 94105 (as integers)    s begins with 94105, or with 9, 94, 941 or 9410 and a point (9.4105e4),
                               or with a blank, a sign, a point or a 0, or beyond ASCII
    s = 500                    s begins with 500, or with 5 or 50 and no digit behind (5e2)
    s = -5                     s begins with a blank or a sign, or beyond ASCII
    s BETWEEN 940 AND 955      s begins with 94 or 95, or with 9 and a point, or as above
    s IN (940, 5)              s begins like one of them

A text that begins with another digit has other leading digits, whatever its exponent. Doubles and decimals are rounded
as they are read, so their texts may also begin like the numbers just below. Zero has texts of any digits (``1e-999``).
One bound alone says nothing: '9405' is more than 955, and lies between '940' and '955'.

This is ANDed to the comparison, and NULL where the column lies elsewhere: there the comparison is FALSE, or NULL as the
text is no number, and both stay what they are. So it applies where such a text is NULL, not an error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise, takewhile
from typing import Any

from evaluator.binding.leaves import Comparison, IntervalSets, Membership, Test
from evaluator.binding.operands import BoundColumn, BoundConstant, BoundFunction, BoundOperand
from evaluator.binding.text_pieces import pieces_outside, text_piece
from evaluator.language import outcome
from evaluator.language.types import Kind, Type

__all__ = ["implied_by_number", "implied_by_numbers"]

#: No text is looked for that is read as such a number, nor as infinity or NaN.
_TOO_LARGE = 10**300
#: Longer lists are left as they are.
_MAX_MEMBERS = 64
#: More ranges than these are joined, those first whose ends begin alike.
_MAX_RANGES = 24
#: Leading digits that are compared.
_DIGITS = 17
#: More than what reading a text rounds by, as a share of the number, and the least number for which it is.
_ROUNDING = {
    Kind.FLOAT: (Fraction(1, 10**6), Fraction(1, 10**30)),
    Kind.DOUBLE: (Fraction(1, 10**9), Fraction(1, 10**300)),
}
#: Blanks, signs, the point and 0 are below this text, all digits of other scripts from this one on.
_FIRST_DIGIT, _BEYOND_ASCII = "1", "\x7f"
_PLAIN = (Kind.STRING, Kind.VARCHAR)


def implied_by_number(test: Test) -> IntervalSets | None:
    """A condition on a text column that holds wherever it is read as the number of a test; None for other tests."""
    match test:
        case Comparison(op="=" | "<=>", left=operand, right=BoundConstant() as constant) if _is_number(constant):
            return _implied(operand, [(constant.interval.lo, constant.interval.lo)])
        case Membership(operand=operand, members=members) if 0 < len(members.values) <= _MAX_MEMBERS:
            return _implied(operand, [(value, value) for value in members.values])
        case _:
            return None


def implied_by_numbers(lower: Test, upper: Test) -> IntervalSets | None:
    """The same of a number that is not less than one constant, and not greater than another one."""
    match lower, upper:
        case (
            Comparison(op=">=" | ">", left=operand, right=BoundConstant() as least),
            Comparison(op="<=" | "<", left=other, right=BoundConstant() as most),
        ) if operand == other and _is_number(least) and _is_number(most):
            return _implied(operand, [(least.interval.lo, most.interval.lo)])
        case _:
            return None


def _is_number(constant: BoundConstant) -> bool:
    return constant.interval.is_point and not constant.interval.null


def _implied(operand: BoundOperand, numbers: Sequence[tuple[Any, Any]]) -> IntervalSets | None:
    """What it implies that the operand lies between the two ends of one of these."""
    match operand:
        case BoundFunction(function="cast", arguments=(BoundColumn() as column,), type=target) if (
            operand.semantics.unreadable_rows_are_null
            and column.field.type.kind in _PLAIN
            and column.type == column.field.type
            and target.kind.is_number
            and all(abs(end) < _TOO_LARGE for ends in numbers for end in ends)
        ):
            found = [_ranges(Fraction(least), Fraction(most), target) for least, most in numbers]
        case _:
            return None
    if not all(found):
        return None
    ranges = _joined(list(_merged({piece for one in found for piece in one})))
    inside = [
        text_piece(None, ranges[0][1]),
        *(text_piece(*one) for one in ranges[1:]),
        text_piece(_BEYOND_ASCII, None),
    ]
    *outside, _ = list(pieces_outside(ranges))[1:]
    outside.append(text_piece(max(hi for _, hi in ranges), _BEYOND_ASCII))
    return IntervalSets(column, tuple(inside), (), tuple(outside), outcome.NULL)


def _ranges(least: Fraction, most: Fraction, target: Type) -> list[tuple[str, str]]:
    """The ASCII texts that may be read as a number, the empty text among them; or none."""
    if most < 0:
        return [("", "0")]
    if most >= 10 * least > 0:
        return []  # with any digit first
    windows = list(_windows(least, most, target))
    if least < most:
        windows = [part for window in windows for part in _parts(*window)]
    starts = [_leading_digits(lo, hi) for lo, hi in windows]
    if not windows or not all(starts):
        return []
    return [("", _FIRST_DIGIT), *(piece for start in starts for piece in _beginning_with(start, target))]


def _merged(pieces: set[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Ranges that meet, as one."""
    (lo, end), *others = sorted(pieces)
    for start, stop in others:
        if start <= end:
            end = max(end, stop)
            continue
        yield lo, end
        lo, end = start, stop
    yield lo, end


def _joined(ranges: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The ranges, and what lies between some of them where they are many."""

    def likeness(number: int) -> int:
        return len(_common_start(ranges[number - 1][1], ranges[number][0]))

    apart = sorted(range(1, len(ranges)), key=likeness)[: _MAX_RANGES - 1]
    starts = [0, *sorted(apart)]
    return [(ranges[first][0], ranges[last - 1][1]) for first, last in pairwise([*starts, len(ranges)])]


def _windows(least: Fraction, most: Fraction, target: Type) -> Iterator[tuple[Fraction, Fraction]]:
    """What texts of positive numbers denote: from the first number on, and below the second."""
    if target.kind.is_integer:
        if least > 0 and most >= least:
            yield least, most + 1  # the digits behind the point are cut off
        return
    if target.kind is Kind.DECIMAL:
        margins = [Fraction(1, 10**target.scale)] * 2
        smallest = margins[0]
    else:
        share, smallest = _ROUNDING[target.kind]
        margins = [least * share, most * share]
    if smallest <= least <= most:
        yield least - margins[0], least
        yield least, most + 2 * margins[1]


def _parts(lo: Fraction, hi: Fraction) -> Iterator[tuple[Fraction, Fraction]]:
    """A window cut where numbers get one more digit, and there at round numbers: some ten parts for each length."""
    while lo < hi:
        end = min(hi, Fraction(10) ** (_exponent(lo) + 1))
        unit = Fraction(10) ** _exponent(end - lo)
        while lo < end:
            part = min(end, (lo // unit + 1) * unit)
            yield lo, part
            lo = part


def _exponent(number: Fraction) -> int:
    """The greatest power of ten that is not more than a positive number."""
    exponent = len(str(number.numerator)) - len(str(number.denominator))  # or one too high
    return exponent - 1 if Fraction(10) ** exponent > number else exponent


def _leading_digits(lo: Fraction, hi: Fraction) -> str:
    """The digits with which all numbers from lo on and below hi begin."""
    unit = Fraction(10) ** (_exponent(lo) - _DIGITS + 1)
    first, last = str(math.floor(lo / unit)), str(math.ceil(hi / unit) - 1)
    if len(first) != len(last):
        return ""
    return _common_start(first, last)


def _common_start(a: str, b: str) -> str:
    return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def _beginning_with(digits: str, target: Type) -> Iterator[tuple[str, str]]:
    """Texts that begin with these digits, or with fewer of them and a point, or with all of them but zeros.

    Only ``BigDecimal`` reads digits of other scripts behind those of ASCII.
    """
    yield digits, _after(digits)
    for count in range(1, len(digits)):
        start = digits[:count]
        yield start, start + "0"
        if target.kind is Kind.DECIMAL or not digits[count:].strip("0"):
            yield start + ":", _after(start)


def _after(digits: str) -> str:
    return digits[:-1] + chr(ord(digits[-1]) + 1)
