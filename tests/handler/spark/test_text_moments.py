"""Texts that Spark reads as dates and moments: as the reference says, and never on a day beyond their range's."""

from __future__ import annotations

import random

import pytest

from evaluator.functions.java_patterns import date_form
from evaluator.functions.text_moments import days_cast, days_read
from evaluator.language.epoch import EPOCH_ORDINAL
from evaluator.language.errors import UnsupportedError
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, TIMESTAMP_LTZ
from evaluator.reference.row_texts import cast_text
from tests.evaluator.functions.drawn_dates import drawn
from tests.sampling import examples

PATTERNS = ("yyyy-MM-dd", "yyyyMMdd", "yyyy/M/d", "yyyy-MM-dd HH:mm:ss", "yyyyMMddHH", "yyyy-MM-dd'T'HH:mm:ssX")


@pytest.mark.parametrize("policy", ["CORRECTED", "LEGACY"])
@pytest.mark.parametrize("zone", ["UTC", "America/Sao_Paulo", "Pacific/Apia"])
def test_spark_reads_them_on_the_days_of_their_range(spark, zone, policy):
    session = spark.newSession()
    session.conf.set("spark.sql.ansi.enabled", "false")
    session.conf.set("spark.sql.session.timeZone", zone)
    session.conf.set("spark.sql.legacy.timeParserPolicy", policy)
    rng, semantics = random.Random(zone + policy), Semantics.named("spark-legacy", zone)
    texts = [(drawn(rng),) for _ in range(examples(400, at_night=20_000))]
    found = session.createDataFrame(texts, "s string").selectExpr(
        "s",
        "unix_date(cast(s as date))",
        "unix_micros(cast(s as timestamp))",
        *(f'unix_date(to_date(s, "{pattern}"))' for pattern in PATTERNS),
    )
    rows = sorted(tuple(row) for row in found.collect())
    assert sum(row[1] is not None for row in rows) > len(rows) / 4
    for text, day, micros, *_ in rows:
        for target, expected in ((DATE, day), (TIMESTAMP_LTZ, micros)):
            try:
                assert cast_text(text, target, semantics) == expected, (text, target)
            except UnsupportedError:
                continue
    forms = [date_form(pattern) for pattern in PATTERNS]
    assert all(forms)
    for start in range(len(rows) - 1):
        between = rows[start : start + rng.choice([2, 3, 10, 30, 100])]
        (lo, *_), (hi, *_) = between[0], between[-1]
        ranges = [days_cast(lo, hi), *(days_read(lo, hi, form) for form in forms if form is not None)]
        for place, days in enumerate(ranges):
            away = 0 if place == 0 or (zone == "UTC" and not forms[place - 1].has_zone) else 2
            for row in between:
                day = row[1] if place == 0 else row[2 + place]
                if days is not None and day is not None:
                    assert days[0] - away <= day <= days[1] + away, (place, lo, row[0], hi, EPOCH_ORDINAL + day)
