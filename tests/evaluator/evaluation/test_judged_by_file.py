"""Conditions on one column over the statistics of the files of a slice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import Evaluation, StatisticsProvider, evaluate
from evaluator.evaluation.judged_by_file import judged_by_file
from evaluator.evaluation.layered_evaluation import evaluate_layers
from evaluator.evaluation.layered_providers import LayeredProvider
from evaluator.language import outcome
from evaluator.language.expression import HudiExpression
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import INT
from evaluator.statistics.columns import ColumnStatistics, PartStatistics, from_values
from evaluator.statistics.layers import Layers
from handler.sql.parsing import parse
from tests.sampling import examples

SCHEMA = Schema([Field("i", INT), Field("k", INT)])
SPARK = Semantics.named("spark", "UTC")
#: More slices than are evaluated one by one, and more than are scanned without a formula.
SIZES = (1, 200, 3_000)

Files = list[tuple[int, int]]


def by_file(slices: list[Files]) -> ColumnStatistics:
    """Statistics of slices by file; without NULLs."""
    of = [number for number, files in enumerate(slices) for _ in files]
    lo, hi = ([file[end] for files in slices for file in files] for end in (0, 1))
    whole = from_values(
        INT,
        [min(lo for lo, _ in files) for files in slices],
        [max(hi for _, hi in files) for files in slices],
        [0] * len(slices),
    )
    return replace(whole, parts=PartStatistics(from_values(INT, lo, hi, [0] * len(of)), np.array(of, np.intp)))


def evaluation_of(text: str, slices: list[Files], semantics: Semantics = SPARK) -> Evaluation:
    provider = StatisticsProvider("column_stats", {"i": by_file(slices)})
    return evaluate(bind(parse(text, "spark"), SCHEMA, semantics), len(slices), [provider])


@pytest.mark.parametrize("engine", ["spark", "hive", "hive4"])
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("i BETWEEN 4 AND 6", outcome.FALSE),
        ("i >= 4 AND i <= 6", outcome.FALSE),
        ("i < 4 OR i > 6", outcome.TRUE),
        ("NOT (i >= 4 AND i < 7)", outcome.TRUE),
        ("k = 1 AND i > 3 AND i < 7", outcome.FALSE | outcome.NULL),
        ("k = 1 OR i > 6 OR i < 4", outcome.TRUE | outcome.NULL),
        ("i >= 3 AND i <= 6", outcome.TRUE | outcome.FALSE),
    ],
)
def test_the_gap_between_two_files_has_no_row(text: str, wanted: int, engine: str) -> None:
    [actual] = evaluation_of(text, [[(1, 3), (7, 9)]], Semantics.named(engine, "UTC")).outcomes.tolist()
    assert actual & ~outcome.NULL == wanted & ~outcome.NULL


def test_conditions_on_two_columns_are_not_judged_by_file_together() -> None:
    # an update of one column: i from the base file beside k from the log file
    slices: list[Files] = [[(1, 3), (7, 9)]]
    provider = StatisticsProvider("column_stats", {"i": by_file(slices), "k": by_file(slices)})
    evaluation = evaluate(bind(parse("i <= 3 AND k >= 7", "spark"), SCHEMA, SPARK), 1, [provider])
    assert evaluation.kept_rows.tolist() == [0]


def test_leaves_keep_their_numbers() -> None:
    bound = bind(parse("i >= 4 AND k = 1 AND i <= 6 AND (k > 5 OR k < -5)", "spark"), SCHEMA, SPARK)
    evaluation = evaluate(bound, 1, [StatisticsProvider("column_stats", {"i": by_file([[(1, 3), (7, 9)]])})])
    assert evaluation.bound.leaves[:5] == bound.leaves[:5]
    assert len(evaluation.leaves) == len(evaluation.bound.leaves) > len(bound.leaves)


def test_nothing_changes_without_files() -> None:
    bound = bind(parse("i >= 4 AND i <= 6", "spark"), SCHEMA, SPARK)
    plain = StatisticsProvider("column_stats", {"i": from_values(INT, [1], [9], [0])})
    assert judged_by_file(bound, [plain]) is bound
    one_condition = bind(parse("i >= 4 AND k <= 6", "spark"), SCHEMA, SPARK)
    assert (
        judged_by_file(one_condition, [StatisticsProvider("column_stats", {"i": by_file([[(1, 9)]])})]) is one_condition
    )


CONDITION = st.one_of(
    st.builds(lambda op, n: f"i {op} {n}", st.sampled_from(["<", "<=", ">", ">=", "=", "!="]), st.integers(0, 12)),
    st.builds(lambda a, b: f"i BETWEEN {a} AND {b}", st.integers(0, 12), st.integers(0, 12)),
    st.builds(lambda a, b: f"i IN ({a}, {b})", st.integers(0, 12), st.integers(0, 12)),
)
TEXTS = st.recursive(
    CONDITION,
    lambda inner: st.one_of(
        st.builds(lambda a, b: f"({a} AND {b})", inner, inner),
        st.builds(lambda a, b: f"({a} OR {b})", inner, inner),
        inner.map("NOT ({})".format),
    ),
    max_leaves=5,
)
FILE = st.tuples(st.integers(0, 12), st.integers(0, 4)).map(lambda drawn: (drawn[0], drawn[0] + drawn[1]))


def values_of(expression: HudiExpression, files: Files) -> int:
    """What the filter is on the values that files can hold."""
    possible = outcome.EMPTY
    bound = bind(expression, SCHEMA, SPARK)
    for value in {value for lo, hi in files for value in range(lo, hi + 1)}:
        point = StatisticsProvider("", {"i": from_values(INT, [value], [value], [0])})
        possible |= evaluate(bound, 1, [point]).outcomes.tolist()[0]
    return possible


@pytest.mark.parametrize("n", SIZES)
@settings(max_examples=examples(16, at_night=1_000))
@given(text=TEXTS, files=st.lists(FILE, min_size=1, max_size=3), others=st.lists(FILE, min_size=1, max_size=2))
def test_outcomes_are_those_of_the_values(n: int, text: str, files: Files, others: Files) -> None:
    """One column's conditions have exactly the outcomes of the values that the files can hold; layers too."""
    expression = parse(text, "spark")
    slices = [others] * (n - 1) + [files]
    evaluation = evaluation_of(text, slices)
    wanted = [values_of(expression, others)] * (n - 1) + [values_of(expression, files)]
    assert evaluation.outcomes.tolist() == wanted
    kept = [row for row, possible in enumerate(wanted) if possible & outcome.TRUE]
    assert evaluation_of(text, slices).kept_rows.tolist() == kept

    layers = Layers(n, np.zeros(0, np.int64), 1)
    layered = LayeredProvider.joined(
        layers,
        StatisticsProvider("column_stats", {"i": by_file(slices)}),
        StatisticsProvider("column_stats", {"i": by_file([files])}),
    )
    whole = evaluate_layers(bind(expression, SCHEMA, SPARK), layers, [layered])
    assert whole.outcomes.tolist() == [*wanted, wanted[-1]]
