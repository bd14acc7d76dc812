"""Residuals as SQL: Spark parses the text, and its literals have the types of the tree."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession

from evaluator.language import expression as ex
from evaluator.language.sql_text import to_sql
from evaluator.language.types import DATE, TIMESTAMP, TIMESTAMP_LTZ, Type
from handler.sql.parsing import parse
from tests.evaluator.strategies import SCHEMA, filters
from tests.handler.sql.test_sql_text import DIFFERENCES, INTERVALS, LITERALS
from tests.sampling import examples

COLUMNS = [field.name for field in SCHEMA if field.name != "st"]


@settings(max_examples=examples(29, at_night=1500), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_spark_parses_the_text_of_a_filter(spark: SparkSession, data: st.DataObject) -> None:
    parser = spark._jsparkSession.sessionState().sqlParser()  # type: ignore[attr-defined]

    parser.parseExpression(to_sql(data.draw(filters(COLUMNS)), "spark"))


@pytest.mark.parametrize(("literal", "text"), LITERALS)
def test_a_literal_has_its_type_in_spark(spark: SparkSession, literal: ex.Literal, text: str) -> None:
    [(_, name)] = spark.sql(f"SELECT {text} AS x").dtypes

    # A TIMESTAMP of SQL text is an instant of the session, which the tree holds as its wall clock.
    expected = TIMESTAMP_LTZ if literal.type == TIMESTAMP else literal.type
    assert (TIMESTAMP_LTZ if name == "timestamp" else Type.parse(name)) == expected


def test_an_interval_means_in_spark_what_was_written(spark: SparkSession) -> None:
    moments = "SELECT DATE '2020-01-31' AS dt2, TIMESTAMP '2020-01-31 12:00:00' AS t2"
    asked = [text.partition(" < ")[2] for text in INTERVALS]
    written = [to_sql(ex.children_of(parse(text, "spark"))[1], "spark") for text in INTERVALS]

    def values(texts: list[str]) -> list[tuple[object, str]]:
        frame = spark.sql(f"SELECT {', '.join(f'{text} AS c{n}' for n, text in enumerate(texts))} FROM ({moments})")
        return [(value, of) for value, (_, of) in zip(frame.collect()[0], frame.dtypes, strict=True)]

    assert values(written) == values(asked)
    assert None not in [value for value, _ in values(written)]


def test_the_time_between_two_moments_is_that_which_was_written(spark: SparkSession) -> None:
    moments = [f"TIMESTAMP '2020-0{month}-01 12:00:00' AS {name}" for month, name in ((1, "t"), (2, "t2"))]
    moments += [f"DATE '2020-0{month}-01' AS {name}" for month, name in ((3, "dt"), (4, "dt2"))]
    written = [to_sql(parse(text, "spark"), "spark") for text in DIFFERENCES]

    [found] = spark.sql(f"SELECT {', '.join([*DIFFERENCES, *written])} FROM (SELECT {', '.join(moments)})").collect()

    assert list(found[: len(written)]) == list(found[len(written) :])
    assert set(found) == {True, False}


def test_a_cast_to_a_moment_names_the_moment(spark: SparkSession) -> None:
    of_day = {of: ex.Cast(ex.Literal(18_262, DATE), of) for of in (TIMESTAMP_LTZ, TIMESTAMP)}

    [(_, instant), (_, clock)] = spark.sql(
        f"SELECT {to_sql(of_day[TIMESTAMP_LTZ], 'spark')} AS i, {to_sql(of_day[TIMESTAMP], 'spark')} AS c"
    ).dtypes

    assert (instant, clock) == ("timestamp", "timestamp_ntz")


def test_names_are_columns(spark: SparkSession) -> None:
    names = ["order", "my `col`", "1e5", "5D", "a.b", "NULL", "true", "é", "_x", "timestamp", "date", "interval", "not"]
    quoted = [to_sql(ex.Column((name,)), "spark") for name in names]
    table = spark.createDataFrame([tuple(range(len(names)))], names)

    assert table.select(*quoted).columns == names
    assert table.filter(" AND ".join(f"{name} IS NOT NULL" for name in quoted)).count() == 1
