"""Ranges of factorial, digits, digests, powers and angles hold every value, and no more where that is promised."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import pytest

from evaluator.functions import FUNCTIONS
from evaluator.functions.base import Argument
from evaluator.language.interval import UNKNOWN, Interval, point
from evaluator.language.types import BIGINT, BINARY, DOUBLE, INT, STRING, Type
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


@pytest.mark.parametrize("name", CURVES)
@pytest.mark.parametrize(("lo", "hi"), pairs(ANGLES))
def test_angles(name: str, lo: float, hi: float) -> None:
    known = of(name, DOUBLE, lo, hi)
    values = [CURVES[name](lo + (hi - lo) * step / 16) for step in range(17)]
    assert known.lo < min(values) or (known.lo == -1.0 and name in ("sin", "cos"))
    assert max(values) < known.hi or (known.hi == 1.0 and name in ("sin", "cos"))
    assert lo != hi or known.hi - known.lo < 1e-13


@pytest.mark.parametrize("name", [*CURVES, "cbrt"])
def test_curves_of_an_unknown_number_may_be_null(name: str) -> None:
    known = FUNCTIONS[name].compute([Argument(DOUBLE, UNKNOWN)], DOUBLE, SPARK)
    assert (known.lo, known.hi, known.null) == (None, None, True)


@pytest.mark.parametrize("name", ["asin", "acos"])
@pytest.mark.parametrize(("lo", "hi"), [(-1.5, 0.0), (0.0, 1.5), (-2.0, 2.0)])
def test_angles_outside_of_the_domain_are_open(name: str, lo: float, hi: float) -> None:
    assert of(name, DOUBLE, lo, hi) == Interval(null=True)


@pytest.mark.parametrize("n", [0.0, 1.0, 2.0, 3.0, 10.0])
@pytest.mark.parametrize(("lo", "hi"), pairs([-3.0, -1.0, 0.0, 0.5, 4.0]))
def test_whole_powers(n: float, lo: float, hi: float) -> None:
    known = of("pow", DOUBLE, lo, hi, Argument(DOUBLE, point(n)))
    values = [math.pow(lo + (hi - lo) * step / 16, n) for step in range(17)]
    values += [0.0**n] * (lo <= 0.0 <= hi)
    assert known.lo < min(values)
    assert max(values) < known.hi


@pytest.mark.parametrize("n", [-2.0, -0.5, 0.5, 1.5])
@pytest.mark.parametrize(("lo", "hi"), pairs([-3.0, -1.0, 0.0, 0.5, 4.0]))
def test_other_powers_need_a_number_above_zero(n: float, lo: float, hi: float) -> None:
    known = of("pow", DOUBLE, lo, hi, Argument(DOUBLE, point(n)))
    if lo <= 0.0:
        assert known == Interval(null=True)
    else:
        values = [math.pow(lo + (hi - lo) * step / 16, n) for step in range(17)]
        assert known.lo < min(values) <= max(values) < known.hi


def test_the_error_of_a_power_grows_with_it() -> None:
    exact = math.pow(1.5, 1_000.0)
    known = of("pow", DOUBLE, 1.5, 1.5, Argument(DOUBLE, point(1_000.0)))
    assert known.lo < exact - 900 * math.ulp(exact) < exact + 900 * math.ulp(exact) < known.hi
    assert of("pow", DOUBLE, 1.0, 1.5, Argument(DOUBLE, point(1_000.5))) == Interval(null=True)
