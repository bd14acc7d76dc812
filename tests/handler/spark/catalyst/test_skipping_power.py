"""Filters as analysts write them keep few files as Spark resolves them, and every file in which it finds a row."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession, functions
from pyspark.sql.types import StructType, _parse_datatype_string

from evaluator.language.clock import Clock
from evaluator.language.expression import HudiExpression
from evaluator.language.semantics import Semantics
from handler.spark.catalyst.conditions import to_expression
from handler.sql import Engine, parse
from tests.evaluator.short_forms import outcome_of
from tests.handler.sql.dated_events import TYPES, events, known
from tests.handler.sql.test_skipping_power import BY_ENGINE
from tests.sampling import share

NAMES = {"timestamp with local time zone": "timestamp"}


@pytest.mark.parametrize("engine", ["spark-legacy", "spark-try"])
def test_usual_filters_keep_few_files_and_lose_no_row(spark: SparkSession, engine: Engine) -> None:
    session = spark.newSession()
    session.conf.set("spark.sql.session.timeZone", "UTC")
    session.conf.set("spark.sql.ansi.enabled", str(engine == "spark-try").lower())
    schema = _parse_datatype_string(
        "file int, " + ", ".join(f"{name} {NAMES.get(str(of), of)}" for name, of in TYPES.items())
    )
    assert isinstance(schema, StructType)
    frame = session.createDataFrame([tuple(row[name] for name in schema.names) for row in events()], schema)
    semantics = Semantics.named(engine, "UTC").at(Clock.from_now_on(zone_known=True))
    files, too_many = known(), {}

    def kept(condition: HudiExpression) -> set[int]:
        return {number for number, one in enumerate(files) if "T" in outcome_of(condition, one, semantics)}

    usual = dict(share(BY_ENGINE[engine].items(), 3))
    matches = [functions.max(functions.expr(text)).alias(f"filter_{number}") for number, text in enumerate(usual)]
    rows = frame.groupBy("file").agg(*matches).collect()
    for number, (text, most) in enumerate(usual.items()):
        found = {row.file for row in rows if row[f"filter_{number}"]}
        by_spark = kept(to_expression(session, schema, text))
        assert found <= by_spark, text
        assert found <= kept(parse(text, engine)), text
        if len(by_spark) > most:
            too_many[text] = len(by_spark)
    assert not too_many
