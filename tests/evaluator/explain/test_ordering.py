"""Top-n: reading slices in order and stopping early finds the rows that a full sort finds."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.explain.ordering import (
    Nulls,
    Rank,
    SliceOrder,
    SortKey,
    order_slices,
    rejects_null,
    why_unordered,
)
from evaluator.language import expression as ex
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, DOUBLE, INT, STRING, TIMESTAMP, TIMESTAMP_LTZ, Kind, Type, decimal_type
from evaluator.reference.row_oracle import value_of
from evaluator.statistics.columns import ColumnStatistics, from_values
from tests.evaluator.short_forms import HIVE, SPARK, col, lit
from tests.evaluator.strategies import SCHEMA, TYPES, Slice, exact_statistics, slices, values_of, weakened
from tests.sampling import examples

SORTED = ("b", "i", "d", "f", "dec", "big", "s", "vc", "dt", "ts", "tz", "bin")


# -- what an engine does


def place_of(value: Any, descending: bool, null_first: bool, zeros_differ: bool) -> tuple[Any, ...]:
    """A sort key: NULL at its end, NaN above all numbers."""
    if value is None:
        return (0,) if null_first else (2,)
    if isinstance(value, float):
        number = (
            math.isnan(value),
            0.0 if math.isnan(value) else value,
            math.copysign(1, value) if zeros_differ and value == 0 else 0,
        )
        return (1, Reversed(number) if descending else number)
    return (1, Reversed(value) if descending else value)


class Reversed:
    def __init__(self, value: Any) -> None:
        self.value = value

    def __lt__(self, other: Reversed) -> bool:
        return bool(other.value < self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Reversed) and bool(other.value == self.value)

    def __repr__(self) -> str:
        return f"reversed {self.value}"


def read_with_early_stop(
    order: SliceOrder, values: list[list[Any]], n: int, place: Callable[[Any], Any]
) -> tuple[list[Any], int]:
    """The n best values, and how many slices were read to find them."""
    result: list[Any] = []
    for read, index in enumerate(order.slices.tolist()):
        if len(result) == n and order.may_stop(read, result[-1]):
            return result, read
        result = sorted([*result, *values[index]], key=place)[:n]
    return result, len(order.slices)


def with_nan(statistics: ColumnStatistics, parts: list[Slice], name: str, draw: st.DrawFn) -> ColumnStatistics:
    """What is left of the bounds of a slice with a NaN: at most one of them, or NaN itself."""
    lo, hi = statistics.lo.copy(), statistics.hi.copy()
    lo_known, hi_known = statistics.lo_known.copy(), statistics.hi_known.copy()
    for index, part in enumerate(parts):
        values = [row[name] for row in part.rows if row[name] is not None]
        if any(isinstance(v, float) and math.isnan(v) for v in values):
            match draw(st.sampled_from(["none", "lo", "hi", "nan"])):
                case "nan":
                    hi[index], lo_known[index], hi_known[index] = math.nan, True, True
                    lo[index] = 0.0
                case kept:
                    lo[index] = hi[index] = 0.0
                    lo_known[index], hi_known[index] = kept == "lo", kept == "hi"
    return replace(statistics, lo=lo, hi=hi, lo_known=lo_known, hi_known=hi_known)


@st.composite
def tables(draw: st.DrawFn, name: str) -> tuple[list[Slice], ColumnStatistics]:
    parts = draw(st.lists(slices([name]), min_size=1, max_size=7))
    if TYPES[name].kind.is_fractional:
        special = st.sampled_from([math.nan, 0.0, -0.0, 1.5])
        parts = [
            Slice(
                tuple(
                    {name: draw(special) if row[name] is not None and draw(st.integers(0, 3)) == 0 else row[name]}
                    for row in part.rows
                )
            )
            for part in parts
        ]
    finite = [
        Slice(
            tuple(
                {name: 0.0 if isinstance(row[name], float) and math.isnan(row[name]) else row[name]}
                for row in part.rows
            )
        )
        for part in parts
    ]
    return parts, with_nan(weakened(exact_statistics(name, finite), draw), parts, name, draw)


@st.composite
def conditions(draw: st.DrawFn, name: str) -> ex.HudiExpression:
    kind = TYPES[name]
    constant = values_of(kind).map(lambda v: ex.Literal(v, kind))
    leaf = (
        st.builds(
            ex.Compare, st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "<=>"]), st.just(ex.Column((name,))), constant
        )
        | st.just(ex.IsNull(ex.Column((name,))))
        | st.just(ex.Constant(True))
    )
    return draw(
        st.recursive(
            leaf,
            lambda inner: (
                st.builds(ex.Not, inner)
                | st.lists(inner, min_size=1, max_size=2).map(lambda c: ex.And(tuple(c)))
                | st.lists(inner, min_size=1, max_size=2).map(lambda c: ex.Or(tuple(c)))
            ),
            max_leaves=3,
        )
    )


@pytest.mark.parametrize("semantics", [SPARK, HIVE], ids=["spark", "hive"])
@pytest.mark.parametrize("name", SORTED)
@settings(max_examples=examples(5, at_night=400))
@given(
    data=st.data(),
    descending=st.booleans(),
    nulls=st.sampled_from(["first", "last", "either"]),
    n=st.integers(1, 6),
    null_first=st.booleans(),
)
def test_early_stop_finds_what_a_full_sort_finds(
    name: str, semantics: Semantics, data: st.DataObject, descending: bool, nulls: Nulls, n: int, null_first: bool
) -> None:
    parts, statistics = data.draw(tables(name))
    expression = data.draw(conditions(name))
    bound = bind(expression, SCHEMA, semantics)
    kept = np.flatnonzero(evaluate(bound, len(parts), [StatisticsProvider("column_stats", {name: statistics})]).keep)
    [column] = [field for field in SCHEMA if field.name == name]
    key = SortKey(column, descending, nulls)

    order = order_slices(key, [statistics], kept, without_null=rejects_null(bound, column))

    null_first = {"first": True, "last": False}.get(nulls, null_first)
    values = [[row[name] for row in part.rows if value_of(expression, row, SCHEMA, semantics)] for part in parts]

    def place(value: Any) -> Any:
        return place_of(value, descending, null_first, semantics.signed_zero_differs)

    expected = sorted((value for part in values for value in part), key=place)[:n]
    actual, _ = read_with_early_stop(order, values, n, place)
    assert [place(v) for v in actual] == [place(v) for v in expected]
    assert sorted(order.slices.tolist()) == kept.tolist()
    assert (np.diff(order.ranks.astype(int)) >= 0).all()


# -- tables


def ordered(
    column_type: Type,
    lo: list[Any],
    hi: list[Any],
    nulls: list[int | None],
    rows: list[int | None] | None = None,
    *,
    descending: bool = False,
    null_order: Nulls = "first",
    without_null: bool = False,
) -> SliceOrder:
    statistics = from_values(column_type, lo, hi, nulls, rows or [10] * len(lo))
    return order_slices(
        SortKey(Field("c", column_type), descending, null_order),
        [statistics],
        np.arange(len(lo)),
        without_null=without_null,
    )


@pytest.mark.parametrize(
    ("descending", "nulls", "slices_in_order"),
    [
        (False, "first", [3, 2, 1, 0, 4]),  # 3 is NULL only and 2 may hold NULL: both before any value; then by lo
        (False, "last", [2, 1, 0, 4, 3]),
        (True, "first", [3, 2, 4, 0, 1]),
        (True, "last", [4, 0, 2, 1, 3]),
        (False, "either", [3, 2, 1, 0, 4]),
    ],
    ids=str,
)
def test_the_order_of_slices(descending: bool, nulls: Nulls, slices_in_order: list[int]) -> None:
    order = ordered(
        INT, [10, 5, 1, None, 40], [20, 9, 11, None, 50], [0, 0, 2, 10, 0], descending=descending, null_order=nulls
    )
    assert order.slices.tolist() == slices_in_order


def test_reading_stops_at_the_first_slice_that_cannot_displace_the_worst_row() -> None:
    order = ordered(INT, [10, 5, 1, 40], [20, 9, 3, 50], [0, 0, 0, 0])
    assert order.slices.tolist() == [2, 1, 0, 3]
    assert [order.best_value(place) for place in range(4)] == [1, 5, 10, 40]
    assert [order.may_stop(read, 7) for read in range(5)] == [False, False, True, True, True]
    assert order.may_stop(2, 10)
    assert not order.may_stop(2, 10, ties_matter=True)
    assert not order.may_stop(0, None, ties_matter=True)


def test_a_slice_without_a_bound_is_read_before_those_with_one() -> None:
    order = ordered(INT, [10, None, 1], [20, 9, 3], [0, 0, 0])
    assert order.slices.tolist() == [1, 2, 0]
    assert order.ranks.tolist() == [Rank.UNKNOWN, Rank.BOUNDED, Rank.BOUNDED]
    assert not order.may_stop(0, -(2**31))
    assert order.best_value(0) is None


def test_an_unknown_null_count_is_a_null_unless_the_filter_takes_none() -> None:
    assert ordered(INT, [10, 1], [20, 3], [None, 0]).ranks.tolist() == [Rank.ANYTHING, Rank.BOUNDED]
    assert ordered(INT, [10, 1], [20, 3], [None, 0], without_null=True).slices.tolist() == [1, 0]
    schema = Schema([Field("c", INT), Field("d", INT)])
    for expression, rejects in (
        (ex.Compare(">", col("c"), lit(1, INT)), True),
        (ex.And((ex.Compare(">", col("c"), lit(1, INT)), ex.IsNull(col("d")))), True),
        (ex.Or((ex.Compare(">", col("c"), lit(1, INT)), ex.IsNull(col("d")))), False),
        (ex.Not(ex.IsNull(col("c"))), True),
        (ex.Compare("<=>", col("c"), lit(1, INT)), True),
        (ex.Unknown("?"), False),
        (ex.Compare(">", col("d"), lit(1, INT)), False),
    ):
        assert rejects_null(bind(expression, schema, SPARK), Field("c", INT)) is rejects, str(expression)


def test_one_missing_bound_of_a_double_may_be_a_nan() -> None:
    assert ordered(DOUBLE, [1.0, 5.0], [None, 6.0], [0, 0], descending=True).ranks[0] == Rank.UNKNOWN
    assert ordered(DOUBLE, [1.0, 5.0], [None, 6.0], [0, 0]).ranks[0] == Rank.UNKNOWN
    order = ordered(DOUBLE, [1.0], [2.0], [0], descending=True)
    assert not order.may_stop(0, math.nan)
    assert order.may_stop(0, 2.0)
    assert not ordered(DOUBLE, [0.0], [2.0], [0]).may_stop(0, 0.0), "it may hold -0.0, which Hive sorts first"


def test_a_slice_without_rows_is_last() -> None:
    order = ordered(INT, [None, 1], [None, 3], [0, 0], [0, 10])
    assert order.ranks.tolist() == [Rank.BOUNDED, Rank.NOTHING]
    assert order.may_stop(1, 10**6)
    assert order.may_stop(2, None)


def test_the_tightest_bound_of_several_sources_counts() -> None:
    wide, narrow, unknown = (
        from_values(INT, [lo], [hi], nulls, [10])
        for lo, hi, nulls in ((-9, 9, [0]), (-4, 4, [None]), (None, None, [None]))
    )
    for sources in ([wide, narrow, unknown], [unknown, narrow, wide], [narrow, unknown, wide]):
        for descending, best in ((False, -4), (True, 4)):
            order = order_slices(SortKey(Field("c", INT), descending, "first"), sources, np.arange(1))
            assert order.best_value(0) == best
    assert order_slices(SortKey(Field("c", INT), False, "first"), [], np.arange(3)).ranks.tolist() == [0, 0, 0]


def test_a_field_of_a_struct_may_be_null_although_none_is_counted() -> None:
    statistics = from_values(INT, [1], [3], [0], [10])
    order = order_slices(SortKey(Field("st.x", INT), False, "first"), [statistics], np.arange(1))
    assert order.ranks.tolist() == [Rank.ANYTHING]


@pytest.mark.parametrize(
    ("column_type", "lo", "hi", "best", "worst"),
    [
        (decimal_type(10, 2), Decimal("1.25"), Decimal("3.50"), Decimal("1.25"), Decimal("1.2")),
        (decimal_type(30, 10), Decimal("1.25"), Decimal("3.50"), Decimal("1.2500000000"), Decimal("-7")),
        (DATE, 18_262, 18_263, 18_262, datetime.date(2019, 12, 31)),
        (
            TIMESTAMP,
            1_577_836_800_000_000,
            1_577_836_900_000_000,
            1_577_836_800_000_000,
            datetime.datetime(2019, 12, 31),
        ),
        (
            TIMESTAMP_LTZ,
            1_577_836_800_000_000,
            1_577_836_900_000_000,
            1_577_836_800_000_000,
            datetime.datetime(2020, 1, 1, 0, 59, tzinfo=datetime.timezone(datetime.timedelta(hours=1))),
        ),
        (STRING, "b", "c", "b", "az"),
    ],
    ids=str,
)
def test_values_have_the_form_that_people_and_engines_use(
    column_type: Type, lo: Any, hi: Any, best: Any, worst: Any
) -> None:
    order = ordered(column_type, [lo], [hi], [0])
    assert order.best_value(0) == best
    assert type(order.best_value(0)) is type(best)
    assert order.may_stop(0, worst)
    assert order.may_stop(0, best)
    assert not order.may_stop(0, hi)


def test_a_wall_clock_is_no_instant() -> None:
    wall, instant = datetime.datetime(2020, 1, 1), datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
    with pytest.raises(ValueError, match="without a time zone"):
        ordered(TIMESTAMP, [0], [1], [0]).may_stop(0, instant)
    with pytest.raises(ValueError, match="with a time zone"):
        ordered(TIMESTAMP_LTZ, [0], [1], [0]).may_stop(0, wall)


def test_which_columns_have_no_order() -> None:
    berlin = Semantics.named("hive", "Europe/Berlin")
    assert why_unordered(Field("c", TIMESTAMP_LTZ), berlin)
    assert not why_unordered(Field("c", TIMESTAMP_LTZ), HIVE)
    assert not why_unordered(Field("c", TIMESTAMP_LTZ), Semantics.named("spark", "Europe/Berlin"))
    assert why_unordered(Field("c", Type(Kind.CHAR, 5)), SPARK)
    assert why_unordered(Field("c", Type(Kind.OTHER, name="array<int>")), SPARK)
    assert not why_unordered(Field("c", INT), berlin)
