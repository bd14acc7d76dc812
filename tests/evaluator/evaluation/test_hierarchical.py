"""Functions over many slices: evaluated on groups first, with the outcomes of single slices."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import evaluate_slice, interval_at
from evaluator.evaluation.hierarchical import evaluate_groups
from evaluator.language.interval import Interval
from evaluator.language.outcome import FALSE, NULL, TRUE, UNKNOWN
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import DATE, INT, STRING, TIMESTAMP, TIMESTAMP_LTZ, Type
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics
from evaluator.statistics.indexing import with_index
from handler.sql.parsing import parse
from tests.sampling import share

DAY = 86_400_000_000


def column(column_type: Type, lo: np.ndarray, hi: np.ndarray, seed: int = 0) -> ColumnStatistics:
    n, draw = len(lo), np.random.default_rng(seed)
    nulls = draw.choice([0, 0, 0, 3, 10, UNKNOWN_COUNT], n)
    return ColumnStatistics(
        column_type,
        lo,
        hi,
        lo_known=draw.random(n) > 0.02,
        hi_known=draw.random(n) > 0.02,
        null_count=nulls,
        row_count=np.full(n, 10),
        trust=np.zeros(n, np.uint8),
    )


def asked_of(condition: str, name: str, column_type: Type, zone: str) -> Callable[[Interval], int]:
    bound = bind(parse(condition, "spark"), Schema([Field(name, column_type)]), Semantics.named("spark", zone))
    return lambda interval: evaluate_slice(bound, {name: interval})


@pytest.mark.parametrize(
    ("condition", "most"),
    [
        ("year(ts) = 2020", 0.2),
        ("month(ts) = 3", 0.8),
        ("to_date(ts) > DATE'2019-05-05'", 0.2),
        ("date_format(ts, 'MM/dd') = '05/05'", 0.9),
        ("year(ts) IS NULL", 1.4),
        ("hour(ts) < 3", 1.4),
        ("year(ts) IN (2019, 2021, NULL)", 0.4),
    ],
)
@pytest.mark.parametrize("zone", share(["UTC", "Europe/Berlin"], 2))
@pytest.mark.parametrize("indexed", [False, True], ids=["sorted by value", "sorted by code"])
def test_moments_are_decided_as_one_by_one_with_fewer_questions(
    condition: str, most: float, zone: str, indexed: bool
) -> None:
    lo = (np.random.default_rng(5).random(1500) * 3650 * DAY).astype(np.int64) + 15_000 * DAY
    known = column(TIMESTAMP_LTZ, lo, lo + DAY)
    ask, asked = asked_of(condition, "ts", TIMESTAMP_LTZ, zone), []

    def counting(interval: Interval) -> int:
        asked.append(interval)
        return ask(interval)

    actual = evaluate_groups(with_index(known, max_edges=50) if indexed else known, counting)
    assert actual.tolist() == [ask(interval_at(known, index)) for index in range(len(known))]
    assert len(asked) <= most * len(known)


@pytest.mark.parametrize(
    "condition",
    [
        "CAST(dt AS STRING) >= '2020'",
        "CAST(dt AS STRING) < '1582-10-15'",
        "last_day(dt) < TIMESTAMP'2020-01-31 00:00:00'",
        "last_day(dt) >= DATE'9999-12-31'",
        "date_trunc('month', dt) < TIMESTAMP'2020-03-29 02:30:00'",
        "date_trunc('hour', dt) >= TIMESTAMP'1900-01-01 00:00:00'",
        "CAST(dt AS TIMESTAMP) = TIMESTAMP'1890-01-01 00:00:00'",
    ],
)
@pytest.mark.parametrize("column_type", [DATE, TIMESTAMP, TIMESTAMP_LTZ], ids=str)
@pytest.mark.parametrize("zone", share(["UTC", "Europe/Berlin", "America/Sao_Paulo", "Asia/Manila"], 4))
def test_ancient_and_late_days_are_doubted_in_groups_as_one_by_one(
    condition: str, column_type: Type, zone: str
) -> None:
    """A group of ancient and recent days must not decide what an ancient day alone leaves open."""
    draw = np.random.default_rng(8)
    lo = draw.choice([-719_162, -200_000, -141_428, -141_427, -30_000, -25_567, 0, 18_350, 18_560, 2_932_896], 400)
    hi = np.maximum(lo, np.where(draw.random(400) < 0.5, lo, draw.choice([-141_428, 0, 18_353, 2_940_000], 400)))
    scale = 1 if column_type is DATE else DAY
    known = column(column_type, lo * scale, hi * scale)
    ask = asked_of(condition, "dt", column_type, zone)
    assert evaluate_groups(known, ask).tolist() == [ask(interval_at(known, index)) for index in range(len(known))]


@pytest.mark.parametrize(
    "condition",
    [
        "abs(a) < 100",
        "a * -1 > 900",
        "a % 7 = 3",
        "a + 1 IS NULL",
        "cast(a as double) / 3 > 300",
        "if(a <= -500, a, -2000) >= -9999",
        "if(a <= -500, a, a - 1) < 5",
        "CASE WHEN a > 300 THEN a WHEN a < -300 THEN NULL ELSE 7 END > 0",
    ],
)
def test_numbers_are_decided_as_one_by_one(condition: str) -> None:
    draw = np.random.default_rng(6)
    lo = draw.integers(-1000, 1000, 600)
    known = column(INT, lo, lo + draw.integers(0, 9, 600))
    ask = asked_of(condition, "a", INT, "UTC")
    assert evaluate_groups(known, ask).tolist() == [ask(interval_at(known, index)) for index in range(len(known))]


@pytest.mark.parametrize("condition", ["lower(s) = 'user-77'", "substr(s, 1, 6) = 'User-1'", "length(s) > 3"])
def test_texts_are_decided_as_one_by_one(condition: str) -> None:
    numbers = np.random.default_rng(7).integers(0, 300, 400)
    lo, hi = (np.array([f"User-{n + more}" for n in numbers], object) for more in (0, 2))
    known = column(STRING, np.minimum(lo, hi), np.maximum(lo, hi))
    ask = asked_of(condition, "s", STRING, "UTC")
    assert evaluate_groups(known, ask).tolist() == [ask(interval_at(known, index)) for index in range(len(known))]


def test_after_so_many_questions_the_rest_is_what_its_group_was() -> None:
    lo = np.arange(5000) * 3
    known = ColumnStatistics(
        INT,
        lo,
        lo,
        lo_known=np.ones(5000, np.bool_),
        hi_known=np.ones(5000, np.bool_),
        null_count=np.zeros(5000, np.int64),
        row_count=np.full(5000, 10),
        trust=np.zeros(5000, np.uint8),
    )
    ask = asked_of("a % 7 = 3", "a", INT, "UTC")
    actual = evaluate_groups(known, ask, max_evaluations=100)
    exact = np.array([ask(interval_at(known, index)) for index in range(5000)])
    assert ((actual & exact) == exact).all()
    assert (actual == TRUE | FALSE).any()


def test_a_function_that_never_decides_is_given_up_soon() -> None:
    asked = []

    def undecided(interval: Interval) -> int:
        asked.append(interval)
        return UNKNOWN

    lo = np.arange(100_000)
    known = ColumnStatistics(
        INT,
        lo,
        lo + 5,
        lo_known=np.ones(100_000, np.bool_),
        hi_known=np.ones(100_000, np.bool_),
        null_count=np.zeros(100_000, np.int64),
        row_count=np.full(100_000, 10),
        trust=np.zeros(100_000, np.uint8),
    )
    assert (evaluate_groups(known, undecided) == UNKNOWN).all()
    assert len(asked) < 10_000


def test_a_null_that_a_group_may_hold_is_not_told_of_all_its_slices() -> None:
    """TRUE or NULL for the group, since some slice of it overflows: the others are never NULL."""

    def ask(interval: Interval) -> int:
        return TRUE | (NULL if interval.hi >= 900 else 0)

    lo = np.arange(1000)
    known = ColumnStatistics(
        INT,
        lo,
        lo,
        lo_known=np.ones(1000, np.bool_),
        hi_known=np.ones(1000, np.bool_),
        null_count=np.zeros(1000, np.int64),
        row_count=np.full(1000, 10),
        trust=np.zeros(1000, np.uint8),
    )
    assert evaluate_groups(known, ask).tolist() == [TRUE] * 900 + [TRUE | NULL] * 100
