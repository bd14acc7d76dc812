"""Spark's data source filters as expressions: each kind, each type, and what is not exact."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest
from pyspark.sql.datasource import (
    EqualNullSafe,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNotNull,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    StringContains,
    StringEndsWith,
    StringStartsWith,
)
from pyspark.sql.types import (
    BinaryType,
    BooleanType,
    ByteType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    StringType,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from evaluator.language.expression import Compare, Constant, Literal, Unknown, to_text
from evaluator.language.types import TIMESTAMP, TIMESTAMP_LTZ, Kind, decimal_type
from handler.spark.source.pushed_filters import condition_of_filters

UTC = datetime.timezone.utc
SCHEMA = (
    StructType()
    .add("b", BooleanType())
    .add("y", ByteType())
    .add("i", IntegerType())
    .add("f", FloatType())
    .add("d", DoubleType())
    .add("n", DecimalType(10, 2))
    .add("s", StringType())
    .add("x", BinaryType())
    .add("day", DateType())
    .add("t", TimestampType())
    .add("w", TimestampNTZType())
    .add("st", StructType().add("x", IntegerType()))
    .add("c", StringType("UNICODE_CI"))
)


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (EqualTo(("i",), 1), "i = 1"),
        (EqualNullSafe(("i",), 1), "i <=> 1"),
        (EqualNullSafe(("i",), None), "i <=> NULL"),
        (GreaterThan(("i",), 1), "i > 1"),
        (GreaterThanOrEqual(("i",), 1), "i >= 1"),
        (LessThan(("i",), 1), "i < 1"),
        (LessThanOrEqual(("i",), 1), "i <= 1"),
        (In(("i",), (1, None)), "i IN (1, NULL)"),
        (IsNull(("i",)), "i IS NULL"),
        (IsNotNull(("i",)), "NOT i IS NULL"),
        (Not(EqualTo(("b",), True)), "NOT b = True"),
        (StringStartsWith(("s",), "a%b_c\\"), "s LIKE 'a\\%b\\_c\\\\%'"),
        (StringEndsWith(("s",), "z"), "s LIKE '%z'"),
        (StringContains(("s",), "m"), "s LIKE '%m%'"),
        (GreaterThan(("st", "x"), 5), "st.x > 5"),
        (EqualTo(("x",), b"\x01"), "x = X'01'"),
        (EqualTo(("y",), 127), "y = 127"),
        (Not(Not(IsNull(("s",)))), "NOT NOT s IS NULL"),
    ],
)
def test_a_filter_says_the_same(one, text):
    assert to_text(condition_of_filters([one], SCHEMA)) == text


@pytest.mark.parametrize(
    ("name", "value", "literal"),
    [
        ("n", Decimal("1.50"), Literal(Decimal("1.50"), decimal_type(10, 2))),
        ("n", Decimal("-12345678.99"), Literal(Decimal("-12345678.99"), decimal_type(10, 2))),
        ("n", 3, Literal(Decimal(3), decimal_type(10, 2))),
        ("t", datetime.datetime(1970, 1, 1, 0, 0, 1, 5, UTC), Literal(1_000_005, TIMESTAMP_LTZ)),
        ("t", datetime.datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC), Literal(-1, TIMESTAMP_LTZ)),
        ("w", datetime.datetime(1970, 1, 2), Literal(86_400_000_000, TIMESTAMP)),
    ],
)
def test_a_constant_is_of_the_type_of_its_column(name, value, literal):
    found = condition_of_filters([EqualTo((name,), value)], SCHEMA)
    assert isinstance(found, Compare)
    assert found.right == literal


def test_a_day_is_counted_from_1970():
    found = condition_of_filters([EqualTo(("day",), datetime.date(1969, 12, 31))], SCHEMA)
    assert found.right.value == -1
    assert found.right.type.kind is Kind.DATE


@pytest.mark.parametrize(
    "one",
    [
        EqualTo(("i",), "1"),
        EqualTo(("i",), True),
        EqualTo(("y",), 128),
        EqualTo(("d",), float("nan")),
        EqualTo(("n",), Decimal("1.505")),
        EqualTo(("n",), Decimal("123456789.00")),
        EqualTo(("n",), Decimal("NaN")),
        EqualTo(("t",), datetime.datetime(2020, 1, 1)),
        EqualTo(("w",), datetime.datetime(2020, 1, 1, tzinfo=UTC)),
        EqualTo(("day",), datetime.datetime(2020, 1, 1)),
        EqualTo(("s",), 5),
        EqualTo(("b",), 1),
        EqualTo(("st",), 5),
        EqualTo(("gone",), 5),
        EqualTo(("a.b",), 5),
        StringStartsWith(("i",), "1"),
        In(("i",), (1, "2")),
        EqualTo(("c",), "a"),
        StringStartsWith(("c",), "a"),
        object(),
    ],
    ids=lambda one: "object" if type(one) is object else str(one),
)
def test_what_is_not_exact_is_unknown(one):
    assert isinstance(condition_of_filters([one], SCHEMA), Unknown)


def test_unknown_stays_where_it_is():
    found = condition_of_filters([EqualTo(("i",), "1"), Not(EqualTo(("i",), "1")), EqualTo(("i",), 1)], SCHEMA)
    unknown, negated, known = found.children
    assert isinstance(unknown, Unknown)
    assert isinstance(negated.child, Unknown)
    assert to_text(known) == "i = 1"
    assert condition_of_filters([], SCHEMA) == Constant(True)
