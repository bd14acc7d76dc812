"""C7: a number of seconds as an instant, as Spark casts it, against the reference of rows."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.language import expression as ex
from evaluator.language.errors import UnsupportedError
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.types import BIGINT, DOUBLE, FLOAT, INT, SMALLINT, TIMESTAMP_LTZ, Type, decimal_type
from evaluator.reference.row_oracle import value_of
from handler.sql import parse
from tests.evaluator.short_forms import col, lit, outcome_of, stats
from tests.sampling import examples

OF_SPARK = [engine for engine in ENGINES if engine.startswith("spark")]
_DECIMAL = decimal_type(20, 7)
_DOUBLES = st.one_of(
    st.floats(-2e10, 3e11, allow_nan=False),
    st.integers(-(10**10), 10**10).map(lambda n: n + 0.1),
    st.sampled_from((1_700_000_000.123456, 1_700_000_000.9999999, -0.0000015, 4.9e-324)),
)
_VALUES: dict[Type, st.SearchStrategy[Any]] = {
    SMALLINT: st.integers(-32768, 32767),
    INT: st.integers(-(1 << 31), (1 << 31) - 1),
    BIGINT: st.one_of(st.integers(-(10**11), 10**12), st.sampled_from((1_700_000_000, (1 << 63) - 1))),
    FLOAT: st.floats(-(2.0**33), 2.0**36, allow_nan=False, width=32),
    DOUBLE: _DOUBLES,
    _DECIMAL: st.integers(-(10**18), 10**18).map(lambda n: Decimal(n).scaleb(-7)),
}


@pytest.mark.parametrize("engine", OF_SPARK)
@pytest.mark.parametrize("kind", _VALUES, ids=str)
@given(data=st.data())
@settings(max_examples=examples(15, at_night=3_000), deadline=None)
def test_every_row_has_an_outcome_of_its_slice(engine: str, kind: Type, data: st.DataObject) -> None:
    semantics = Semantics.named(engine, data.draw(st.sampled_from(("UTC", "Europe/Berlin"))))
    rows = data.draw(st.lists(_VALUES[kind], min_size=1, max_size=3))
    operand = data.draw(st.sampled_from((ex.Cast(col("x"), TIMESTAMP_LTZ), ex.Call("timestamp_seconds", (col("x"),)))))
    near = int(rows[0] * 1_000_000) + data.draw(st.integers(-2, 2))
    op = data.draw(st.sampled_from(("<", "<=", "=", "!=", ">=", ">", "<=>")))
    condition = ex.Compare(op, operand, lit(near, TIMESTAMP_LTZ))
    nulls = data.draw(st.sampled_from((0, 2)))
    possible = outcome_of(condition, {"x": stats(kind, min(rows), max(rows), nulls=nulls)}, semantics)
    schema = Schema([Field("x", kind)])
    for value in (*rows, *([None] if nulls else []), *([math.nan] if kind.kind.is_fractional else [])):
        try:
            result = value_of(condition, {"x": value}, schema, semantics)
        except UnsupportedError:
            continue
        assert {True: "T", False: "F", None: "N"}[result] in possible, (value, result, possible)


@pytest.mark.parametrize("engine", OF_SPARK)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cast(l as timestamp) > timestamp '2023-11-14 22:13:19'", "T"),
        ("cast(l as timestamp) > timestamp '2023-11-14 22:13:20'", "TF"),
        ("cast(l as timestamp) >= timestamp '2024-01-01 00:00:00'", "F"),
        ("cast(ms / 1000 as timestamp) < timestamp '2023-11-14 22:13:21'", "TN"),
        ("cast(ms / 1000 as timestamp) > timestamp '2024-01-01 00:00:00'", "FN"),
        ("date(cast(l as timestamp)) = date '2023-11-14'", "T"),
        ("timestamp_seconds(ms / 1000) >= timestamp '2024-01-01 00:00:00'", "FN"),
        ("from_unixtime(ms / 1000) > '2024-01-01'", "F"),
        ("to_timestamp(l) > timestamp '2024-01-01 00:00:00'", "TFN"),
    ],
)
def test_seconds_and_milliseconds_of_a_column_are_decided(engine: str, text: str, expected: str) -> None:
    known = {
        "l": stats(BIGINT, 1_700_000_000, 1_700_000_100),
        "ms": stats(BIGINT, 1_700_000_000_000, 1_700_000_000_999),
    }
    condition = parse(text, engine)  # type: ignore[arg-type]
    assert outcome_of(condition, known, Semantics.named(engine, "UTC")) == expected


@pytest.mark.parametrize("engine", [engine for engine in ENGINES if engine not in OF_SPARK])
def test_hive_takes_a_number_for_seconds_or_milliseconds_by_a_setting(engine: str) -> None:
    condition = parse("cast(l as timestamp) > timestamp '2024-01-01 00:00:00'", engine)  # type: ignore[arg-type]
    assert outcome_of(condition, {"l": stats(BIGINT, 1, 2)}, Semantics.named(engine, "UTC")) == "TFN"
