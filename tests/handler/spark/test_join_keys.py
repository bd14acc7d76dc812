"""Keys of a join in the type of the fact table's column: those, and only those, that a row of it may be equal to."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluator.functions.conversions import keeps_value
from evaluator.language.key_set import has_key_sets
from evaluator.language.types import (
    BIGINT,
    BINARY,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    Kind,
    decimal_type,
)
from handler.spark.join_keys import as_key_set
from tests.sampling import share

COLUMNS = [
    SMALLINT,
    INT,
    BIGINT,
    decimal_type(4, 0),
    decimal_type(10, 2),
    decimal_type(18, 18),
    DATE,
    TIMESTAMP,
    STRING,
]
COMPARED = [
    *COLUMNS,
    FLOAT,
    DOUBLE,
    BINARY,
    decimal_type(20, 0),
    decimal_type(12, 2),
    decimal_type(38, 20),
    decimal_type(38, 18),
]
PAIRS = [(column, compared) for column in COLUMNS for compared in COMPARED if keeps_value(column, compared)]

WHOLE = st.integers(-5, 5) | st.sampled_from(
    [2**15 - 1, 2**15, -(2**31), 2**31, 2**53, 2**63 - 1, -(2**63), 9999, 10**4]
)


def keys_of(compared):
    """A strategy for keys of the type, and their Arrow type."""
    if compared.kind is Kind.STRING:
        return st.text("ab\0é", max_size=3), pa.string()
    if compared.kind is Kind.DECIMAL:
        limit = 10**compared.precision - 1
        unscaled = st.integers(-limit, limit) | st.integers(-3, 3).map(lambda n: n * 10**compared.scale)
        fitting = unscaled.filter(lambda n: abs(n) <= limit)
        return fitting.map(lambda n: exact_decimal(n, compared.scale)), pa.decimal128(
            compared.precision, compared.scale
        )
    if compared.kind.is_fractional:
        halves = WHOLE.map(float) | st.sampled_from([0.5, -1.5, math.nan, math.inf, -math.inf, 1e300, -0.0])
        return halves.map(as_float) if compared.kind is Kind.FLOAT else halves, (
            pa.float32() if compared.kind is Kind.FLOAT else pa.float64()
        )
    if compared.kind.is_integer:
        least, greatest = compared.integer_range()
        kinds = {Kind.SMALLINT: pa.int16(), Kind.INT: pa.int32(), Kind.BIGINT: pa.int64()}
        return WHOLE.filter(lambda n: least <= n <= greatest), kinds[compared.kind]
    return st.integers(-5, 5), pa.int32() if compared.kind is Kind.DATE else pa.int64()


def exact_decimal(unscaled: int, scale: int) -> Decimal:
    return Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -scale))


def as_float(value: float) -> float:
    return pa.scalar(value, pa.float32()).as_py()


def belongs(key, column) -> Fraction | str | None:
    """The value of the column that is equal to the key; None when it has none."""
    if isinstance(key, str):
        return key
    if isinstance(key, float) and not math.isfinite(key):
        return None
    exact = Fraction(key)
    if column.kind is Kind.DECIMAL:
        unscaled = exact * 10**column.scale
        return exact if unscaled.denominator == 1 and abs(unscaled) < 10**column.precision else None
    if exact.denominator != 1:
        return None
    least, greatest = column.integer_range() if column.kind.is_integer else (-(2**63), 2**63 - 1)
    return exact if least <= exact <= greatest else None


@pytest.mark.parametrize(("column", "compared"), share(PAIRS, 2), ids=str)
@given(data=st.data())
def test_a_key_set_has_the_keys_that_are_values_of_the_column(column, compared, data):
    drawn, arrow = keys_of(compared)
    keys = data.draw(st.lists(drawn, min_size=1, max_size=8))
    found = as_key_set(pa.array(keys, arrow), compared, column)
    assert found is not None
    assert found.type == column
    assert list(found) == sorted({value for key in keys if (value := belongs(key, column)) is not None})


def test_pairs_that_are_compared_otherwise_have_no_key_set():
    for column, compared, array in (
        (DOUBLE, DOUBLE, pa.array([1.0])),
        (BINARY, BINARY, pa.array([b"x"])),
        (decimal_type(20, 0), decimal_type(20, 0), pa.array([Decimal(1)], pa.decimal128(20, 0))),
        (DATE, TIMESTAMP, pa.array([1])),
        (decimal_type(10, 2), BIGINT, pa.array([1])),
        (decimal_type(10, 2), decimal_type(10, 0), pa.array([Decimal(1)], pa.decimal128(10, 0))),
        (STRING, INT, pa.array([1])),
        (INT, STRING, pa.array(["1"])),
    ):
        assert as_key_set(array, compared, column) is None
    assert has_key_sets(decimal_type(18, 2))
    assert not has_key_sets(decimal_type(19, 2))
