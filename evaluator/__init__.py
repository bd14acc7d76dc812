"""Decides, from statistics, which file slices a filter can match. It reads no file and knows no file format or engine.

The contract (C1): ``evaluate(bound, n, sources)`` gives every slice a set of the values TRUE, FALSE and NULL that
contains every value that the filter takes on a row of the slice. A slice without TRUE in its set may be skipped. A
slice whose set is exactly {TRUE} is fully matched. Missing statistics widen the set and so never skip a row.

>>> from evaluator import BIGINT, Column, Compare, Field, Literal, Schema, Semantics
>>> from evaluator import StatisticsProvider, bind, evaluate, from_values
>>> schema = Schema([Field("fare", BIGINT)])
>>> fare = from_values(BIGINT, lo=[3, 20, 60], hi=[17, 80, 90], null_count=[0, 0, 0], row_count=[100, 100, 100])
>>> expression = Compare(">", Column(("fare",)), Literal(50, BIGINT))
>>> bound = bind(expression, schema, Semantics.named("spark", "UTC"))
>>> evaluation = evaluate(bound, 3, [StatisticsProvider("column_stats", {"fare": fare})])
>>> evaluation.keep.tolist(), evaluation.fully_matched.tolist()
([False, True, True], [False, False, True])

    fare  slice 0   3 .. 17    fare > 50 needs hi > 50: impossible   {FALSE}         skipped
          slice 1  20 .. 80    both are possible                     {TRUE, FALSE}   kept
          slice 2  60 .. 90    fare <= 50 needs lo <= 50: impossible {TRUE}          kept, fully matched

The folders, in the order of the work; each imports only those above it:

    language     a filter, its types and literals, the rules of each engine, outcome sets
    functions    the range of a function's result, from the ranges of its arguments
    statistics   bounds and counts of columns as arrays, what makes them untrusted, and their search index
    binding      a filter meets a schema: names and types resolved, literals converted, one rule per leaf
    evaluation   the outcome of every slice
    explain      reasons, residual filters, pruning blockers, the order of slices
    reference    the oracle of the tests (contract C9): a filter on one row; imports ``language`` only

The package imports neither ``index_store`` nor ``sarg`` nor ``handler``. Public names are imported at their first use:
the expression language alone loads no numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluator.binding.bind import bind as bind
    from evaluator.binding.bound_expression import BoundExpression as BoundExpression
    from evaluator.binding.required_statistics import RequiredStatistics as RequiredStatistics
    from evaluator.binding.required_statistics import required_statistics_of as required_statistics_of
    from evaluator.binding.statistics_provider import FilterMightMatch as FilterMightMatch
    from evaluator.binding.statistics_provider import Match as Match
    from evaluator.binding.statistics_provider import MightContain as MightContain
    from evaluator.binding.statistics_provider import StatisticsProvider as StatisticsProvider
    from evaluator.evaluation.evaluate import Evaluation as Evaluation
    from evaluator.evaluation.evaluate import evaluate as evaluate
    from evaluator.language.errors import UnknownColumnError as UnknownColumnError
    from evaluator.language.errors import UnsupportedError as UnsupportedError
    from evaluator.language.expression import And as And
    from evaluator.language.expression import Call as Call
    from evaluator.language.expression import Cast as Cast
    from evaluator.language.expression import Column as Column
    from evaluator.language.expression import Compare as Compare
    from evaluator.language.expression import Constant as Constant
    from evaluator.language.expression import HudiExpression as HudiExpression
    from evaluator.language.expression import If as If
    from evaluator.language.expression import In as In
    from evaluator.language.expression import IsNull as IsNull
    from evaluator.language.expression import Like as Like
    from evaluator.language.expression import Literal as Literal
    from evaluator.language.expression import Not as Not
    from evaluator.language.expression import Opaque as Opaque
    from evaluator.language.expression import Operand as Operand
    from evaluator.language.expression import Or as Or
    from evaluator.language.expression import Unknown as Unknown
    from evaluator.language.expression import column_names as column_names
    from evaluator.language.expression import to_dict as to_dict
    from evaluator.language.expression import to_text as to_text
    from evaluator.language.outcome import FALSE as FALSE
    from evaluator.language.outcome import NULL as NULL
    from evaluator.language.outcome import TRUE as TRUE
    from evaluator.language.outcome import UNKNOWN as UNKNOWN
    from evaluator.language.schema import Field as Field
    from evaluator.language.schema import Schema as Schema
    from evaluator.language.semantics import ENGINES as ENGINES
    from evaluator.language.semantics import Semantics as Semantics
    from evaluator.language.types import BIGINT as BIGINT
    from evaluator.language.types import BINARY as BINARY
    from evaluator.language.types import BOOLEAN as BOOLEAN
    from evaluator.language.types import DATE as DATE
    from evaluator.language.types import DOUBLE as DOUBLE
    from evaluator.language.types import FLOAT as FLOAT
    from evaluator.language.types import INT as INT
    from evaluator.language.types import SMALLINT as SMALLINT
    from evaluator.language.types import STRING as STRING
    from evaluator.language.types import TIMESTAMP as TIMESTAMP
    from evaluator.language.types import TIMESTAMP_LTZ as TIMESTAMP_LTZ
    from evaluator.language.types import TINYINT as TINYINT
    from evaluator.language.types import Kind as Kind
    from evaluator.language.types import Type as Type
    from evaluator.language.types import decimal_type as decimal_type
    from evaluator.statistics.columns import UNKNOWN_COUNT as UNKNOWN_COUNT
    from evaluator.statistics.columns import ColumnStatistics as ColumnStatistics
    from evaluator.statistics.columns import PartStatistics as PartStatistics
    from evaluator.statistics.columns import from_values as from_values
    from evaluator.statistics.indexing import with_index as with_index

#: the module that defines the names -> its public names
_NAMES = {
    "binding.bind": ("bind",),
    "binding.bound_expression": ("BoundExpression",),
    "binding.required_statistics": ("RequiredStatistics", "required_statistics_of"),
    "binding.statistics_provider": ("FilterMightMatch", "Match", "MightContain", "StatisticsProvider"),
    "evaluation.evaluate": ("Evaluation", "evaluate"),
    "language.errors": ("UnknownColumnError", "UnsupportedError"),
    "language.expression": (
        *("And", "Call", "Cast", "Column", "Compare", "Constant", "HudiExpression", "If", "In", "IsNull", "Like"),
        *("Literal", "Not", "Opaque", "Operand", "Or", "Unknown", "column_names", "to_dict", "to_text"),
    ),
    "language.outcome": ("FALSE", "NULL", "TRUE", "UNKNOWN"),
    "language.schema": ("Field", "Schema"),
    "language.semantics": ("ENGINES", "Semantics"),
    "language.types": (
        *("BIGINT", "BINARY", "BOOLEAN", "DATE", "DOUBLE", "FLOAT", "INT", "SMALLINT", "STRING", "TIMESTAMP"),
        *("TIMESTAMP_LTZ", "TINYINT", "Kind", "Type", "decimal_type"),
    ),
    "statistics.columns": ("UNKNOWN_COUNT", "ColumnStatistics", "PartStatistics", "from_values"),
    "statistics.indexing": ("with_index",),
}
_MODULES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "BIGINT",
    "BINARY",
    "BOOLEAN",
    "DATE",
    "DOUBLE",
    "ENGINES",
    "FALSE",
    "FLOAT",
    "INT",
    "NULL",
    "SMALLINT",
    "STRING",
    "TIMESTAMP",
    "TIMESTAMP_LTZ",
    "TINYINT",
    "TRUE",
    "UNKNOWN",
    "UNKNOWN_COUNT",
    "And",
    "BoundExpression",
    "Call",
    "Cast",
    "Column",
    "ColumnStatistics",
    "Compare",
    "Constant",
    "Evaluation",
    "Field",
    "FilterMightMatch",
    "HudiExpression",
    "If",
    "In",
    "IsNull",
    "Kind",
    "Like",
    "Literal",
    "Match",
    "MightContain",
    "Not",
    "Opaque",
    "Operand",
    "Or",
    "PartStatistics",
    "RequiredStatistics",
    "Schema",
    "Semantics",
    "StatisticsProvider",
    "Type",
    "Unknown",
    "UnknownColumnError",
    "UnsupportedError",
    "bind",
    "column_names",
    "decimal_type",
    "evaluate",
    "from_values",
    "required_statistics_of",
    "to_dict",
    "to_text",
    "with_index",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
