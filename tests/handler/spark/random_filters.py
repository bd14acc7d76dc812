"""Random filters for any table: constants are drawn from the bounds that its statistics know, and from around them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from evaluator.language.expression import (
    And,
    Call,
    Column,
    Compare,
    HudiExpression,
    In,
    IsNull,
    Like,
    Literal,
    Not,
    Operand,
    Or,
)
from evaluator.language.schema import Field
from evaluator.language.types import INT, STRING, Kind
from index_store.opened_table import OpenTable

_DEFAULTS = {Kind.INT: (1,), Kind.BIGINT: (1,), Kind.STRING: ("a",)}
OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "<=>")


def random_filters(table: OpenTable, count: int, seed: int = 0) -> list[HudiExpression]:
    """``count`` filters over the columns of a table; the same ones for the same seed."""
    chance = random.Random(f"{table.table.name} {seed}")
    constants = _constants(table)
    columns = [(field, values) for field, values in constants.items() if values]

    def leaf() -> HudiExpression:
        field, values = chance.choice(columns)
        column, value = Column(tuple(field.name.split("."))), chance.choice(values)
        literal = Literal(value, field.type)
        match chance.randrange(8):
            case 0:
                return IsNull(column)
            case 1:
                members = tuple(Literal(chance.choice([*values, None]), field.type) for _ in range(3))
                return In(column, members)
            case 2 if field.type.kind.is_text:
                return Like(column, str(value)[:2] + "%")
            case 3 if field.type.kind.is_text:
                return Compare(chance.choice(OPERATORS), Call("lower", (column,)), Literal(str(value).lower(), STRING))
            case 3 if field.type.kind.is_integer:
                return Compare(chance.choice(OPERATORS), Call("+", (column, Literal(1, INT))), literal)
            case 3 if field.type.kind is Kind.DATE:
                return Compare(chance.choice(OPERATORS), Call("year", (column,)), Literal(2020, INT))
            case 4:
                other, _ = chance.choice(columns)
                return Compare(chance.choice(OPERATORS), column, Column(tuple(other.name.split("."))))
            case _:
                return Compare(chance.choice(OPERATORS), *_either_way(column, literal, chance))

    def tree(depth: int) -> HudiExpression:
        choice = chance.randrange(4) if depth else 3
        if choice == 0:
            return Not(tree(depth - 1))
        if choice in (1, 2):
            children = tuple(tree(depth - 1) for _ in range(chance.randint(2, 3)))
            return And(children) if choice == 1 else Or(children)
        return leaf()

    return [tree(chance.randrange(4)) for _ in range(count)]


def _either_way(column: Operand, literal: Operand, chance: random.Random) -> tuple[Operand, Operand]:
    return (column, literal) if chance.random() < 0.8 else (literal, column)


def _constants(table: OpenTable) -> dict[Field, list[Any]]:
    found: dict[Field, list[Any]] = {}
    for field in table.table.schema:
        values: list[Any] = list(_DEFAULTS.get(field.type.kind, ()))
        for statistics in table.statistics([field]).values():
            one = statistics.get(field.name)
            if one is not None:
                for bounds, known in ((one.lo, one.lo_known), (one.hi, one.hi_known)):
                    values += [
                        value for value, is_known in zip(bounds.tolist()[:40], known.tolist(), strict=False) if is_known
                    ]
        found[field] = list(dict.fromkeys(_near(field, values)))[:60]
    return found


def _near(field: Field, values: list[Any]) -> Iterator[Any]:
    """Values of the column in the form of literals, and others close to them."""
    of = field.type
    shift: Callable[[Any], Any] = lambda value: value  # noqa: E731
    match of.kind:
        case Kind.DECIMAL:
            shift = lambda value: Decimal(value).scaleb(-of.scale)  # noqa: E731
        case Kind.BOOLEAN:
            shift = bool
    for value in values:
        yield shift(value)
        if of.kind.is_integer and value < of.integer_range()[1]:
            yield value + 1
        elif of.kind.is_fractional:
            yield value / 2
        elif of.kind.is_text:
            yield value + "a"
