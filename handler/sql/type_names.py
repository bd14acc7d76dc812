"""The types that a CAST of SQL text names, in sqlglot's trees."""

from __future__ import annotations

import re

from sqlglot import exp

from evaluator.language.types import STRING, Kind, Type, decimal_type
from handler.sql.literals import LiteralError, shortened

__all__ = ["is_small", "type_of"]

#: The length of a CHAR or VARCHAR, and the precision and scale of a decimal.
_PARAMETER = re.compile(r"[0-9]{1,9}")
#: A type with more parts is named by its first word.
_MAX_TYPE_PARTS = 50

_KINDS: dict[exp.DType, Kind] = {
    exp.DType.BOOLEAN: Kind.BOOLEAN,
    exp.DType.TINYINT: Kind.TINYINT,
    exp.DType.SMALLINT: Kind.SMALLINT,
    exp.DType.INT: Kind.INT,
    exp.DType.BIGINT: Kind.BIGINT,
    exp.DType.FLOAT: Kind.FLOAT,
    exp.DType.DOUBLE: Kind.DOUBLE,
    exp.DType.TEXT: Kind.STRING,
    exp.DType.DATE: Kind.DATE,
    exp.DType.BINARY: Kind.BINARY,
    exp.DType.TIMESTAMP: Kind.TIMESTAMP,
    exp.DType.TIMESTAMPNTZ: Kind.TIMESTAMP,
    exp.DType.TIMESTAMPTZ: Kind.TIMESTAMP_LTZ,
    exp.DType.TIMESTAMPLTZ: Kind.TIMESTAMP_LTZ,
    exp.DType.CHAR: Kind.CHAR,
    exp.DType.VARCHAR: Kind.VARCHAR,
    exp.DType.DECIMAL: Kind.DECIMAL,
}


def type_of(data_type: exp.DataType) -> Type:
    """The type that a CAST names. Spark's TIMESTAMP is an instant (TIMESTAMP_LTZ), Hive's is a wall clock.

    Raises LiteralError for a length, a precision or a scale that no engine takes.
    """
    kind = _KINDS.get(data_type.this) if isinstance(data_type.this, exp.DType) else None
    match kind:
        case None:
            return Type(Kind.OTHER, name=_type_text(data_type))
        case Kind.DECIMAL:
            precision, scale = (*_parameters(data_type, 2), *(10, 0)[len(data_type.expressions) :])
            if not 1 <= precision <= 38 or scale > precision:
                raise LiteralError(f"{_type_text(data_type)} is not a type")
            return decimal_type(precision, scale)
        case Kind.CHAR | Kind.VARCHAR:
            lengths = _parameters(data_type, 1)
            if 0 in lengths:
                raise LiteralError(f"{_type_text(data_type)} is not a type")
            return Type(kind, lengths[0]) if lengths else STRING
        case _:
            return Type(kind)


def _parameters(data_type: exp.DataType, at_most: int) -> list[int]:
    """The numbers in the parentheses of a type."""
    texts = [parameter.name for parameter in data_type.expressions]
    if len(texts) > at_most or not all(map(_PARAMETER.fullmatch, texts)):
        raise LiteralError(f"{_type_text(data_type)} is not a type")
    return [int(text) for text in texts]


def _type_text(data_type: exp.DataType) -> str:
    """The name of a type; of one with many parts only its first word, because sqlglot's generator is recursive."""
    if is_small(data_type, _MAX_TYPE_PARTS):
        return shortened(data_type.sql("spark").lower())
    return str(data_type.this.value if isinstance(data_type.this, exp.DType) else data_type.key).lower()


def is_small(node: exp.Expr, most: int) -> bool:
    """Whether a tree of sqlglot has at most ``most`` nodes, found without recursion."""
    stack, count = [node], 0
    while stack:
        count += 1
        if count > most:
            return False
        stack.extend(stack.pop().iter_expressions())
    return True
