"""SQL types and the values that stand for them inside the evaluator.

Every statistic, literal and reference row uses one Python form per kind, so that comparing two values of one
kind is plain ``<`` and ``==`` of Python or numpy:

    ==================  ===========================================  ====================
    kind                value                                        array
    ==================  ===========================================  ====================
    BOOLEAN             ``bool`` (False < True)                      int64 (0, 1)
    TINYINT .. BIGINT   ``int``                                      int64
    FLOAT, DOUBLE       ``float`` (a FLOAT is exactly a float32)     float64
    DECIMAL(p, s)       ``decimal.Decimal``, exact                   unscaled int64 (object if p > 18)
    STRING, VARCHAR     ``str`` (code point order = UTF-8 order)     object of ``str``
    CHAR(n)             ``str``, as stored: padded or not            object of ``str``
    DATE                ``int``, days since 1970-01-01               int64
    TIMESTAMP           ``int``, microseconds of a wall clock        int64
    TIMESTAMP_LTZ       ``int``, microseconds since the epoch, UTC   int64
    BINARY              ``bytes`` (unsigned order)                   object of ``bytes``
    ==================  ===========================================  ====================

A timestamp *literal* may be finer than a microsecond; it is then a ``fractions.Fraction`` of microseconds.
Everything else (arrays, maps, structs, intervals, ...) is kind OTHER: never compared, always unknown.
"""

from __future__ import annotations

import enum
import re

from evaluator.language.records import frozen

__all__ = [
    "BIGINT",
    "BINARY",
    "BOOLEAN",
    "DATE",
    "DOUBLE",
    "FLOAT",
    "INT",
    "SMALLINT",
    "STRING",
    "TIMESTAMP",
    "TIMESTAMP_LTZ",
    "TINYINT",
    "Kind",
    "Type",
    "decimal_type",
]


class Kind(enum.Enum):
    """The kinds of SQL type that Hive and Spark share; the value is Hive's name for it."""

    BOOLEAN = "boolean"
    TINYINT = "tinyint"
    SMALLINT = "smallint"
    INT = "int"
    BIGINT = "bigint"
    FLOAT = "float"
    DOUBLE = "double"
    DECIMAL = "decimal"
    STRING = "string"
    CHAR = "char"
    VARCHAR = "varchar"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_LTZ = "timestamp with local time zone"
    BINARY = "binary"
    VOID = "void"
    OTHER = "other"

    #: Members are singletons; the hash of ``enum`` is Python code that binding would run for every condition.
    __hash__ = object.__hash__

    @property
    def is_integer(self) -> bool:
        return self in _INTEGER_BITS

    @property
    def is_fractional(self) -> bool:
        """True for FLOAT and DOUBLE: the kinds that hold NaN."""
        return self in (Kind.FLOAT, Kind.DOUBLE)

    @property
    def is_number(self) -> bool:
        return self.is_integer or self.is_fractional or self is Kind.DECIMAL

    @property
    def is_text(self) -> bool:
        return self in (Kind.STRING, Kind.CHAR, Kind.VARCHAR)

    @property
    def is_timestamp(self) -> bool:
        return self in (Kind.TIMESTAMP, Kind.TIMESTAMP_LTZ)


_INTEGER_BITS = {Kind.TINYINT: 8, Kind.SMALLINT: 16, Kind.INT: 32, Kind.BIGINT: 64}
_PARAMETRIC = re.compile(r"(decimal|char|varchar)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")
_ALIASES = {
    "integer": "int",
    "short": "smallint",
    "byte": "tinyint",
    "long": "bigint",
    "real": "float",
    "numeric": "decimal",
    "timestamp_ltz": Kind.TIMESTAMP_LTZ.value,
    "timestamp_ntz": "timestamp",
    "timestamplocaltz": Kind.TIMESTAMP_LTZ.value,
    "timestamptz": Kind.TIMESTAMP_LTZ.value,
}


@frozen
class Type:
    """A SQL type. ``precision`` is a decimal's precision or a char/varchar's length; ``name`` is kept for OTHER."""

    kind: Kind
    precision: int = 0
    scale: int = 0
    name: str = ""

    @classmethod
    def parse(cls, text: str) -> Type:
        """Read a Hive or Spark type name such as ``decimal(10,2)``; a name that is not known becomes kind OTHER."""
        name = " ".join(text.lower().split())
        name = _ALIASES.get(name, name)
        if match := _PARAMETRIC.fullmatch(name):
            return cls(Kind(match[1]), int(match[2]), int(match[3] or 0))
        if name == "decimal":
            return cls(Kind.DECIMAL, 10, 0)
        try:
            kind = Kind(name)
        except ValueError:
            return cls(Kind.OTHER, name=text)
        return cls(kind) if kind is not Kind.OTHER else cls(kind, name=text)

    def integer_range(self) -> tuple[int, int]:
        """Smallest and largest value of an integer kind."""
        bits = _INTEGER_BITS[self.kind]
        return -(1 << bits - 1), (1 << bits - 1) - 1

    def __str__(self) -> str:
        match self.kind:
            case Kind.DECIMAL:
                return f"decimal({self.precision},{self.scale})"
            case Kind.CHAR | Kind.VARCHAR:
                return f"{self.kind.value}({self.precision})"
            case Kind.OTHER:
                return self.name
            case _:
                return str(self.kind.value)


def decimal_type(precision: int, scale: int) -> Type:
    """``decimal(precision, scale)``."""
    return Type(Kind.DECIMAL, precision, scale)


BOOLEAN = Type(Kind.BOOLEAN)
TINYINT = Type(Kind.TINYINT)
SMALLINT = Type(Kind.SMALLINT)
INT = Type(Kind.INT)
BIGINT = Type(Kind.BIGINT)
FLOAT = Type(Kind.FLOAT)
DOUBLE = Type(Kind.DOUBLE)
STRING = Type(Kind.STRING)
DATE = Type(Kind.DATE)
TIMESTAMP = Type(Kind.TIMESTAMP)
TIMESTAMP_LTZ = Type(Kind.TIMESTAMP_LTZ)
BINARY = Type(Kind.BINARY)
