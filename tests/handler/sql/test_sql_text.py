"""Residuals as SQL: the text is parsed again, by us here and by Spark in ``tests/handler/spark/test_sql_text.py``."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.language import expression as ex
from evaluator.language.errors import UnsupportedError
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.sql_text import to_sql
from evaluator.language.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    decimal_type,
)
from evaluator.reference.row_oracle import value_of
from handler.sql.parsing import parse
from tests.evaluator.strategies import SCHEMA, filters, slices
from tests.sampling import examples

COLUMNS = [field.name for field in SCHEMA if field.name not in ("st", "ch")]
SPARK = Semantics.named("spark", "UTC")
LITERALS = [
    (ex.Literal(5, TINYINT), "5Y"),
    (ex.Literal(-5, SMALLINT), "-5S"),
    (ex.Literal(5, INT), "5"),
    (ex.Literal(-(1 << 63), BIGINT), "-9223372036854775808L"),
    (ex.Literal(1.5, DOUBLE), "1.5D"),
    (ex.Literal(1e300, DOUBLE), "1e+300D"),
    (ex.Literal(float(np.float32(0.1)), FLOAT), "0.1F"),
    (ex.Literal(Decimal("1E+3"), decimal_type(4, 0)), "1000BD"),
    (ex.Literal(Decimal("0.00000001"), decimal_type(8, 8)), "0.00000001"),
    (ex.Literal("it's a \\ 'test'", STRING), r"'it\'s a \\ \'test\''"),
    (ex.Literal(b"ab", BINARY), "X'6162'"),
    (ex.Literal(True, BOOLEAN), "TRUE"),
    (ex.Literal(18_262, DATE), "DATE '2020-01-01'"),
    (ex.Literal(18_262 * 86_400_000_000 + 1, TIMESTAMP), "TIMESTAMP '2020-01-01 00:00:00.000001'"),
    (ex.Literal(18_262 * 86_400_000_000, TIMESTAMP_LTZ), "TIMESTAMP_LTZ '2020-01-01 00:00:00Z'"),
]


@pytest.mark.parametrize(("literal", "text"), LITERALS)
def test_a_literal_keeps_its_type(literal, text):
    assert to_sql(literal, "spark") == text
    assert parse(f"x = {text}", "spark") == ex.Compare("=", ex.Column(("x",)), literal)


#: Conditions with an interval beside a column, which residuals hold.
INTERVALS = [
    "dt < dt2 + INTERVAL '3' DAY",
    "dt < dt2 - INTERVAL '-90' DAY",
    "dt < dt2 + INTERVAL 2 WEEKS",
    "dt < dt2 + INTERVAL '1-2' YEAR TO MONTH",
    "dt < INTERVAL '1' YEAR + dt2",
    "t < t2 - INTERVAL '3' HOUR",
    "t < t2 - INTERVAL '1 02:03:04.5' DAY TO SECOND",
    "t < t2 + INTERVAL '-0.000001' SECOND",
]
#: Conditions on the time between two moments.
DIFFERENCES = [
    "t - t2 < INTERVAL '3' HOUR",
    "INTERVAL '7' DAY <= dt - dt2",
    "timestampdiff(HOUR, t, t2) < 3",
    "datediff(MONTH, dt, t) > 1",
]


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("text", INTERVALS)
def test_an_interval_stays_an_interval(text, engine):
    """As a quoted text it would be a number that is NULL, and the residual would match no row."""
    tree = parse(text, engine)
    written = to_sql(tree, engine)

    assert "INTERVAL" in written
    assert "'INTERVAL" not in written
    assert parse(written, engine) == tree


@pytest.mark.parametrize("text", DIFFERENCES)
def test_the_time_between_two_moments_is_written_as_it_is_read(text):
    tree = parse(text, "spark")

    assert parse(to_sql(tree, "spark"), "spark") == tree


def test_a_binary_is_written_as_the_engine_reads_it():
    equal = ex.Compare("=", ex.Column(("b",)), ex.Literal(b"a\x00\xff", BINARY))

    assert to_sql(equal, "spark") == "b = X'6100FF'"
    assert to_sql(equal, "hive4") == "b = unhex('6100FF')"  # Hive has no literal of this type


def test_types_are_named_as_the_engine_names_them():
    to_instant, to_clock = (ex.Cast(ex.Column(("dt",)), of) for of in (TIMESTAMP_LTZ, TIMESTAMP))

    assert to_sql(to_instant, "spark") == "CAST(dt AS timestamp_ltz)"
    assert to_sql(to_clock, "spark-ansi") == "CAST(dt AS timestamp_ntz)"
    assert to_sql(to_instant, "hive4") == "CAST(dt AS timestamp with local time zone)"
    assert to_sql(to_clock, "hive3") == "CAST(dt AS timestamp)"


def test_names_that_engines_do_not_take_are_quoted():
    column = ex.Column(("order", "my `col`", "x"))

    assert to_sql(column, "spark") == "`order`.`my ``col```.x"


def test_a_list_is_written_in_full():
    text = to_sql(ex.In(ex.Column(("i",)), tuple(ex.Literal(n, INT) for n in range(300))), "spark")

    assert text == f"i IN ({', '.join(map(str, range(300)))})"


@settings(max_examples=examples(47, at_night=3_000))
@given(data=st.data())
def test_the_text_of_a_filter_means_the_filter(data):
    expression = data.draw(filters(COLUMNS))
    text = to_sql(expression, "spark")

    again = parse(text, "spark")

    assert parse(to_sql(again, "spark"), "spark") == again
    for row in data.draw(slices(ex.column_names(expression) or ("i",))).rows:
        try:
            value = value_of(expression, row, SCHEMA, SPARK)
        except UnsupportedError:
            continue
        assert value_of(again, row, SCHEMA, SPARK) == value
