"""Text functions over intervals.

function                on ['banana', 'cherry']
----------------------  -------------------------------------------------------------------------------------
substr(c, 1, 3), left   ['ban', 'che']: a prefix of a smaller text is not greater
upper, lower            do not keep the order: bounds character by character (``letter_case``)
concat(c, '!')          at least 'banana'; at most the greatest prefix of 'cherry' followed by '!'
initcap                 nothing is known; which texts become a constant is (``binding.letter_preimages``)
length                  at least 0; exact where the slice has one text
hex                     keeps the order of texts and of bytes
trim, ltrim, rtrim      at most 'cherry'; at least 'banana', as no text of this range begins with a space
substr(c, 2)            known where all texts have the same first character
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.functions.base import Argument, RangeFunction, constant_of, count_of, monotone, strict
from evaluator.functions.letter_case import LOWER, UPPER, LetterCase
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.semantics import Semantics
from evaluator.language.text_order import common_prefix_length
from evaluator.language.types import INT, STRING, Kind, Type

__all__ = ["FUNCTIONS", "before_first", "joined"]


def _text_type(types: Sequence[Type]) -> Type:
    if any(t.kind not in (Kind.STRING, Kind.VARCHAR) for t in types[:1]):
        raise UnsupportedError(f"a text function over {types[0]} is not decided")
    return STRING


def _concat_type(types: Sequence[Type]) -> Type:
    if not types or any(t.kind not in (Kind.STRING, Kind.VARCHAR) for t in types):
        raise UnsupportedError("concat of anything but strings is not decided")
    return STRING


def _length_type(types: Sequence[Type]) -> Type:
    _text_type(types)
    return INT


def _case(letters: LetterCase) -> RangeFunction:
    """lower or upper."""

    def compute(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
        x = arguments[0].interval
        if x.lo is None and x.hi is None:
            return strict(arguments)
        return strict(arguments, *letters.bounds(x.lo or "", x.hi))

    return RangeFunction(_text_type, compute)


def _unbounded(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    return strict(arguments)


def _first_characters(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    """left(c, n)."""
    length = count_of(arguments[1], "a length")
    return monotone(arguments[0], lambda text: text[: max(length, 0)])


def _substring(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    """substr(c, p[, n]), counted from 1. It is monotone where all texts are the same before p."""
    x = arguments[0].interval
    start = count_of(arguments[1], "a position")
    length = count_of(arguments[2], "a length") if len(arguments) == 3 else None
    if length is not None and length < 0:
        return strict(arguments, "", "")
    if start in (0, 1):
        return monotone(arguments[0], lambda text: text[:length])
    if start > 1 and x.is_bounded and not x.is_point and common_prefix_length(x.lo, x.hi) >= start - 1:
        rest = Argument(STRING, x.with_bounds(x.lo[start - 1 :], x.hi[start - 1 :]))
        return monotone(rest, lambda text: text[:length])
    if not x.is_point or -start > len(x.lo):
        return strict(arguments)
    begin = start - 1 if start > 0 else len(x.lo) + start
    text = x.lo[begin:] if length is None else x.lo[begin : begin + length]
    return strict(arguments, text, text)


def joined(a: Argument, b: Argument) -> Argument:
    """a || b is at least a.lo || b.lo where a is one value, and at most some prefix of a.hi followed by b.hi."""
    x, y = a.interval, b.interval
    if x.is_point:
        lo = x.lo + (y.lo or "")
        hi = None if y.hi is None else x.lo + y.hi
    else:
        lo = x.lo
        hi = None
        if x.hi is not None and y.hi is not None and len(x.hi) <= 256:
            hi = _greatest_joined(x.hi, y.hi)
    return Argument(STRING, strict([a, b], lo, hi))


def _greatest_joined(text: str, rest: str) -> str:
    """The greatest of all prefixes of a text, each with the rest behind it.

    It ends before the first character that is below the rest's first, or at a place before that where such characters
    begin as the rest begins with: at the first of several that are alike, if an earlier end makes it greater.
    """
    first = rest[:1]
    is_greater_early = rest > first + rest
    if not is_greater_early and min(text, default=first) >= first:
        return text + rest
    ends, before = [], ""
    for place, character in enumerate(text):
        if character < first:
            ends.append(place)
            break
        if is_greater_early and character == first != before:
            ends.append(place)
        before = character
    else:
        ends.append(len(text))
    return max(text[:end] + rest for end in ends)


def _concat(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    whole = arguments[0]
    for argument in arguments[1:]:
        whole = joined(whole, argument)
    return whole.interval


def _repeat(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    """repeat(text, n) of one text: 'b' is less than 'ba', and 'bb' is not less than 'baba'."""
    text, count = arguments[0].interval, count_of(arguments[1], "a count")
    if not text.is_point:
        return strict(arguments)
    if len(text.lo) * count > 1 << 20:
        raise UnsupportedError("repeat beyond 1 MiB is not decided")
    return strict(arguments, text.lo * max(count, 0), text.lo * max(count, 0))


def _substring_index(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    """substring_index(c, d, 1)."""
    separator, count = constant_of(arguments[1], "a separator"), constant_of(arguments[2], "a count")
    if not (isinstance(separator, str) and separator and count == 1):
        raise UnsupportedError("substring_index of this separator or count is not decided")
    return before_first(arguments[0], separator)


def before_first(argument: Argument, separator: str) -> Interval:
    """What stands before the first separator in a text, or the whole text.

    It is a prefix of the text, so at most the text. Unless it is a prefix of the lower bound, it is greater than that;
    and it is one only where the prefix and the separator begin a text of the range.
    """
    x = argument.interval
    if x.is_point:
        part = x.lo.partition(separator)[0]
        return strict([argument], part, part)
    if x.lo is None:
        return strict([argument], None, x.hi)
    starts = (x.lo[:end] for end in range(len(x.lo)) if separator >= x.lo[end : end + len(separator)])
    least = next((start for start in starts if x.hi is None or start + separator <= x.hi), x.lo)
    return strict([argument], least, x.hi)


def _length(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
    x = arguments[0].interval
    return strict(arguments, len(x.lo), len(x.lo)) if x.is_point else strict(arguments, 0)


def _trimmed(*, left: bool, right: bool) -> RangeFunction:
    """trim, ltrim, rtrim of spaces.

    At the end: rtrim(x) is a prefix of x, so at most x. It is at least rtrim(p) for a prefix p of the lower bound that
    has no character below the space: a text that is less than rtrim(p) stays so with spaces behind it.
    At the start: in a range that begins above the space no text begins with one.
    """

    def trim(text: str) -> str:
        text = text.lstrip(" ") if left else text
        return text.rstrip(" ") if right else text

    def compute(arguments: Sequence[Argument], _: Type, __: Semantics) -> Interval:
        if len(arguments) != 1:
            raise UnsupportedError("trimming other characters than spaces is not decided")
        x = arguments[0].interval
        if x.is_point:
            return strict(arguments, trim(x.lo), trim(x.lo))
        if x.lo is None or (left and x.lo[:1] <= " "):
            return strict(arguments)
        if not right:
            return x
        plain = next((x.lo[:end] for end, char in enumerate(x.lo) if char < " "), x.lo)
        return strict(arguments, plain.rstrip(" "), x.hi)

    return RangeFunction(_text_type, compute)


FUNCTIONS = {
    "lower": _case(LOWER),
    "upper": _case(UPPER),
    "initcap": RangeFunction(_text_type, _unbounded),
    "left": RangeFunction(_text_type, _first_characters),
    "substring": RangeFunction(_text_type, _substring),
    "concat": RangeFunction(_concat_type, _concat),
    "trim": _trimmed(left=True, right=True),
    "ltrim": _trimmed(left=True, right=False),
    "rtrim": _trimmed(left=False, right=True),
    "substring_index": RangeFunction(_text_type, _substring_index),
    "repeat": RangeFunction(_text_type, _repeat),
    "length": RangeFunction(_length_type, _length),
}
