"""Many slices: an indexed search, a scan and the outcomes of every slice agree bit for bit, whatever the layout."""

from __future__ import annotations

import random
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language import expression as ex
from evaluator.language.outcome import TRUE
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import BIGINT, DOUBLE, INT, STRING, Kind, Type, decimal_type
from evaluator.statistics.codes import ABOVE, BELOW, BoundCodes, Coder
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics
from evaluator.statistics.indexing import with_index, with_ranks
from evaluator.statistics.interval_index import IntervalIndex
from tests.sampling import share

WIDE_DECIMAL = decimal_type(20, 2)
TYPES = {
    "i": BIGINT,
    "j": INT,
    "d": DOUBLE,
    "s": STRING,
    "b": Type(Kind.BINARY),
    "w": WIDE_DECIMAL,
    "t": Type(Kind.DATE),
}
SCHEMA = Schema([Field(name, of) for name, of in TYPES.items()])
OPS = ["=", "!=", "<", "<=", ">", ">=", "<=>"]
FUNCTIONS = [
    ("abs", (ex.Column(("j",)),), INT),
    ("+", (ex.Column(("i",)), ex.Literal(3, INT)), BIGINT),
    ("lower", (ex.Column(("s",)),), STRING),
    ("year", (ex.Column(("t",)),), INT),
]


@dataclass
class Table:
    """Random statistics of n slices, and random filters whose constants occur in them."""

    choose: random.Random
    draw: np.random.Generator
    n: int
    clustered: bool

    def statistics(self) -> dict[str, ColumnStatistics]:
        return {name: self._column(of) for name, of in TYPES.items()}

    def _column(self, column_type: Type) -> ColumnStatistics:
        n, choose, draw = self.n, self.choose, self.draw
        span = choose.choice([5, 40, 1000, 10**6])
        lo = draw.integers(-span, span, n)
        lo = np.sort(lo) if self.clustered else lo
        hi = lo + draw.integers(0, choose.choice([1, 3, span]), n)
        wide = draw.random(n) < choose.choice([0, 0.01, 0.3])
        lo, hi = np.where(wide, -3 * span, lo), np.where(wide, 3 * span, hi)
        lo, hi = self._as(column_type, lo), self._as(column_type, hi)
        if column_type is WIDE_DECIMAL:
            hi = np.maximum(lo, hi)
        missing = choose.choice([0, 0, 0.02, 0.3])
        lo_known, hi_known = draw.random(n) >= missing, draw.random(n) >= missing
        if column_type is DOUBLE and choose.random() < 0.3:
            lo = np.where(draw.random(n) < 0.05, np.nan, lo)
        rows = np.where(draw.random(n) < choose.choice([0, 0.05]), 0, 100)
        nulls = np.where(draw.random(n) < choose.choice([0, 0.2, 1]), 3, 0)
        nulls = np.where(draw.random(n) < choose.choice([0, 0.1]), 100, nulls)
        nulls = np.where(draw.random(n) < choose.choice([0, 0.1]), UNKNOWN_COUNT, nulls)
        nulls = np.where(rows == 0, 0, nulls)
        return ColumnStatistics(
            column_type,
            lo,
            hi,
            lo_known=lo_known,
            hi_known=hi_known,
            null_count=nulls.astype(np.int64),
            row_count=rows.astype(np.int64),
            trust=np.zeros(n, np.uint8),
        )

    def _as(self, column_type: Type, values: Any) -> Any:
        match column_type.kind:
            case Kind.DOUBLE:
                return values / 4
            case Kind.STRING:
                made: list[Any] = [f"Pre-{v + 5 * 10**6:09d}" + ("é" if v % 3 == 0 else "") for v in values.tolist()]
            case Kind.BINARY:
                made = [int(v + 5 * 10**6).to_bytes(4, "big") for v in values.tolist()]
            case Kind.DECIMAL:
                made = [v * 10**12 + self.choose.randrange(3) for v in values.tolist()]
            case _:
                return values
        array = np.empty(len(made), object)
        array[:] = made
        return array

    def constant(self, name: str, statistics: dict[str, ColumnStatistics]) -> ex.Literal:
        known, choose = statistics[name], self.choose
        value = choose.choice([known.lo, known.hi])[choose.randrange(self.n)]
        value = value.item() if isinstance(value, np.generic) else value
        value = 0.0 if value != value else value
        if isinstance(value, str):
            value = choose.choice([value, value, value + "x", value[:-1], "", "a", "z"])
        elif not isinstance(value, bytes):
            value += choose.choice([-1, 0, 0, 1])
        return ex.Literal(Decimal(value).scaleb(-2) if TYPES[name] is WIDE_DECIMAL else value, TYPES[name])

    def leaf(self, statistics: dict[str, ColumnStatistics]) -> ex.HudiExpression:
        choose = self.choose
        name = choose.choice(list(TYPES))
        column = ex.Column((name,))
        match choose.choice(
            ["compare", "compare", "compare", "in", "null", "between", "like", "columns", "function", "unknown"]
        ):
            case "in":
                null = (ex.Literal(None, Type(Kind.VOID)),) if choose.random() < 0.2 else ()
                count = choose.choice([1, 3, 80])
                return ex.In(column, (*(self.constant(name, statistics) for _ in range(count)), *null))
            case "null":
                return ex.IsNull(column)
            case "between":
                return ex.And(
                    (
                        ex.Compare(">=", column, self.constant(name, statistics)),
                        ex.Compare("<=", column, self.constant(name, statistics)),
                    )
                )
            case "like":
                return ex.Like(ex.Column(("s",)), "Pre-00" + choose.choice(["%", "4%", "5%", "5_%", "%1"]))
            case "columns":
                return ex.Compare(choose.choice(OPS), ex.Column(("i",)), ex.Column(("j",)))
            case "function":
                function, arguments, of = choose.choice(FUNCTIONS)
                constant = ex.Literal("pre-005000001" if of is STRING else choose.choice([3, 1970, -4]), of)
                return ex.Compare(choose.choice(OPS), ex.Call(function, arguments), constant)
            case "unknown":
                return (
                    ex.Unknown("it is not understood")
                    if choose.random() < 0.5
                    else ex.Constant(choose.choice([True, False, None]))
                )
            case _:
                return ex.Compare(choose.choice(OPS), column, self.constant(name, statistics))

    def filter(self, statistics: dict[str, ColumnStatistics], depth: int) -> ex.HudiExpression:
        share = self.choose.random()
        if depth == 0 or share < 0.25:
            return self.leaf(statistics)
        if share > 0.85:
            return ex.Not(self.filter(statistics, depth - 1))
        children = tuple(self.filter(statistics, depth - 1) for _ in range(self.choose.randrange(1, 5)))
        return ex.And(children) if share < 0.6 else ex.Or(children)


@pytest.mark.parametrize("seed", share(range(24), 3))
def test_an_indexed_search_finds_the_slices_whose_outcome_holds_true(seed: int) -> None:
    choose = random.Random(seed)
    table = Table(choose, np.random.default_rng(seed), choose.choice([1, 7, 100, 1000, 5000]), bool(seed % 2))
    plain = table.statistics()
    indexed = {
        name: with_index(known, choose.choice([3, 50, 65_000]), choose.choice([4, 64]))
        if choose.random() < 0.8
        else known
        for name, known in plain.items()
    }
    for _ in range(12):
        expression = table.filter(plain, choose.randrange(4))
        bound = bind(expression, SCHEMA, Semantics.named(choose.choice(["spark", "hive"]), "UTC"))
        wanted = evaluate(bound, table.n, [StatisticsProvider("x", plain)]).outcomes
        for statistics in (plain, {name: with_ranks(known) for name, known in plain.items()}, indexed):
            actual = evaluate(bound, table.n, [StatisticsProvider("x", statistics)])
            assert actual.kept_rows.tolist() == np.flatnonzero(wanted & TRUE).tolist(), str(expression)
            assert actual.fully_matched_rows.tolist() == np.flatnonzero(wanted == TRUE).tolist(), str(expression)
            assert actual.outcomes_at(actual.kept_rows).tolist() == wanted[actual.kept_rows].tolist(), str(expression)


def test_codes_keep_the_order_of_values_of_every_type() -> None:
    table = Table(random.Random(0), np.random.default_rng(0), 2000, clustered=False)
    for name, known in table.statistics().items():
        values = np.concatenate((known.lo, known.hi))
        values = values[~np.isnan(values)] if TYPES[name] is DOUBLE else values
        coder = Coder.of(TYPES[name], values, max_edges=40)
        codes = coder.codes(values)
        order = np.argsort(values, kind="stable")
        assert (np.diff(codes[order].astype(int)) >= 0).all(), name
        assert codes.tolist() == [coder.code(v) for v in values.tolist()], name
        assert codes.min() > BELOW
        assert codes.max() < ABOVE


@pytest.mark.parametrize("value", [1e308, 10**309, 10**400, Fraction(10**400, 3)])
def test_a_constant_that_no_double_holds_is_beyond_all_edges(value: Any) -> None:
    wide = decimal_type(38, 10)
    bounds = np.array([int(n) * 10**10 for n in range(100)], object)
    coder = Coder.of(wide, bounds)
    assert (coder.code(-value), coder.code(value)) == (1, coder.code_count)


@pytest.mark.parametrize(("value", "code"), [("", 1), ("Pra", 1), ("Pre-", 1), ("Prf", 4), ("z", 4)])
def test_a_text_without_the_common_prefix_is_below_or_above_all_edges(value: str, code: int) -> None:
    bounds = np.array(["Pre-a", "Pre-b", "Pre-c"], object)
    assert Coder.of(STRING, bounds).code(value) == code


@pytest.mark.parametrize("members", [["Aaaaaaaaaaaaaaaaaa"], ["", "zz"], ["Pre-000", "Aaaaaaaaaaaaaaaaaa", "Pzzzzz"]])
def test_members_that_lack_the_common_prefix_are_found_where_a_bound_is_unknown(members: list[str]) -> None:
    n = 5000
    lo = np.array([f"Pre-{i:06d}" for i in range(n)], object)
    known = np.arange(n) % 3
    statistics = ColumnStatistics(
        STRING,
        lo,
        lo + "5",
        lo_known=known != 0,
        hi_known=known != 1,
        null_count=np.zeros(n, np.int64),
        row_count=np.full(n, 10),
        trust=np.zeros(n, np.uint8),
    )
    bound = bind(
        ex.In(ex.Column(("s",)), tuple(ex.Literal(m, STRING) for m in [*members, *"ABC"])),
        SCHEMA,
        Semantics.named("spark"),
    )
    wanted = evaluate(bound, n, [StatisticsProvider("x", {"s": statistics})]).outcomes
    actual = evaluate(bound, n, [StatisticsProvider("x", {"s": with_index(statistics)})])
    assert actual.kept_rows.tolist() == np.flatnonzero(wanted & TRUE).tolist()


def test_texts_that_differ_beyond_the_key_are_told_apart_exactly() -> None:
    long = "x" * 60
    texts = np.array([long + end for end in "abcdefgh"] * 100, object)
    known = ColumnStatistics(
        STRING,
        texts,
        texts,
        lo_known=np.ones(800, np.bool_),
        hi_known=np.ones(800, np.bool_),
        null_count=np.zeros(800, np.int64),
        row_count=np.full(800, 10),
        trust=np.zeros(800, np.uint8),
    )
    bound = bind(ex.Compare("=", ex.Column(("s",)), ex.Literal(long + "c", STRING)), SCHEMA, Semantics.named("spark"))
    actual = evaluate(bound, 800, [StatisticsProvider("x", {"s": with_index(known, max_edges=3)})])
    assert actual.kept_rows.tolist() == list(range(2, 800, 8))


@pytest.mark.parametrize("alone", [True, False], ids=["alone", "below an AND"])
@pytest.mark.parametrize("span", [300, 10**9], ids=["many of one code", "few of one code"])
def test_members_are_found_in_more_slices_than_are_looked_at_at_a_time(span: int, alone: bool) -> None:
    draw, n = np.random.default_rng(span), (1 << 16) + 4_321
    lo = draw.integers(-span, span, n)
    hi = lo + draw.integers(0, max(2, span // 500), n) * draw.integers(0, 2, n)
    known = draw.random((2, n)) > 0.02
    none = draw.random(n) < 0.01
    column = ColumnStatistics(
        BIGINT,
        np.where(known[0] & ~none, lo, 0),
        np.where(known[1] & ~none, hi, 0),
        lo_known=known[0] & ~none,
        hi_known=known[1] & ~none,
        null_count=np.where(none, 10, 0),
        row_count=np.full(n, 10),
        trust=np.zeros(n, np.uint8),
    )
    members = [*draw.choice(lo, 60).tolist(), *draw.choice(hi, 60).tolist(), *draw.integers(-span, span, 200).tolist()]
    condition: ex.HudiExpression = ex.In(ex.Column(("i",)), tuple(ex.Literal(value, BIGINT) for value in members))
    if not alone:
        bound = ex.Compare(">", ex.Column(("i",)), ex.Literal(-span // 2, BIGINT))
        condition = ex.And((condition, bound))
    filter_ = bind(condition, SCHEMA, Semantics.named("spark", "UTC"))
    plain, indexed = (
        evaluate(filter_, n, [StatisticsProvider("column_stats", {"i": one})]) for one in (column, with_index(column))
    )
    expected = np.flatnonzero(plain.outcomes & TRUE)
    assert 0 < len(expected) < n
    assert np.array_equal(indexed.kept_rows, expected)
    assert np.array_equal(indexed.outcomes, plain.outcomes)


def test_the_slices_of_some_codes_come_in_the_order_of_the_codes() -> None:
    codes = BoundCodes.of(np.array([3, 1, 3, 0, 65_535, 1], np.uint16))
    assert codes.of_codes(np.array([1, 2, 3, 65_535], np.uint16)).tolist() == [1, 5, 0, 2, 4]
    assert codes.of_codes(np.array([2], np.uint16)).tolist() == []


@pytest.mark.parametrize("wide", [0.0, 0.02, 0.5])
def test_a_look_up_holds_all_slices_that_meet_a_range_of_codes(wide: float) -> None:
    draw = np.random.default_rng(3)
    lo = draw.integers(1, 500, 3000).astype(np.uint16)
    hi = (lo + np.where(draw.random(3000) < wide, 400, 3)).astype(np.uint16)
    hi[:50] = 0  # slices without any value
    index = IntervalIndex.of(BoundCodes.of(lo), hi)
    for lowest, highest in [(1, 1), (250, 250), (100, 180), (499, 499), (0, 30), (400, 65_535)]:
        sure, equal = index.meeting(np.uint16(lowest), np.uint16(highest))
        inside = (lo < highest) & (hi > lowest) & (lo <= hi)
        assert sorted(sure.tolist()) == np.flatnonzero(inside).tolist()
        at_an_end = (lo <= highest) & (hi >= lowest) & (lo <= hi) & ~inside
        assert sorted(equal.tolist()) == np.flatnonzero(at_an_end).tolist()
        assert index.cost(np.uint16(lowest), np.uint16(highest)) >= len(sure) + len(equal)
