"""Bits, whole and decimal quotients, weeks, trimmed texts, and integers of which one bound is known."""

from __future__ import annotations

import itertools
import operator

import pytest

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
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    Type,
    decimal_type,
)
from handler.sql.parsing import parse
from tests.evaluator.short_forms import HIVE, SPARK, outcome_of, stats

D20200106 = 18_267  # a Monday
DEC = decimal_type(10, 2)

CASES = [
    ("(x | 1) > 7", INT, (0, 5), "F"),
    ("(x & 1) > 1", INT, (0, 5), "F"),
    ("(x & 12) > 4", INT, (16, 23), "F"),
    ("(x & 15) < 0", INT, (-99, 99), "F"),
    ("(x ^ 1) > 7", INT, (0, 5), "F"),
    ("(x | 2) = 102", INT, (-60, 10), "F"),
    ("(x | 2) < 0", INT, (-60, 10), "TF"),
    ("(x & 7) > 7", INT, (-60, 10), "F"),
    ("~x >= 0", INT, (0, 5), "F"),
    ("~x = -4", INT, (3, 3), "T"),
    ("shiftleft(x, 2) > 20", INT, (0, 5), "F"),
    ("shiftleft(x, 31) > 20", INT, (0, 5), "TFN"),
    ("shiftright(x, 1) > 2", INT, (-9, 5), "F"),
    ("shiftrightunsigned(x, 1) > 2", INT, (0, 5), "F"),
    ("shiftrightunsigned(x, 1) > 2", INT, (-1, 5), "TFN"),
    ("x div 2 > 2", INT, (-9, 5), "F"),
    ("x div -2 > 4", INT, (-9, 5), "F"),
    ("x div 0 > 4", INT, (-9, 5), "TFN"),
    ("x / 3 > 7", DEC, ("1.00", "20.00"), "FN"),
    ("x / 3 > 6", DEC, ("1.00", "20.00"), "TFN"),
    ("x / -2 > 0", decimal_type(20, 0), ("1", "20"), "FN"),
    ("x / 2 > 0", decimal_type(38, 0), ("1", "20"), "TN"),
    ("x / 2 > 10", decimal_type(38, 0), ("1", "20"), "TFN"),
    ("x / 2 > 10.1", decimal_type(38, 0), ("1", "20"), "FN"),
    ("x / 2 > 0", decimal_type(38, 0), ("1", "9" * 38), "TFN"),
    ("CAST(x AS decimal(20,3)) > CAST(5 AS decimal(20,3))", decimal_type(18, 2), (None, "4.00"), "F"),
    ("CAST(x AS decimal(20,3)) > CAST(3.999 AS decimal(20,3))", decimal_type(18, 2), (None, "4.00"), "TF"),
    ("CAST(x AS decimal(18,1)) < -0.1", decimal_type(18, 2), ("0.01", None), "F"),
    ("CAST(x AS decimal(18,1)) < 0", decimal_type(18, 2), ("0.01", None), "TF"),
    ("CAST(x AS decimal(16,1)) < -0.1", decimal_type(18, 2), ("0.01", None), "TFN"),
    ("CAST(x AS decimal(3,1)) < 0", decimal_type(18, 2), ("100.00", None), "TFN"),
    ("CAST(x AS decimal(11,1)) < 0.5", INT, (2, None), "F"),
    ("CAST(x AS decimal(11,1)) > 300.5", INT, (None, 299), "F"),
    ("CAST(x AS decimal(10,1)) < 0.5", INT, (2, None), "TFN"),
    ("CAST(x AS decimal(20,0)) < 0", BIGINT, (2, None), "F"),
    ("CAST(x AS decimal(19,0)) < 0", BIGINT, (2, None), "F"),
    ("CAST(x AS decimal(18,0)) < 0", BIGINT, (2, None), "TFN"),
    ("CAST(x AS decimal(4,1)) < 0.5", INT, (2, 5000), "TFN"),
    ("CAST(x AS decimal(8,1)) < 0.5", DOUBLE, (2.0, None), "TFN"),
    ("hex(x) = '3130'", STRING, ("10", "10"), "T"),
    ("hex(x) > '6'", STRING, ("", "date"), "TF"),
    ("hex(x) > '6'", BINARY, (b"\x00", b"\x5f"), "F"),
    ("CAST(x AS BINARY) >= CAST('b' AS BINARY)", STRING, ("apple", "banana"), "TF"),
    ("CAST(x AS BINARY) > CAST('\u00ea' AS BINARY)", STRING, ("apple", "\u00e9"), "F"),
    ("weekofyear(x) = 2", DATE, (D20200106, D20200106 + 6), "T"),
    ("weekofyear(x) > 53", DATE, (D20200106 - 100, D20200106 + 6), "F"),
    ("dayofweek(x) = 1", DATE, (D20200106, D20200106 + 5), "F"),
    ("dayofweek(x) = 1", DATE, (D20200106, D20200106 + 6), "TF"),
    ("weekday(x) > 4", DATE, (D20200106, D20200106 + 4), "F"),
    ("trim(x) > 'c'", STRING, ("aa", "bb"), "F"),
    ("trim(x) < 'a'", STRING, ("aa", "bb"), "F"),
    ("trim(x) > 'c'", STRING, (" aa", "bb"), "TF"),
    ("ltrim(x) > 'c'", STRING, ("aa", "bb"), "F"),
    ("rtrim(x) < ' '", STRING, (" a", "bb"), "F"),
    ("rtrim(x) < 'a'", STRING, ("a  b", "bb"), "F"),
    ("rtrim(x) < 'a\\t'", STRING, ("a\t", "bb"), "TF"),
]


#: Numbers of moments: functions of Spark alone.
OF_SPARK = [
    ("unix_date(x) > 9", DATE, (1, 9), "F"),
    ("year(x) < 2000", DATE, (D20200106, None), "FN"),
    ("year(x) > 2020", DATE, (None, D20200106), "FN"),
    ("year(x) = 2000", DATE, (None, None), "TFN"),
    ("date_from_unix_date(x) > date '1970-01-09'", INT, (1, 8), "F"),
    ("date_from_unix_date(x) > date '1970-01-09'", BIGINT, (1, 8), "TFN"),
    ("unix_seconds(x) = -1", TIMESTAMP_LTZ, (-1_000_000, -1), "T"),
    ("unix_seconds(x) > 5", TIMESTAMP_LTZ, (0, 5_999_999), "F"),
    ("unix_seconds(x) > 5", TIMESTAMP, (0, 5_999_999), "TFN"),
    ("unix_millis(x) > 5", TIMESTAMP_LTZ, (0, 5_999), "F"),
    ("unix_micros(x) >= 5", TIMESTAMP_LTZ, (5, 5_999), "T"),
    ("timestamp_seconds(x) > timestamp '1970-01-01 00:00:09'", INT, (0, 9), "F"),
    ("timestamp_seconds(x) > timestamp '1970-01-01 00:00:09'", BIGINT, (0, 9), "F"),
    ("timestamp_seconds(x) < timestamp '1970-01-01 00:00:09'", BIGINT, (10, 1 << 60), "TF"),
    ("timestamp_millis(x) > timestamp '1970-01-01 00:00:09'", BIGINT, (0, 9_000), "F"),
    ("timestamp_micros(x) > timestamp '1970-01-01 00:00:09'", BIGINT, (0, 9_000_000), "F"),
]


@pytest.mark.parametrize(("text", "of", "ends", "expected"), OF_SPARK, ids=lambda value: str(value))
def test_numbers_of_moments_keep_the_order(text, of, ends, expected) -> None:
    known = {"x": stats(of, *ends)}
    assert outcome_of(parse(text, "spark"), known) == expected
    assert outcome_of(parse(text, "spark"), known, HIVE) == "TFN"


DAY, LAST = 86_400_000_000, 2_932_896
#: Function, argument, bounds, bounds of the result: at the first and last moments that are decided, and beyond them.
BOUNDS_OF_NUMBERS = [
    ("unix_date", DATE, (-7, 9), (-7, 9)),
    ("date_from_unix_date", INT, (-141_427, LAST), (-141_427, LAST)),
    ("date_from_unix_date", INT, (-141_428, LAST), (None, None)),
    ("date_from_unix_date", INT, (0, LAST + 1), (None, None)),
    ("date_from_unix_date", SMALLINT, (None, 5), (-32_768, 5)),
    ("date_from_unix_date", INT, (None, 5), (None, None)),
    ("unix_seconds", TIMESTAMP_LTZ, (-1, 2_999_999), (-1, 2)),
    ("unix_seconds", TIMESTAMP_LTZ, (None, 2_999_999), (None, 2)),
    ("unix_millis", TIMESTAMP_LTZ, (-1, 2_999_999), (-1, 2_999)),
    ("unix_micros", TIMESTAMP_LTZ, (-1, 2_999_999), (-1, 2_999_999)),
    ("timestamp_seconds", INT, (-3, 5), (-3_000_000, 5_000_000)),
    ("timestamp_seconds", SMALLINT, (None, 5), (-32_768_000_000, 5_000_000)),
    ("timestamp_seconds", BIGINT, (-141_427 * 86_400, LAST * 86_400), (-141_427 * DAY, LAST * DAY)),
    ("timestamp_seconds", BIGINT, (-141_427 * 86_400 - 1, 0), (None, None)),
    ("timestamp_seconds", BIGINT, (0, LAST * 86_400 + 1), (None, None)),
    ("timestamp_millis", INT, (-3, 5), (-3_000, 5_000)),
    ("timestamp_micros", INT, (-3, 5), (-3, 5)),
]


@pytest.mark.parametrize(("name", "of", "ends", "expected"), BOUNDS_OF_NUMBERS)
def test_bounds_of_numbers_of_moments(name, of, ends, expected) -> None:
    function = FUNCTIONS[name]
    result = function.result([of])
    for null in (True, False):
        found = function.compute([Argument(of, Interval(*ends, null=null))], result, SPARK)
        assert found == Interval(*expected, null=null)
    with pytest.raises(UnsupportedError):
        function.result([STRING])
    with pytest.raises(UnsupportedError, match="Spark only"):
        function.compute([Argument(of, Interval(*ends))], result, HIVE)


def test_types_of_numbers_of_moments() -> None:
    types = {name: FUNCTIONS[name].result([of]) for name, of, _, _ in BOUNDS_OF_NUMBERS}
    assert types == {
        "unix_date": INT,
        "date_from_unix_date": DATE,
        **dict.fromkeys(("unix_seconds", "unix_millis", "unix_micros"), BIGINT),
        **dict.fromkeys(("timestamp_seconds", "timestamp_millis", "timestamp_micros"), TIMESTAMP_LTZ),
    }
    with pytest.raises(UnsupportedError, match="the date of this type"):
        FUNCTIONS["date_from_unix_date"].result([BIGINT])
    with pytest.raises(UnsupportedError, match="unix_date of this type"):
        FUNCTIONS["unix_date"].result([TIMESTAMP])


def test_a_list_of_integers_beside_a_text_is_text_in_spark_without_ansi() -> None:
    """With ANSI, and in Hive, the text is read as a number: '010' is among them."""
    legacy = Semantics.named("spark-legacy", "UTC")
    cases = {
        "x IN (9, 10)": [(("a", "b"), "F"), (("10", "10"), "T"), (("2", "8"), "F"), (("1", "2"), "TF")],
        "x IN (9, NULL)": [(("a", "b"), "N")],
        "x IN (-9, '10')": [(("-9", "-9"), "T"), (("2", "3"), "F")],
        "x NOT IN (9, 10)": [(("a", "b"), "T")],
        "x IN (9, 1.5)": [(("a", "b"), "TFN")],
    }
    for text, expected in cases.items():
        for ends, outcome in expected:
            known = {"x": stats(STRING, *ends)}
            assert outcome_of(parse(text, "spark"), known, legacy) == outcome, (text, ends)
            assert outcome_of(parse(text, "spark"), known, SPARK) == "TFN"
            assert outcome_of(parse(text, "spark"), known, HIVE) == "TFN"


@pytest.mark.parametrize("engine", [SPARK, HIVE], ids=["spark", "hive"])
@pytest.mark.parametrize(("text", "of", "ends", "expected"), CASES, ids=lambda value: str(value))
def test_what_a_function_makes_of_a_range(text, of, ends, expected, engine) -> None:
    known = {"x": stats(of, *ends)}
    assert outcome_of(parse(text, engine.engine), known, engine) == expected


DAY = 86_400_000_000
ZONES = [
    ("from_utc_timestamp(x, 'America/Los_Angeles') > timestamp'2020-01-06 16:00:00'", "F"),
    ("from_utc_timestamp(x, 'America/Los_Angeles') > timestamp'2020-01-06 15:59:59'", "TF"),
    ("to_utc_timestamp(x, 'America/Los_Angeles') < timestamp'2020-01-06 08:00:00'", "F"),
    ("to_utc_timestamp(x, 'Asia/Kathmandu') < timestamp'2020-01-05 18:15:00'", "F"),
    ("to_utc_timestamp(x, 'Asia/Kathmandu') <= timestamp'2020-01-05 18:15:00'", "TF"),
    ("to_utc_timestamp(x, 'UTC') < timestamp'2020-01-06 00:00:00'", "F"),
    ("to_utc_timestamp(x, 'PST') < timestamp'2019-01-06 00:00:00'", "TFN"),
    ("to_utc_timestamp(x, 'Mars/Phobos') < timestamp'2019-01-06 00:00:00'", "TFN"),
]


@pytest.mark.parametrize(("text", "expected"), ZONES, ids=lambda value: str(value))
def test_a_moment_of_another_zone(text: str, expected: str) -> None:
    day = (D20200106 * DAY, (D20200106 + 1) * DAY)
    assert outcome_of(parse(text, "spark"), {"x": stats(TIMESTAMP_LTZ, *day)}) == expected
    hive4 = Semantics.named("hive4", "Europe/Berlin")
    assert outcome_of(parse(text, "hive"), {"x": stats(TIMESTAMP, *day)}, hive4) == expected
    assert outcome_of(parse(text, "hive"), {"x": stats(TIMESTAMP, *day)}, HIVE) == "TFN"  # Hive 2 moves instants


HALF_KNOWN = [
    ("-x >= 0", INT, (1, None), "F"),
    ("-x > 0", INT, (0, None), "F"),
    ("abs(x) < 1", INT, (1, None), "F"),
    ("abs(x) < 0", INT, (None, None), "TFN"),  # the smallest integer has no absolute value
    ("x - 1 < 0", INT, (1, None), "F"),
    ("x + 1 < 0", INT, (1, None), "TFN"),  # the greatest integer and 1 may be the smallest one
    ("x + 1 < 0", SMALLINT, (1, None), "F"),
    ("x + 1L < 2", INT, (1, None), "F"),
    ("greatest(x, 5) < 5", INT, (1, None), "F"),
    ("least(x, 5) > 5", INT, (1, None), "F"),
    ("x % 10 < 0", INT, (1, None), "F"),
    ("x div 10 < 0", INT, (1, None), "F"),
]


@pytest.mark.parametrize(("text", "of", "ends", "expected"), HALF_KNOWN, ids=lambda value: str(value))
def test_an_integer_of_which_one_bound_is_known_ends_with_its_type(text, of, ends, expected) -> None:
    assert outcome_of(parse(text, "spark"), {"x": stats(of, *ends)}) == expected


@pytest.mark.parametrize(("sign", "of_bits"), [("&", operator.and_), ("|", operator.or_), ("^", operator.xor)])
def test_the_range_of_bits_holds_every_result(sign: str, of_bits) -> None:
    values = (-9, -8, -3, -1, 0, 1, 2, 4, 7, 8, 11)
    ranges = [(lo, hi) for lo, hi in itertools.product(values, values) if lo <= hi]
    for (a, b), (c, d) in itertools.product(ranges, ranges):
        got = FUNCTIONS[sign].compute(
            [Argument(INT, Interval(a, b, null=False)), Argument(INT, Interval(c, d, null=False))], INT, SPARK
        )
        results = [of_bits(x, y) for x in range(a, b + 1) for y in range(c, d + 1)]
        assert got.lo <= min(results)
        assert max(results) <= got.hi


LONGS = (-(2**63), 2**63 - 1)


@pytest.mark.parametrize(
    ("sign", "one", "other", "ends"),
    [
        ("&", LONGS, (5, 7), (0, 7)),
        ("&", (0, 9), LONGS, (0, 9)),
        ("&", (3, 900), (5, 7), (0, 7)),
        ("&", LONGS, (-7, 7), LONGS),
        ("&", LONGS, LONGS, LONGS),
        ("|", LONGS, (5, 7), LONGS),
        ("^", LONGS, (5, 7), LONGS),
        ("&", (16, 23), (12, 12), (0, 4)),
        ("|", (0, 5), (1, 1), (1, 7)),
    ],
)
def test_the_range_of_bits_of_longs(sign: str, one, other, ends) -> None:
    """A mask that is not negative bounds what AND leaves of any number."""
    known = [Argument(BIGINT, Interval(*part, null=False)) for part in (one, other)]
    got = FUNCTIONS[sign].compute(known, BIGINT, SPARK)
    assert (got.lo, got.hi) == ends


@pytest.mark.parametrize(
    ("name", "ends", "count", "expected"),
    [
        ("shiftleft", (-5, 70), 2, (-20, 280)),
        ("shiftleft", (-5, 70), 0, (-5, 70)),
        ("shiftright", (-9, 70), 2, (-3, 17)),
        ("shiftrightunsigned", (9, 70), 2, (2, 17)),
        ("shiftrightunsigned", (-9, 70), 2, (None, None)),
    ],
)
def test_the_range_of_a_shift_has_its_ends(name: str, ends, count: int, expected) -> None:
    got = FUNCTIONS[name].compute([Argument(INT, Interval(*ends)), Argument(INT, point(count))], INT, SPARK)
    assert (got.lo, got.hi) == expected


@pytest.mark.parametrize(("of", "result"), [(SMALLINT, INT), (INT, INT), (BIGINT, BIGINT)])
def test_a_shift_is_of_the_type_that_engines_shift_in(of: Type, result: Type) -> None:
    assert FUNCTIONS["shiftleft"].result([of, SMALLINT]) == result


@pytest.mark.parametrize("sign", ["&", "|", "^"])
@pytest.mark.parametrize("unknown", [0, 1])
def test_bits_of_what_has_no_bounds_are_not_known(sign: str, unknown: int) -> None:
    known = [Argument(DEC, Interval(0, 3, null=False)), Argument(DEC, Interval(0, 3, null=False))]
    known[unknown] = Argument(DEC, Interval(None, 3, null=False))
    got = FUNCTIONS[sign].compute(known, DEC, SPARK)
    assert (got.lo, got.hi, got.null) == (None, None, True)
    inverted = FUNCTIONS["~"].compute([known[unknown]], DEC, SPARK)
    assert (inverted.lo, inverted.hi, inverted.null) == (None, None, True)


@pytest.mark.parametrize(("lo", "hi"), [(-9, -2), (-3, 4), (0, 0), (5, 70)])
def test_the_range_of_inverted_bits_has_its_ends(lo: int, hi: int) -> None:
    got = FUNCTIONS["~"].compute([Argument(INT, Interval(lo, hi, null=False))], INT, SPARK)
    assert (got.lo, got.hi) == (~hi, ~lo)


@pytest.mark.parametrize("name", ["shiftleft", "shiftright", "shiftrightunsigned"])
@pytest.mark.parametrize("count", [-1, 32, 33])
def test_engines_take_a_number_of_bits_modulo_the_width_of_the_type(name: str, count: int) -> None:
    """32 bits move an INT by none: it stays what it is."""
    got = FUNCTIONS[name].compute([Argument(INT, Interval(5, 70)), Argument(INT, point(count))], INT, SPARK)
    assert (got.lo, got.hi) == (None, None)


@pytest.mark.parametrize("name", ["trim", "ltrim", "rtrim"])
def test_the_range_of_a_trimmed_text_holds_every_result(name: str) -> None:
    trim = {"trim": lambda s: s.strip(" "), "ltrim": lambda s: s.lstrip(" "), "rtrim": lambda s: s.rstrip(" ")}[name]
    texts = sorted("".join(chars) for length in range(4) for chars in itertools.product("\t a", repeat=length))
    for lo, hi in itertools.combinations(texts, 2):
        got = FUNCTIONS[name].compute([Argument(STRING, Interval(lo, hi, null=False))], STRING, SPARK)
        results = [trim(text) for text in texts if lo <= text <= hi]
        assert got.lo is None or got.lo <= min(results)
        assert got.hi is None or got.hi >= max(results)


@pytest.mark.parametrize(("of", "shift"), [(INT, 31), (BIGINT, 31)])
def test_a_shift_beyond_the_type_is_not_decided(of: Type, shift: int) -> None:
    got = FUNCTIONS["shiftleft"].compute([Argument(of, point(1)), Argument(INT, point(shift))], of, SPARK)
    assert (got.lo is None) is (of == INT)
