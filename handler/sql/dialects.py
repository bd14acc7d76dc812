"""The two SQL dialects, Hive and Spark, with every function call left as it stands in the text.

sqlglot translates between engines, so its dialects rewrite functions while they parse. A filter must keep the name, the
order of the arguments and the patterns of its own engine.

    ============================  =================================  ===========================================
    SQL                           sqlglot's own dialect              here
    ============================  =================================  ===========================================
    date_sub(d, 10)               an addition of -10 days            Anonymous("date_sub", [d, 10])
    date_format(d, 'yyyy')        the pattern becomes ``%Y``         Anonymous("date_format", [d, 'yyyy'])
    CAST(a AS INT), TRIM(s), ...  a node of its own                  the same: the syntax needs a parser of its own
    ============================  =================================  ===========================================
"""

from __future__ import annotations

import re
from typing import Any, ClassVar

from sqlglot import exp, parser
from sqlglot.dialects.hive import Hive
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.hive import HiveParser
from sqlglot.parsers.spark import SparkParser

from handler.sql.engines import Engine

__all__ = ["dialect_of"]

#: sqlglot would write the text of a statement that it does not know to the log, and take it for a command.
_STATEMENT = "a statement inside a condition is not read"
_OWN_SYNTAX = {"CAST", "TRY_CAST", "EXTRACT", "TRIM", "SUBSTRING", "SUBSTR", "POSITION"}


def _own_syntax(parsers: dict[str, Any]) -> dict[str, Any]:
    return {name: parse for name, parse in parsers.items() if name in _OWN_SYNTAX}


class _HiveCondition(HiveParser):
    FUNCTIONS: ClassVar[dict[str, Any]] = {}
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = _own_syntax(HiveParser.FUNCTION_PARSERS)

    def _warn_unsupported(self) -> None:
        self.raise_error(_STATEMENT)

    def _parse_types(self, *arguments: Any, **named: Any) -> exp.Expr | None:
        """Keeps CHAR and VARCHAR, at whose length Hive cuts a string; sqlglot's Hive parser reads both as STRING."""
        return parser.Parser._parse_types(self, *arguments, **named)


def _to_timestamp(arguments: list[exp.Expr]) -> exp.Expr:
    """Spark's ``timestamp(x)``: a cast, as ``date(x)`` is one in both dialects."""
    if len(arguments) != 1:
        return exp.Anonymous(this="timestamp", expressions=arguments)
    return exp.TryCast(this=arguments[0], to=exp.DataType.build(exp.DType.TIMESTAMPTZ))


def _typed_literal(_: parser.Parser, text: exp.Expr, data_type: exp.DataType) -> exp.Expr:
    """DATE 'today', TIMESTAMP 'now': Spark's names of days, as the functions of the clock that they are.

    DATE '2020-01-31 10:00:00' is the date alone.
    """
    name = text.name.strip().lower() if isinstance(text, exp.Literal) and text.is_string else ""
    is_date = data_type.this is exp.DType.DATE
    if is_date and (timed := _TIMED_DATE.fullmatch(name)):
        return exp.Cast(this=exp.Literal.string(timed[1]), to=data_type)
    if name == "epoch":
        return exp.Cast(this=exp.Literal.string("1970-01-01" + ("" if is_date else " 00:00:00Z")), to=data_type)
    if name == "now" and not is_date:
        return exp.CurrentTimestamp()
    if name not in _DAYS_FROM_TODAY and not (name == "now" and is_date):
        return exp.Cast(this=text, to=data_type)
    day: exp.Expr = exp.CurrentDate()
    if (days := _DAYS_FROM_TODAY.get(name, 0)) != 0:
        day = exp.Anonymous(this="date_add", expressions=[day, exp.Literal.number(days)])
    return day if is_date else exp.TryCast(this=day, to=data_type)


_TIMED_DATE = re.compile(r"(\d{4}-\d{1,2}-\d{1,2})[ t].*", re.ASCII | re.DOTALL)
_DAYS_FROM_TODAY = {"yesterday": -1, "today": 0, "tomorrow": 1}


class _SparkCondition(SparkParser):
    FUNCTIONS: ClassVar[dict[str, Any]] = {"TIMESTAMP": _to_timestamp}
    TYPE_LITERAL_PARSERS: ClassVar[dict[Any, Any]] = dict.fromkeys(
        (exp.DType.DATE, exp.DType.TIMESTAMPTZ, exp.DType.TIMESTAMPLTZ), _typed_literal
    )
    FUNCTION_PARSERS: ClassVar[dict[str, Any]] = _own_syntax(SparkParser.FUNCTION_PARSERS)

    def _warn_unsupported(self) -> None:
        self.raise_error(_STATEMENT)

    def _parse_types(self, *arguments: Any, **named: Any) -> exp.Expr | None:
        """Reads CHAR and VARCHAR as STRING, as sqlglot does, but looks at each type once and not at all inside it."""
        this = parser.Parser._parse_types(self, *arguments, **named)
        if isinstance(this, exp.DataType) and this.this in (exp.DType.CHAR, exp.DType.VARCHAR):
            this.set("this", exp.DType.TEXT)
            this.set("expressions", None)
        return this


class _HiveDialect(Hive):
    Parser = _HiveCondition


class _SparkDialect(Spark):
    Parser = _SparkCondition


def dialect_of(engine: Engine) -> Hive:
    """The dialect of an engine."""
    return _HiveDialect() if engine.startswith("hive") else _SparkDialect()
