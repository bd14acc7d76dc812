"""The operands of random filters: columns, functions, casts and constants of every type.

Half of the constants are values of the columns or their neighbours, so that constants meet the ends of ranges.
"""

from __future__ import annotations

import math
import random
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from evaluator.functions import FUNCTIONS
from evaluator.language import expression as ex
from evaluator.language.errors import UnsupportedError
from evaluator.language.types import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    Kind,
    Type,
    decimal_type,
)
from tests.prove.signatures import SIGNATURES
from tests.prove.values import PATTERNS, TYPES, draw, neighbour

__all__ = ["CAST_TARGETS", "NAMES", "OperandGrammar"]

VOID = Type(Kind.VOID)
CAST_TARGETS = (
    TINYINT,
    INT,
    BIGINT,
    FLOAT,
    DOUBLE,
    STRING,
    BOOLEAN,
    DATE,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    decimal_type(6, 1),
    decimal_type(12, 4),
    Type(Kind.VARCHAR, 2),
)
UNITS = ("YEAR", "yyyy", "quarter", "month", "MM", "week", "day", "hour", "minute", "second")
#: Units in which the time between two moments is counted.
LENGTHS = ("microsecond", "second", "hour", "day", "week", "month", "quarter", "year")
ZONES = ("UTC", "America/Los_Angeles", "Asia/Kathmandu", "Australia/Lord_Howe", "PST", "Mars/Phobos")
_NUMBERS = (INT, BIGINT, DOUBLE, FLOAT, decimal_type(5, 1), decimal_type(20, 4), decimal_type(30, 10))
_TEXTS = (
    "2020-01-01",
    "2020-01-05",
    "2020-01-01 00:00:00",
    "2020-02-29 12:30:00.5",
    "2019-12-31",
    "12",
    "-3",
    "1.5",
    "5",
    "abc",
    "01/04/2020",
    "202001",
    "07",
    "A",
    "ab",
    "",
)
#: The names of columns by the word of their types.
NAMES: Mapping[str, tuple[str, ...]] = {
    "number": tuple(n for n, t in TYPES.items() if t.kind.is_number),
    "integer": tuple(n for n, t in TYPES.items() if t.kind.is_integer),
    "moment": tuple(n for n, t in TYPES.items() if t.kind is Kind.DATE or t.kind.is_timestamp),
    "text": tuple(n for n, t in TYPES.items() if t.kind.is_text),
}
Typed = tuple[ex.Operand, Type]


class OperandGrammar:
    """Draws operands over the columns of one table."""

    def __init__(self, rng: random.Random, palettes: Mapping[str, Sequence[Any]]) -> None:
        self.rng = rng
        self.palettes = palettes
        self._functions = tuple(name for name in FUNCTIONS if name in SIGNATURES)

    @abstractmethod
    def leaf(self) -> ex.HudiExpression:
        """One condition, for an IF."""

    def column(self, name: str) -> ex.Column:
        """The column, sometimes in other case or declared as another type that Hive may show."""
        rng, sql_type = self.rng, TYPES[name]
        path = tuple((name.upper() if rng.random() < 0.1 else name).split("."))
        if rng.random() < 0.1:
            match sql_type.kind:
                case Kind.STRING:
                    return ex.Column(path, Type(Kind.CHAR, 7))
                case Kind.TINYINT | Kind.SMALLINT | Kind.INT:
                    return ex.Column(path, BIGINT)
                case Kind.FLOAT:
                    return ex.Column(path, DOUBLE)
                case Kind.DECIMAL if sql_type.precision < 30:
                    return ex.Column(path, decimal_type(sql_type.precision + 4, sql_type.scale + 2))
                case _:
                    return ex.Column(path, sql_type)
        return ex.Column(path)

    def function(self, depth: int) -> Typed:
        """A function or a cast, with its result type."""
        rng = self.rng
        if rng.random() < 0.2:
            operand, _ = self.operand("any", VOID, depth - 1)
            target = rng.choice(CAST_TARGETS)
            tried = rng.random() < 0.15
            return ex.Call("try_cast", (operand,), target) if tried else ex.Cast(operand, target), target
        if rng.random() < 0.06:
            then, sql_type = self.operand("any", VOID, 0)
            return ex.If(self.leaf(), then, self.operand("same", sql_type, 0)[0]), sql_type
        name = rng.choice(self._functions)
        if name == "branches" and depth > 1:
            name = "coalesce"
        arguments: list[Typed] = []
        for word in SIGNATURES[name]:
            if word.endswith(("?", "*")) and rng.random() < 0.5:
                continue
            first = arguments[0][1] if arguments else VOID
            arguments.append(self.operand(word.rstrip("?*"), first, depth - 1))
        call = ex.Call(name, tuple(operand for operand, _ in arguments))
        try:
            return call, FUNCTIONS[name].result([sql_type for _, sql_type in arguments])
        except (UnsupportedError, IndexError, ValueError, KeyError):
            return call, rng.choice((INT, STRING, DOUBLE))

    def operand(self, word: str, first: Type, depth: int) -> Typed:
        rng = self.rng
        match word:
            case "small":
                return ex.Literal(rng.randint(-4, 9), INT), INT
            case "digits":
                return ex.Literal(rng.randint(-2, 3), INT), INT
            case "unit":
                return ex.Literal(rng.choice(UNITS), STRING), STRING
            case "length":
                return ex.Literal(rng.choice(LENGTHS), STRING), STRING
            case "zone":
                return ex.Literal(rng.choice(ZONES), STRING), STRING
            case "digest":
                return ex.Literal(rng.choice((0, 224, 256, 384, 512, 1)), INT), INT
            case "separator":
                return ex.Literal(rng.choice("-a pl") + rng.choice(("", "", "p")), STRING), STRING
            case "one":
                return ex.Literal(rng.choice((1, 1, 1, 2)), INT), INT
            case "weekday":
                return ex.Literal(rng.choice(("MON", "Tue", "sunday")), STRING), STRING
            case "pattern":
                return ex.Literal(rng.choice(PATTERNS), STRING), STRING
            case "same":
                names = [name for name, sql_type in TYPES.items() if sql_type == first] or list(TYPES)
                if rng.random() < 0.5:
                    return self.literal(first), first
                name = rng.choice(names)
                return ex.Column(tuple(name.split("."))), TYPES[name]
            case _:
                return self.typed_operand(word, depth)

    def typed_operand(self, word: str, depth: int) -> Typed:
        rng = self.rng
        if depth > 0 and rng.random() < 0.7:
            return self.function(depth)
        name = rng.choice(NAMES.get(word, tuple(TYPES)))
        if rng.random() < 0.15:
            return self.literal(TYPES[name]), TYPES[name]
        return ex.Column(tuple(name.split("."))), TYPES[name]

    def constant(self, name: str) -> ex.Literal:
        """A constant that an engine may compare with the column, of its own or another type."""
        rng, sql_type = self.rng, TYPES[name]
        if rng.random() < 0.65:
            value = rng.choice(self.palettes[name])
            return ex.Literal(neighbour(rng, value, sql_type) if rng.random() < 0.3 else value, sql_type)
        return self.literal(self.other_type(sql_type))

    def other_type(self, sql_type: Type) -> Type:
        rng = self.rng
        if rng.random() < 0.3:
            return sql_type
        if sql_type.kind.is_number:
            return rng.choice((*_NUMBERS, STRING))
        if sql_type.kind is Kind.DATE or sql_type.kind.is_timestamp:
            return rng.choice((DATE, TIMESTAMP, TIMESTAMP_LTZ, STRING))
        if sql_type.kind.is_text:
            return rng.choice((STRING, STRING, Type(Kind.CHAR, 4), INT))
        return rng.choice((sql_type, sql_type, sql_type, STRING))

    def literal(self, sql_type: Type) -> ex.Literal:
        rng = self.rng
        if rng.random() < 0.01:
            return ex.Literal(math.nan, DOUBLE)
        if sql_type.kind in (Kind.VOID, Kind.OTHER):
            return ex.Literal(rng.randint(-6, 12), INT)
        if sql_type.kind.is_text and rng.random() < 0.5:
            return ex.Literal(rng.choice(_TEXTS), sql_type)
        own = [name for name, other in TYPES.items() if other == sql_type]
        value = rng.choice(self.palettes[rng.choice(own)]) if own and rng.random() < 0.4 else draw(rng, sql_type)
        if sql_type.kind is Kind.DECIMAL and rng.random() < 0.3:
            value = Decimal(rng.randint(-6, 12)).scaleb(-rng.choice((0, min(1, sql_type.scale))))
        if sql_type.kind is Kind.TIMESTAMP and rng.random() < 0.1:
            value += Fraction(rng.randrange(1000), 1000)
        return ex.Literal(value, sql_type)
