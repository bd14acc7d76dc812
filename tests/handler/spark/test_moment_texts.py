"""Spark reads a constant text with a zone, or without seconds, as the instant that is compared."""

from __future__ import annotations

import datetime

import pytest

from evaluator.language.moment_texts import instant_of_text, usual_form
from evaluator.language.semantics import Semantics
from tests.evaluator.language.test_moment_texts import INSTANTS


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_spark_reads_the_same_instant(spark, zone):
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", zone)
    session.conf.set("spark.sql.ansi.enabled", "false")
    texts = [text for text in INSTANTS if instant_of_text(text) is not None]
    rows = session.createDataFrame([(text,) for text in texts], "s string").selectExpr("s", "unix_micros(timestamp(s))")
    assert dict(rows.collect()) == {text: instant_of_text(text) for text in texts}
    semantics = Semantics.named("spark-legacy", zone)
    plain = ["2026-5-1 9:30", "2026-05-01T9:3:5.25", "2026-05-01 23:59"]
    whole = session.createDataFrame([(text, usual_form(text, semantics)) for text in plain], "a string, b string")
    moments = whole.selectExpr("timestamp(a)", "timestamp(b)").collect()
    assert all(a == b and isinstance(a, datetime.datetime) for a, b in moments)
