"""The outcome that each slice must have at least: the oracle's value of every row of the slice.

A part that a filter leaves open gets several values in turn, and each result must be in the outcome:

    Unknown              TRUE, FALSE, NULL
    Opaque               a value, another, NULL
    IF and CASE          each branch
    Hive, UTC instants   wall clocks of the session's zone, and of UTC
    the clock            the plan's moment, and later ones
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.clock import Clock, reads_clock
from evaluator.language.errors import UnsupportedError
from evaluator.language.outcome import Outcomes
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import INT, Kind, Type
from evaluator.reference.row_oracle import value_of

__all__ = ["closed", "readings", "required", "row_outcome", "rows_outcomes"]

_OPENINGS = (ex.Unknown, ex.Opaque)


def closed(expression: ex.HudiExpression, rng: random.Random) -> Iterator[ex.HudiExpression]:
    """The filter with everything that it leaves open decided, in a few ways; the filter itself if nothing is open."""
    is_open = any(
        isinstance(node, _OPENINGS) or (isinstance(node, ex.Call) and node.function == "branches")
        for node in ex.walk(expression)
    )
    if not is_open:
        yield expression
        return
    for turn in range(3):
        yield _decided(expression, turn, rng)


def _decided(expression: ex.HudiExpression, turn: int, rng: random.Random) -> ex.HudiExpression:
    truths = (True, False, None)
    values = (ex.Literal(3, INT), ex.Literal(None, Type(Kind.VOID)), ex.Literal(-1, INT))

    def decide(node: ex.Node, children: list[ex.Node]) -> ex.Node:
        match node:
            case ex.Unknown():
                return ex.Constant(truths[turn] if rng.random() < 0.5 else rng.choice(truths))
            case ex.Opaque():
                return values[turn]
            case ex.Call(function="branches"):
                return children[turn % len(children)]
            case ex.And():
                return ex.And(tuple(children))  # type: ignore[arg-type]
            case ex.Or():
                return ex.Or(tuple(children))  # type: ignore[arg-type]
            case ex.Not():
                return ex.Not(children[0])  # type: ignore[arg-type]
            case ex.Compare(op=op):
                return ex.Compare(op, *children)  # type: ignore[arg-type]
            case ex.In():
                return ex.In(children[0], tuple(children[1:]))  # type: ignore[arg-type]
            case ex.IsNull():
                return ex.IsNull(children[0])  # type: ignore[arg-type]
            case ex.Like():
                return replace(node, operand=children[0])  # type: ignore[arg-type]
            case ex.Cast():
                return replace(node, operand=children[0])  # type: ignore[arg-type]
            case ex.If():
                return ex.If(*children)  # type: ignore[arg-type]
            case ex.Call():
                return replace(node, arguments=tuple(children))  # type: ignore[arg-type]
            case _:
                return node

    return ex.fold(expression, decide)  # type: ignore[return-value]


#: Seconds after a plan's moment at which a query runs.
_LATER = (0, 4_000, 90_000, 3_000_000, 300_000_000)


def readings(semantics: Semantics, *, reads_clock: bool = False) -> tuple[Semantics, ...]:
    """The sessions in which the engine may evaluate the filter."""
    clock = semantics.clock
    if reads_clock and clock is not None:  # the clock shows the session's zone, whatever an instant is read in
        return tuple(semantics.at(Clock.fixed(clock.first + later * 1_000_000)) for later in _LATER)
    if semantics.utc_timestamps and not semantics.is_utc:
        return semantics, replace(semantics, time_zone="UTC")
    return (semantics,)


def row_outcome(expression: ex.HudiExpression, row: Mapping[str, Any], schema: Schema, semantics: Semantics) -> int:
    """The value on a row as an outcome of one value; EMPTY where the oracle has none.

    Random filters have arguments of wrong types and dates beyond the calendar; coverage counts what has a value.
    """
    try:
        return outcome.of_value(value_of(expression, row, schema, semantics))
    except (UnsupportedError, ArithmeticError, ValueError, TypeError, AttributeError):
        return outcome.EMPTY


def rows_outcomes(
    expressions: Sequence[ex.HudiExpression], rows: Sequence[Mapping[str, Any]], schema: Schema, semantics: Semantics
) -> Outcomes:
    """``(rows,) uint8``: all values that the filter may have on each row."""
    outcomes = np.zeros(len(rows), np.uint8)
    of_clock = any(reads_clock(expression) for expression in expressions)
    for session in readings(semantics, reads_clock=of_clock):
        for expression in expressions:
            outcomes |= np.array([row_outcome(expression, row, schema, session) for row in rows], np.uint8)
    return outcomes


def required(values: Outcomes, holds: npt.NDArray[np.bool_]) -> Outcomes:
    """``(slices,) uint8``: every value that occurs in a slice, from ``(rows,)`` values and ``(slices, rows) bool``."""
    outcomes = np.zeros(len(holds), np.uint8)
    for bit in (outcome.TRUE, outcome.FALSE, outcome.NULL):
        present = (values & bit) != 0
        if present.any():
            outcomes |= np.where(holds[:, present].any(axis=1), np.uint8(bit), np.uint8(0))
    return outcomes
