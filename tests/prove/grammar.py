"""Random filters over every form of leaf, every operator, type and function, nested in AND, OR and NOT.

Half of the constants are values of the columns or their neighbours, so that constants meet the ends of ranges.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from evaluator.functions import FUNCTIONS
from evaluator.language import expression as ex
from evaluator.language.construction import any_case_like, truth_of
from evaluator.language.errors import UnsupportedError
from evaluator.language.key_set import KeySet, has_key_sets
from evaluator.language.regular_expression import matches
from evaluator.language.time_spans import TIME_SPAN, TimeSpan
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

__all__ = ["OPERATORS", "Grammar"]

OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "<=>")
VOID = Type(Kind.VOID)
NULL = ex.Literal(None, VOID)
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
    decimal_type(6, 1),
    decimal_type(12, 4),
    Type(Kind.VARCHAR, 2),
)
UNITS = ("YEAR", "yyyy", "quarter", "month", "MM", "week", "day", "hour", "minute", "second")
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
_PATTERN_PIECES = ("%", "_", "a", "ap", "apple", "b", "\\%", "\\_", "\\\\", " ", "z", "é", "-")

_CLASSES: Mapping[str, tuple[str, ...]] = {
    "number": tuple(n for n, t in TYPES.items() if t.kind.is_number),
    "integer": tuple(n for n, t in TYPES.items() if t.kind.is_integer),
    "moment": tuple(n for n, t in TYPES.items() if t.kind is Kind.DATE or t.kind.is_timestamp),
    "text": tuple(n for n, t in TYPES.items() if t.kind.is_text),
}
Typed = tuple[ex.Operand, Type]


class Grammar:
    """Draws filters over the columns of one table."""

    def __init__(self, rng: random.Random, palettes: Mapping[str, Sequence[Any]]) -> None:
        self._rng = rng
        self._palettes = palettes
        self._functions = tuple(name for name in FUNCTIONS if name in SIGNATURES)

    def filter(self) -> ex.HudiExpression:
        """A filter of a few leaves; now and then a chain of some hundred levels."""
        rng = self._rng
        if rng.random() < 0.003:
            return self._deep()
        return self._tree(rng.choice((0, 0, 1, 1, 2, 3)))

    def _tree(self, depth: int) -> ex.HudiExpression:
        rng = self._rng
        if depth == 0 or rng.random() < 0.15:
            return self.leaf()
        if rng.random() < 0.25:
            return ex.Not(self._tree(depth - 1))
        children = tuple(self._tree(depth - 1) for _ in range(rng.choice((1, 2, 2, 3))))
        return ex.And(children) if rng.random() < 0.5 else ex.Or(children)

    def _deep(self) -> ex.HudiExpression:
        tree = self.leaf()
        other = self.leaf()
        for _ in range(150):
            tree = self._rng.choice((ex.Not(tree), ex.And((tree, other)), ex.Or((other, tree))))
        return tree

    def _on_one_column(self, name: str, depth: int) -> ex.HudiExpression:
        """Conditions on one column under AND, OR and NOT."""
        rng = self._rng
        if depth == 0:
            match rng.randrange(6):
                case 0:
                    leaf: ex.HudiExpression = ex.IsNull(ex.Column(tuple(name.split("."))))
                case 1:
                    leaf = self._membership(name)
                case 2 if TYPES[name].kind.is_text:
                    leaf = ex.Like(ex.Column((name,)), self._pattern())
                case _:
                    column = ex.Column(tuple(name.split(".")))
                    constant = self._literal(TYPES[name]) if rng.random() < 0.8 else self._constant(name)
                    leaf = ex.Compare(rng.choice(OPERATORS), column, constant)
            return ex.Not(leaf) if rng.random() < 0.25 else leaf
        children = tuple(self._on_one_column(name, rng.randrange(depth)) for _ in range(rng.choice((2, 2, 3))))
        joined = ex.And(children) if rng.random() < 0.5 else ex.Or(children)
        return ex.Not(joined) if rng.random() < 0.15 else joined

    def _of_truth(self) -> ex.HudiExpression:
        """A condition used as a value."""
        rng = self._rng
        truth = truth_of(self._tree(rng.choice((0, 0, 1))))
        other: ex.Operand
        match rng.randrange(5):
            case 0:
                return ex.IsNull(truth)
            case 1:
                other = self._column(rng.choice(("b", "b2")))
            case 2:
                other = truth_of(self._tree(0))
            case 3:
                truth = ex.Call("coalesce", (truth, self._literal(BOOLEAN)))
                other = self._literal(BOOLEAN)
            case _:
                other = self._literal(BOOLEAN)
        return ex.Compare(rng.choice(OPERATORS), truth, other)

    # -- leaves

    def leaf(self) -> ex.HudiExpression:
        """One leaf of any form, some of them under the NOT that belongs to the form."""
        rng = self._rng
        if rng.random() < 0.03:
            return self._clock_leaf()
        if rng.random() < 0.02:
            return self._shift_leaf()
        name = rng.choice(list(TYPES))
        sql_type = TYPES[name]
        if rng.random() < 0.06:
            return self._on_one_column(name, 2)
        if rng.random() < 0.03:
            return self._of_truth()
        match rng.randrange(32):
            case 0 | 1 | 2 | 3 | 4:
                return ex.Compare(rng.choice(OPERATORS), self._column(name), self._constant(name))
            case 5 | 6:
                return ex.Compare(rng.choice(OPERATORS), self._constant(name), self._column(name))
            case 7 | 8:
                return self._columns(name)
            case 9 | 10 | 11:
                leaf = self._membership(name)
                return ex.Not(leaf) if rng.random() < 0.4 else leaf
            case 12:
                lo, hi = self._constant(name), self._constant(name)
                between = ex.And((ex.Compare(">=", self._column(name), lo), ex.Compare("<=", self._column(name), hi)))
                return ex.Not(between) if rng.random() < 0.4 else between
            case 13:
                test = ex.IsNull(self._column(name))
                return ex.Not(test) if rng.random() < 0.5 else test
            case 14:
                return ex.Compare(rng.choice(OPERATORS), self._column(name), NULL)
            case 15:
                return ex.Not(ex.Compare("<=>", self._column(name), self._constant(name)))
            case 16 | 17:
                like = self._like(self._column(rng.choice(_CLASSES["text"])))
                return ex.Not(like) if rng.random() < 0.3 else like
            case 18:
                return ex.Compare("=", ex.Column((rng.choice(("b", "b2")),)), ex.Literal(True, BOOLEAN))
            case 19:
                return rng.choice((ex.Constant(rng.choice((True, False, None))), ex.Unknown("a condition")))
            case 20:
                return ex.Compare(rng.choice(OPERATORS), self._column(name), ex.Opaque("a value"))
            case 21:
                return ex.Compare(rng.choice(OPERATORS), self._literal(sql_type), self._literal(sql_type))
            case _:
                return self._function_leaf()

    def _like(self, column: ex.Column) -> ex.HudiExpression:
        """LIKE, ILIKE or RLIKE."""
        rng = self._rng
        match rng.randrange(8):
            case 0:
                return any_case_like(column, self._pattern(), rng.choice("\\#"))
            case 1:
                starts = ["".join(rng.choices("abpl1", k=rng.randint(1, 3))) for _ in range(rng.randint(1, 3))]
                text = "|".join(starts)
                return matches(column, rng.choice((f"^({text})", "|".join(f"^{start}" for start in starts))))
            case _:
                return ex.Like(column, self._pattern(), rng.choice("\\\\\\a"))

    def _column(self, name: str) -> ex.Column:
        """The column, sometimes in other case or declared as another type that Hive may show."""
        rng, sql_type = self._rng, TYPES[name]
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

    def _columns(self, name: str) -> ex.HudiExpression:
        rng = self._rng
        kind = TYPES[name].kind
        alike = [
            other
            for other, sql_type in TYPES.items()
            if sql_type.kind is kind
            or (sql_type.kind.is_number and kind.is_number)
            or (sql_type.kind.is_text and kind.is_text)
            or {sql_type.kind, kind} <= {Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMP_LTZ}
        ]
        other = rng.choice(alike if rng.random() < 0.95 else list(TYPES))
        return ex.Compare(rng.choice(OPERATORS), self._column(name), self._column(other))

    def _membership(self, name: str) -> ex.In | ex.InKeys:
        rng = self._rng
        if rng.random() < 0.15 and has_key_sets(TYPES[name]):
            return self._among_keys(name)
        count = 120 if rng.random() < 0.01 else rng.randint(1, 5)
        alike = count > 5 or rng.random() < 0.5
        members: list[ex.Operand] = [
            self._literal(TYPES[name]) if alike else self._constant(name) for _ in range(count)
        ]
        if rng.random() < 0.2:
            members += self._neighbours(TYPES[name])
        if rng.random() < 0.25:
            members[rng.randrange(count)] = NULL
        return ex.In(self._column(name), tuple(members))

    def _neighbours(self, sql_type: Type) -> list[ex.Operand]:
        """A value of the columns and the ones after it: members that fill an interval."""
        first = self._literal(sql_type)
        if first.type != sql_type or not (sql_type.kind.is_integer or sql_type.kind is Kind.DATE):
            return [first]
        start = int(str(first.value))
        largest = sql_type.integer_range()[1] if sql_type.kind.is_integer else 2_900_000
        return [ex.Literal(min(start + step, largest), sql_type) for step in range(self._rng.randint(2, 12))]

    def _among_keys(self, name: str) -> ex.InKeys:
        """The column among many keys of its own type, as a join has them."""
        rng, sql_type = self._rng, TYPES[name]
        literals = [self._literal(sql_type) for _ in range(rng.choice((1, 3, 3, 40)))]
        values = [one.value for one in literals if one.type == sql_type and not isinstance(one.value, Fraction)]
        if sql_type.kind is Kind.DECIMAL:
            values = [int(Decimal(value).scaleb(sql_type.scale)) for value in values]
        return ex.InKeys(ex.Column(tuple(name.split("."))), KeySet.of(sql_type, values))

    def _pattern(self) -> str:
        return "".join(self._rng.choices(_PATTERN_PIECES, k=self._rng.randrange(4))) + self._rng.choice(("", "%"))

    def _function_leaf(self) -> ex.HudiExpression:
        rng = self._rng
        operand, sql_type = self._function(rng.choice((1, 1, 1, 2)))
        match rng.randrange(10):
            case 0:
                return ex.IsNull(operand)
            case 1:
                return ex.In(operand, tuple(self._literal(sql_type) for _ in range(rng.randint(1, 3))))
            case 2:
                return ex.Compare(rng.choice(OPERATORS), self._literal(sql_type), operand)
            case 3:
                return ex.Compare(rng.choice(OPERATORS), operand, self._operand("any", sql_type, 0)[0])
            case 4 if sql_type.kind.is_text:
                return ex.Like(operand, self._pattern())
            case _:
                return ex.Compare(rng.choice(OPERATORS), operand, self._literal(sql_type))

    def _clock_leaf(self) -> ex.HudiExpression:
        """A column, or what is computed from it, against the clock of the query."""
        rng = self._rng
        name = rng.choice([*_CLASSES["moment"], *_CLASSES["text"], "l"])
        kind = TYPES[name].kind
        date = self._moved(ex.Call("current_date", ()))
        if kind is Kind.DATE:
            moment = date
        elif kind.is_timestamp:
            moment = rng.choice((date, self._moved(ex.Call("current_timestamp", ()))))
        elif kind.is_text:
            moment = ex.Call("date_format", (date, ex.Literal(rng.choice(("yyyy-MM-dd", "yyyyMM", "MM/dd")), STRING)))
        else:
            moment = ex.Call("unix_timestamp", ())
        column = self._column(name)
        match rng.randrange(6):
            case 0 if kind is Kind.DATE or kind.is_timestamp:
                days = ex.Call("datediff", (date, column))
                return ex.Compare(rng.choice(OPERATORS), days, ex.Literal(rng.randint(-9, 40), INT))
            case 1:
                return ex.In(column, (moment, self._literal(TYPES[name])))
            case 2:
                return ex.Not(ex.Compare(rng.choice(OPERATORS), column, moment))
            case _:
                return ex.Compare(rng.choice(OPERATORS), column, moment)

    def _shift_leaf(self) -> ex.HudiExpression:
        """A date or a timestamp of a column that an operator moves, and days from a text."""
        rng = self._rng
        name = rng.choice([name for name in _CLASSES["moment"] if TYPES[name].kind is Kind.DATE] * 3 + ["ts", "i"])
        column = self._column(name)
        number = rng.choice((-400, -31, -1, 0, 1, 7, 30, 800))
        by: ex.Operand = ex.Literal(number, INT)
        if rng.random() < 0.7:
            unit = rng.choice(("months", "months", "days", "days", "micros"))
            by = ex.Literal(TimeSpan(unit, number // 7 if unit == "months" else number), TIME_SPAN)
        moved = ex.Call("+", (by, column)) if rng.random() < 0.2 else ex.Call(rng.choice("+-"), (column, by))
        if rng.random() < 0.25:
            days = [column, ex.Literal(rng.choice(("2020-01-01", "2019-12-31", "2020-02-29", "2020-1-1", "x")), STRING)]
            rng.shuffle(days)
            return ex.Compare(rng.choice(OPERATORS), ex.Call("datediff", tuple(days)), ex.Literal(number // 7, INT))
        return ex.Compare(rng.choice(OPERATORS), moved, self._literal(DATE))

    def _moved(self, moment: ex.Operand) -> ex.Operand:
        rng = self._rng
        number = rng.choice((0, 1, 7, 30, 400))
        match rng.randrange(5):
            case 0:
                unit = rng.choice(("months", "days", "micros"))
                span = TimeSpan(unit, number * (3_600_000_000 if unit == "micros" else 1))
                return ex.Call(rng.choice("+-"), (moment, ex.Literal(span, TIME_SPAN)))
            case 1:
                return ex.Call(rng.choice(("date_add", "date_sub")), (moment, ex.Literal(number, INT)))
            case 2:
                return ex.Call("add_months", (moment, ex.Literal(-number // 7, INT)))
            case _:
                return moment

    # -- operands

    def _function(self, depth: int) -> Typed:
        """A function or a cast, with its result type."""
        rng = self._rng
        if rng.random() < 0.2:
            operand, _ = self._operand("any", VOID, depth - 1)
            target = rng.choice(CAST_TARGETS)
            tried = rng.random() < 0.15
            return ex.Call("try_cast", (operand,), target) if tried else ex.Cast(operand, target), target
        if rng.random() < 0.06:
            then, sql_type = self._operand("any", VOID, 0)
            return ex.If(self.leaf(), then, self._operand("same", sql_type, 0)[0]), sql_type
        name = rng.choice(self._functions)
        if name == "branches" and depth > 1:
            name = "coalesce"
        arguments: list[Typed] = []
        for word in SIGNATURES[name]:
            if word.endswith(("?", "*")) and rng.random() < 0.5:
                continue
            first = arguments[0][1] if arguments else VOID
            arguments.append(self._operand(word.rstrip("?*"), first, depth - 1))
        call = ex.Call(name, tuple(operand for operand, _ in arguments))
        try:
            return call, FUNCTIONS[name].result([sql_type for _, sql_type in arguments])
        except (UnsupportedError, IndexError, ValueError, KeyError):
            return call, rng.choice((INT, STRING, DOUBLE))

    def _operand(self, word: str, first: Type, depth: int) -> Typed:
        rng = self._rng
        match word:
            case "small":
                return ex.Literal(rng.randint(-4, 9), INT), INT
            case "digits":
                return ex.Literal(rng.randint(-2, 3), INT), INT
            case "unit":
                return ex.Literal(rng.choice(UNITS), STRING), STRING
            case "zone":
                return ex.Literal(rng.choice(ZONES), STRING), STRING
            case "digest":
                return ex.Literal(rng.choice((0, 224, 256, 384, 512, 1)), INT), INT
            case "weekday":
                return ex.Literal(rng.choice(("MON", "Tue", "sunday")), STRING), STRING
            case "pattern":
                return ex.Literal(rng.choice(PATTERNS), STRING), STRING
            case "same":
                names = [name for name, sql_type in TYPES.items() if sql_type == first] or list(TYPES)
                if rng.random() < 0.5:
                    return self._literal(first), first
                name = rng.choice(names)
                return ex.Column(tuple(name.split("."))), TYPES[name]
            case _:
                return self._typed_operand(word, depth)

    def _typed_operand(self, word: str, depth: int) -> Typed:
        rng = self._rng
        if depth > 0 and rng.random() < 0.7:
            return self._function(depth)
        name = rng.choice(_CLASSES.get(word, tuple(TYPES)))
        if rng.random() < 0.15:
            return self._literal(TYPES[name]), TYPES[name]
        return ex.Column(tuple(name.split("."))), TYPES[name]

    # -- constants

    def _constant(self, name: str) -> ex.Literal:
        """A constant that an engine may compare with the column, of its own or another type."""
        rng, sql_type = self._rng, TYPES[name]
        if rng.random() < 0.65:
            value = rng.choice(self._palettes[name])
            return ex.Literal(neighbour(rng, value, sql_type) if rng.random() < 0.3 else value, sql_type)
        return self._literal(self._other_type(sql_type))

    def _other_type(self, sql_type: Type) -> Type:
        rng = self._rng
        if rng.random() < 0.3:
            return sql_type
        if sql_type.kind.is_number:
            return rng.choice((*_NUMBERS, STRING))
        if sql_type.kind is Kind.DATE or sql_type.kind.is_timestamp:
            return rng.choice((DATE, TIMESTAMP, TIMESTAMP_LTZ, STRING))
        if sql_type.kind.is_text:
            return rng.choice((STRING, STRING, Type(Kind.CHAR, 4), INT))
        return rng.choice((sql_type, sql_type, sql_type, STRING))

    def _literal(self, sql_type: Type) -> ex.Literal:
        rng = self._rng
        if rng.random() < 0.01:
            return ex.Literal(math.nan, DOUBLE)
        if sql_type.kind in (Kind.VOID, Kind.OTHER):
            return ex.Literal(rng.randint(-6, 12), INT)
        if sql_type.kind.is_text and rng.random() < 0.5:
            return ex.Literal(rng.choice(_TEXTS), sql_type)
        own = [name for name, other in TYPES.items() if other == sql_type]
        value = rng.choice(self._palettes[rng.choice(own)]) if own and rng.random() < 0.4 else draw(rng, sql_type)
        if sql_type.kind is Kind.DECIMAL and rng.random() < 0.3:
            value = Decimal(rng.randint(-6, 12)).scaleb(-rng.choice((0, min(1, sql_type.scale))))
        if sql_type.kind is Kind.TIMESTAMP and rng.random() < 0.1:
            value += Fraction(rng.randrange(1000), 1000)
        return ex.Literal(value, sql_type)
