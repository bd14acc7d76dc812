"""What holds of every filter besides soundness: NOT, De Morgan, more rows, more sources, the search for slices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate, evaluate_slice, interval_at
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.epoch import DAY
from evaluator.language.expression import column_names
from evaluator.language.interval import Interval
from evaluator.language.outcome import Outcomes
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.types import DATE, INT, STRING, TIMESTAMP, Type
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics, array_dtype
from evaluator.statistics.indexing import with_index, with_ranks
from tests.evaluator.short_forms import col, lit
from tests.evaluator.strategies import (
    SCHEMA,
    TYPES,
    Slice,
    exact_statistics,
    filters,
    function_leaves,
    slices,
    weakened,
)
from tests.sampling import examples

COLUMNS = list(TYPES)
SESSIONS = st.sampled_from([Semantics.named(engine, zone) for engine in ENGINES for zone in ("UTC", "Europe/Berlin")])
LAW = settings(max_examples=examples(23, at_night=1_500))


def outcomes(
    expression: ex.HudiExpression, semantics: Semantics, *known: dict[str, ColumnStatistics], n: int
) -> Outcomes:
    sources = [StatisticsProvider(f"source {place}", statistics) for place, statistics in enumerate(known)]
    return evaluate(bind(expression, SCHEMA, semantics), n, sources).outcomes


def drawn_statistics(
    data: st.DataObject, parts: list[Slice], expression: ex.HudiExpression
) -> dict[str, ColumnStatistics]:
    return {name: weakened(exact_statistics(name, parts), data.draw) for name in column_names(expression)}


def turned(expression: ex.HudiExpression) -> ex.HudiExpression:
    """NOT of a tree, driven down to its leaves."""
    match expression:
        case ex.And(children=children):
            return ex.Or(tuple(map(turned, children)))
        case ex.Or(children=children):
            return ex.And(tuple(map(turned, children)))
        case ex.Not(child=child):
            return straight(child)
        case _:
            return ex.Not(expression)


def straight(expression: ex.HudiExpression) -> ex.HudiExpression:
    match expression:
        case ex.And(children=children) | ex.Or(children=children):
            return replace(expression, children=tuple(map(straight, children)))
        case ex.Not(child=child):
            return turned(child)
        case _:
            return expression


@LAW
@given(data=st.data())
def test_not_not_is_nothing_and_not_goes_inward_by_de_morgan(data: st.DataObject) -> None:
    expression = data.draw(filters(COLUMNS))
    semantics = replace(data.draw(SESSIONS), between_is_one_test=False)  # Hive's BETWEEN is one test, not two leaves
    parts = data.draw(st.lists(slices(column_names(expression)), min_size=1, max_size=3))
    known = drawn_statistics(data, parts, expression)
    actual = outcomes(expression, semantics, known, n=len(parts)).tolist()
    assert outcomes(ex.Not(ex.Not(expression)), semantics, known, n=len(parts)).tolist() == actual
    assert outcomes(straight(expression), semantics, known, n=len(parts)).tolist() == actual
    negated = outcomes(ex.Not(expression), semantics, known, n=len(parts)).tolist()
    assert outcomes(turned(expression), semantics, known, n=len(parts)).tolist() == negated
    assert negated == [outcome.NOT_TABLE[one] for one in actual]


@LAW
@given(data=st.data())
def test_a_further_row_never_shrinks_an_outcome(data: st.DataObject) -> None:
    expression, semantics = data.draw(filters(COLUMNS)), data.draw(SESSIONS)
    few, more = (data.draw(slices(column_names(expression))) for _ in range(2))
    table = [few, Slice(few.rows + more.rows[:1])]
    known = {name: exact_statistics(name, table) for name in column_names(expression)}
    less, grown = outcomes(expression, semantics, known, n=2).tolist()
    assert less & ~grown == 0, f"{expression}: {outcome.describe(less)}, then {outcome.describe(grown)}"


@LAW
@given(data=st.data())
def test_what_a_further_source_says_never_adds_a_value(data: st.DataObject) -> None:
    expression, semantics = data.draw(filters(COLUMNS)), data.draw(SESSIONS)
    parts = data.draw(st.lists(slices(column_names(expression)), min_size=1, max_size=3))
    first, second = (drawn_statistics(data, parts, expression) for _ in range(2))
    alone = outcomes(expression, semantics, first, n=len(parts))
    both = outcomes(expression, semantics, first, second, n=len(parts))
    assert (both & ~alone).tolist() == [0] * len(parts)
    assert outcomes(expression, semantics, second, first, n=len(parts)).tolist() == both.tolist()
    assert (outcomes(expression, semantics, n=len(parts)) & alone).tolist() == alone.tolist()


#: Days at which calendars, zone tables and the years of four digits begin and end, and clocks are set.
EDGES = [
    -719_163,
    -200_000,
    -141_428,
    -141_427,
    -25_567,
    -25_566,
    -1,
    18_262,
    18_350,
    18_560,
    47_482,
    2_932_896,
    2_940_000,
]
EDGE_DAYS = st.builds(int.__add__, st.sampled_from(EDGES), st.integers(-40, 40)) | st.integers(-150_000, 60_000)
ZONES = ["UTC", "Europe/Berlin", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Manila", "Africa/Monrovia", "+05:30"]
ANY_SESSION = st.builds(Semantics.named, st.sampled_from(ENGINES), st.sampled_from(ZONES))


@st.composite
def edge_values(draw: st.DrawFn, name: str) -> int:
    day = draw(EDGE_DAYS)
    return (
        day if name == "dt" else day * DAY + draw(st.sampled_from([0, 1, DAY // 12, DAY - 1]) | st.integers(0, DAY - 1))
    )


@st.composite
def functions_of_moments(draw: st.DrawFn, name: str) -> ex.HudiExpression:
    """A leaf over a function of a moment, or what reports have named, against a constant near an edge."""
    if draw(st.booleans()):
        return draw(function_leaves(name))
    column, unit = col(name), lit(draw(st.sampled_from(["year", "month", "week", "day", "hour"])), STRING)
    operand: ex.Operand
    operand, of = draw(
        st.sampled_from(
            [
                (ex.Cast(column, STRING), STRING),
                (ex.Call("substr", (ex.Cast(column, STRING), lit(1, INT), lit(4, INT))), STRING),
                (ex.Call("last_day", (column,)), DATE),
                (ex.Cast(column, DATE), DATE),
                (ex.Cast(column, TIMESTAMP), TIMESTAMP),
                (ex.Call("to_timestamp", (column,)), TIMESTAMP),
                (ex.Call("date_trunc", (unit, column)), TIMESTAMP),
            ]
        )
    )
    if of is STRING:
        constant: Any = draw(st.sampled_from(["0001", "1582-10-15", "1900-01-01", "2020", "2020-03-29 02:30", "9999"]))
    else:
        constant = draw(edge_values("dt" if of is DATE else "ts"))
    return ex.Compare(draw(st.sampled_from(["=", "!=", "<", "<=", ">", ">="])), operand, lit(constant, of))


@settings(LAW, max_examples=examples(78, at_night=4000))
@given(data=st.data())
def test_a_narrower_slice_never_has_an_outcome_that_a_wider_one_has_not(data: st.DataObject) -> None:
    """So groups of slices can be decided at once: what holds of the widest bounds holds of each slice."""
    name, semantics = data.draw(st.sampled_from(["dt", "ts", "tz"])), data.draw(ANY_SESSION)
    bound = bind(data.draw(functions_of_moments(name)), SCHEMA, semantics)
    ends = sorted(data.draw(st.lists(edge_values(name), min_size=4, max_size=4)))
    inner = Interval(ends[1], ends[data.draw(st.sampled_from([1, 2]))], False)
    outer = [
        data.draw(st.sampled_from([None, ends[0], inner.lo])),
        data.draw(st.sampled_from([None, ends[3], inner.hi])),
    ]
    less = evaluate_slice(bound, {name: inner})
    grown = evaluate_slice(bound, {name: Interval(*outer, data.draw(st.booleans()))})
    assert less & ~grown == 0, (
        f"{bound.expression} {inner}: {outcome.describe(less)}, {outcome.describe(grown)} of {outer}"
    )


@settings(LAW, max_examples=60)
@given(data=st.data())
def test_one_slice_a_few_and_many_have_the_same_outcomes(data: st.DataObject) -> None:
    """Ancient and late days among others, in slices of one value and of ranges: alone, by 64, and in groups."""
    name, semantics = data.draw(st.sampled_from(["dt", "ts", "tz"])), data.draw(ANY_SESSION)
    bound = bind(data.draw(functions_of_moments(name)), SCHEMA, semantics)
    n, rng = data.draw(st.sampled_from([65, 201, 301, 700])), np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    values = np.array(sorted(data.draw(st.lists(edge_values(name), min_size=1, max_size=8))), np.int64)
    first = rng.integers(0, len(values), n)
    last = np.minimum(first + rng.integers(0, data.draw(st.sampled_from([1, 2, len(values)])), n), len(values) - 1)
    doubt = data.draw(st.sampled_from([0.0, 0.1]))
    known = ColumnStatistics(
        TYPES[name],
        values[first],
        values[last],
        lo_known=rng.random(n) >= doubt,
        hi_known=rng.random(n) >= doubt,
        null_count=rng.choice([0, 0, 1, 10, UNKNOWN_COUNT], n),
        row_count=np.full(n, 10),
        trust=np.zeros(n, np.uint8),
    )
    alone = [evaluate_slice(bound, {name: interval_at(known, index)}) for index in range(n)]
    for statistics in (known, with_index(known, 3, 8)):
        many = evaluate(bound, n, [StatisticsProvider("column_stats", {name: statistics})])
        assert many.outcomes.tolist() == alone
        assert many.kept_rows.tolist() == [index for index, one in enumerate(alone) if one & outcome.TRUE]
    few = known.take(np.arange(60))
    assert evaluate(bound, 60, [StatisticsProvider("column_stats", {name: few})]).outcomes.tolist() == alone[:60]


SIZES = st.sampled_from([1, 3, 64, 700, 5000])
SEARCHED = ["i", "l", "d", "f", "dec", "big", "s", "vc", "dt", "ts", "tz", "bin", "b", "st.x"]


def many_statistics(data: st.DataObject, name: str, n: int) -> ColumnStatistics:
    """Statistics of n slices from a few drawn values: clustered or not, with holes, all-null and empty slices."""
    of: Type = TYPES[name]
    few = data.draw(st.lists(slices([name]), min_size=1, max_size=6))
    values = sorted(row[name] for part in few for row in part.rows if row[name] is not None)
    rng = np.random.default_rng(data.draw(st.integers(0, 1 << 32)))
    if not values:
        return ColumnStatistics.unknown(of, n)
    pool = exact_statistics(name, [Slice(({name: value},)) for value in values])
    first, second = rng.integers(0, len(values), n), rng.integers(0, len(values), n)
    if data.draw(st.booleans()):
        first.sort()
        second = np.minimum(first + rng.integers(0, 2, n), len(values) - 1)
    lo, hi = np.minimum(first, second), np.maximum(first, second)
    doubt = data.draw(st.sampled_from([0.0, 0.02, 0.5]))
    nulls = rng.choice([0, 0, 1, 10, UNKNOWN_COUNT], n)
    bounds: Any = np.empty(n, array_dtype(of))
    bounds[:] = pool.lo[lo]
    uppers: Any = np.empty(n, array_dtype(of))
    uppers[:] = pool.hi[hi]
    if of.kind.is_fractional and doubt:
        bounds[rng.random(n) < 0.01] = np.nan
    return ColumnStatistics(
        of,
        bounds,
        uppers,
        lo_known=rng.random(n) >= doubt,
        hi_known=rng.random(n) >= doubt,
        null_count=nulls,
        row_count=np.full(n, 10),
        trust=np.zeros(n, np.uint8),
    )


@settings(LAW, max_examples=120)
@given(data=st.data())
def test_the_search_finds_the_kept_and_the_fully_matched_slices(data: st.DataObject) -> None:
    expression, semantics, n = data.draw(filters(SEARCHED)), data.draw(SESSIONS), data.draw(SIZES)
    plain = {name: many_statistics(data, name, n) for name in column_names(expression)}
    edges, block = data.draw(st.sampled_from([(1, 4), (3, 8), (8, 64), (65_000, 1024)]))
    indexed = {name: with_index(s, edges, block) for name, s in plain.items()}
    bound = bind(expression, SCHEMA, semantics)
    actual = evaluate(bound, n, [StatisticsProvider("column_stats", plain)]).outcomes
    for known in (plain, {name: with_ranks(s) for name, s in plain.items()}, indexed):
        searched = evaluate(bound, n, [StatisticsProvider("column_stats", known)])
        assert searched.kept_rows.tolist() == np.flatnonzero(actual & outcome.TRUE).tolist()
        assert searched.fully_matched_rows.tolist() == np.flatnonzero(actual == outcome.TRUE).tolist()
        assert searched.outcomes.tolist() == actual.tolist()
    half = np.flatnonzero(np.arange(n) % 2 == 0)
    some = evaluate(bound, n, [StatisticsProvider("column_stats", indexed)]).outcomes_at(half)
    assert some.tolist() == actual[half].tolist()
