"""Digests, numbers as text, powers and angles, and months between two days.

The digests and numbers of Hive are those that its classes gave (2.3.10 and 4.0.1); those of Spark are in
``tests/handler/spark``.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.functions import FUNCTIONS
from evaluator.functions.base import Argument
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval, point
from evaluator.language.semantics import Semantics
from evaluator.language.types import (
    BIGINT,
    BINARY,
    DATE,
    DOUBLE,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    Type,
    decimal_type,
)
from evaluator.reference.row_functions import call
from handler.sql.parsing import parse
from tests.evaluator.short_forms import HIVE, SPARK, outcome_of, stats
from tests.sampling import examples

ENGINES = pytest.mark.parametrize("engine", [SPARK, HIVE, Semantics.named("hive4", "UTC")], ids=["spark", "hive", "h4"])
MD5_ABC = "900150983cd24fb0d6963f7d28e17f72"
DAY_MICROS = 86_400_000_000

CASES = [
    (f"md5(x) = '{MD5_ABC}'", STRING, ("abc", "abc"), "T"),
    ("md5(x) = 'x'", STRING, ("abc", "abd"), "F"),
    (f"md5(x) = '{MD5_ABC}'", STRING, ("abc", "abd"), "TF"),
    ("md5(x) > 'g'", STRING, (None, None), "F"),
    ("md5(x) = '66ddcd97cfdeabb2f6fb8a999b4bc76f'", STRING, ("\u00e9", "\u00e9"), "T"),
    ("md5(x) = '0cb988d042a7f28dd5fe2b55b3f5ac7a'", BINARY, (b"\1\2", b"\1\2"), "T"),
    ("sha1(x) = 'a9993e364706816aba3e25717850c26c9cd0d89d'", STRING, ("abc", "abc"), "T"),
    ("sha(x) > 'g'", STRING, ("abc", "abd"), "F"),
    ("sha2(x, 224) = '23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7'", STRING, ("abc", "abc"), "T"),
    ("sha2(x, 0) < '0'", STRING, ("abc", "abd"), "F"),
    ("sha2(x, 300) = 'a'", STRING, ("abc", "abd"), "N"),
    ("crc32(x) = 891568578", STRING, ("abc", "abc"), "T"),
    ("crc32(x) = 235179326", STRING, ("\u00e9", "\u00e9"), "T"),
    ("crc32(x) < 0", STRING, ("abc", "abd"), "F"),
    ("crc32(x) > 4294967295", STRING, (None, None), "F"),
    ("hex(x) = 'FF'", INT, (255, 255), "T"),
    ("hex(x) = 'FFFFFFFFFFFFFFFF'", INT, (-1, -1), "T"),
    ("hex(x) > '1F'", INT, (16, 31), "F"),
    ("hex(x) > '1F'", INT, (9, 31), "TF"),
    ("hex(x) > 'FFFFFFFFFFFFFFFF'", INT, (-9, 31), "F"),
    ("hex(x) < '0'", INT, (-9, 31), "F"),
    ("bin(x) = '101'", INT, (5, 5), "T"),
    ("bin(x) = '2'", INT, (5, 9), "F"),
    ("bin(x) > '111'", INT, (4, 7), "F"),
    ("ascii(x) = 97", STRING, ("abc", "abd"), "T"),
    ("ascii(x) > 99", STRING, ("ab", "cz"), "F"),
    ("ascii(x) = 0", STRING, ("", ""), "T"),
    ("ascii(x) < 0", STRING, ("", "z"), "F"),
    ("ascii(x) > 200", STRING, ("a", "\u00e9"), "TF"),
    ("ascii(x) = 5", STRING, ("a", None), "TF"),
    ("pow(x, 2) > 9.001", DOUBLE, (-3.0, 2.0), "F"),
    ("pow(x, 2) < 0.0", DOUBLE, (-3.0, 2.0), "TF"),
    ("pow(x, 2) < -0.01", DOUBLE, (-3.0, 2.0), "F"),
    ("power(x, 3) > 8.001", INT, (-3, 2), "F"),
    ("pow(x, 0.5) > 2.001", DOUBLE, (1.0, 4.0), "F"),
    ("pow(x, 0.5) > 2.001", DOUBLE, (-1.0, 4.0), "TFN"),
    ("pow(x, -1) > 1.001", DOUBLE, (1.0, 4.0), "F"),
    ("pow(x, -1) > 1.001", DOUBLE, (0.0, 4.0), "TFN"),
    ("pow(x, 2) > 1.001", DOUBLE, (0.0, 1e300), "TFN"),
    ("pow(x, 2000) > 5.0", DOUBLE, (1.0, 1.0), "TFN"),
    ("pow(2, x) > 5.0", INT, (1, 2), "TFN"),
    ("cbrt(x) > 3.001", DOUBLE, (-8.0, 27.0), "F"),
    ("cbrt(x) < -2.001", DOUBLE, (-8.0, 27.0), "F"),
    ("sin(x) > 1", DOUBLE, (0.0, 9.0), "F"),
    ("sin(x) > 0.9", DOUBLE, (1.0, 1.0), "F"),
    ("cos(x) < -1", INT, (0, 9), "F"),
    ("asin(x) > 1.58", DOUBLE, (0.0, 1.0), "F"),
    ("asin(x) > 1.58", DOUBLE, (0.0, 1.1), "TFN"),
    ("acos(x) > 1.58", DOUBLE, (0.0, 1.0), "F"),
    ("atan(x) > 0.79", DOUBLE, (-9.0, 1.0), "F"),
    ("tanh(x) > 1", DOUBLE, (-9.0, 1.0), "F"),
    ("degrees(x) > 58", DOUBLE, (0.0, 1.0), "F"),
    ("radians(x) > 3.15", DOUBLE, (0.0, 180.0), "F"),
    ("degrees(x) > 58", DOUBLE, (0.0, 1e308), "TFN"),
    ("factorial(x) > 24", INT, (-3, 4), "FN"),
    ("factorial(x) > 24", INT, (1, 4), "F"),
    ("factorial(x) = 1", INT, (21, 40), "N"),
    ("factorial(x) < 6", INT, (3, None), "FN"),
    ("months_between(x, DATE '2020-01-01') > 15", DATE, (18628, 18659), "F"),
    ("months_between(DATE '2022-01-01', x) > 13", DATE, (18628, 18659), "F"),
    ("months_between(x, DATE '2020-01-01') > 12", DATE, (18628, 18659), "TF"),
    ("months_between(x, DATE '2020-01-01') > 15", DATE, (18628, None), "TFN"),
    ("months_between(x, DATE '1500-01-01') > 1", DATE, (18628, 18659), "TFN"),
    ("months_between('2020-01-01', x) > 99", STRING, ("2020-01-01", "2020-01-01"), "TFN"),
    ("repeat(x, 2) = 'abab'", STRING, ("ab", "ab"), "T"),
    ("repeat(x, 2) = 'abab'", STRING, ("ab", "ac"), "TF"),
]


@ENGINES
@pytest.mark.parametrize(("text", "of", "ends", "expected"), CASES, ids=lambda value: str(value))
def test_what_a_range_says_of_a_function(
    text: str, of: Type, ends: tuple[object, object], expected: str, engine: Semantics
) -> None:
    assert outcome_of(parse(text, "spark"), {"x": stats(of, *ends)}, engine) == expected


@ENGINES
@pytest.mark.parametrize(
    ("text", "ends", "expected"),
    [
        ("next_day(x, 'MON') = DATE '2020-01-06'", (18262, 18266), "T"),
        ("next_day(x, 'mo') > DATE '2020-01-13'", (18262, 18269), "F"),
        ("next_day(x, 'Sunday') < DATE '2020-01-05'", (18262, 18269), "F"),
        ("next_day(x, 'xx') < DATE '2020-01-05'", (18262, 18269), "TFN"),
        ("next_day(x, 'MON') < DATE '2020-01-05'", (18262, None), "TFN"),
    ],
)
def test_what_a_range_says_of_the_next_weekday(
    text: str, ends: tuple[int, int | None], expected: str, engine: Semantics
) -> None:
    assert outcome_of(parse(text, "spark"), {"x": stats(DATE, *ends)}, engine) == expected


@pytest.mark.parametrize(
    ("text", "in_spark", "in_hive"),
    [
        ("last_day(x) = '2020-02-29'", "T", "T"),
        ("last_day(x) = '2020-2-29'", "T", "F"),
        ("add_months(x, 1) <> '2020-3-10'", "F", "T"),
        ("trunc(x, 'MM') < '2020-2'", "F", "T"),
        ("next_day(x, 'MO') IN ('2020-2-17')", "TFN", "F"),
        ("last_day(x) LIKE '2020-02%'", "T", "T"),
        ("substr(last_day(x), 1, 7) = '2020-03'", "F", "F"),
        ("last_day(x) = DATE '2020-2-29'", "T", "T"),
        ("year(last_day(x)) = 2020", "T", "T"),
        ("datediff(last_day(x), x) = 19", "T", "T"),
        ("unix_timestamp(last_day(x)) IS NULL", "F", "TFN"),
    ],
)
def test_hive_gives_moved_dates_as_text(text: str, in_spark: str, in_hive: str) -> None:
    tenth_of_february = {"x": stats(DATE, 18302, 18302)}
    assert outcome_of(parse(text, "spark"), tenth_of_february) == in_spark
    assert outcome_of(parse(text, "hive3"), tenth_of_february, Semantics.named("hive3", "UTC")) == in_hive


def test_a_power_of_constants_is_known_up_to_its_last_digit() -> None:
    assert outcome_of(parse("x > pow(10, 0.5)", "spark"), {"x": stats(DOUBLE, 3.1, 3.2)}) == "TF"
    assert outcome_of(parse("x > pow(10, 0.5)", "spark"), {"x": stats(DOUBLE, 4.0, 9.0)}) == "T"


def result_of(name: str, arguments: list[Argument], engine: Semantics = SPARK) -> Interval:
    function = FUNCTIONS[name]
    return function.compute(arguments, function.result([a.type for a in arguments]), engine)


@settings(max_examples=examples(70, at_night=5_000))
@given(st.data())
def test_months_between_holds_those_of_all_moments_between(data: st.DataObject) -> None:
    of = data.draw(st.sampled_from([DATE, TIMESTAMP, TIMESTAMP_LTZ]))
    unit = 1 if of == DATE else DAY_MICROS
    days = st.integers(17_000, 20_000) | st.sampled_from([18_320, 18_321, 18_322, 18_292, 18_293, 18_351])
    moments = (
        days.map(lambda day: day * unit)
        if of == DATE
        else st.builds(lambda day, time: day * unit + time, days, st.integers(0, DAY_MICROS - 1))
    )
    a, b = (sorted(data.draw(st.lists(moments, min_size=1, max_size=4))) for _ in range(2))
    got = result_of("months_between", [Argument(of, Interval(x[0], x[-1], null=False)) for x in (a, b)])
    for later in a:
        for earlier in b:
            exact = call("months_between", [(later, of), (earlier, of)], DOUBLE)
            assert got.lo <= exact <= got.hi
    assert got.hi - got.lo < (a[-1] - a[0] + b[-1] - b[0]) / unit / 28 + 0.5


@settings(max_examples=examples(70, at_night=5_000))
@given(st.lists(st.integers(-20_000, 40_000), min_size=1, max_size=4), st.sampled_from(["MON", "Wed", "SUNDAY"]))
def test_next_day_holds_those_of_all_days_between(days: list[int], name: str) -> None:
    lo, hi = min(days), max(days)
    got = result_of("next_day", [Argument(DATE, Interval(lo, hi, null=False)), Argument(STRING, point(name))])
    found = [call("next_day", [(day, DATE), (name, STRING)], DATE) for day in days]
    assert got.lo <= min(found) <= max(found) <= got.hi
    assert (got.lo, got.hi) == tuple(call("next_day", [(day, DATE), (name, STRING)], DATE) for day in (lo, hi))


@settings(max_examples=examples(70, at_night=5_000))
@given(
    st.sampled_from(["sin", "cos", "asin", "acos", "atan", "tanh", "degrees", "radians", "cbrt"]),
    st.lists(st.floats(-1.0, 1.0) | st.floats(-1e6, 1e6), min_size=1, max_size=4),
)
def test_curves_hold_the_results_of_all_numbers_between(name: str, numbers: list[float]) -> None:
    got = result_of(name, [Argument(DOUBLE, Interval(min(numbers), max(numbers), null=False))])
    for number in numbers:
        exact = call(name, [(number, DOUBLE)], DOUBLE)
        assert got.null if exact is None else got.lo is None or got.lo <= exact <= got.hi


@settings(max_examples=examples(70, at_night=5_000))
@given(
    st.lists(st.floats(-50, 50) | st.integers(-9, 9).map(float), min_size=1, max_size=4),
    st.integers(-4, 40) | st.sampled_from([0.5, 1.5, -0.5]),
)
def test_powers_hold_those_of_all_numbers_between(numbers: list[float], exponent: float) -> None:
    base = Argument(DOUBLE, Interval(min(numbers), max(numbers), null=False))
    got = result_of("pow", [base, Argument(DOUBLE, point(float(exponent)))])
    for number in numbers:
        try:
            exact = math.pow(number, exponent)
        except (ValueError, ZeroDivisionError, OverflowError):
            assert got.null
            continue
        assert got.lo is None or got.lo <= exact <= got.hi


@settings(max_examples=examples(70, at_night=5_000))
@given(
    st.sampled_from(["hex", "bin"]),
    st.lists(st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-99, 999), min_size=1, max_size=4),
)
def test_numbers_as_text_lie_between_those_of_the_ends(name: str, numbers: list[int]) -> None:
    got = result_of(name, [Argument(BIGINT, Interval(min(numbers), max(numbers), null=False))])
    for number in numbers:
        assert got.lo <= call(name, [(number, BIGINT)], STRING) <= got.hi


@pytest.mark.parametrize(
    ("name", "types"),
    [
        ("md5", [INT]),
        ("crc32", [DATE]),
        ("hex", [DATE]),
        ("bin", [STRING]),
        ("ascii", [INT]),
        ("pow", [STRING, INT]),
        ("factorial", [DOUBLE]),
        ("months_between", [STRING, DATE]),
        ("next_day", [STRING, STRING]),
    ],
)
def test_other_types_are_not_decided(name: str, types: list[Type]) -> None:
    with pytest.raises(UnsupportedError):
        FUNCTIONS[name].result(types)


def test_a_wide_decimal_that_hive_may_lose_has_no_power() -> None:
    wide = decimal_type(38, 0)
    assert outcome_of(parse("pow(x, 2) > 5.1", "spark"), {"x": stats(wide, "1", "2")}) == "F"
    assert outcome_of(parse("pow(x, 2) > 5.1", "spark"), {"x": stats(wide, "1", "9" * 30)}, HIVE) == "TFN"
