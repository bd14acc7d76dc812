"""Digests, powers, angles, digits, split texts, months_between and next_day: what real Spark says of random rows.

The oracle's value is Spark's, and the range of a single value holds it. ``tests/evaluator/functions/test_digests.py``
goes from single values to ranges.
"""

from __future__ import annotations

import datetime
import math
import random

from evaluator.functions import FUNCTIONS
from evaluator.functions.base import Argument
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval, point
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, BOOLEAN, DATE, DOUBLE, INT, STRING, TIMESTAMP_LTZ
from evaluator.reference.row_functions import call
from tests.sampling import examples

EPOCH = datetime.date(1970, 1, 1)
DAY_MICROS = 86_400_000_000
SPARK = Semantics.named("spark", "UTC")
COLUMNS = {
    "d": DATE,
    "e": DATE,
    "t": TIMESTAMP_LTZ,
    "u": TIMESTAMP_LTZ,
    "s": STRING,
    "l": BIGINT,
    "i": INT,
    "f": DOUBLE,
    "p": DOUBLE,
}
SCHEMA = "d int, e int, t bigint, u bigint, s string, l bigint, i int, f double, p double"
ANGLES = ("sin", "cos", "asin", "acos", "atan", "tanh", "degrees", "radians", "cbrt")
#: The expression, and the function with its arguments: columns, or constants with their types.
CASES = {
    "md5(s)": ("md5", "s"),
    "sha1(s)": ("sha1", "s"),
    "sha2(s, 224)": ("sha2", "s", (224, INT)),
    "crc32(s)": ("crc32", "s"),
    "split(s, 'a')[0]": ("substring_index", "s", ("a", STRING), (1, INT)),
    "split(s, '[%]')[0]": ("substring_index", "s", ("%", STRING), (1, INT)),
    "element_at(split(s, 'B'), 1)": ("substring_index", "s", ("B", STRING), (1, INT)),
    "substring_index(s, '%', 1)": ("substring_index", "s", ("%", STRING), (1, INT)),
    "hex(l)": ("hex", "l"),
    "bin(l)": ("bin", "l"),
    "ascii(s)": ("ascii", "s"),
    **{f"{name}(f)": (name, "f") for name in ANGLES},
    "pow(f, p)": ("pow", "f", "p"),
    "factorial(i)": ("factorial", "i"),
    "months_between(d, e)": ("months_between", "d", "e"),
    "months_between(t, u)": ("months_between", "t", "u"),
    "months_between(t, e)": ("months_between", "t", "e"),
    "months_between(t, u, false)": ("months_between", "t", "u", (False, BOOLEAN)),
    "next_day(d, 'MON')": ("next_day", "d", ("MON", STRING)),
    "next_day(t, 'Sun')": ("next_day", "t", ("Sun", STRING)),
}


def drawn(rng: random.Random) -> tuple[object, ...]:
    """A row: days around the ends of months, awkward numbers and texts."""
    ends = [18_320, 18_321, 18_322, 18_292, 18_293, 18_351, 18_627]
    days = [rng.choice(ends) if rng.random() < 0.5 else rng.randint(-3_000, 40_000) for _ in range(2)]
    moments = [day * DAY_MICROS + rng.choice((0, rng.randrange(DAY_MICROS))) for day in days]
    number = rng.choice(
        (rng.uniform(-3, 3), rng.uniform(-1, 1), float(rng.randint(-9, 9)), 10 ** rng.uniform(-300, 300))
    )
    text = "".join(rng.choices("abAB \u00e9%\U0001f600z", k=rng.randint(0, 4)))
    return (
        *days,
        *moments,
        text,
        rng.choice((rng.randint(-(1 << 63), (1 << 63) - 1), rng.randint(-50, 300))),
        rng.randint(-3, 25),
        number,
        rng.choice((2.0, 3.0, -1.0, 0.5, 10.0, 0.0, 1.5)),
    )


def same(expected: object, got: object) -> bool:
    if isinstance(got, float) and math.isnan(got):
        return expected is None or (isinstance(expected, float) and math.isnan(expected))
    if isinstance(expected, float) and isinstance(got, float):
        return expected == got or abs(expected - got) <= 1e-12 * max(abs(expected), abs(got))
    return expected == got


def holds(interval: Interval, got: object) -> bool:
    if got is None:
        return interval.null
    if isinstance(got, float) and not math.isfinite(got):
        return interval.lo is None or interval.hi is None
    above = interval.lo is None or interval.lo <= got
    return interval.value and above and (interval.hi is None or got <= interval.hi)


def test_spark_says_of_random_rows_what_the_oracle_and_the_ranges_say(spark) -> None:
    kept = spark.conf.get("spark.sql.session.timeZone"), spark.conf.get("spark.sql.ansi.enabled", "false")
    spark.conf.set("spark.sql.session.timeZone", "UTC")
    spark.conf.set("spark.sql.ansi.enabled", "false")
    rng = random.Random(7)
    rows = [drawn(rng) for _ in range(examples(117, at_night=3_000))]
    try:
        moments = "date_from_unix_date(d) d, date_from_unix_date(e) e, timestamp_micros(t) t, timestamp_micros(u) u"
        frame = spark.createDataFrame(rows, SCHEMA).selectExpr(*moments.split(", "), "s", "l", "i", "f", "p")
        answers = frame.selectExpr(*CASES).collect()
    finally:
        spark.conf.set("spark.sql.session.timeZone", kept[0])
        spark.conf.set("spark.sql.ansi.enabled", kept[1])
    wrong = []
    for row, answer in zip(rows, answers, strict=True):
        values = dict(zip(COLUMNS, row, strict=True))
        for (text, (name, *arguments)), got in zip(CASES.items(), answer, strict=True):
            given = [(values[a], COLUMNS[a]) if isinstance(a, str) else a for a in arguments]
            found = (got - EPOCH).days if isinstance(got, datetime.date) else got
            result = FUNCTIONS[name].result([of for _, of in given])
            interval = FUNCTIONS[name].compute([Argument(of, point(value)) for value, of in given], result, SPARK)
            try:
                expected = call(name, given, result)
            except UnsupportedError:
                expected = found
            if not same(expected, found) or not holds(interval, found):
                wrong.append((text, given, expected, interval, found))
    assert wrong == []
