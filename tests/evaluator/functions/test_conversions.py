"""C7, C8: a constant of another type is converted as the real engines do. See ``conversion_grid``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pytest

from evaluator.language.errors import UnsupportedError
from evaluator.language.outcome import FALSE, NULL, TRUE, describe, of_value
from evaluator.language.semantics import Semantics
from evaluator.reference.row_oracle import value_of
from tests.evaluator import conversion_grid as grid
from tests.sampling import share

BITS = {"T": TRUE, "F": FALSE, "N": NULL, ".": FALSE | NULL}


def contradictions(engine: str, result: Iterable[list[int]], one_in: int = grid.ONE_IN) -> Iterator[tuple[Any, ...]]:
    """(filter and row, what the engine says, outcome of a slice with this row) where the outcome does not hold it."""
    for (condition, rows, selected), outcomes in zip(grid.answered(engine, one_in), result, strict=True):
        for answers in (rows, selected):
            for members, outcome in zip(grid.slices(), outcomes, strict=True):
                for row in members if answers else ():
                    if answers[row] != "E" and not outcome & BITS[answers[row]]:
                        yield _named(condition, engine, row), answers[row], describe(outcome)


def _named(condition: Sequence[Any], engine: str, row: int) -> str:
    return f"{grid.filter_of(condition, engine)} on row {row}"


@pytest.mark.parametrize("engine", share(grid.ENGINES, 4))
def test_every_outcome_holds_what_the_engine_says(engine: str) -> None:
    assert list(contradictions(engine, grid.own_outcomes(engine)))[:20] == []


@pytest.mark.parametrize("known", [("lo",), ("hi",), ("lo", "nulls"), ("hi", "nulls"), ("lo", "hi")], ids="+".join)
@pytest.mark.parametrize("engine", share(grid.ENGINES, 4))
def test_every_outcome_holds_it_where_a_statistic_is_unknown(engine: str, known: tuple[str, ...]) -> None:
    """Hive 4 casts 9223372036854775807 to a decimal(5,2) that is less than 0.10: a lower bound says nothing of it."""
    semantics = Semantics.named(engine, "UTC")
    one_in = 8 * grid.ONE_IN
    answers = grid.answered(engine, one_in)
    outcomes = [grid.outcomes_of(condition, engine, semantics, known) for condition, _, _ in answers]
    assert list(contradictions(engine, outcomes, one_in))[:20] == []


@pytest.mark.parametrize("engine", share(grid.ENGINES, 4, seed=8))
def test_an_engine_whose_version_is_not_known_may_be_any_of_them(engine: str) -> None:
    semantics = Semantics.named(grid.ENGINES[engine], "UTC")
    one_in = 4 * grid.ONE_IN
    actual = [grid.outcomes_of(condition, engine, semantics) for condition, _, _ in grid.answered(engine, one_in)]
    assert list(contradictions(engine, actual, one_in))[:20] == []


@pytest.mark.nightly
def test_a_file_whose_rows_raise_an_error_is_kept() -> None:
    """Spark with ANSI: the user expects the error. In a conjunction the other side may rule the file out, as in Spark's
    own pushdown."""
    raised = [
        (_named(condition, "spark-ansi", row), describe(outcome))
        for (condition, rows, _), outcomes in zip(
            grid.answered("spark-ansi"), grid.own_outcomes("spark-ansi"), strict=True
        )
        for row, outcome in enumerate(outcomes[: grid.ROWS])
        if rows[row] == "E" and "between" not in condition[0] and not outcome & TRUE
    ]
    assert raised == []


@pytest.mark.parametrize("engine", share(grid.ENGINES, 4, seed=9))
def test_the_reference_agrees_wherever_it_has_an_answer(engine: str) -> None:
    semantics = Semantics.named(engine, "UTC")
    schema, rows = grid.table(engine)
    wrong, agreed = [], 0
    for condition, answers, _ in grid.answered(engine, 3 * grid.ONE_IN):
        expression = grid.filter_of(condition, engine)
        for number, row in enumerate(rows):
            try:
                value = value_of(expression, row, schema, semantics)
            except UnsupportedError:
                continue
            if answers[number] != "E" and of_value(value) != BITS[answers[number]]:
                wrong.append((_named(condition, engine, number), answers[number], value))
            agreed += 1
    assert wrong[:20] == []
    assert agreed > 50_000 // grid.ONE_IN


@pytest.mark.parametrize("engine", share(grid.ENGINES, 4))
def test_no_pair_of_types_is_decided_less_than_before(engine: str) -> None:
    before = grid.recorded_shares(engine)
    assert before
    now = grid.decided_shares(engine)
    for form in dict.fromkeys(pair.split(" ")[0] for pair in now):
        shares = [share for pair, share in now.items() if pair.startswith(form + " ")]
        print(f"{engine}: {form:12} {sum(shares) / len(shares):5.1f} % of rows decided, {len(shares)} pairs of types")
    assert {pair: (share, now.get(pair)) for pair, share in before.items() if now.get(pair, 0.0) < share} == {}
