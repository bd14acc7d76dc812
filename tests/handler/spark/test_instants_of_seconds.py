"""The instants that Spark makes of numbers of seconds, against the reference of rows."""

from __future__ import annotations

import random
from decimal import Decimal

import numpy as np
import pytest

from evaluator.reference.row_calendar import instant_of_seconds
from tests.sampling import examples


def drawn(rng: random.Random) -> tuple[int, float, float, Decimal]:
    return (
        rng.choice((rng.randint(-(10**11), 10**11), rng.randint(-5, 5), 1_700_000_000)),
        rng.choice((rng.uniform(-1e10, 2e11), rng.randint(0, 10**13) / 1000, rng.uniform(-1e-5, 1e-5), -0.0)),
        float(np.float32(rng.uniform(-1e10, 1e11))),
        Decimal(rng.randint(-(10**18), 10**18)).scaleb(-7),
    )


@pytest.mark.parametrize("ansi", ["false", "true"])
def test_spark_cuts_them_as_the_reference_does(spark, ansi):
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", ansi)
    rng = random.Random(ansi)
    rows = [drawn(rng) for _ in range(examples(200, at_night=20_000))]
    frame = session.createDataFrame(rows, "l bigint, d double, f float, p decimal(20,7)")
    found = frame.selectExpr(
        "l",
        "d",
        "f",
        "p",
        *(f"unix_micros(cast({name} as timestamp))" for name in "ldfp"),
        *(f"unix_micros(timestamp_seconds({name}))" for name in "ldf"),
    )
    for *given, l_cast, d_cast, f_cast, p_cast, l_call, d_call, f_call in found.collect():
        expected = [instant_of_seconds(value) for value in given]
        assert [l_cast, d_cast, f_cast, p_cast] == expected, given
        assert [l_call, d_call, f_call] == expected[:3], given


def test_nan_is_null_in_spark(spark):
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "false")
    [row] = session.sql(
        "SELECT cast(double('NaN') AS timestamp) a, cast(double('inf') AS timestamp) b, cast(float('nan') AS timestamp)"
    ).collect()
    assert list(row) == [None, None, None]
    assert instant_of_seconds(float("nan")) is None
