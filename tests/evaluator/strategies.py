"""Hypothesis strategies: tables of a few rows over all types, their statistics, and filters over them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

from evaluator.language import expression as ex
from evaluator.language.schema import Field, Schema
from evaluator.language.types import (
    BIGINT,
    BINARY,
    BOOLEAN,
    DATE,
    DOUBLE,
    FLOAT,
    INT,
    SMALLINT,
    STRING,
    TIMESTAMP,
    TIMESTAMP_LTZ,
    TINYINT,
    Kind,
    Type,
    decimal_type,
)
from evaluator.statistics.columns import UNKNOWN_COUNT, ColumnStatistics, array_dtype, filler, from_values

SCHEMA = Schema(
    [
        Field("b", BOOLEAN),
        Field("ti", TINYINT),
        Field("si", SMALLINT),
        Field("i", INT),
        Field("i2", INT),
        Field("l", BIGINT),
        Field("f", FLOAT),
        Field("d", DOUBLE),
        Field("dec", decimal_type(10, 2)),
        Field("big", decimal_type(30, 10)),
        Field("s", STRING),
        Field("s2", STRING),
        Field("ch", Type(Kind.CHAR, 5)),
        Field("vc", Type(Kind.VARCHAR, 10)),
        Field("dt", DATE),
        Field("ts", TIMESTAMP),
        Field("tz", TIMESTAMP_LTZ),
        Field("bin", BINARY),
        Field("bin2", BINARY),
        Field("b2", BOOLEAN),
        Field("dec18", decimal_type(18, 0)),
        Field("st", Type(Kind.OTHER, name="struct<x:int,s:string>")),
        Field("st.x", INT),
        Field("st.s", STRING),
    ]
)
TYPES = {field.name: field.type for field in SCHEMA if field.type.kind is not Kind.OTHER}
#: Columns whose functions are drawn.
NUMBERS = ("ti", "si", "i", "i2", "l", "dec", "d", "f", "dec18", "big", "st.x")
MOMENTS = ("dt", "ts", "tz")
PATTERNS = ("yyyy-MM-dd", "MM/dd/yyyy", "dd.MM.yyyy", "dd", "yyyyMM", "HH", "yyyy HH", "MM-dd", "yyyy-MM-dd HH:mm:ss")
TEXTS = (
    "2020-01",
    "2020-01-05",
    "01/04/2020",
    "01/01/2020",
    "2020-01-01",
    "202001",
    "05",
    "07",
    "a",
    "B",
    "zz",
    "12",
    "-3",
    "true",
    "",
)
CAST_TARGETS = (TINYINT, INT, BIGINT, DOUBLE, FLOAT, STRING, BOOLEAN, decimal_type(6, 1), decimal_type(12, 4))

_ALPHABET = "aAbBzZ 0é\U0001f600\ud7ff"
_DAY = 86_400_000_000


def values_of(kind: Type) -> st.SearchStrategy[Any]:
    """Small pools with the awkward ends in them, so that ranges meet constants often."""
    match kind.kind:
        case Kind.BOOLEAN:
            return st.booleans()
        case k if k.is_integer:
            lo, hi = kind.integer_range()
            return st.integers(-6, 12) | st.sampled_from([lo, hi, lo + 1, hi - 1]) | st.integers(lo, hi)
        case Kind.FLOAT:
            small = st.sampled_from([0.0, -0.0, 1.5, -2.25, 5.0]) | st.floats(
                width=32, allow_nan=False, allow_infinity=False
            )
            return small.map(lambda x: float(np.float32(x)))
        case Kind.DOUBLE:
            pool = st.sampled_from([0.0, -0.0, 0.1, 1.5, -3.0, 2.0**53])
            return pool | st.floats(allow_nan=False, allow_infinity=False)
        case Kind.DECIMAL:
            digits = kind.precision - 1
            unscaled = st.integers(-1200, 1200) | st.integers(-(10**digits), 10**digits)
            return unscaled.map(lambda n: Decimal(n).scaleb(-kind.scale))
        case Kind.STRING | Kind.VARCHAR:
            return st.text(_ALPHABET, max_size=4) | st.sampled_from(["apple", "apple-1", "Apple", "banana"])
        case Kind.CHAR:
            return st.text("ab z", max_size=5).map(lambda t: t.rstrip(" "))
        case Kind.DATE:
            return st.integers(18_250, 18_300) | st.sampled_from([18_261, 18_262, 18_627, 0, -1, -10_000, 30_000])
        case Kind.TIMESTAMP | Kind.TIMESTAMP_LTZ:
            day = st.integers(18_255, 18_300)
            return st.builds(
                lambda d, t: d * _DAY + t,
                day,
                st.sampled_from([0, 1, _DAY - 1, 3_600_000_000]) | st.integers(0, _DAY - 1),
            )
        case Kind.BINARY:
            return st.binary(max_size=3)
        case _:
            raise AssertionError(kind)


@dataclass(frozen=True)
class Slice:
    """The rows of one slice."""

    rows: tuple[dict[str, Any], ...]


@st.composite
def slices(draw: st.DrawFn, columns: Sequence[str]) -> Slice:
    size = draw(st.integers(1, 4))
    rows: list[dict[str, Any]] = [{} for _ in range(size)]
    for name in columns:
        shape = draw(st.sampled_from(["mixed", "no nulls", "one value", "all null"]))
        pool = values_of(TYPES[name])
        if shape == "all null":
            cells: list[Any] = [None] * size
        elif shape == "one value":
            cells = [draw(pool)] * size
        else:
            cell = pool if shape == "no nulls" else st.none() | pool
            cells = [draw(cell) for _ in range(size)]
        for row, value in zip(rows, cells, strict=True):
            row[name] = stored(value, TYPES[name], draw) if value is not None else None
    return Slice(tuple(rows))


def stored(value: Any, kind: Type, draw: st.DrawFn) -> Any:
    """CHAR may be stored padded or not."""
    return value.ljust(kind.precision) if kind.kind is Kind.CHAR and draw(st.booleans()) else value


def exact_statistics(name: str, parts: Sequence[Slice]) -> ColumnStatistics:
    """What a perfect writer records."""
    los, his, nulls, rows = [], [], [], []
    for part in parts:
        present = [row[name] for row in part.rows if row[name] is not None]
        los.append(min(present, default=None))
        his.append(max(present, default=None))
        nulls.append(len(part.rows) - len(present))
        rows.append(len(part.rows))
    return from_values(TYPES[name], los, his, nulls, rows)


def weakened(statistics: ColumnStatistics, draw: st.DrawFn) -> ColumnStatistics:
    """What real writers record: bounds missing or wider, counts unknown."""
    n = len(statistics)
    lo_known, hi_known = statistics.lo_known.copy(), statistics.hi_known.copy()
    lo, hi = statistics.lo.copy(), statistics.hi.copy()
    null_count, row_count = statistics.null_count.copy(), statistics.row_count.copy()
    for index in range(n):
        match draw(st.sampled_from(["exact", "exact", "no lo", "no hi", "no bounds", "wider", "no counts", "nothing"])):
            case "no lo":
                lo_known[index] = False
            case "no hi":
                hi_known[index] = False
            case "no bounds":
                lo_known[index] = hi_known[index] = False
            case "wider":
                lo[index], hi[index] = wider(lo[index], hi[index], statistics.type)
            case "no counts":
                null_count[index] = row_count[index] = UNKNOWN_COUNT
            case "nothing":
                lo_known[index] = hi_known[index] = False
                null_count[index] = row_count[index] = UNKNOWN_COUNT
            case _:
                pass
    empty = filler(statistics.type)
    hidden = draw(st.sampled_from(["filler", "left in place"]))
    if hidden == "filler":
        for index in range(n):
            lo[index] = lo[index] if lo_known[index] else empty
            hi[index] = hi[index] if hi_known[index] else empty
    return replace(
        statistics, lo=lo, hi=hi, lo_known=lo_known, hi_known=hi_known, null_count=null_count, row_count=row_count
    )


def wider(lo: Any, hi: Any, kind: Type) -> tuple[Any, Any]:
    """Bounds that are true but not tight."""
    if kind.kind.is_text:
        return lo[:1], hi + "zz"
    if kind.kind is Kind.BINARY:
        return lo[:1], hi + b"\xff"
    if kind.kind is Kind.BOOLEAN:
        return 0, 1
    if array_dtype(kind) == np.float64:
        lo, hi = float(lo), float(hi)
        return (lo - abs(lo) - 1, hi + abs(hi) + 1) if max(abs(lo), abs(hi)) < 1e300 else (lo, hi)
    smallest, largest = (-(10**38), 10**38) if array_dtype(kind).hasobject else (-(1 << 63), (1 << 63) - 1)
    return max(int(lo) - 3, smallest), min(int(hi) + 3, largest)


def literal(draw: st.DrawFn, kind: Type) -> ex.Literal:
    return ex.Literal(draw(values_of(kind)), kind)


_NULL = ex.Literal(None, Type(Kind.VOID))
_OPS = st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "<=>"])


def constants_for(name: str) -> st.SearchStrategy[ex.Literal]:
    """Constants that an engine would compare with the column, of its own or of another type."""
    kind = TYPES[name]
    own = values_of(kind).map(lambda v: ex.Literal(v, kind))
    numbers = st.one_of(
        *(
            values_of(t).map(lambda v, t=t: ex.Literal(v, t))
            for t in (INT, BIGINT, DOUBLE, decimal_type(5, 1), decimal_type(20, 4))
        )
    )
    match kind.kind:
        case k if k.is_integer or k is Kind.DECIMAL or k is Kind.DOUBLE:
            return own | numbers
        case Kind.FLOAT:
            return own | values_of(DOUBLE).map(lambda v: ex.Literal(v, DOUBLE))
        case Kind.DATE | Kind.TIMESTAMP | Kind.TIMESTAMP_LTZ:
            texts = st.sampled_from(["2020-01-01", "2019-12-31", "2020-02-29"]).map(lambda t: ex.Literal(t, STRING))
            wall = values_of(TIMESTAMP).map(lambda v: ex.Literal(v, TIMESTAMP))
            finer = values_of(TIMESTAMP).map(lambda v: ex.Literal(v + Fraction(1, 1000), TIMESTAMP))
            return own | texts | wall | finer | values_of(DATE).map(lambda v: ex.Literal(v, DATE))
        case Kind.CHAR:
            return own | st.text("ab z", max_size=5).map(lambda t: ex.Literal(t, STRING))
        case _:
            return own


@st.composite
def leaves(draw: st.DrawFn, columns: Sequence[str]) -> ex.HudiExpression:
    name = draw(st.sampled_from(list(columns)))
    column = ex.Column(tuple(name.split(".")))
    kind = TYPES[name].kind
    forms = ["compare", "compare", "mirrored", "in", "not in", "between", "is null", "null constant", "distinct"]
    forms += ["like"] if kind.is_text else []
    forms += ["bare"] if kind is Kind.BOOLEAN else []
    forms += ["function", "function"] if name in NUMBERS + MOMENTS + ("s", "s2", "st.s") else []
    forms += ["columns"]
    match draw(st.sampled_from(forms)):
        case "compare":
            return ex.Compare(draw(_OPS), column, draw(constants_for(name)))
        case "mirrored":
            return ex.Compare(draw(_OPS), draw(constants_for(name)), column)
        case "in" | "not in" as form:
            members = draw(st.lists(constants_for(name) | st.just(_NULL), min_size=1, max_size=4))
            if TYPES[name].kind.is_integer and draw(st.booleans()):
                first = draw(st.integers(-6, 12))
                members += [ex.Literal(first + step, INT) for step in range(draw(st.integers(2, 9)))]
            leaf = ex.In(column, tuple(members))
            return leaf if form == "in" else ex.Not(leaf)
        case "between":
            lo, hi = draw(constants_for(name)), draw(constants_for(name))
            return ex.And((ex.Compare(">=", column, lo), ex.Compare("<=", column, hi)))
        case "distinct":
            return ex.Not(ex.Compare("<=>", column, draw(constants_for(name))))
        case "bare":
            return ex.Compare("=", column, ex.Literal(True, BOOLEAN))
        case "is null":
            return ex.IsNull(column)
        case "null constant":
            return ex.Compare(draw(_OPS), column, _NULL)
        case "like":
            return ex.Like(column, draw(st.text("ab%_z ", max_size=4) | st.text("a%_\\", max_size=5)))
        case "columns":
            partner = draw(st.sampled_from([c for c in columns if _family(TYPES[c]) == _family(TYPES[name])]))
            return ex.Compare(draw(_OPS), column, ex.Column(tuple(partner.split("."))))
        case _:
            return draw(function_leaves(name))


def _family(column_type: Type) -> str:
    """Types that engines compare with each other."""
    if column_type.kind.is_number or column_type.kind.is_text:
        return "number" if column_type.kind.is_number else "text"
    return "moment" if column_type.kind is Kind.DATE or column_type.kind.is_timestamp else column_type.kind.value


@st.composite
def function_leaves(draw: st.DrawFn, name: str) -> ex.HudiExpression:
    column = ex.Column(tuple(name.split(".")))
    op = draw(_OPS)
    small = st.integers(-4, 9).map(lambda v: ex.Literal(v, INT))
    if name in NUMBERS:
        operand, result = draw(
            st.sampled_from(
                [
                    (ex.Call("+", (column, draw(small))), INT),
                    (ex.Call("-", (draw(small), column)), INT),
                    (ex.Call("*", (column, draw(small))), INT),
                    (ex.Call("/", (column, draw(small))), DOUBLE),
                    (ex.Call("%", (column, draw(small))), INT),
                    (ex.Call("pmod", (column, draw(small))), INT),
                    (ex.Call("negative", (column,)), INT),
                    (ex.Call("abs", (column,)), INT),
                    (ex.Call("floor", (column,)), INT),
                    (ex.Call("ceil", (column,)), INT),
                    (ex.Call("sqrt", (column,)), DOUBLE),
                    (ex.Call("exp", (column,)), DOUBLE),
                    (ex.Call("sign", (column,)), DOUBLE),
                    (ex.Call("coalesce", (column, ex.Literal(7, INT))), INT),
                    (ex.Call("+", (column, ex.Column(("i",)))), INT),
                    *((ex.Cast(column, t), t) for t in CAST_TARGETS),
                ]
            )
        )
    elif name in MOMENTS:
        unit = ex.Literal(draw(st.sampled_from(["YEAR", "month", "MM", "quarter", "week"])), STRING)
        pattern = ex.Literal(draw(st.sampled_from(PATTERNS)), STRING)
        operand, result = draw(
            st.sampled_from(
                [
                    *(
                        (ex.Call(f, (column,)), INT)
                        for f in ("year", "quarter", "month", "day", "dayofyear", "hour", "minute")
                    ),
                    (ex.Call("date_add", (column, draw(small))), DATE),
                    (ex.Call("date_sub", (column, draw(small))), DATE),
                    (ex.Call("datediff", (column, ex.Literal(18_262, DATE))), INT),
                    (ex.Call("datediff", (ex.Literal(18_262, DATE), column)), INT),
                    (ex.Call("last_day", (column,)), DATE),
                    (ex.Call("to_date", (column,)), DATE),
                    (ex.Call("trunc", (column, unit)), DATE),
                    (ex.Call("date_trunc", (unit, column)), TIMESTAMP),
                    (ex.Call("date_format", (column, pattern)), STRING),
                    (ex.Call("unix_timestamp", (column,)), BIGINT),
                    (ex.Cast(column, DATE), DATE),
                    (ex.Cast(column, TIMESTAMP), TIMESTAMP),
                    (ex.Cast(column, STRING), STRING),
                ]
            )
        )
    else:
        count = draw(small)
        operand, result = draw(
            st.sampled_from(
                [
                    *((ex.Call(f, (column,)), STRING) for f in ("lower", "upper")),
                    *((ex.Call(f, (column,)), STRING) for f in ("lower", "upper")),
                    (ex.Call("left", (column, count)), STRING),
                    (ex.Call("substring_index", (column, ex.Literal("b", STRING), ex.Literal(1, INT))), STRING),
                    (ex.Call("substr", (column, ex.Literal(1, INT), count)), STRING),
                    (ex.Call("concat", (column, ex.Literal("z", STRING))), STRING),
                    (ex.Call("concat", (ex.Literal("a", STRING), column)), STRING),
                    (ex.Call("concat", (column, ex.Column(("s2",)))), STRING),
                    (ex.Call("length", (column,)), INT),
                    (ex.Call("trim", (column,)), STRING),
                    (ex.Call("substr", (column, ex.Literal(2, INT))), STRING),
                    (ex.Call("substr", (column, ex.Literal(-2, INT), count)), STRING),
                    (ex.Call("coalesce", (column, ex.Literal("b", STRING))), STRING),
                    (ex.Cast(column, Type(Kind.VARCHAR, 2)), Type(Kind.VARCHAR, 2)),
                ]
            )
        )
    if draw(st.integers(0, 5)) == 0:
        return ex.IsNull(operand)
    texts = values_of(STRING) | st.sampled_from(TEXTS)
    constant = texts if result is STRING else values_of(result)
    return ex.Compare(op, operand, ex.Literal(draw(constant), result))


def filters(columns: Sequence[str]) -> st.SearchStrategy[ex.HudiExpression]:
    constants = st.sampled_from([True, False, None]).map(ex.Constant)
    return st.recursive(
        leaves(columns) | constants,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda c: ex.And(tuple(c))),
            st.lists(inner, min_size=1, max_size=3).map(lambda c: ex.Or(tuple(c))),
            inner.map(ex.Not),
        ),
        max_leaves=5,
    )
