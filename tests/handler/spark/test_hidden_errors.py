"""ANSI mode with its errors hidden (``spark-try``): every row that is no error in Spark stays possible."""

from __future__ import annotations

import random
from typing import Any

import pytest
from pyspark.errors import PySparkException

from evaluator.language.clock import Clock
from evaluator.language.semantics import Semantics
from evaluator.language.types import STRING
from handler.spark.catalyst.conditions import to_expression
from handler.sql import parse
from tests.evaluator.functions.drawn_dates import drawn
from tests.evaluator.short_forms import outcome_of, stats
from tests.sampling import ALL_CASES, examples, share

FILTERS = (
    "s >= date '2020-03-01'",
    "s = 20200301",
    "s BETWEEN 20200201 AND 20200331",
    "s IN (20200301, 5)",
    "s NOT IN (20200301, 5)",
    "CAST(s AS INT) = 5",
    "CAST(s AS DECIMAL(10, 2)) IN (5.25, 5)",
    "CAST(s AS DOUBLE) = 5e0",
    "s IN (5.5D, 7)",
    "s IN (5, 5.25)",
    "s IN (5.25, 5)",
    "s = 5 OR s = '5'",
    "to_date(s) = '2020-03-01' OR s < '2020'",
    "year(s) = 2020 AND month(s) = 3",
    "to_date(s, 'yyyyMMdd') > '2020-03-01'",
    "to_timestamp(s) >= '2020-03-01 10:00:00'",
    "unix_timestamp(s, 'yyyy-MM-dd') > 1583020800",
    "coalesce(CAST(s AS DATE), DATE '2020-03-01') >= '2020-03-01'",
    "NOT (s < '2020-03' AND CAST(s AS DATE) > '2020-01-01')",
    "CASE WHEN s LIKE '2020%' THEN CAST(s AS DATE) >= '2020-03-01' ELSE s > 'a' END",
)
NUMBERS = (
    "5",
    "05",
    " 5",
    "+5",
    "-5",
    "5.0",
    "5.25",
    "5.254",
    "5.249",
    "5.5",
    "5e0",
    "50e-1",
    "4.9999999999999999",
    "7",
    "8",
    "5 ",
    "5d",
)
DAYS = ("20200301", "020200301", "20200229", "20200201", "20200331", "2020-03-01", "2020-3-1", "2020", "202003")
OTHERS = (
    "",
    " ",
    "apple",
    "2020-02-30",
    "20200230",
    "99999999999999999999",
    "é5",
    "\u0665",
    "5_0",
    "0x5",
    "NaN",
    "inf",
)


@pytest.mark.parametrize("zone", ["UTC", "America/Sao_Paulo"] if ALL_CASES else ["America/Sao_Paulo"])
def test_a_row_that_is_no_error_stays_possible(spark: Any, zone: str) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "true")
    session.conf.set("spark.sql.session.timeZone", zone)
    session.conf.set("spark.sql.codegen.wholeStage", "false")  # each query has one row
    rng = random.Random(zone)
    texts = sorted({*NUMBERS, *DAYS, *OTHERS, *(drawn(rng) for _ in range(examples(20, at_night=150)))})
    schema = session.createDataFrame([], "s string").schema
    semantics = Semantics.named("spark-try", zone).at(Clock.from_now_on(zone_known=True))
    errors = 0
    for number, condition_text in enumerate(FILTERS):
        by_path = [to_expression(session, schema, condition_text), parse(condition_text, "spark-try")]
        for place, text in share(list(enumerate(texts)), 60, seed=number):
            try:
                [[found]] = session.sql(f"SELECT ({condition_text}) FROM (SELECT :text AS s)", {"text": text}).collect()
            except PySparkException:
                errors += 1
                continue
            letter = {True: "T", False: "F", None: "N"}[found]
            lo = texts[max(0, place - rng.choice([0, 0, 1, 5, 20]))]
            hi = texts[min(len(texts) - 1, place + rng.choice([0, 0, 1, 5, 20]))]
            for condition in by_path:
                for low, high in ((text, text), (lo, hi)):
                    got = outcome_of(condition, {"s": stats(STRING, low, high, nulls=0)}, semantics)
                    assert letter in got, (condition_text, text, low, high, letter, got)
    assert errors > len(FILTERS) / (1 if ALL_CASES else 2)  # by day each filter is asked of one text
