"""Filters as trees, for programs that build them without text: the expression language of ``evaluator``.

from sargo import prune
from sargo.expressions import BIGINT, Column, Compare, Literal

prune("/data/trips", Compare(">", Column(("fare",)), Literal(50, BIGINT)))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evaluator import BIGINT as BIGINT
    from evaluator import BINARY as BINARY
    from evaluator import BOOLEAN as BOOLEAN
    from evaluator import DATE as DATE
    from evaluator import DOUBLE as DOUBLE
    from evaluator import ENGINES as ENGINES
    from evaluator import FLOAT as FLOAT
    from evaluator import INT as INT
    from evaluator import SMALLINT as SMALLINT
    from evaluator import STRING as STRING
    from evaluator import TIMESTAMP as TIMESTAMP
    from evaluator import TIMESTAMP_LTZ as TIMESTAMP_LTZ
    from evaluator import TINYINT as TINYINT
    from evaluator import And as And
    from evaluator import Call as Call
    from evaluator import Cast as Cast
    from evaluator import Column as Column
    from evaluator import Compare as Compare
    from evaluator import Constant as Constant
    from evaluator import Field as Field
    from evaluator import HudiExpression as HudiExpression
    from evaluator import If as If
    from evaluator import In as In
    from evaluator import IsNull as IsNull
    from evaluator import Kind as Kind
    from evaluator import Like as Like
    from evaluator import Literal as Literal
    from evaluator import Not as Not
    from evaluator import Opaque as Opaque
    from evaluator import Operand as Operand
    from evaluator import Or as Or
    from evaluator import Schema as Schema
    from evaluator import Semantics as Semantics
    from evaluator import Type as Type
    from evaluator import Unknown as Unknown
    from evaluator import column_names as column_names
    from evaluator import decimal_type as decimal_type
    from evaluator import to_dict as to_dict
    from evaluator import to_text as to_text

__all__ = [
    "BIGINT",
    "BINARY",
    "BOOLEAN",
    "DATE",
    "DOUBLE",
    "ENGINES",
    "FLOAT",
    "INT",
    "SMALLINT",
    "STRING",
    "TIMESTAMP",
    "TIMESTAMP_LTZ",
    "TINYINT",
    "And",
    "Call",
    "Cast",
    "Column",
    "Compare",
    "Constant",
    "Field",
    "HudiExpression",
    "If",
    "In",
    "IsNull",
    "Kind",
    "Like",
    "Literal",
    "Not",
    "Opaque",
    "Operand",
    "Or",
    "Schema",
    "Semantics",
    "Type",
    "Unknown",
    "column_names",
    "decimal_type",
    "to_dict",
    "to_text",
]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module("evaluator"), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
