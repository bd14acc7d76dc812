"""Tests of columns (``exact_tests``) as expressions of pyarrow and Polars, and as SQL of DuckDB.

Each form is TRUE exactly on the rows where the test is. Elsewhere it may be FALSE or NULL, so it stands in a filter and
below no NOT. NaN is greater than all other numbers, as it is in Hive and Spark; pyarrow compares it as IEEE does,
and so it has a test of its own.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa

from evaluator.language import arrow_functions as pc
from evaluator.language.epoch import EPOCH, MICROSECOND
from evaluator.language.types import Kind, Type
from handler.engines.exact_tests import (
    AllOf,
    Always,
    AnyOf,
    Comparison,
    Members,
    NotExactError,
    NullTest,
    Prefix,
    Test,
)
from handler.engines.packages import needed

__all__ = ["arrow_type_of", "duckdb_name", "to_duckdb_sql", "to_polars", "to_pyarrow"]

_OPS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
#: The operators of which NaN beside another number is one TRUE case.
_NAN_IS = frozenset(["!=", ">", ">="])
#: A filter of more levels is tested row by row: engines walk theirs with recursion.
_MAX_DEPTH = 200
#: The moments that SQL text can say.
_FIRST, _LAST = -62_135_596_800_000_000, 253_402_300_799_999_999
_TYPES: dict[Kind, pa.DataType] = {
    Kind.BOOLEAN: pa.bool_(),
    Kind.TINYINT: pa.int8(),
    Kind.SMALLINT: pa.int16(),
    Kind.INT: pa.int32(),
    Kind.BIGINT: pa.int64(),
    Kind.FLOAT: pa.float32(),
    Kind.DOUBLE: pa.float64(),
    Kind.STRING: pa.string(),
    Kind.VARCHAR: pa.string(),
    Kind.BINARY: pa.binary(),
    Kind.DATE: pa.date32(),
    Kind.TIMESTAMP: pa.timestamp("us"),
    Kind.TIMESTAMP_LTZ: pa.timestamp("us", "UTC"),
}


def arrow_type_of(column: Type) -> pa.DataType:
    """The Arrow type of a column's values. Raises NotExactError for one whose values are not compared."""
    if column.kind is Kind.DECIMAL:
        return pa.decimal128(column.precision, column.scale)
    if column.kind not in _TYPES:
        raise NotExactError(f"values of type {column}")
    return _TYPES[column.kind]


def _folded(test: Test, leaf: Callable[[Any], Any], both: Callable[[list[Any], bool], Any], depth: int = 0) -> Any:
    if depth > _MAX_DEPTH:
        raise NotExactError(f"a filter of more than {_MAX_DEPTH} levels")
    if isinstance(test, AllOf | AnyOf):
        return both([_folded(one, leaf, both, depth + 1) for one in test.tests], isinstance(test, AllOf))
    return leaf(test)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def _balanced(parts: list[Any], join: Callable[[Any, Any], Any]) -> Any:
    """Many parts as a tree of few levels."""
    while len(parts) > 1:
        parts = [functools.reduce(join, parts[i : i + 2]) for i in range(0, len(parts), 2)]
    return parts[0]


# -- pyarrow


def to_pyarrow(test: Test) -> Any:
    """A ``pyarrow.compute.Expression``."""
    return _folded(test, _arrow_leaf, lambda parts, is_and: _balanced(parts, operator.and_ if is_and else operator.or_))


def _arrow_leaf(test: Test) -> Any:
    match test:
        case Always(value=value):
            return pc.scalar(value)
        case NullTest(column=column, is_null=is_null):
            field = pc.field(column.name)
            return field.is_null() if is_null else field.is_valid()
        case Prefix(column=column, text=text, starts=starts):
            found = pc.starts_with(pc.field(column.name), pattern=text)
            return found if starts else ~found
        case Members(column=column, values=values, is_in=is_in):
            kind = arrow_type_of(column.type)
            field = pc.field(column.name)
            if column.type.kind.is_fractional:  # a look-up by bits would tell -0.0 from 0.0
                equal = [field == pa.scalar(value, kind) for value in values]
                found = _balanced(equal, operator.or_)
                return found if is_in else ~found & field.is_valid()
            found = field.isin(pa.array(values, kind))
            return found if is_in else ~found & field.is_valid()
        case Comparison(column=column, op=op, value=value):
            return _arrow_comparison(pc.field(column.name), column.type, op, value)
    raise NotExactError(str(test))


def _arrow_comparison(field: Any, column: Type, op: str, value: Any) -> Any:
    kind = arrow_type_of(column)
    if not column.kind.is_fractional:
        return _OPS[op](field, pa.scalar(value, kind))
    if _is_nan(value):
        return _nan_comparison(op, pc.is_nan(field), ~pc.is_nan(field), field.is_valid(), pc.scalar(False))
    found = _OPS[op](field, pa.scalar(value, kind))
    return found | pc.is_nan(field) if op in _NAN_IS else found


def _nan_comparison(op: str, is_nan: Any, is_not: Any, is_there: Any, never: Any) -> Any:
    return {"=": is_nan, ">=": is_nan, "!=": is_not, "<": is_not, "<=": is_there, ">": never}[op]


# -- Polars


def to_polars(test: Test) -> Any:
    """A ``polars.Expr``."""
    pl = needed("polars", "polars")

    def leaf(one: Test) -> Any:
        match one:
            case Always(value=value):
                return pl.lit(value)
            case NullTest(column=column, is_null=is_null):
                return pl.col(column.name).is_null() if is_null else pl.col(column.name).is_not_null()
            case Prefix(column=column, text=text, starts=starts):
                found = pl.col(column.name).str.starts_with(text)
                return found if starts else ~found
            case Members(column=column, values=values, is_in=is_in):
                if column.type.kind.is_fractional:
                    equal = [pl.col(column.name) == _polars_literal(pl, value, column.type) for value in values]
                    found = _balanced(equal, operator.or_)
                else:
                    members = pl.from_arrow(pa.array(values, arrow_type_of(column.type)))
                    found = pl.col(column.name).is_in(members.implode())
                return found if is_in else ~found
            case Comparison(column=column, op=op, value=value):
                field = pl.col(column.name)
                if not column.type.kind.is_fractional:
                    return _OPS[op](field, _polars_literal(pl, value, column.type))
                if _is_nan(value):
                    return _nan_comparison(op, field.is_nan(), ~field.is_nan(), field.is_not_null(), pl.lit(False))
                found = _OPS[op](field, _polars_literal(pl, value, column.type))
                is_nan = field.is_nan()
                return found | is_nan if op in _NAN_IS else found & ~is_nan
        raise NotExactError(str(one))

    return _folded(test, leaf, lambda parts, is_and: _balanced(parts, operator.and_ if is_and else operator.or_))


def _polars_literal(pl: Any, value: Any, column: Type) -> Any:
    match column.kind:
        case Kind.DECIMAL:
            return pl.lit(value, dtype=pl.Decimal(column.precision, column.scale))
        case Kind.DATE:
            return pl.lit(value, dtype=pl.Int32).cast(pl.Date)
        case Kind.TIMESTAMP | Kind.TIMESTAMP_LTZ:
            zone = "UTC" if column.kind is Kind.TIMESTAMP_LTZ else None
            return pl.lit(value, dtype=pl.Int64).cast(pl.Datetime("us", zone))
    kinds = {
        Kind.BOOLEAN: pl.Boolean,
        Kind.TINYINT: pl.Int8,
        Kind.SMALLINT: pl.Int16,
        Kind.INT: pl.Int32,
        Kind.BIGINT: pl.Int64,
        Kind.FLOAT: pl.Float32,
        Kind.DOUBLE: pl.Float64,
        Kind.STRING: pl.String,
        Kind.VARCHAR: pl.String,
        Kind.BINARY: pl.Binary,
    }
    if column.kind not in kinds:
        raise NotExactError(f"values of type {column}")
    return pl.lit(value, dtype=kinds[column.kind])


# -- DuckDB


def to_duckdb_sql(test: Test) -> str:
    """A condition in DuckDB's SQL, where NaN is greater than all other numbers as it is here."""
    text: str = _folded(test, _duckdb_leaf, lambda parts, is_and: f"({(' AND ' if is_and else ' OR ').join(parts)})")
    return text


def _duckdb_leaf(test: Test) -> str:
    match test:
        case Always(value=value):
            return "TRUE" if value else "FALSE"
        case NullTest(column=column, is_null=is_null):
            return f"{duckdb_name(column.name)} IS {'' if is_null else 'NOT '}NULL"
        case Prefix(column=column, text=text, starts=starts):
            found = f"starts_with({duckdb_name(column.name)}, {_text(text)})"
            return found if starts else f"NOT {found}"
        case Members(column=column, values=values, is_in=is_in):
            members = ", ".join(_duckdb_literal(value, column.type) for value in values)
            return f"{duckdb_name(column.name)} {'' if is_in else 'NOT '}IN ({members})"
        case Comparison(column=column, op=op, value=value):
            return f"{duckdb_name(column.name)} {op} {_duckdb_literal(value, column.type)}"
    raise NotExactError(str(test))


def duckdb_name(name: str) -> str:
    """A column in DuckDB's SQL."""
    return '"' + name.replace('"', '""') + '"'


def _text(text: str) -> str:
    if "\0" in text:
        raise NotExactError("a text with a NUL character")
    return "'" + text.replace("'", "''") + "'"


def _duckdb_literal(value: Any, column: Type) -> str:
    match column.kind:
        case Kind.BOOLEAN:
            return "TRUE" if value else "FALSE"
        case kind if kind.is_integer:
            return str(value)
        case kind if kind.is_fractional:
            name = "FLOAT" if kind is Kind.FLOAT else "DOUBLE"
            return f"CAST('{float(value)!r}' AS {name})"
        case Kind.DECIMAL:
            return f"CAST('{Decimal(value):f}' AS DECIMAL({column.precision},{column.scale}))"
        case Kind.STRING | Kind.VARCHAR:
            return _text(value)
        case Kind.BINARY:
            return "'" + "".join(f"\\x{byte:02X}" for byte in value) + "'::BLOB"
        case Kind.DATE if _FIRST <= value * 86_400_000_000 <= _LAST:
            return f"DATE '{(EPOCH + value * 86_400_000_000 * MICROSECOND).date().isoformat()}'"
        case Kind.TIMESTAMP | Kind.TIMESTAMP_LTZ if _FIRST <= value <= _LAST:
            text = (EPOCH + value * MICROSECOND).isoformat(" ")
            return f"TIMESTAMPTZ '{text}+00'" if column.kind is Kind.TIMESTAMP_LTZ else f"TIMESTAMP '{text}'"
    raise NotExactError(f"{value} of type {column}")
