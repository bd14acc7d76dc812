"""The types of function results, for the oracle. Written apart from the range functions.

    arguments of ``+``             result
    ----------------------------   --------------
    INT, BIGINT                    BIGINT
    DECIMAL(10,2), INT             DECIMAL(13,2): as many digits before the point as INT may have, and one more
    FLOAT, INT                     FLOAT
    FLOAT, DOUBLE                  DOUBLE

Sources: Hive ``GenericUDFBaseNumeric``, Spark ``org.apache.spark.sql.catalyst.expressions`` (``arithmetic``,
``datetimeExpressions``, ``stringExpressions``).
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.language.errors import UnsupportedError
from evaluator.language.function_names import SYNONYMS
from evaluator.language.types import (
    BIGINT,
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

__all__ = ["result_type"]

#: An integer type, and the digits that it has beside a decimal, smallest type first.
_INTEGERS = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}
_ANGLES = ("sin", "cos", "asin", "acos", "atan", "tanh", "degrees", "radians")
_DOUBLES = ("exp", "ln", "log", "log10", "log2", "log1p", "expm1", "sqrt", "sign", "pow", "cbrt", *_ANGLES)
_PARTS = (
    "weekofyear",
    "yearofweek",
    "dayofweek",
    "weekday",
    "year",
    "quarter",
    "month",
    "day",
    "dayofyear",
    "hour",
    "minute",
    "second",
    "datediff",
)
_DATES = ("date_add", "date_sub", "add_months", "last_day", "to_date", "trunc", "next_day")
_TEXTS = ("lower", "upper", "initcap", "left", "substring", "substring_index", "trim", "ltrim", "rtrim", "repeat")


def result_type(function: str, types: Sequence[Type]) -> Type:
    """The type of a function's result from the types of its arguments. Raises UnsupportedError where it has none."""
    name = SYNONYMS.get(function, function)
    match name:
        case "+" | "-":
            return _sum(types)
        case "*":
            return _product(types)
        case "/":
            _check(len(types) == 2, name)
            if any(t.kind is Kind.DECIMAL for t in types) and not any(t.kind.is_fractional for t in types):
                return _quotient(types)
            return FLOAT if _common_number(types) == FLOAT else DOUBLE
        case "from_utc_timestamp" | "to_utc_timestamp":
            _check(len(types) == 2 and types[0].kind.is_timestamp and types[1].kind is Kind.STRING, name)
            return types[0]
        case "~":
            _check(len(types) == 1 and types[0].kind.is_integer, name)
            return types[0]
        case "%" | "pmod" | "&" | "|" | "^":
            _check(all(t.kind.is_integer for t in types), name)
            return _common_number(types)
        case "div":
            _check(all(t.kind.is_integer for t in types), name)
            return BIGINT
        case "shiftleft" | "shiftright" | "shiftrightunsigned":
            _check(all(t.kind.is_integer for t in types), name)
            return BIGINT if types[0] == BIGINT else INT
        case "negative" | "positive" | "abs":
            return _common_number(types[:1])
        case "floor" | "ceil":
            return _whole(types[0])
        case "round" | "bround":
            return decimal_type(38, types[0].scale) if types[0].kind is Kind.DECIMAL else _common_number(types[:1])
        case "greatest" | "least":
            return _greatest(types)
        case "coalesce" | "branches":
            return _branch(types)
        case "sha2":
            _check(len(types) == 2 and types[1] in (TINYINT, SMALLINT, INT), name)
            return _of_bytes(name, types[0])
        case "hex" | "md5" | "sha1" | "crc32" | "bin" | "ascii":
            return _of_bytes(name, types[0])
        case "factorial":
            _check(types[0].kind.is_integer and types[0] != BIGINT, name)
            return BIGINT
        case "months_between":
            _check(all(_is_temporal(t) for t in types[:2]), name)
            return DOUBLE
        case "unix_seconds" | "unix_millis" | "unix_micros":
            _check(types[0].kind is Kind.TIMESTAMP_LTZ, name)
            return BIGINT
        case "timestamp_seconds" | "timestamp_millis" | "timestamp_micros":
            _check(types[0].kind.is_integer or (name == "timestamp_seconds" and types[0].kind.is_number), name)
            return TIMESTAMP_LTZ
        case "unix_date" | "date_from_unix_date":
            from_date = name == "unix_date"
            _check(types[0] == DATE if from_date else types[0].kind.is_integer and types[0] != BIGINT, name)
            return INT if from_date else DATE
        case "timestampdiff":
            _check(all(_is_temporal(t) for t in types[-2:]), name)
            return BIGINT
        case "isnan":
            _check(len(types) == 1 and types[0].kind.is_number, name)
            return BOOLEAN
        case "from_unixtime":
            return STRING
        case "concat":
            _check(bool(types) and all(_is_string(t) for t in types), name)
            return STRING
        case "date_trunc":
            _check(_is_temporal(types[1]), name)
            return TIMESTAMP
    if name in _DOUBLES:
        _check(all(t.kind.is_number for t in types), name)
        return DOUBLE
    if name in _TEXTS or name == "length":
        _check(_is_string(types[0]), name)
        return INT if name == "length" else STRING
    return _of_date(name, types)


def _of_bytes(name: str, of: Type) -> Type:
    kinds = (Kind.STRING, Kind.VARCHAR) if name == "ascii" else (Kind.STRING, Kind.VARCHAR, Kind.BINARY)
    _check(of.kind.is_integer if name == "bin" else of.kind in kinds or (name == "hex" and of.kind.is_integer), name)
    return {"crc32": BIGINT, "ascii": INT}.get(name, STRING)


def _of_date(name: str, types: Sequence[Type]) -> Type:
    by_name = {
        **dict.fromkeys(_PARTS, INT),
        **dict.fromkeys(_DATES, DATE),
        **dict.fromkeys(("unix_timestamp", "to_unix_timestamp"), BIGINT),
        "to_timestamp": TIMESTAMP,
        "date_format": STRING,
    }
    _check(name in by_name and len(types) > 0 and _is_temporal(types[0]), name)
    return by_name[name]


def _check(is_supported: bool, name: str) -> None:
    if not is_supported:
        raise UnsupportedError(f"function {name} over these types has no row form")


def _is_string(argument: Type) -> bool:
    return argument.kind in (Kind.STRING, Kind.VARCHAR)


def _is_temporal(argument: Type) -> bool:
    return argument.kind is Kind.DATE or argument.kind.is_timestamp


def _digits(number: Type) -> tuple[int, int]:
    """The digits before and after the point, beside a decimal."""
    return (_INTEGERS[number], 0) if number.kind.is_integer else (number.precision - number.scale, number.scale)


def _decimal(whole: int, scale: int) -> Type:
    """A decimal that both engines compute exactly: beyond 38 digits they keep at most six decimal places."""
    _check(whole + scale <= 38 or scale <= 6, "of a wide decimal")
    return decimal_type(min(whole + scale, 38), scale)


def _common_number(types: Sequence[Type]) -> Type:
    _check(all(t.kind.is_number for t in types), "of numbers")
    if DOUBLE in types:
        return DOUBLE
    if FLOAT in types:
        return FLOAT
    if all(t.kind.is_integer for t in types):
        return max(types, key=lambda t: _INTEGERS[t])
    return _decimal(max(_digits(t)[0] for t in types), max(_digits(t)[1] for t in types))


def _sum(types: Sequence[Type]) -> Type:
    common = _common_number(types)
    return _decimal(common.precision - common.scale + 1, common.scale) if common.kind is Kind.DECIMAL else common


def _product(types: Sequence[Type]) -> Type:
    common = _common_number(types)
    if common.kind is not Kind.DECIMAL:
        return common
    return _decimal(sum(_digits(t)[0] for t in types) + 1, sum(_digits(t)[1] for t in types))


def _quotient(types: Sequence[Type]) -> Type:
    """Six digits behind the point at least, cut to 38 in all (Hive ``GenericUDFOPDivide``, Spark ``Divide``)."""
    (whole, scale), (others_whole, others_scale) = (_digits(t) for t in types)
    digits = max(6, scale + others_whole + others_scale + 1)
    whole += others_scale
    if whole + digits <= 38:
        return decimal_type(whole + digits, digits)
    return decimal_type(38, max(38 - whole, min(digits, 6)))


def _whole(number: Type) -> Type:
    _check(number.kind.is_number, "of numbers")
    return decimal_type(min(38, number.precision - number.scale + 1), 0) if number.kind is Kind.DECIMAL else BIGINT


def _greatest(types: Sequence[Type]) -> Type:
    kind = types[0].kind
    if all(t.kind is kind for t in types) and kind not in (Kind.CHAR, Kind.DECIMAL):
        return types[0]
    common = _common_number(types)
    _check(not common.kind.is_fractional, "over different types of numbers")
    return common


def _branch(types: Sequence[Type]) -> Type:
    """The type of a value that is one of several: each must convert to it without a change."""
    present = [t for t in types if t.kind is not Kind.VOID]
    if not present:
        return Type(Kind.VOID)
    if all(t == present[0] for t in present) and present[0].kind not in (Kind.CHAR, Kind.OTHER):
        return present[0]
    if all(_is_string(t) for t in present):
        return STRING
    _check(all(t.kind.is_integer or t.kind is Kind.DECIMAL for t in present), "with branches of different types")
    if all(t.kind.is_integer for t in present):
        return _common_number(present)
    whole, scale = max(_digits(t)[0] for t in present), max(_digits(t)[1] for t in present)
    _check(whole + scale <= 38, "with branches of wide decimals")
    return decimal_type(whole + scale, scale)
