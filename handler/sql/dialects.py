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

from typing import Any, ClassVar, Literal, TypeAlias

from sqlglot import exp, parser
from sqlglot.dialects.hive import Hive
from sqlglot.dialects.spark import Spark
from sqlglot.parsers.hive import HiveParser
from sqlglot.parsers.spark import SparkParser

from evaluator.language.semantics import ENGINES

__all__ = ["Engine", "dialect_of"]

#: The names of ``evaluator.language.semantics.ENGINES``.
Engine: TypeAlias = Literal["hive", "hive3", "hive4", "spark", "spark-ansi", "spark-legacy"]

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


class _SparkCondition(SparkParser):
    FUNCTIONS: ClassVar[dict[str, Any]] = {}
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


_DIALECTS: dict[str, type[Hive]] = {
    name: _HiveDialect if name.startswith("hive") else _SparkDialect for name in ENGINES
}


def dialect_of(engine: Engine) -> Hive:
    """The dialect of an engine. Raises ValueError for an engine that is not known."""
    if not isinstance(engine, str) or engine not in _DIALECTS:
        raise ValueError(f"engine is one of {', '.join(_DIALECTS)}, not {engine!r:.60}")
    return _DIALECTS[engine]()
