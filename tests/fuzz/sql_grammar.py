"""Random SQL conditions: every form of predicate, literal and function of Hive and Spark, over the columns of a table.

Most texts are valid. Some hold a piece that one dialect lacks, a constant that overflows, or a name that is not there.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from evaluator.functions import FUNCTIONS
from tests.prove.values import TYPES

__all__ = ["SqlGrammar", "tokens"]

_COLUMNS = (*TYPES, "I", "st", "`i`", "t.i", "`st`.`x`", "nope", "ﬀ", "`a b`", "`st.x`")
_OPERATORS = ("=", "==", "<>", "!=", "<", "<=", ">", ">=", "<=>", "IS DISTINCT FROM", "IS NOT DISTINCT FROM")
_ARITHMETIC = ("+", "-", "*", "/", "%", "DIV", "&", "|", "^", "||")
_TYPES = (
    "int", "bigint", "tinyint", "smallint", "float", "double", "string", "boolean", "date", "timestamp", "binary",
    "decimal(5,1)", "decimal(38,38)", "decimal(0,0)", "decimal", "decimal(99,2)", "varchar(3)", "char(2)", "char(0)",
    "timestamp_ntz", "timestamp_ltz", "timestamp with local time zone", "array<int>", "struct<x:int>", "interval day",
    "void", "numeric", "real", "long", "byte", "varchar", "integer", "map<string,int>",
)  # fmt: skip
_NUMBERS = (
    "0", "1", "-1", "5", "12", "-3", "1.5", "-0.0", ".5", "5.", "1e3", "1E-3", "1e400", "1e-400", "1600e", "1e+",
    "0x1F", "2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", "5L", "7S",
    "-9223372036854775808", "300Y", "1.0F", "1.5D", "12.5BD",
    "1e99999999982.5", "1e99999999999", "1" * 39, "1" * 400, "9" * 5000, "0.1e5BD",
    "1_000", "00012", "1e5L", "1.5L", "- -5", "-(-(5))", "+5", "0.000000000000000000000000000000000000001", "1BD",
    "99999999999999999999999999999999999999.9", "١٢", "1e", "0b1", "1..2",
)  # fmt: skip
_TEXTS = (
    "", "a", "ab", "A", "apple", "z", "12", "1.5", "true", "2020-01-01", "2020-01-05 10:00:00", "2020-02-30", "é",
    "%", "a%", "_b", "a\\\\%", "\\u0041", "\\n", "\\", "it''s", "x" * 300, "\U0001f600", "\ud800", "\0", "2020-1-5",
    "-290308-12-21", "294247-01-10 04:00:54.775807", "24:00:00", "now", "today", "epoch", "  5 ", "NaN", "Infinity",
    "0001-01-01", "10000-01-01", "2020-01-01T00:00:00Z", "2020-03-29 02:30:00 Europe/Berlin",
    "2020-01-01 00:00:00+99:00",
)  # fmt: skip
_ODD = (
    "(SELECT 1)", "EXISTS (SELECT * FROM t)", "i IN (SELECT i FROM t)", "(1, 2) IN ((1, 2))", "INTERVAL 1 DAY",
    "INTERVAL '1-2' YEAR TO MONTH", "dt + INTERVAL 1 MONTH", "rand()", "current_date", "current_date() - 1", "uuid()",
    "sum(i) > 3", "row_number() OVER (ORDER BY i) = 1", "i[0]", "st.x.y", "?", ":name", "${x}", "{{ x }}", "*", "t.*",
    "ARRAY(1,2)", "MAP('a',1)", "STRUCT(1)", "named_struct('a', 1)", "x -> x + 1", "filter(a, x -> x > 1)", "@v",
    "CASE WHEN i > 1 THEN s END", "CASE i WHEN 1 THEN 2 ELSE 3 END = 2", "TRUE", "FALSE", "NULL", "DEFAULT",
    "i COLLATE UTF8_BINARY", "s RLIKE 'a+'", "s REGEXP '('", "s ILIKE 'A%'", "s LIKE ANY ('a', NULL)", "s LIKE s2",
    "s LIKE 'a' ESCAPE 'bc'", "s LIKE ALL ()", "i BETWEEN 1 AND", "i BETWEEN SYMMETRIC 3 AND 1", "i IS TRUE",
    "b IS NOT UNKNOWN", "i IN ()", "NOT", "/* c */ i = 1", "-- c\ni = 1", "/*+ hint */ i = 1", "/* open", "i = 1;",
    "SELECT 1", "i = 1 LIMIT 1", "i = 1 ORDER BY i", "UNIQUE", "1", "s", "CAST(i AS)", "TRY_CAST(s AS int) = 1",
    "s::int = 1", "DATE 'x'", "TIMESTAMP ''", "X'0G'", "X'61' = bin", "b'1'", "r'a\\n' = s", "R\"x\" = s", "U&'a' = s",
    "i = ANY (1, 2)", "i < ALL (1)", "extract(YEAR FROM dt) = 2020", "trim(BOTH 'x' FROM s) = 'a'", "s || 'x' = 'ax'",
    "position('a' IN s) = 1", "substring(s FROM 1 FOR 2) = 'a'", "overlay(s PLACING 'x' FROM 1) = 'a'",
    "IF(b, 1, 2) = 1",
    "date_format(dt, 'yyyy') = '2020'", "from_unixtime(0) = s", "nvl(i, 0) = 0", "nullif(i, 0) IS NULL", "!b", "~i = 1",
)  # fmt: skip


class SqlGrammar:
    """Draws conditions."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def condition(self) -> str:
        """A condition of a few leaves; now and then a deep or a long one."""
        rng = self._rng
        if rng.random() < 0.01:
            return self._long()
        return self._tree(rng.choice((0, 0, 0, 1, 1, 2, 3)))

    def _long(self) -> str:
        rng = self._rng
        leaf, number = self.leaf(), rng.choice((20, 100, 300, 700))
        return rng.choice(
            (
                "(" * number + leaf + ")" * number,
                "NOT " * number + leaf,
                " OR ".join([leaf] * number),
                f"i IN ({', '.join(str(one) for one in range(number))})",
                "i" + " + 1" * number + " = 3",
                "-" * (number | 1) + "5 = i" if rng.random() < 0.2 else "- " * number + "5 = i",
                "CASE WHEN b THEN 1 ELSE " * (number // 4) + "2" + " END" * (number // 4) + " = 1",
                "coalesce(" * number + "i" + ", 1)" * number + " = 1",
            )
        )

    def _tree(self, depth: int) -> str:
        rng = self._rng
        if depth == 0 or rng.random() < 0.15:
            return self.leaf()
        match rng.randrange(5):
            case 0:
                return f"NOT {self._tree(depth - 1)}"
            case 1:
                return f"({self._tree(depth - 1)})"
            case _:
                word = rng.choice((" AND ", " OR ", " and ", "\nOR\t", " && ", " AND NOT "))
                return word.join(self._tree(depth - 1) for _ in range(rng.choice((2, 2, 3))))

    def leaf(self) -> str:
        rng = self._rng
        a = self.operand(2)
        match rng.randrange(12):
            case 0 | 1 | 2 | 3 | 4:
                return f"{a} {rng.choice(_OPERATORS)} {self.operand(1)}"
            case 5:
                members = ", ".join(self.constant() for _ in range(rng.choice((1, 2, 3, 5))))
                return f"{a} {rng.choice(('IN', 'NOT IN'))} ({members})"
            case 6:
                return f"{a} {rng.choice(('', 'NOT '))}BETWEEN {self.operand(0)} AND {self.operand(0)}"
            case 7:
                return f"{a} IS {rng.choice(('', 'NOT '))}{rng.choice(('NULL', 'TRUE', 'FALSE'))}"
            case 8:
                escape = rng.choice(("", "", "", " ESCAPE '!'", " ESCAPE '\\\\'"))
                return f"{a} {rng.choice(('', 'NOT '))}LIKE {self.text()}{escape}"
            case 9:
                return rng.choice(("b", "NOT b2", "b = b2", f"({a} = {self.operand(0)}) = {rng.choice(('true', 'b'))}"))
            case 10:
                return f"{a} {rng.choice(_OPERATORS)} NULL"
            case _:
                return rng.choice(_ODD)

    def operand(self, depth: int) -> str:
        rng = self._rng
        way = rng.random()
        if depth == 0 or way < 0.5:
            return rng.choice(_COLUMNS) if rng.random() < 0.6 else self.constant()
        inner = self.operand(depth - 1)
        match rng.randrange(8):
            case 0 | 1:
                return f"{inner} {rng.choice(_ARITHMETIC)} {self.operand(depth - 1)}"
            case 2:
                return f"CAST({inner} AS {rng.choice(_TYPES)})"
            case 3:
                return f"-{inner}"
            case 4:
                return f"({inner})"
            case 5:
                return f"CASE WHEN {self.leaf() if depth > 1 else 'b'} THEN {inner} ELSE {self.operand(0)} END"
            case _:
                arguments = ", ".join(self.operand(depth - 1) for _ in range(rng.choice((0, 1, 1, 2, 2, 3))))
                return f"{rng.choice(tuple(FUNCTIONS))}({arguments})"

    def constant(self) -> str:
        rng = self._rng
        match rng.randrange(6):
            case 0 | 1:
                return rng.choice(_NUMBERS)
            case 2 | 3:
                return self.text()
            case 4:
                return f"{rng.choice(('DATE', 'TIMESTAMP', 'TIMESTAMP_NTZ', 'X', 'date'))} {self.text()}"
            case _:
                return rng.choice(("NULL", "true", "FALSE", str(rng.randint(-9, 9)), str(rng.uniform(-9, 9))))

    def text(self) -> str:
        quote = self._rng.choice("'''\"")
        return f"{quote}{self._rng.choice(_TEXTS)}{quote}"


def tokens(extra: Sequence[str] = ()) -> tuple[str, ...]:
    """Words for mutations."""
    return (
        *_NUMBERS[:40], *(f"'{text}'" for text in _TEXTS), *_OPERATORS, *_ARITHMETIC, *_ODD, *_COLUMNS, "(", ")", ",",
        "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "IS", "NULL", "CASE", "WHEN", "THEN", "ELSE", "END", "CAST(", "AS",
        "'", '"', "`", "--", "/*", "*/", ";", "\\", "\n", "\0", "\u2028", "\ufeff", "\ud800", *extra,
    )  # fmt: skip
