"""Ranges of factorial, digits, digests, powers and angles hold every value, and no more where that is promised."""

from __future__ import annotations

import hashlib
import itertools
import math
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

from evaluator.functions import FUNCTIONS
from evaluator.functions.base import Argument
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import NULL, Interval, point
from evaluator.language.types import BIGINT, BINARY, DOUBLE, INT, SMALLINT, STRING, TINYINT, Type, decimal_type
from tests.evaluator.short_forms import HIVE, SPARK

_BITS = 1 << 64

T = TypeVar("T")


def of(name: str, argument: Type, lo: Any, hi: Any, *others: Argument, engine: Any = SPARK) -> Interval:
    arguments = [Argument(argument, Interval(lo, hi, null=False)), *others]
    function = FUNCTIONS[name]
    return function.compute(arguments, function.result([one.type for one in arguments]), engine)


def pairs(ends: Iterable[T]) -> list[tuple[T, T]]:
    return list(itertools.combinations_with_replacement(ends, 2))


def ranges(first: int, last: int) -> list[tuple[int, int]]:
    return pairs(range(first, last + 1))


@pytest.mark.parametrize(("lo", "hi"), ranges(-2, 22))
def test_factorial(lo: int, hi: int) -> None:
    values = [math.factorial(n) if 0 <= n <= 20 else None for n in range(lo, hi + 1)]
    known = of("factorial", INT, lo, hi)
    some = [value for value in values if value is not None]
    assert known.null is (None in values)
    assert known.value is bool(some)
    if some:
        assert (known.lo, known.hi) == (min(some), max(some))


def test_factorial_of_a_half_known_range() -> None:
    assert of("factorial", INT, None, 0) == Interval(1, 1, null=True)
    assert of("factorial", INT, None, None) == Interval(1, math.factorial(20), null=True)
    assert of("factorial", INT, None, 3) == Interval(1, 6, null=True)
    assert of("factorial", INT, 19, None) == Interval(math.factorial(19), math.factorial(20), null=True)


@pytest.mark.parametrize(("name", "form"), [("hex", "{:X}"), ("bin", "{:b}")])
@pytest.mark.parametrize(("lo", "hi"), [*ranges(-3, 18), (-(1 << 63), -1), (0, (1 << 63) - 1), (-1, 0), (255, 256)])
def test_digits(name: str, form: str, lo: int, hi: int) -> None:
    values = [form.format(n % _BITS) for n in (range(lo, hi + 1) if hi - lo < 99 else (lo, lo + 1, hi - 1, hi))]
    known = of(name, BIGINT, lo, hi)
    assert known.lo <= min(values)
    assert max(values) <= known.hi
    if len(values[0]) == len(values[-1]) and (lo < 0) is (hi < 0):
        assert (known.lo, known.hi) == (values[0], values[-1])


def test_digits_of_any_number() -> None:
    assert of("hex", BIGINT, None, None) == Interval("0", "F" * 16, null=False)
    assert of("bin", BIGINT, -1, 0) == Interval("0", "1" * 64, null=False)


@pytest.mark.parametrize(("name", "last"), [("hex", "F" * 16), ("bin", "1" * 64)])
def test_digits_where_no_row_has_a_number(name: str, last: str) -> None:
    known = FUNCTIONS[name].compute([Argument(BIGINT, NULL)], STRING, SPARK)
    assert known == Interval("0", last, null=True, value=False)


def test_hex_of_text_and_of_bytes() -> None:
    assert of("hex", STRING, "a", "b\u00e9") == Interval("61", "62C3A9", null=False)
    assert of("hex", BINARY, b"\x01", b"\xff\x00") == Interval("01", "FF00", null=False)


TEXTS = ["", "\x01", "A", "Ab", "z", "\x7f", "\x80", "\u00e9", "\u20ac"]


@pytest.mark.parametrize(("first", "last"), pairs(range(len(TEXTS))))
def test_ascii(first: int, last: int) -> None:
    lo, hi = TEXTS[first], TEXTS[last]
    values = [ord(text[0]) if text else 0 for text in TEXTS[first : last + 1]]
    in_spark, in_hive = (of("ascii", STRING, lo, hi, engine=engine) for engine in (SPARK, HIVE))
    if max(values) <= 127:
        assert (in_spark.lo, in_spark.hi) == (in_hive.lo, in_hive.hi) == (min(values), max(values))
    else:  # Hive gives a byte of such a letter
        assert (in_hive.lo, in_hive.hi) == (None, None)
        assert (in_spark.lo, in_spark.hi) == ((values[0], values[0]) if lo == hi else (None, None))


@pytest.mark.parametrize("engine", [SPARK, HIVE], ids=["spark", "hive"])
def test_ascii_of_a_half_known_range(engine: Any) -> None:
    assert of("ascii", STRING, None, "b", engine=engine) == Interval(None, 98, null=False)
    assert of("ascii", STRING, "b", None, engine=engine) == Interval(None, None, null=False)


@pytest.mark.parametrize("name", ["md5", "sha1"])
def test_digests_of_one_value_and_of_several(name: str) -> None:
    made_by = hashlib.new(name, b"abc")
    assert of(name, STRING, "abc", "abc") == of(name, BINARY, b"abc", b"abc") == point(made_by.hexdigest())
    digits = made_by.digest_size * 2
    for lo, hi in (("abc", "abd"), ("abc", None), (None, None), ("\ud800", "\ud800")):
        assert of(name, STRING, lo, hi) == Interval("0" * digits, "f" * digits, null=False)


def test_check_sums_of_one_value_and_of_several() -> None:
    assert of("crc32", STRING, "abc", "abc") == of("crc32", BINARY, b"abc", b"abc") == point(891568578)
    for lo, hi in (("abc", "abd"), ("abc", None), (None, None), ("\ud800", "\ud800")):
        assert of("crc32", STRING, lo, hi) == Interval(0, (1 << 32) - 1, null=False)


@pytest.mark.parametrize("of_length", [STRING, DOUBLE, BIGINT, decimal_type(4, 1)], ids=str)
def test_digests_of_a_length_that_engines_cast_are_not_decided(of_length: Type) -> None:
    """Spark has a digest for ``sha2(x, '256')``, ``sha2(x, 256.5)`` and 4294967552, which is 256 as an INT."""
    assert [FUNCTIONS["sha2"].result([STRING, known]) for known in (TINYINT, SMALLINT, INT)] == [STRING] * 3
    with pytest.raises(UnsupportedError, match="a length that is no INT"):
        FUNCTIONS["sha2"].result([STRING, of_length])


@pytest.mark.parametrize("bits", [0, 224, 256, 384, 512])
def test_sha2_of_every_length(bits: int) -> None:
    made_by = hashlib.new(f"sha{bits or 256}", b"abc")
    length = Argument(INT, point(bits))
    assert of("sha2", STRING, "abc", "abc", length) == point(made_by.hexdigest())
    digits = made_by.digest_size * 2
    assert of("sha2", BINARY, b"abc", b"abd", length) == Interval("0" * digits, "f" * digits, null=False)


@pytest.mark.parametrize("bits", [1, 225, 385, 513])
def test_sha2_of_another_length_is_null(bits: int) -> None:
    assert of("sha2", STRING, "abc", "abc", Argument(INT, point(bits))) == Interval(null=True, value=False)


CURVES: dict[str, Callable[[float], float]] = {
    name: getattr(math, name) for name in ("sin", "cos", "asin", "acos", "atan", "tanh", "degrees", "radians")
}
ANGLES = [-1.0, -0.5, -0.0, 0.25, 1.0]
LARGEST = sys.float_info.max


def widened(values: Iterable[float], units: int) -> Interval:
    """From the least to the greatest value, and so many doubles further."""
    lo, hi = min(values := list(values)), max(values)
    for _ in range(units):
        lo, hi = math.nextafter(lo, -math.inf), math.nextafter(hi, math.inf)
    return Interval(lo, hi, null=False)


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize(("lo", "hi"), pairs(ANGLES))
def test_angles(name: str, lo: float, hi: float) -> None:
    """Of a range the values of its ends, widened; but sine and cosine of several angles may be any."""
    known = of(name, DOUBLE, lo, hi)
    if name in ("sin", "cos") and lo != hi:
        assert known == Interval(-1.0, 1.0, null=False)
    else:
        assert known == widened([CURVES[name](lo), CURVES[name](hi)], 4)
    values = [CURVES[name](lo + (hi - lo) * step / 16) for step in range(17)]
    assert known.lo <= min(values)
    assert max(values) <= known.hi


@pytest.mark.parametrize("name", ["atan", "tanh", "radians"])
def test_angles_of_any_size(name: str) -> None:
    assert of(name, DOUBLE, -LARGEST, LARGEST) == widened([CURVES[name](-LARGEST), CURVES[name](LARGEST)], 4)


def test_degrees_are_known_where_180_of_them_are_finite() -> None:
    """``toDegrees`` of Java 8 is ``angle * 180.0 / PI``."""
    largest = LARGEST / 180
    assert math.isfinite(largest * 180.0)
    assert of("degrees", DOUBLE, -largest, largest) == widened([math.degrees(-largest), math.degrees(largest)], 4)
    above = math.nextafter(largest, math.inf)
    assert math.isinf(above * 180.0)
    assert math.isfinite(math.degrees(above))
    assert of("degrees", DOUBLE, 0.0, above) == of("degrees", DOUBLE, -above, 0.0) == Interval(null=True)


@pytest.mark.parametrize(("lo", "hi"), pairs([-27.0, -8.0, -1e-300, 0.0, 1.0, 1e300]))
def test_cube_roots(lo: float, hi: float) -> None:
    """They may be off by 1e-13 of their size."""
    known = of("cbrt", DOUBLE, lo, hi)
    roots = {-27.0: -3.0, -8.0: -2.0, -1e-300: -1e-100, 0.0: 0.0, 1.0: 1.0, 1e300: 1e100}
    for end, root, outwards in ((known.lo, roots[lo], -1), (known.hi, roots[hi], 1)):
        off = (end - root) * outwards
        assert 0.8e-13 * abs(root) < off < 1.2e-13 * abs(root) or root == 0.0 < off < 1e-300


@pytest.mark.parametrize("name", [*CURVES, "cbrt", "pow"])
@pytest.mark.parametrize(
    ("lo", "hi"), [(None, None), (0.0, None), (None, 0.0), (-math.inf, 0.0), (0.0, math.inf), (math.inf, math.inf)]
)
def test_curves_of_a_number_that_is_not_known_are_open(name: str, lo: float | None, hi: float | None) -> None:
    others = [Argument(DOUBLE, point(2.0))] * (name == "pow")
    assert of(name, DOUBLE, lo, hi, *others) == Interval(null=True)


@pytest.mark.parametrize("name", [*CURVES, "cbrt", "pow"])
def test_wide_decimals_that_hive_may_lose_have_no_curve(name: str) -> None:
    wide = decimal_type(38, 0)
    others = [Argument(INT, point(2))] * (name == "pow")
    assert of(name, wide, 1, 1, *others, engine=HIVE) == Interval(null=True)
    assert of(name, wide, 1, 1, *others).is_bounded


def test_a_power_of_a_wide_decimal_that_hive_may_lose_is_open() -> None:
    exponent = Argument(decimal_type(38, 0), point(2))
    assert of("pow", DOUBLE, 1.5, 1.5, exponent, engine=HIVE) == Interval(null=True)
    assert of("pow", DOUBLE, 1.5, 1.5, exponent) == widened([2.25], 6)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_result_beside_the_largest_number_may_be_infinite(sign: float) -> None:
    one = Argument(DOUBLE, point(1.0))
    assert of("pow", DOUBLE, *sorted([0.0, sign * LARGEST]), one) == Interval(null=True)
    assert of("pow", DOUBLE, sign * LARGEST, sign * LARGEST, one) == Interval(null=True)
    assert of("pow", DOUBLE, *sorted([0.0, sign * LARGEST / 2]), one) == widened([0.0, sign * LARGEST / 2], 5)


@pytest.mark.parametrize("n", [2.0, -2.0])
def test_a_power_beyond_the_largest_number_is_open(n: float) -> None:
    ends = (1.0, 1e300) if n > 0 else (1e-300, 1.0)
    assert of("pow", DOUBLE, *ends, Argument(DOUBLE, point(n))) == Interval(null=True)


@pytest.mark.parametrize(
    ("name", "types"),
    [("pow", [STRING, DOUBLE]), ("pow", [DOUBLE, STRING]), ("sin", [STRING]), ("factorial", [BIGINT])],
)
def test_curves_of_other_types_are_not_decided(name: str, types: list[Type]) -> None:
    with pytest.raises(UnsupportedError, match="is not decided"):
        FUNCTIONS[name].result(types)


@pytest.mark.parametrize("name", ["asin", "acos"])
@pytest.mark.parametrize(("lo", "hi"), [(-1.5, 0.0), (0.0, 1.5), (-2.0, 2.0)])
def test_angles_outside_of_the_domain_are_open(name: str, lo: float, hi: float) -> None:
    assert of(name, DOUBLE, lo, hi) == Interval(null=True)


POWERS = pairs([-3.0, -1.0, 0.0, 0.5, 4.0])


@pytest.mark.parametrize("n", [0.0, 1.0, 2.0, 3.0, 10.0])
@pytest.mark.parametrize(("lo", "hi"), POWERS)
def test_whole_powers(n: float, lo: float, hi: float) -> None:
    known = of("pow", DOUBLE, lo, hi, Argument(DOUBLE, point(n)))
    values = [math.pow(lo + (hi - lo) * step / 16, n) for step in range(17)]
    values += [0.0**n] * (lo <= 0.0 <= hi)
    assert known == widened(values, 4 + int(n))


@pytest.mark.parametrize("n", [-2.0, -0.5, 0.5, 1.5])
@pytest.mark.parametrize(("lo", "hi"), POWERS)
def test_other_powers_need_a_number_above_zero(n: float, lo: float, hi: float) -> None:
    known = of("pow", DOUBLE, lo, hi, Argument(DOUBLE, point(n)))
    if lo <= 0.0:
        assert known == Interval(null=True)
    else:
        assert known == widened([math.pow(lo, n), math.pow(hi, n)], 4 + math.ceil(abs(n)))


def test_the_error_of_a_power_grows_with_it() -> None:
    for n in (-1_000.0, 1_000.0):
        assert of("pow", DOUBLE, 1.5, 1.5, Argument(DOUBLE, point(n))) == widened([math.pow(1.5, n)], 1_004)
    for n in (-1_000.5, 1_000.5, math.inf):
        assert of("pow", DOUBLE, 1.0, 1.5, Argument(DOUBLE, point(n))) == Interval(null=True)
