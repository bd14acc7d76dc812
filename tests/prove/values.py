"""The columns of a round's table, and the values that are drawn for them: small, with every awkward end among them."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

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

__all__ = ["LONG_TEXT", "PATTERNS", "SCHEMA", "TYPES", "ZERO", "draw", "neighbour"]

SCHEMA = Schema(
    [
        Field("b", BOOLEAN),
        Field("b2", BOOLEAN),
        Field("ti", TINYINT),
        Field("si", SMALLINT),
        Field("i", INT),
        Field("i2", INT),
        Field("l", BIGINT),
        Field("l2", BIGINT),
        Field("f", FLOAT),
        Field("f2", FLOAT),
        Field("d", DOUBLE),
        Field("d2", DOUBLE),
        Field("dec5", decimal_type(5, 1)),
        Field("dec", decimal_type(10, 2)),
        Field("dec2", decimal_type(10, 2)),
        Field("dec18", decimal_type(18, 0)),
        Field("big", decimal_type(30, 10)),
        Field("big2", decimal_type(38, 6)),
        Field("s", STRING),
        Field("s2", STRING),
        Field("ch", Type(Kind.CHAR, 5)),
        Field("vc", Type(Kind.VARCHAR, 10)),
        Field("dt", DATE),
        Field("dt2", DATE),
        Field("ts", TIMESTAMP),
        Field("ts2", TIMESTAMP),
        Field("tz", TIMESTAMP_LTZ),
        Field("tz2", TIMESTAMP_LTZ),
        Field("bin", BINARY),
        Field("bin2", BINARY),
        Field("st", Type(Kind.OTHER, name="struct<x:int,s:string>")),
        Field("st.x", INT),
        Field("st.s", STRING),
    ]
)
#: The columns that hold values: a struct itself holds none that could be compared.
TYPES = {field.name: field.type for field in SCHEMA if field.type.kind is not Kind.OTHER}

#: Longer than the bounds that Parquet keeps (hudi#18755).
LONG_TEXT = "m" + "x" * 1100
ZERO: dict[Kind, Any] = {Kind.BOOLEAN: False, Kind.FLOAT: 0.0, Kind.DOUBLE: 0.0, Kind.DECIMAL: Decimal(0)}
PATTERNS = ("yyyy-MM-dd", "MM/dd/yyyy", "dd.MM.yyyy", "dd", "yyyyMM", "HH", "yyyy HH", "MM-dd", "yyyy-MM-dd HH:mm:ss")

_TEXTS = (
    "",
    " ",
    "a",
    "b",
    "ab",
    "aB",
    "AB",
    "ab ",
    "apple",
    "apple-1",
    "Apple",
    "banana",
    "z",
    "zz",
    "é",
    "a%b",
    "a_b",
    "a\\b",
    "12",
    "9",
    "-3",
    "true",
    "FALSE",
    "1.5",
    "2020-01-01",
    "2020-01-05",
    "01/04/2020",
    "202001",
    "\ud7ff",
    "\ue000",
    "\uff21",
    "\U0001f600",
    "\U0010ffff",
    "\u0131",
    "K",
    "\u017f",
    "a\0",
)
_ALPHABET = "aAbBzZ 0%_\\é"
_CHARS = ("", "a", "ab", "b", "a b", "z", "ab!")
_DAYS = (
    18_250,
    18_261,
    18_262,
    18_263,
    18_293,
    18_320,
    18_321,
    18_350,
    18_560,
    18_627,
    18_628,
    0,
    -1,
    -10_000,
    30_000,
    -141_427,
    -200_000,
)
DAY = 86_400_000_000
#: Midnights, ends of days, the hours around which clocks are changed in 2020, and ends of the calendar.
_HOURS = tuple(
    seconds * 1_000_000 + more
    for more in (0, 1, -1)
    for seconds in (
        1_577_836_800,
        1_577_923_200,
        1_585_443_600,
        1_585_447_200,
        1_585_450_800,
        1_603_587_600,
        1_603_591_200,
        1_603_594_800,
        1_583_661_600,
        1_583_665_200,
        1_604_221_200,
        1_604_224_800,
        1_601_739_000,
        1_586_012_400,
    )
)
_MOMENTS = (
    *_HOURS,
    0,
    1,
    -1,
    999_999,
    1_000_000,
    -3_000_000_000_000_000,
    -2_208_988_800_000_000,
    4_133_980_800_000_000,
    253_402_000_000_000_000,
)


def draw(rng: random.Random, sql_type: Type) -> Any:
    """A value of a column of this type, as it stands in a row; never NULL."""
    match sql_type.kind:
        case Kind.BOOLEAN:
            return rng.random() < 0.5
        case kind if kind.is_integer:
            smallest, largest = sql_type.integer_range()
            return rng.choice(
                (
                    rng.randint(-6, 12),
                    rng.randint(-6, 12),
                    rng.randint(smallest, largest),
                    rng.choice((smallest, largest, smallest + 1, largest - 1, 0)),
                )
            )
        case Kind.FLOAT | Kind.DOUBLE:
            return _float(rng, sql_type)
        case Kind.DECIMAL:
            digits = rng.choice((2, 3, sql_type.precision - 1, sql_type.precision))
            return Decimal(rng.randint(-(10**digits) + 1, 10**digits - 1)).scaleb(-sql_type.scale)
        case Kind.STRING:
            return LONG_TEXT if rng.random() < 0.02 else _text(rng)
        case Kind.VARCHAR:
            return _text(rng)[: sql_type.precision]
        case Kind.CHAR:
            text = rng.choice(_CHARS)
            return text.ljust(sql_type.precision) if rng.random() < 0.5 else text
        case Kind.DATE:
            return rng.choice((rng.choice(_DAYS), rng.randint(18_250, 18_330)))
        case Kind.TIMESTAMP | Kind.TIMESTAMP_LTZ:
            return rng.choice(
                (
                    rng.choice(_MOMENTS),
                    rng.randint(18_255, 18_290) * DAY + rng.randrange(DAY),
                    rng.randint(18_255, 18_290) * DAY,
                )
            )
        case Kind.BINARY:
            return bytes(rng.choice(b"\x00\x01az\x7f\x80\xff") for _ in range(rng.randrange(4)))
        case _:
            raise AssertionError(sql_type)


def _float(rng: random.Random, sql_type: Type) -> float:
    value = rng.choice(
        (
            rng.choice((0.0, -0.0, 1.5, -2.25, 5.0, 0.1, 2.0**24 + 1, 2.0**53, 3.4e38, 1e-45, -7.0)),
            float(rng.randint(-6, 12)),
            rng.uniform(-9, 9),
        )
    )
    if rng.random() < 0.03:
        value = rng.choice((math.nan, math.inf, -math.inf, 1.7e308))
    if sql_type.kind is Kind.FLOAT or rng.random() < 0.5:
        with np.errstate(over="ignore"):
            return float(np.float32(value))
    return value


def _text(rng: random.Random) -> str:
    return rng.choice(_TEXTS) if rng.random() < 0.7 else "".join(rng.choices(_ALPHABET, k=rng.randrange(5)))


def neighbour(rng: random.Random, value: Any, sql_type: Type) -> Any:
    """A value of the same type next to another, where the ends of ranges are decided."""
    step = rng.choice((-1, 1))
    match sql_type.kind:
        case kind if kind.is_integer:
            smallest, largest = sql_type.integer_range()
            return min(max(value + step, smallest), largest)
        case Kind.DATE:
            return value + step
        case Kind.TIMESTAMP:
            return value + step * rng.choice((1, Fraction(1, 1000), 3_600_000_000, DAY))
        case Kind.TIMESTAMP_LTZ:
            return value + step * rng.choice((1, 3_600_000_000))
        case Kind.DECIMAL:
            near = value + Decimal(step).scaleb(-sql_type.scale)
            return near if abs(near) < Decimal(10) ** (sql_type.precision - sql_type.scale) else value
        case Kind.DOUBLE if math.isfinite(value):
            return math.nextafter(value, step * math.inf)
        case Kind.STRING | Kind.VARCHAR if len(value) < 8:
            return value[:-1] if step < 0 else value + rng.choice(" a\u00ff")
        case Kind.BINARY:
            return value[:-1] if step < 0 else value + b"\x00"
        case _:
            return value
