"""NaN, infinities and random numbers as constants (pitfall P3 of docs/facts/pitfalls.md)."""

from __future__ import annotations

import math

import pytest

from evaluator.binding.bind import bind
from evaluator.language import expression as ex
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import ENGINES, Semantics
from evaluator.language.types import DOUBLE, FLOAT, INT, Type, decimal_type
from handler.sql.parsing import parse
from tests.evaluator.short_forms import SPARK, col, lit, outcome_of, stats

NAN, INFINITY = lit(math.nan, DOUBLE), lit(math.inf, DOUBLE)


@pytest.mark.parametrize("of", [FLOAT, DOUBLE], ids=str)
@pytest.mark.parametrize(
    ("op", "spark", "hive"),
    [
        ("=", "F", "F"),
        (">", "F", "F"),
        (">=", "F", "F"),
        ("!=", "T", "T"),
        ("<", "T", "TF"),
        ("<=", "T", "TF"),
        ("<=>", "F", "F"),
    ],
)
def test_numbers_compared_with_nan(of: Type, op: str, spark: str, hive: str) -> None:
    for engine in ENGINES:
        expected = hive if engine.startswith("hive") else spark
        semantics = Semantics.named(engine, "UTC")
        numbers, unknown = {"x": stats(of, 0.0, math.inf)}, {"x": stats(of, None, None)}
        for leaf in (ex.Compare(op, col("x"), NAN), ex.Compare({"<": ">"}.get(op, op), *_swapped(op))):
            assert outcome_of(leaf, numbers, semantics) == expected, engine
            assert outcome_of(leaf, unknown, semantics) == "TF", engine
        nulls = {"x": stats(of, None, None, nulls=10)}
        assert outcome_of(ex.Compare(op, col("x"), NAN), nulls, semantics) == ("F" if op == "<=>" else "N")


def _swapped(op: str) -> tuple[ex.Operand, ex.Operand]:
    return (NAN, col("x")) if op in ("<", "=", "!=", "<=>") else (col("x"), NAN)


def test_nan_in_a_list_leaves_the_other_members() -> None:
    leaf = ex.In(col("x"), (lit(5.0, DOUBLE), NAN))
    assert outcome_of(leaf, {"x": stats(DOUBLE, 6.0, 9.0)}) == "F"
    assert outcome_of(leaf, {"x": stats(DOUBLE, 1.0, 9.0)}) == "TF"
    assert outcome_of(leaf, {"x": stats(DOUBLE, None, None, nulls=10)}) == "N"
    assert outcome_of(ex.In(col("x"), (NAN,)), {"x": stats(DOUBLE, 1.0, 9.0)}) == "F"
    assert outcome_of(ex.Not(leaf), {"x": stats(DOUBLE, None, None)}) == "TF"
    assert all(one.lookup is None for one in bind(leaf, Schema([Field("x", DOUBLE)]), SPARK).leaves)


@pytest.mark.parametrize("engine", ENGINES)
def test_infinity_is_greater_than_every_number(engine: str) -> None:
    semantics = Semantics.named(engine, "UTC")
    finite, infinite = {"x": stats(DOUBLE, 0.0, 9.0)}, {"x": stats(DOUBLE, 0.0, math.inf)}
    assert outcome_of(ex.Compare("=", col("x"), INFINITY), finite, semantics) == "F"
    assert outcome_of(ex.Compare("<", col("x"), INFINITY), finite, semantics) == "T"
    assert outcome_of(ex.Compare("=", col("x"), INFINITY), infinite, semantics) == "TF"
    bound = bind(ex.Compare("=", col("x"), INFINITY), Schema([Field("x", DOUBLE)]), semantics)
    assert bound.leaves[0].lookup is None  # writers have texts of their own for it


@pytest.mark.parametrize("of", [INT, decimal_type(10, 2)], ids=str)
def test_nan_and_infinity_beside_exact_numbers_stay_open(of: Type) -> None:
    for constant in (NAN, INFINITY):
        assert outcome_of(ex.Compare("=", col("x"), constant), {"x": stats(of, 1, 9)}) == "TFN"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x = double('Infinity')", "F"),
        ("x > CAST(' -inf ' AS DOUBLE)", "T"),
        ("x = CAST('NaN' AS DOUBLE)", "F"),
        ("x IN (50D, double('nan'))", "F"),
        ("x = CAST('nano' AS DOUBLE)", "TFN"),
        ("x > 20 OR rand() > 3.0", "F"),
        ("rand() < 0", "F"),
        ("rand(7) <= 1", "T"),
        ("rand() > 0.5", "TF"),
        ("rand() > 0.5 AND rand() < 0.5", "TF"),
        ("x = CAST(-1 AS FLOAT)", "F"),
        ("x = CAST(0.1 AS FLOAT)", "TF"),
    ],
)
def test_constants_in_text(text: str, expected: str) -> None:
    assert outcome_of(parse(text, "spark"), {"x": stats(DOUBLE, 0.0, 9.0)}) == expected
