"""Reasons: the text of a rule equals the rule, and a decision names the statistics and their outcome."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace
from decimal import Decimal
from typing import Any, get_args

import numpy as np
import pytest

from evaluator.binding import rules
from evaluator.binding.bind import bind
from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import (
    Comparison,
    Fixed,
    IntervalSets,
    Lookup,
    Membership,
    NullTest,
    OutOfRange,
    Prefix,
    Test,
)
from evaluator.evaluation.evaluate import Evaluation, StatisticsProvider, evaluate, evaluate_slice
from evaluator.explain.reasons import Decision, decisions
from evaluator.explain.rule_texts import rule_texts
from evaluator.language import expression as ex
from evaluator.language.interval import Interval
from evaluator.language.outcome import FALSE, TRUE
from evaluator.language.schema import Field, Schema
from evaluator.language.types import DATE, INT, STRING, TINYINT, decimal_type
from evaluator.statistics.columns import ColumnStatistics, PartStatistics, from_values
from evaluator.statistics.distrust import Trust, reason
from tests.evaluator.short_forms import NULL, SPARK, col, lit

SCHEMA = Schema(
    [Field("x", INT), Field("y", INT), Field("s", STRING), Field("n", decimal_type(6, 2)), Field("d", DATE)]
)
OPS = [*rules.OPPOSITE, "<=>"]


def the_test(leaf: ex.HudiExpression) -> Any:
    [bound] = bind(leaf, SCHEMA, SPARK).leaves
    return bound.test


def python(text: str) -> str:
    """A rule's text as a Python expression over lo, hi, v, nulls, rows."""
    text = re.sub(r"(\S+) <= some v <= (\S+)", r"any(\1 <= m <= \2 for m in members)", text)
    text = text.replace("lo = hi = some v", "lo == hi and lo in members")
    return re.sub(r"(lo|hi|nulls)\((\w)\)", r"\1_\2", text)


@pytest.mark.parametrize("op", OPS)
def test_the_text_of_a_comparison_is_its_rule(op: str) -> None:
    leaf = ex.Compare(op, col("x"), lit(5, INT))
    texts = rule_texts(the_test(leaf))
    assert texts.test == f"x {op} v"
    assert texts.constants == "v = 5"
    for lo, hi, nulls in itertools.product(range(3, 8), range(3, 8), (0, 2)):
        if lo <= hi:
            actual = evaluate_slice(bind(leaf, SCHEMA, SPARK), {"x": Interval(lo, hi, bool(nulls))})
            names = {"lo": lo, "hi": hi, "v": 5, "nulls": nulls, "rows": 10}
            assert texts.true is not None
            assert texts.false is not None
            assert bool(eval(python(texts.true.text), names)) == bool(actual & TRUE), (texts.true.text, names)
            assert bool(eval(python(texts.false.text), names)) == bool(actual & FALSE), (texts.false.text, names)


@pytest.mark.parametrize("op", OPS)
def test_the_text_of_a_comparison_of_columns_is_its_rule(op: str) -> None:
    leaf = ex.Compare(op, col("x"), col("y"))
    texts = rule_texts(the_test(leaf))
    spans = [(lo, hi) for lo in range(3) for hi in range(lo, 3)]
    for (lo_x, hi_x), (lo_y, hi_y), nulls_x, nulls_y in itertools.product(spans, spans, (0, 1), (0, 1)):
        names = {"lo_x": lo_x, "hi_x": hi_x, "lo_y": lo_y, "hi_y": hi_y, "nulls_x": nulls_x, "nulls_y": nulls_y}
        actual = evaluate_slice(
            bind(leaf, SCHEMA, SPARK),
            {"x": Interval(lo_x, hi_x, bool(nulls_x)), "y": Interval(lo_y, hi_y, bool(nulls_y))},
        )
        assert texts.true is not None
        assert texts.false is not None
        assert bool(eval(python(texts.true.text), names)) == bool(actual & TRUE), (texts.true.text, names)
        assert bool(eval(python(texts.false.text), names)) == bool(actual & FALSE), (texts.false.text, names)


@pytest.mark.parametrize(
    "leaf",
    [
        ex.In(col("x"), (lit(4, INT), lit(6, INT))),
        ex.In(col("x"), (lit(4, INT), NULL)),
        ex.IsNull(col("x")),
        ex.Compare("=", ex.Cast(col("x"), INT), lit(5, INT)),
    ],
    ids=str,
)
def test_the_text_of_the_other_leaves_is_their_rule(leaf: ex.HudiExpression) -> None:
    texts = rule_texts(the_test(leaf))
    members = [m.value for m in getattr(leaf, "members", ()) if m.value is not None]
    for lo, hi, nulls in itertools.product(range(3, 8), range(3, 8), (0, 2)):
        if lo <= hi:
            names = {"lo": lo, "hi": hi, "v": 5, "members": members, "nulls": nulls, "rows": 10}
            actual = evaluate_slice(bind(leaf, SCHEMA, SPARK), {"x": Interval(lo, hi, bool(nulls))})
            assert texts.true is not None
            assert bool(eval(python(texts.true.text), names)) == bool(actual & TRUE), (texts.true.text, names)
            if texts.false is not None:
                assert bool(eval(python(texts.false.text), names)) == bool(actual & FALSE), (texts.false.text, names)


def test_the_text_of_a_prefix_is_its_rule() -> None:
    leaf = ex.Like(col("s"), "b%")
    said = rule_texts(the_test(leaf))
    assert said.constants == "v = 'b', w = 'c'"
    texts = ["a", "b", "bz", "c", "d"]
    for lo, hi in itertools.product(texts, texts):
        if lo <= hi:
            names = {"lo": lo, "hi": hi, "v": "b", "w": "c"}
            actual = evaluate_slice(bind(leaf, SCHEMA, SPARK), {"s": Interval(lo, hi, False)})
            assert said.true is not None
            assert said.false is not None
            assert eval(said.true.text, names) == bool(actual & TRUE)
            assert eval(said.false.text, names) == bool(actual & FALSE)


@pytest.mark.parametrize(
    ("leaf", "form"),
    [
        (ex.Compare("<", col("x"), lit(5, INT)), Comparison),
        (ex.In(col("x"), (lit(5, INT),)), Membership),
        (ex.Like(col("s"), "a%"), Prefix),
        (ex.IsNull(col("x")), NullTest),
        (ex.Compare("<", col("x"), lit(2**40, INT)), OutOfRange),
        (ex.Constant(True), Fixed),
    ],
    ids=str,
)
def test_every_form_of_test_has_a_text(leaf: ex.HudiExpression, form: type) -> None:
    test = the_test(leaf)
    assert isinstance(test, form)
    assert rule_texts(test).test
    assert form in get_args(Test)


def test_no_form_of_test_is_left_out() -> None:
    assert set(get_args(Test)) == {Comparison, Membership, Prefix, NullTest, OutOfRange, IntervalSets, Fixed}


def test_conditions_with_many_constants_have_a_text() -> None:
    members = tuple(lit(number, INT) for number in range(0, 40, 4))
    bound = bind(ex.And((ex.In(col("x"), members), ex.Compare("<", col("x"), lit(30, INT)))), SCHEMA, SPARK)
    texts = rule_texts(bound.leaves[-1].test)
    assert texts.true is not None
    assert "v1 = " in texts.constants


def test_conditions_on_one_column_together_have_a_text() -> None:
    bound = bind(
        ex.And((ex.Compare(">", col("x"), lit(5, INT)), ex.Compare("<", col("x"), lit(5, INT)))), SCHEMA, SPARK
    )
    texts = rule_texts(bound.leaves[-1].test)
    assert texts.test == "conditions on x together"
    assert texts.rule(FALSE, no_value=False) == "conditions on x together is never true"


# -- decisions


def evaluated(leaf: ex.HudiExpression, *sources: StatisticsProvider, n: int = 1) -> tuple[BoundExpression, Evaluation]:
    bound = bind(leaf, SCHEMA, SPARK)
    return bound, evaluate(bound, n, sources)


def decide(leaf: ex.HudiExpression, *sources: StatisticsProvider, index: int = 0, n: int = 1) -> list[Decision]:
    _, evaluation = evaluated(leaf, *sources, n=n)
    return list(decisions(evaluation, sources, 0, index))


def column_stats(**statistics: ColumnStatistics) -> StatisticsProvider:
    return StatisticsProvider("column_stats", statistics)


X = from_values(INT, [5, None, 7], [40, None, 7], [0, None, 3], [10, None, 3])


@pytest.mark.parametrize(
    ("leaf", "index", "expected"),
    [
        (
            ex.Compare(">", col("x"), lit(100, INT)),
            0,
            Decision(
                "column_stats",
                "x",
                "x > v needs hi > v",
                statistic="hi = 40",
                value="v = 100",
                trust="used",
                outcome="{false}",
            ),
        ),
        (
            ex.Compare(">", col("x"), lit(1, INT)),
            0,
            Decision(
                "column_stats",
                "x",
                "NOT (x > v) needs lo <= v",
                statistic="lo = 5",
                value="v = 1",
                trust="used",
                outcome="{true}",
            ),
        ),
        (
            ex.Compare("=", col("x"), lit(6, INT)),
            0,
            Decision(
                "column_stats",
                "x",
                "x = v needs lo <= v <= hi",
                statistic="lo = 5, hi = 40",
                value="v = 6",
                trust="used",
                outcome="{true, false}",
            ),
        ),
        (
            ex.Compare("<", col("x"), lit(1, INT)),
            1,
            Decision(
                "column_stats",
                "x",
                "x < v needs lo < v",
                statistic="lo = ?",
                value="v = 1",
                trust="used",
                outcome="{true, false, null}",
            ),
        ),
        (
            ex.Compare("<", col("x"), lit(1, INT)),
            2,
            Decision(
                "column_stats",
                "x",
                "x < v needs a value",
                statistic="lo = none, all is NULL",
                value="v = 1",
                trust="used",
                outcome="{null}",
            ),
        ),
        (
            ex.IsNull(col("x")),
            0,
            Decision(
                "column_stats",
                "x",
                "x IS NULL needs nulls > 0",
                statistic="nulls = 0 of 10 rows",
                value="",
                trust="used",
                outcome="{false}",
            ),
        ),
        (
            ex.In(col("x"), tuple(lit(v, INT) for v in range(50, 60))),
            0,
            Decision(
                "column_stats",
                "x",
                "x IN v needs lo <= some v <= hi",
                statistic="lo = 5, hi = 40",
                value="v in {50, 51, 52, 53, 54, ... 5 more}",
                trust="used",
                outcome="{false}",
            ),
        ),
        (
            ex.Compare("<", ex.Call("+", (col("x"), lit(1, INT))), lit(6, INT)),
            0,
            Decision(
                "column_stats",
                "x",
                "(x + 1) < v needs lo < v",
                statistic="lo = 6",
                value="v = 6",
                trust="used",
                outcome="{false}",
            ),
        ),
        (
            ex.Compare("<", col("y"), lit(1, INT)),
            0,
            Decision(
                "none",
                "y",
                "y < v needs lo < v",
                statistic="",
                value="v = 1",
                trust="no statistics of column y",
                outcome="{true, false, null}",
            ),
        ),
        (
            ex.Unknown("a subquery is not decided"),
            0,
            Decision(
                "filter",
                "",
                "the same in every slice",
                statistic="",
                value="",
                trust="a subquery is not decided",
                outcome="{true, false, null}",
            ),
        ),
        (
            ex.Compare(">", ex.Cast(col("x"), TINYINT), lit(1, TINYINT)),
            0,
            Decision(
                "column_stats",
                "x",
                "NOT (CAST(x AS tinyint) > v) needs lo <= v",
                statistic="lo = 5",
                value="v = 1",
                trust="used",
                outcome="{true}",
            ),
        ),
    ],
    ids=lambda p: str(p) if isinstance(p, ex.Node) else None,
)
def test_a_decision_says_what_was_known_and_what_it_led_to(
    leaf: ex.HudiExpression, index: int, expected: Decision
) -> None:
    assert decide(leaf, column_stats(x=X), index=index, n=3) == [expected]


def test_a_function_without_a_range_says_so() -> None:
    wide = from_values(INT, [5], [4000], [0], [10])
    [actual] = decide(ex.Compare(">", ex.Cast(col("x"), TINYINT), lit(1, TINYINT)), column_stats(x=wide))
    assert actual.trust == "CAST(x AS tinyint) is not decided on these bounds"


def test_distrust_is_named_with_its_report() -> None:
    distrusted = replace(
        X, lo_known=np.zeros(3, np.bool_), hi_known=np.zeros(3, np.bool_), trust=np.full(3, Trust.NAN_ZERO, np.uint8)
    )
    [actual] = decide(ex.Compare(">", col("x"), lit(1, INT)), column_stats(x=distrusted), n=3)
    assert actual.trust == reason(Trust.NAN_ZERO)
    assert "hudi#18754" in actual.trust


def no_key(lookup: Lookup, candidates: Any) -> Any:
    return np.zeros(3, np.bool_)


def test_every_kind_speaks_for_itself() -> None:
    path = StatisticsProvider("partition_values", {"x": from_values(INT, [1] * 3, [9] * 3, [0] * 3, [None] * 3)})
    sources = (column_stats(x=X), path, StatisticsProvider("bloom_filters", {}, no_key))
    _, evaluation = evaluated(ex.Compare("=", col("x"), lit(6, INT)), *sources, n=3)
    assert evaluation.kept_rows.tolist() == []
    actual = decisions(evaluation, sources, 0, 0)
    assert [(d.kind, d.outcome) for d in actual] == [
        ("column_stats", "{true, false}"),
        ("partition_values", "{true, false}"),
        ("bloom_filters", "{false, null}"),
    ]
    assert actual[2].statistic == "the key is in no file of the slice"


def test_a_slice_that_was_decided_file_by_file_shows_its_files() -> None:
    files = from_values(INT, [1, 8], [2, 9], [0, 0], [5, 5])
    united = from_values(INT, [1], [9], [0], [None])
    statistics = replace(united, parts=PartStatistics(files, np.array([0, 0], np.intp)))
    [actual] = decide(ex.Compare("=", col("x"), lit(5, INT)), column_stats(x=statistics))
    assert actual.statistic == "lo = 1, hi = 2; lo = 8, hi = 9"
    assert actual.outcome == "{false}"


@pytest.mark.parametrize(
    ("leaf", "value"),
    [
        (ex.Compare("<", col("n"), lit(Decimal("1.5"), decimal_type(4, 1))), "v = 1.50"),
        (ex.Compare("<", col("d"), lit(18_262, DATE)), "v = 2020-01-01"),
        (ex.Compare("<", col("s"), lit("a'b", STRING)), 'v = "a\'b"'),
    ],
    ids=str,
)
def test_values_are_written_as_people_write_them(leaf: ex.HudiExpression, value: str) -> None:
    [actual] = decide(leaf)
    assert actual.value == value


def test_plain_values_for_json() -> None:
    [actual] = decide(ex.Compare(">", col("x"), lit(100, INT)), column_stats(x=X), n=3)
    assert actual.to_dict() == {
        "kind": "column_stats",
        "column": "x",
        "rule": "x > v needs hi > v",
        "statistic": "hi = 40",
        "value": "v = 100",
        "trust": "used",
        "outcome": "{false}",
    }
