"""C2: the rule table as a grid of bounds and operators; the table below is the specification."""

from __future__ import annotations

import pytest

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import StatisticsProvider, evaluate
from evaluator.language import expression as ex
from evaluator.language.function_names import MIRRORED
from evaluator.language.schema import Field, Schema
from evaluator.language.types import BIGINT, INT, STRING
from evaluator.statistics.columns import from_values
from tests.evaluator.short_forms import NULL, SPARK, col, letters, lit, outcome_of, stats

# bounds of x, then the outcome of: x < 5, x <= 5, x = 5, x != 5, x > 5, x >= 5
GRID = [
    ((1, 3), "T T F T F F"),
    ((1, 5), "TF T TF TF F TF"),
    ((1, 9), "TF TF TF TF TF TF"),
    ((5, 5), "F T T F F T"),
    ((5, 9), "F TF TF TF TF T"),
    ((6, 9), "F F F T T T"),
    ((None, 3), "T T F T F F"),
    ((None, 9), "TF TF TF TF TF TF"),
    ((6, None), "F F F T T T"),
    ((1, None), "TF TF TF TF TF TF"),
    ((None, None), "TF TF TF TF TF TF"),
]
OPS = ("<", "<=", "=", "!=", ">", ">=")


@pytest.mark.parametrize("nulls", [0, 3, None], ids=["no nulls", "some nulls", "unknown nulls"])
@pytest.mark.parametrize(("bounds", "row"), GRID, ids=[str(b) for b, _ in GRID])
def test_comparison_with_a_constant(bounds: tuple[int | None, int | None], row: str, nulls: int | None) -> None:
    statistics = {"x": stats(INT, *bounds, nulls=nulls)}
    actual = [outcome_of(ex.Compare(op, col("x"), lit(5, INT)), statistics) for op in OPS]
    assert actual == [cell + ("N" if nulls != 0 else "") for cell in row.split()]


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("bounds", [b for b, _ in GRID], ids=str)
def test_a_constant_on_the_left_is_the_mirrored_operator(bounds: tuple[int | None, int | None], op: str) -> None:
    statistics = {"x": stats(INT, *bounds)}
    left = outcome_of(ex.Compare(op, lit(5, INT), col("x")), statistics)
    assert left == outcome_of(ex.Compare(MIRRORED[op], col("x"), lit(5, INT)), statistics)


@pytest.mark.parametrize(
    ("a", "b", "row"),
    [
        ((1, 3), (5, 9), "T T F T F F"),
        ((1, 5), (5, 9), "TF T TF TF F TF"),
        ((5, 5), (5, 5), "F T T F F T"),
        ((4, 9), (1, 6), "TF TF TF TF TF TF"),
        ((None, 3), (5, None), "T T F T F F"),
    ],
    ids=str,
)
def test_column_against_column(a: tuple[int, int], b: tuple[int, int], row: str) -> None:
    statistics = {"x": stats(INT, *a), "y": stats(BIGINT, *b)}
    assert [outcome_of(ex.Compare(op, col("x"), col("y")), statistics) for op in OPS] == row.split()


@pytest.mark.parametrize(
    ("bounds", "nulls", "members", "inside", "outside"),
    [
        ((1, 3), 0, [0, 2], "TF", "TF"),
        ((1, 3), 0, [0, 4], "F", "T"),
        ((2, 2), 0, [0, 2], "T", "F"),
        ((2, 2), 0, [0, 2, None], "T", "F"),
        ((1, 3), 0, [0, 4, None], "N", "N"),
        ((1, 3), 0, [2, None], "TN", "FN"),
        ((1, 3), 1, [0, 4], "FN", "TN"),
        ((None, 3), 0, [4], "F", "T"),
        ((None, 3), 0, [2], "TF", "TF"),
        ((None, None), 0, [2], "TF", "TF"),
        ((1, 3), 0, [], "F", "T"),
    ],
    ids=str,
)
def test_in_and_not_in(
    bounds: tuple[int, int], nulls: int, members: list[int | None], inside: str, outside: str
) -> None:
    statistics = {"x": stats(INT, *bounds, nulls=nulls)}
    leaf = ex.In(col("x"), tuple(NULL if m is None else lit(m, INT) for m in members))
    assert outcome_of(leaf, statistics) == inside
    assert outcome_of(ex.Not(leaf), statistics) == outside


@pytest.mark.parametrize(
    ("bounds", "like", "not_like"),
    [
        (("apple", "apricot"), "TF", "TF"),
        (("apple", "apple-9"), "T", "F"),
        (("banana", "cherry"), "F", "T"),
        (("aaa", "apo"), "F", "T"),
        (("app", "app"), "T", "F"),
        ((None, "aaa"), "F", "T"),
        (("b", None), "F", "T"),
        ((None, None), "TF", "TF"),
    ],
    ids=str,
)
def test_starts_with(bounds: tuple[str, str], like: str, not_like: str) -> None:
    statistics = {"s": stats(STRING, *bounds)}
    assert outcome_of(ex.Like(col("s"), "app%"), statistics) == like
    assert outcome_of(ex.Not(ex.Like(col("s"), "app%")), statistics) == not_like


@pytest.mark.parametrize(
    ("nulls", "rows", "is_null"),
    [
        (0, 10, "F"),
        (3, 10, "TF"),
        (10, 10, "T"),
        (None, 10, "TF"),
        (None, None, "TF"),
        (3, None, "TF"),
        (0, None, "F"),
    ],
    ids=str,
)
def test_is_null_follows_the_counts(nulls: int | None, rows: int | None, is_null: str) -> None:
    statistics = {"x": stats(INT, None, None, nulls, rows)}
    assert outcome_of(ex.IsNull(col("x")), statistics) == is_null
    assert outcome_of(ex.Not(ex.IsNull(col("x"))), statistics) == is_null.translate(str.maketrans("TF", "FT"))[::-1]


@pytest.mark.parametrize(
    ("bounds", "nulls", "equal_5", "equal_null"),
    [
        ((1, 3), 0, "F", "F"),
        ((5, 5), 0, "T", "F"),
        ((5, 5), 2, "TF", "TF"),
        ((1, 9), None, "TF", "TF"),
        ((None, None), 10, "F", "T"),
    ],
    ids=str,
)
def test_null_safe_equality_is_never_null(bounds: tuple[int, int], nulls: int, equal_5: str, equal_null: str) -> None:
    statistics = {"x": stats(INT, *bounds, nulls=nulls)}
    assert outcome_of(ex.Compare("<=>", col("x"), lit(5, INT)), statistics) == equal_5
    assert outcome_of(ex.Compare("<=>", col("x"), NULL), statistics) == equal_null


@pytest.mark.parametrize("op", OPS)
def test_a_comparison_with_null_is_null(op: str) -> None:
    assert outcome_of(ex.Compare(op, col("x"), NULL), {"x": stats(INT, 1, 3)}) == "N"


def test_an_all_null_slice_yields_only_null_whatever_its_bounds_say() -> None:
    statistics = {"x": stats(INT, 0, 0, nulls=10)}
    assert outcome_of(ex.Compare("=", col("x"), lit(0, INT)), statistics) == "N"


def test_an_unknown_node_leaves_its_siblings_alone() -> None:
    unknown = ex.Unknown("function f is not decided")
    below = ex.Compare("<", col("x"), lit(0, INT))
    statistics = {"x": stats(INT, 1, 3)}
    assert outcome_of(ex.And((below, unknown)), statistics) == "F"
    assert outcome_of(ex.Or((ex.Not(below), unknown)), statistics) == "T"
    assert outcome_of(ex.Not(ex.Or((below, unknown))), statistics) == "TFN"


def test_ten_thousand_levels_are_evaluated_without_recursion() -> None:
    tree: ex.HudiExpression = ex.Compare("<", col("x"), lit(0, INT))
    for _ in range(5_000):
        tree = ex.Not(ex.And((tree, ex.Compare("<", col("x"), lit(9, INT)))))
    assert outcome_of(tree, {"x": stats(INT, 1, 3)}) in ("T", "F")


def test_a_function_over_too_many_distinct_bounds_is_unknown_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("evaluator.evaluation.leaf_outcomes.MAX_FUNCTION_INPUTS", 2)
    statistics = from_values(INT, [1, 2, 1, 3, 4], [1, 2, 1, 3, 4], [0] * 5, [1] * 5)
    bound = bind(ex.Compare("=", ex.Call("negative", (col("x"),)), lit(9, INT)), Schema([Field("x", INT)]), SPARK)
    actual = evaluate(bound, 5, [StatisticsProvider("column_stats", {"x": statistics})])
    assert [letters(o) for o in actual.outcomes.tolist()] == ["F", "F", "F", "TFN", "TFN"]
