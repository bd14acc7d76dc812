"""Instants that Spark moves by intervals, around the hours at which clocks are set, against the reference of rows."""

from __future__ import annotations

import random

import pytest

from evaluator.language.epoch import DAY
from evaluator.language.semantics import Semantics
from evaluator.language.time_spans import TIME_SPAN, TimeSpan
from evaluator.language.types import TIMESTAMP_LTZ
from evaluator.reference.row_dates import special_call
from tests.evaluator.functions.test_moved_moments import HOUR, SET, ZONES
from tests.sampling import examples, share


def drawn(rng: random.Random) -> TimeSpan:
    return rng.choice(
        (
            TimeSpan("months", rng.randint(-30, 30)),
            TimeSpan("days", rng.randint(-400, 400)),
            TimeSpan("micros", rng.randint(-40, 40) * DAY),
            TimeSpan("micros", rng.randint(-150, 150) * HOUR // 2 + rng.randint(0, 5)),
        )
    )


def written(span: TimeSpan) -> str:
    if span.unit == "micros":
        return f"make_dt_interval(0, 0, 0, cast({span.amount} as decimal(30, 6)) / 1000000)"
    return str(span)


@pytest.mark.parametrize("zone", share([*ZONES, "America/St_Johns", "Africa/Casablanca", "America/Sao_Paulo"], 6))
def test_spark_moves_an_instant_as_the_reference_does(spark, zone):
    rng = random.Random(zone)
    semantics = Semantics.named("spark", zone)
    before = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        for _ in range(examples(3, at_night=60)):
            spans = [drawn(rng) for _ in range(8)]
            instants = [
                rng.choice(SET[:-2]) + rng.randint(-120, 120) * HOUR // 2 + rng.randint(0, 3) for _ in range(25)
            ]
            moved = [f"unix_micros(timestamp_micros(m) + {written(span)}) r{n}" for n, span in enumerate(spans)]
            for instant, *found in (
                spark.createDataFrame([(m,) for m in instants], "m bigint").selectExpr("m", *moved).collect()
            ):
                given = [((instant, TIMESTAMP_LTZ), (span, TIME_SPAN)) for span in spans]
                assert found == [special_call("+", pair, semantics)[0] for pair in given], instant
    finally:
        spark.conf.set("spark.sql.session.timeZone", before)
