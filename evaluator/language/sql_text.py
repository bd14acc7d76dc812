r"""A tree as SQL that its engine parses, such as a residual for a WHERE clause. ``expression.to_text`` is for people.

The text means what the tree means: literals keep their types, and names and texts are quoted as the engine reads them.

    ==========================  ===============================  ========================================
    tree                        Spark                            Hive
    ==========================  ===============================  ========================================
    CAST to an instant          CAST(dt AS timestamp_ltz)        CAST(dt AS timestamp with local time zone)
    CAST to a wall clock        CAST(dt AS timestamp_ntz)        CAST(dt AS timestamp)
    bigint, double, float       5L  1.5D  1.5F                   5L  1.5D  CAST(1.5D AS float)
    decimal                     1.5  5BD                         1.5  5BD
    interval                    INTERVAL '3' DAY                 the same
    binary                      X'6162'                          unhex('6162')
    text, awkward names         'it\'s'  `my column`             the same
    ==========================  ===============================  ========================================

A part that was not understood is ``?(reason)``, which no engine parses: ``residual.is_complete`` tells.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

import numpy as np

from evaluator.language import expression as ex
from evaluator.language.epoch import EPOCH, MICROSECOND
from evaluator.language.literal_text import moment_text
from evaluator.language.time_spans import TimeSpan
from evaluator.language.types import Kind, Type

__all__ = ["to_sql"]

_SUFFIXES = {Kind.TINYINT: "Y", Kind.SMALLINT: "S", Kind.INT: "", Kind.BIGINT: "L"}
_PLAIN_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_OPERATORS = frozenset(["+", "-", "*", "/", "%", "&", "|", "^", "div"])
#: Words that engines do not take for a name, at least in one of their modes.
_RESERVED_WORDS = """
    all alter and anti any array as asc at authorization between binary boolean both by case cast char check collate
    column commit conf constraint create cross cube current current_date current_time current_timestamp current_user
    cursor database date decimal default delete desc describe distinct div double drop else end escape except exchange
    exists extended external false fetch filter float following for foreign from full function grant group grouping
    having if import in inner insert int integer intersect interval into is join lateral leading left less like local
    macro map minus more natural none not null numeric of offset on only or order out outer over overlaps partialscan
    partition percent preceding precision preserve primary procedure range reads reduce references regexp revoke right
    rlike rollup row rows select semi session_user set smallint some start sysdate table tablesample then time timestamp
    timestamp_ltz timestamp_ntz to trailing transform trigger true truncate unbounded union unique uniquejoin unknown
    update user using values varchar view views when where window with within"""
_RESERVED = frozenset(_RESERVED_WORDS.split())


def to_sql(node: ex.Node, engine: str) -> str:
    """The tree as one line of SQL of an engine, by one of the names of ``Semantics.named``."""
    hive = engine.startswith("hive")
    return ex.fold(node, lambda part, texts: _text(part, texts, hive=hive))


def _text(node: ex.Node, parts: list[str], *, hive: bool) -> str:
    match node:
        case ex.And() | ex.Or():
            if not parts:
                return "TRUE" if isinstance(node, ex.And) else "FALSE"
            if len(parts) == 1:
                return parts[0]
            return "(" + (" AND " if isinstance(node, ex.And) else " OR ").join(parts) + ")"
        case ex.Not():
            return f"(NOT {parts[0]})"
        case ex.Compare(op=op):
            return f"{parts[0]} {op} {parts[1]}"
        case ex.In():
            return f"{parts[0]} IN ({', '.join(parts[1:])})"
        case ex.IsNull():
            return f"{parts[0]} IS NULL"
        case ex.Like(pattern=pattern, escape=escape):
            return f"{parts[0]} LIKE {_quoted(pattern)}" + ("" if escape == "\\" else f" ESCAPE {_quoted(escape)}")
        case ex.Constant(value=value):
            return "NULL" if value is None else str(value).upper()
        case ex.Column(path=path):
            return ".".join(map(_name, path))
        case ex.Literal(value=value, type=of):
            return _literal(value, of, hive=hive)
        case ex.Cast(type=target):
            return f"CAST({parts[0]} AS {_type_name(target, hive=hive)})"
        case ex.Call(function="try_cast", type=target) if target is not None:
            return f"TRY_CAST({parts[0]} AS {_type_name(target, hive=hive)})"
        case ex.Call("timestampdiff", arguments=(ex.Literal(value=str() as unit), *_)) if unit.isalpha():
            return f"timestampdiff({', '.join((unit.upper(), *parts[1:]))})"
        case ex.Call(function=name):
            is_operator = name in _OPERATORS and len(parts) == 2
            return f"({parts[0]} {name} {parts[1]})" if is_operator else f"{name}({', '.join(parts)})"
        case ex.If():
            return f"if({', '.join(parts)})"
        case _:
            return str(node)


def _name(part: str) -> str:
    if _PLAIN_NAME.fullmatch(part) and part.lower() not in _RESERVED:
        return part
    return "`" + part.replace("`", "``") + "`"


def _quoted(text: str) -> str:
    """Both engines take two texts side by side for one: a quote is escaped and not doubled."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _type_name(of: Type, *, hive: bool) -> str:
    if of.kind.is_timestamp and not hive:
        return "timestamp_ltz" if of.kind is Kind.TIMESTAMP_LTZ else "timestamp_ntz"
    return str(of)


def _literal(value: Any, of: Type, *, hive: bool) -> str:
    if value is None:
        return "NULL" if of.kind in (Kind.VOID, Kind.OTHER) else f"CAST(NULL AS {_type_name(of, hive=hive)})"
    match of.kind:
        case _ if isinstance(value, TimeSpan):
            return str(value)
        case Kind.BOOLEAN:
            return "TRUE" if value else "FALSE"
        case kind if kind.is_integer:
            return f"{value}{_SUFFIXES[kind]}"
        case Kind.DECIMAL:
            exact = Decimal(value)
            exponent = exact.as_tuple().exponent
            text = f"{exact:f}" if isinstance(exponent, int) and -exponent >= of.scale else f"{exact:.{of.scale}f}"
            return text if "." in text else f"{text}BD"
        case kind if kind.is_fractional:
            return _binary_number(value, of, hive=hive)
        case Kind.DATE:
            text = moment_text(value, of)
            return f"DATE '{text}'" if text != str(value) else f"date_add(DATE '1970-01-01', {value})"
        case kind if kind.is_timestamp:
            return _timestamp(value, of, hive=hive)
        case Kind.BINARY:
            digits = bytes(value).hex().upper()
            return f"unhex('{digits}')" if hive else f"X'{digits}'"
        case _:
            return _quoted(str(value))


def _binary_number(value: float, of: Type, *, hive: bool) -> str:
    """The shortest digits that give the number back."""
    name = "float" if of.kind is Kind.FLOAT else "double"
    if not math.isfinite(value):
        word = "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        return f"CAST('{word}' AS {name})"
    if of.kind is Kind.DOUBLE:
        return f"{value!r}D"
    text = str(np.float32(value))
    return f"CAST({float(value)!r}D AS float)" if hive else f"{text}F"


def _timestamp(value: Any, of: Type, *, hive: bool) -> str:
    """With nine digits where it is finer than a microsecond."""
    whole = math.floor(value)
    try:
        moment = EPOCH + whole * MICROSECOND
    except OverflowError:
        return f"CAST({whole}L / 1000000 AS {_type_name(of, hive=hive)})"
    text = moment.replace(microsecond=0).isoformat(" ")
    nanoseconds = moment.microsecond * 1000 + math.floor((value - whole) * 1000)
    if nanoseconds:
        text += f".{nanoseconds:09}" if nanoseconds % 1000 else f".{moment.microsecond:06}"
    if of.kind is Kind.TIMESTAMP:
        return f"TIMESTAMP '{text}'"
    return f"TIMESTAMPLOCALTZ '{text} UTC'" if hive else f"TIMESTAMP_LTZ '{text}Z'"
