"""The filters that are timed, each written once, as a HudiExpression.

1 equality      id = v
2-leaf range    id >= a AND id < b, 0.5 % of the ids
10-leaf AND/OR  five columns, about 1 % of the files are kept
IN of 1,000     ids drawn at random
prefix          user LIKE 'user-000123%', a thousandth of the users
NOT range       NOT (id < a OR id > b), 1 % of the ids
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evaluator.language.expression import And, Column, Compare, HudiExpression, In, Like, Literal, Not, Or
from evaluator.language.types import Type
from tests.bench.datasets import PARTITION, TYPES, user_name

__all__ = ["SHAPES", "TINY", "Shape"]


@dataclass(frozen=True)
class Shape:
    """A filter under the name that the tables show."""

    name: str
    expression: HudiExpression


def _of(column: str) -> tuple[Column, Type]:
    return Column((column,)), TYPES[column]


def _is(column: str, op: str, value: object) -> Compare:
    operand, column_type = _of(column)
    return Compare(op, operand, Literal(value, column_type))


def _in(column: str, values: list[int]) -> In:
    operand, column_type = _of(column)
    return In(operand, tuple(Literal(value, column_type) for value in values))


_TEN_LEAVES = And(
    (
        Or(
            (
                And((_is("id", ">=", 300_000_000), _is("id", "<", 320_000_000))),
                And((_is("day", ">=", 17_000), _is("day", "<=", 17_030))),
                _is("user", "=", user_name(777_777_777)),
            )
        ),
        Or((_is("amount", "<", 3_000.0), _is("score", ">", 0.95))),
        _is(PARTITION, ">", "region-0007"),
        Or((_is("amount", ">=", 500.0), _is("user", "<", user_name(600_000_000)))),
    )
)

_MEMBERS = np.random.default_rng(1_000).choice(1_000_000_000, 1_000, replace=False).tolist()

SHAPES = (
    Shape("1 equality", _is("id", "=", 400_000_000)),
    Shape("2-leaf range", And((_is("id", ">=", 500_000_000), _is("id", "<", 505_000_000)))),
    Shape("10-leaf AND/OR", _TEN_LEAVES),
    Shape("IN of 1,000", _in("id", _MEMBERS)),
    Shape("prefix", Like(Column(("user",)), "user-000123%")),
    Shape("NOT range", Not(Or((_is("id", "<", 700_000_000), _is("id", ">", 710_000_000))))),
)

#: Five conditions for the smallest case: 20 slices.
TINY = Shape(
    "5 leaves",
    And(
        (
            _is("id", ">=", 100_000_000),
            _is("id", "<", 900_000_000),
            _is("amount", "<", 5_000.0),
            _is("day", ">=", 16_000),
            Like(Column(("user",)), "user-0004%"),
        )
    ),
)
