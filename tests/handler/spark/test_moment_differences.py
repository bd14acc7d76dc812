"""The time between two moments as Spark counts it, where clocks are set and months end: rows and slices of one row."""

from __future__ import annotations

import datetime
import random

import pytest

from evaluator.language import expression as ex
from evaluator.language.epoch import DAY, MICROSECOND
from evaluator.language.semantics import Semantics
from evaluator.language.time_spans import TIME_SPAN, TimeSpan
from evaluator.language.types import BIGINT, DATE, STRING, TIMESTAMP, TIMESTAMP_LTZ
from evaluator.reference.row_comparisons import wall_clock
from evaluator.reference.row_dates import special_call
from tests.evaluator.functions.test_moment_differences import MONTH_ENDS, UNITS
from tests.evaluator.functions.test_moved_moments import HOUR, SET, ZONES
from tests.evaluator.short_forms import col, lit, outcome_of, stats
from tests.sampling import examples, share

#: The columns of Spark's frame, and what each is made of in microseconds of UTC or of its wall clock.
COLUMNS = {"t": TIMESTAMP_LTZ, "u": TIMESTAMP_LTZ, "tn": TIMESTAMP, "un": TIMESTAMP, "d": DATE, "e": DATE}
FRAME = (
    "timestamp_micros(a) t",
    "timestamp_micros(b) u",
    "timestamp_ntz '1970-01-01' + make_dt_interval(0, 0, 0, cast(a as decimal(30, 6)) / 1000000) tn",
    "timestamp_ntz '1970-01-01' + make_dt_interval(0, 0, 0, cast(b as decimal(30, 6)) / 1000000) un",
    f"date_add(date '1970-01-01', cast(floor(a / {DAY}) as int)) d",
    f"date_add(date '1970-01-01', cast(floor(b / {DAY}) as int)) e",
)
PAIRS = [("t", "u"), ("tn", "un"), ("d", "e"), ("t", "un"), ("tn", "u"), ("d", "u"), ("t", "e"), ("d", "un")]


def drawn(rng: random.Random) -> tuple[int, int]:
    first, second = (
        rng.choice([*SET[:-2], *MONTH_ENDS]) + rng.randint(-120, 120) * HOUR // 2 + rng.randint(0, 3) for _ in range(2)
    )
    return first, rng.choice((second, first + (second - first) % (90 * DAY), first + rng.randint(-60, 60) * HOUR // 2))


@pytest.mark.parametrize("zone", share([*ZONES, "America/St_Johns", "Africa/Casablanca", "America/Sao_Paulo"], 6))
def test_spark_counts_the_time_between_moments_as_sargo_does(spark, zone):
    rng = random.Random(zone)
    semantics = Semantics.named("spark", zone)
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    rows = [drawn(rng) for _ in range(examples(20, at_night=800))]
    columns = [f"timestampdiff({unit}, {a}, {b})" for a, b in PAIRS for unit in UNITS]
    columns += [f"{a} - {b}" for a, b in PAIRS]
    frame = session.createDataFrame(rows, "a bigint, b bigint").selectExpr("a", "b", *FRAME)
    for first, second, *found in frame.selectExpr("a", "b", *columns).collect():
        check(first, second, found, semantics)


def check(first: int, second: int, found: list[int | datetime.timedelta], semantics: Semantics) -> None:
    micros = {"t": first, "u": second, "tn": first, "un": second, "d": first // DAY, "e": second // DAY}
    known = {name: stats(COLUMNS[name], value, value) for name, value in micros.items()}
    units = [(unit, a, b) for a, b in PAIRS for unit in UNITS] + [("", a, b) for a, b in PAIRS]
    for (unit, a, b), result in zip(units, found, strict=True):
        if unit:
            call, value = ex.Call("timestampdiff", (lit(unit, STRING), col(a), col(b))), lit(result, BIGINT)
        else:
            call, value = ex.Call("-", (col(a), col(b))), lit(TimeSpan("micros", result // MICROSECOND), TIME_SPAN)
        seen = outcome_of(ex.Compare("=", call, value), known, semantics)
        assert "T" in seen, (first, second, unit, a, b, result)
        if unit or COLUMNS[a] == COLUMNS[b]:
            assert value_of_row(call, micros, semantics) == value.value, (first, second, unit, a, b)


def value_of_row(call: ex.Call, micros: dict[str, int], semantics: Semantics) -> object:
    """What the reference of rows says."""
    arguments = []
    for one in call.arguments:
        if isinstance(one, ex.Literal):
            arguments.append((one.value, one.type))
        else:
            kind = COLUMNS[one.name]
            shown = kind == TIMESTAMP_LTZ
            value = micros[one.name]
            arguments.append((wall_clock(value, semantics) if shown else value, TIMESTAMP if shown else kind))
    return special_call(call.function, arguments, semantics)[0]
