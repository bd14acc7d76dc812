"""Filters as analysts write them are decided as Spark resolves them, too: none becomes unknown unnoticed."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType, _parse_datatype_string

from evaluator.binding.bind import bind
from evaluator.language.clock import Clock
from evaluator.language.semantics import Semantics
from handler.catalyst.translation import condition_of
from handler.spark.catalyst.analysis import analyse
from tests.handler.sql.test_usual_filters import CONDITIONS, OF_SPARK, SCHEMA

ZONE = "Europe/Berlin"
#: Spark 3.5 has no such cast.
NEWER = "::"


@pytest.mark.parametrize("ansi", ["false", "true"])
def test_usual_filters_are_decided_as_spark_resolves_them(spark: SparkSession, ansi: str) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", ZONE)
    session.conf.set("spark.sql.ansi.enabled", ansi)
    names = {"timestamp": "timestamp_ntz", "timestamp with local time zone": "timestamp_ltz"}
    schema = _parse_datatype_string(
        ", ".join(f"{field.name} {names.get(str(field.type), field.type)}" for field in SCHEMA)
    )
    assert isinstance(schema, StructType)
    semantics = Semantics.named("spark-ansi" if ansi == "true" else "spark", ZONE)
    semantics = semantics.at(Clock.from_now_on(zone_known=True))
    undecided = {}
    for text in filter(None, (CONDITIONS + OF_SPARK).splitlines()):
        if NEWER in text and session.version.startswith("3."):
            continue
        analysed = analyse(session, schema, text, ())
        assert analysed is not None, text
        bound = [bind(condition_of(*part, ZONE), SCHEMA, semantics) for part in analysed[0]]
        reasons = [leaf.reason for one in bound for leaf in one.leaves if leaf.reason]
        if reasons:
            undecided[text] = reasons
    assert not undecided
