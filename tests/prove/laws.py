"""The laws that every filter must keep on every slice of a table; a breach is a ``Failure``.

sound          the outcome contains the value of every row of the slice (C1)
one table      a slice evaluated alone gives the same bits as among all
involution     NOT NOT e is e; where keys are looked up, as far as they are
De Morgan      NOT driven inward through the whole tree changes nothing; but for NULL where conditions on one column are
               judged together, which is left out where it keeps and skips nothing (``x > 1 AND x IS NOT NULL``)
growth         a slice that is united with another never loses a value from its outcome
intersection   a further provider never adds a value to an outcome
search         the kept and the fully matched slices are found without the outcomes, with an index and without
layers         a base with tombstones and a delta give every slice the outcome of the whole table
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.bind import bind
from evaluator.binding.leaves import IntervalSets
from evaluator.evaluation.evaluate import Evaluation, StatisticsProvider, evaluate, evaluate_slice, interval_at
from evaluator.evaluation.layered_evaluation import evaluate_layers
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.outcome import Outcomes
from evaluator.language.semantics import Semantics
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics
from tests.prove.oracle import closed, required, rows_outcomes
from tests.prove.table import Table
from tests.prove.values import SCHEMA

__all__ = ["Answer", "Failure", "check", "outcomes_of", "seen"]

ALONE = 6


@dataclass(frozen=True)
class Failure:
    """A law that a filter breaks on a slice: the outcome (``got``) and the values that it must contain (``wanted``)."""

    law: str
    expression: ex.HudiExpression
    semantics: Semantics
    index: int
    got: int
    wanted: int


@dataclass(frozen=True)
class Answer:
    """One filter on one table: its evaluation, each row's values, each slice's required values, and the failures."""

    evaluation: Evaluation
    values: Outcomes
    wanted: Outcomes
    failures: tuple[Failure, ...]


def outcomes_of(
    expression: ex.HudiExpression, semantics: Semantics, sources: Sequence[StatisticsProvider], n: int
) -> Evaluation:
    """The outcomes of a filter over n slices."""
    return evaluate(bind(expression, SCHEMA, semantics), n, sources)


def check(expression: ex.HudiExpression, semantics: Semantics, table: Table, rng: random.Random) -> Answer:
    """Evaluate one filter on all slices, and check the oracle's law and, in turns, the other laws."""
    n = len(table.holds)
    evaluation = outcomes_of(expression, semantics, table.sources, n)
    _ = evaluation.kept_rows  # before the outcomes, or it would be read from them
    values = rows_outcomes(list(closed(expression, rng)), table.rows, SCHEMA, semantics)
    wanted = required(values, table.holds)
    failures = _missing("sound", expression, semantics, evaluation.outcomes, wanted)
    match rng.randrange(5):
        case 0 | 1:
            failures += _alone(expression, semantics, table, rng)
        case 2 | 3:
            failures += _search(expression, semantics, table, evaluation)
            failures += _layers(expression, semantics, table, evaluation)
        case _:
            failures += _laws(expression, semantics, table, evaluation.outcomes)
    return Answer(evaluation, values, wanted, tuple(failures))


def _missing(
    law: str, expression: ex.HudiExpression, semantics: Semantics, got: Outcomes, wanted: Outcomes
) -> list[Failure]:
    broken = np.flatnonzero(wanted & ~got)[:3]
    return [Failure(law, expression, semantics, int(k), int(got[k]), int(wanted[k])) for k in broken]


def _different(
    law: str, expression: ex.HudiExpression, semantics: Semantics, got: Outcomes, wanted: Outcomes
) -> list[Failure]:
    broken = np.flatnonzero(got != wanted)[:3]
    return [Failure(law, expression, semantics, int(k), int(got[k]), int(wanted[k])) for k in broken]


def _alone(expression: ex.HudiExpression, semantics: Semantics, table: Table, rng: random.Random) -> list[Failure]:
    """The same bits from one slice as intervals, from a few slices as arrays, and from all of them."""
    n = len(table.holds)
    bound = bind(expression, SCHEMA, semantics)
    statistics = {
        name: replace(s, parts=None)
        for name, s in table.statistics.items()
        if any(field.name == name for field in bound.columns)
    }
    whole = evaluate(bound, n, [StatisticsProvider("column_stats", statistics)]).outcomes
    full = np.flatnonzero(~_without_rows(table)).tolist()
    chosen = np.array(sorted(rng.sample(full, min(ALONE, len(full)))), np.int64)
    taken = {name: s.take(chosen) for name, s in statistics.items()}
    few = evaluate(bound, len(chosen), [StatisticsProvider("column_stats", taken)])
    intervals = [{name: interval_at(s, k) for name, s in statistics.items()} for k in chosen.tolist()]
    single = [evaluate_slice(bound, of_slice) for of_slice in intervals]
    broken = [
        (k, int(whole[k]), got)
        for k, a, b in zip(chosen.tolist(), few.outcomes.tolist(), single, strict=True)
        for got in (a, b)
        if got != whole[k]
    ]
    return [Failure("one table", expression, semantics, k, got, wanted) for k, wanted, got in broken[:3]]


def _search(expression: ex.HudiExpression, semantics: Semantics, table: Table, plain: Evaluation) -> list[Failure]:
    """The rows that a search finds are those of the outcomes."""
    n, expected = len(table.holds), plain.outcomes
    indexed = outcomes_of(expression, semantics, table.indexed, n)
    failures = []
    for evaluation in (plain, indexed):
        failures += _rows_differ(expression, semantics, evaluation, expected, _without_rows(table))
    failures += _different("search", expression, semantics, indexed.outcomes, expected)
    if table.wide is not None:
        whole = outcomes_of(
            expression, semantics, [StatisticsProvider("column_stats", seen(table.statistics))], n
        ).outcomes
        wide = outcomes_of(expression, semantics, [table.wide], len(table.wide_rows))
        failures += [
            replace(failure, index=int(table.wide_rows[failure.index]))
            for failure in _rows_differ(
                expression, semantics, wide, whole[table.wide_rows], _without_rows(table)[table.wide_rows]
            )
        ]
    return failures


def _layers(expression: ex.HudiExpression, semantics: Semantics, table: Table, plain: Evaluation) -> list[Failure]:
    """An evaluation by layers has the same outcomes; a slice without rows may have any."""
    layered = evaluate_layers(bind(expression, SCHEMA, semantics), table.layers, table.layered)
    failures = [
        replace(failure, law="layers")
        for failure in _rows_differ(expression, semantics, layered, plain.outcomes, _without_rows(table))
    ]
    pairs = [
        (layered.outcomes, plain.outcomes),
        *((mine.outcomes, theirs.outcomes) for mine, theirs in zip(layered.leaves, plain.leaves, strict=True)),
    ]
    for mine, theirs in pairs:
        failures += _different("layers", expression, semantics, np.where(_without_rows(table), theirs, mine), theirs)
    return failures


def _rows_differ(
    expression: ex.HudiExpression,
    semantics: Semantics,
    evaluation: Evaluation,
    outcomes: Outcomes,
    empty: npt.NDArray[np.bool_],
) -> list[Failure]:
    """The rows of a search are those of the outcomes. For a slice that is known to be empty any answer is right."""
    failures = []
    for rows, wanted in (
        (evaluation.kept_rows, np.flatnonzero(outcomes & outcome.TRUE)),
        (evaluation.fully_matched_rows, np.flatnonzero(outcomes == outcome.TRUE)),
    ):
        failures += [
            Failure("search", expression, semantics, k, int(k in rows), int(outcomes[k]))
            for k in np.setxor1d(rows, wanted).tolist()
            if not empty[k]
        ][:2]
        if not np.array_equal(rows, np.unique(rows)):
            failures.append(Failure("search", expression, semantics, 0, 0, 0))
    return failures


def _laws(expression: ex.HudiExpression, semantics: Semantics, table: Table, outcomes: Outcomes) -> list[Failure]:
    n = len(table.holds)
    leafwise = replace(semantics, between_is_one_test=False)  # Hive's BETWEEN is two leaves of an AND, but one test

    def again(
        changed: ex.HudiExpression,
        sources: Sequence[StatisticsProvider] = table.sources,
        session: Semantics = semantics,
    ) -> Outcomes:
        return outcomes_of(changed, session, sources, n).outcomes

    failures = _different(
        "involution", expression, semantics, *_as_far_as_asked(table, again(ex.Not(ex.Not(expression))), outcomes)
    )
    driven, straight = again(inward(expression), session=leafwise), again(expression, session=leafwise)
    if any(
        isinstance(leaf.test, IntervalSets)
        for form in (expression, inward(expression))
        for leaf in outcomes_of(form, leafwise, table.sources, n).bound.leaves
    ):
        decided = np.uint8(outcome.TRUE | outcome.FALSE)
        driven, straight = driven & decided, straight & decided
    failures += _different("De Morgan", expression, semantics, *_as_far_as_asked(table, driven, straight))
    first = table.sources[:1]
    alone = again(expression, first) if len(table.sources) > 1 else outcomes
    failures += _missing("intersection", expression, semantics, alone, outcomes)
    united = {name: grown(s) for name, s in table.statistics.items()}
    plain = again(expression, [StatisticsProvider("column_stats", seen(table.statistics))])
    larger = again(expression, [StatisticsProvider("column_stats", united)])
    plain = np.where(_without_rows(table), np.uint8(outcome.EMPTY), plain)
    return failures + _missing("growth", expression, semantics, larger, plain | np.roll(plain, -1))


def _as_far_as_asked(table: Table, mine: Outcomes, theirs: Outcomes) -> tuple[Outcomes, Outcomes]:
    """Outcomes that one filter in two forms must share.

    Keys are not looked up in a slice once the filter cannot be TRUE there, and the order of the look-ups depends on the
    form. So with keys the forms must agree on the slices that can be TRUE, and on the whole outcome of those only.
    """
    if not any(source.might_contain is not None for source in table.sources):
        return mine, theirs
    return tuple(np.where(side & outcome.TRUE, side, np.uint8(0)) for side in (mine, theirs))  # type: ignore[return-value]


def _without_rows(table: Table) -> npt.NDArray[np.bool_]:
    """Slices that are known to have no row: a union may lose values of their outcomes."""
    empty = np.zeros(len(table.holds), np.bool_)
    for statistics in table.statistics.values():
        empty |= ~statistics.may_be_null & ~statistics.may_be_value
    return empty


def seen(statistics: Mapping[str, ColumnStatistics]) -> dict[str, ColumnStatistics]:
    """The statistics of the slices without those of their files."""
    return {name: replace(s, parts=None) for name, s in statistics.items()}


def inward(expression: ex.HudiExpression) -> ex.HudiExpression:
    """The tree with every NOT driven down to the leaves; a tree without a NOT is turned twice."""
    has_not = any(isinstance(node, ex.Not) for node in ex.walk(expression))
    tree = expression if has_not else ex.Not(ex.Not(expression))

    def turn(node: ex.Node, sides: list[tuple[ex.HudiExpression, ex.HudiExpression]]) -> Any:
        match node:
            case ex.And():
                return ex.And(tuple(s[0] for s in sides)), ex.Or(tuple(s[1] for s in sides))
            case ex.Or():
                return ex.Or(tuple(s[0] for s in sides)), ex.And(tuple(s[1] for s in sides))
            case ex.Not():
                return sides[0][1], sides[0][0]
            case ex.HudiExpression():
                return node, ex.Not(node)
            case _:
                return node, node

    result: ex.HudiExpression = ex.fold(tree, turn)[0]
    return result


def grown(statistics: ColumnStatistics) -> ColumnStatistics:
    """Each slice united with the next one, as if its rows were added."""

    def counts(own: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        other = np.roll(own, -1)
        return np.where((own == UNKNOWN_COUNT) | (other == UNKNOWN_COUNT), UNKNOWN_COUNT, own + other)

    def bound(own: npt.NDArray[Any], known: npt.NDArray[np.bool_], reduce: Callable[[Any, Any], Any]) -> Any:
        """The outer bound of both; a slice without values adds nothing."""
        both = np.array(reduce(own, np.roll(own, -1)), own.dtype)
        either = np.where(statistics.may_be_value, own, np.roll(own, -1))
        valued = statistics.may_be_value & np.roll(statistics.may_be_value, -1)
        complete = (known | ~statistics.may_be_value) & np.roll(known | ~statistics.may_be_value, -1)
        some = statistics.may_be_value | np.roll(statistics.may_be_value, -1)
        return np.where(valued, both, either), complete & some

    if statistics.type.kind.is_fractional:
        with np.errstate(invalid="ignore"):
            lo, lo_known = bound(statistics.lo, statistics.lo_known, np.minimum)
            hi, hi_known = bound(statistics.hi, statistics.hi_known, np.maximum)
    else:
        lo, lo_known = bound(statistics.lo, statistics.lo_known, np.minimum)
        hi, hi_known = bound(statistics.hi, statistics.hi_known, np.maximum)
    return replace(
        statistics,
        lo=lo,
        hi=hi,
        lo_known=lo_known,
        hi_known=hi_known,
        parts=None,
        null_count=counts(statistics.null_count),
        row_count=counts(statistics.row_count),
    )
