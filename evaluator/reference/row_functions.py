"""Functions and casts on single values, for the oracle. Written apart from the range functions."""

from __future__ import annotations

import hashlib
import math
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from evaluator.language.epoch import DAY
from evaluator.language.errors import UnsupportedError
from evaluator.language.function_names import SYNONYMS
from evaluator.language.types import Kind, Type
from evaluator.reference.row_calendar import CALENDAR, moment_of

__all__ = ["call", "convert"]

_WIDE = Context(prec=1000)


def call(function: str, arguments: Sequence[tuple[Any, Type]], result: Type) -> Any:
    """A function on values. It is NULL where an argument is, except for functions that accept NULL.

    Raises UnsupportedError if it has no row form.
    """
    name = SYNONYMS.get(function, function)
    values = [value for value, _ in arguments]
    if name == "coalesce":
        return next((v for v in values if v is not None), None)
    if name in ("greatest", "least"):
        present = [v for v in values if v is not None]
        return (max if name == "greatest" else min)(present, default=None)
    if name == "isnan":
        return isinstance(values[0], float) and math.isnan(values[0])
    if any(v is None for v in values):
        return None
    if any(isinstance(v, float) and not math.isfinite(v) for v in values):
        raise UnsupportedError(f"{name} of NaN or an infinity has no row form")
    if name in _ARITHMETIC:
        if result.kind is Kind.DOUBLE and any(
            value_type.kind is Kind.DECIMAL and _is_wide(v, value_type) for v, value_type in arguments
        ):
            raise UnsupportedError("a wide decimal as a double has no row form")
        value = _ARITHMETIC[name](*(_number(v, result) for v in values))
        if name == "/" and result.kind is Kind.DECIMAL and value is not None:
            value = _to_scale(value, result.scale)
        if name in ("floor", "ceil") and result.kind.is_integer and not -(1 << 63) <= value < 1 << 63:
            raise UnsupportedError(f"{name} of {values[0]} has no row form")
        return _wrapped(value, result)
    if name in CALENDAR:
        return CALENDAR[name](*(moment_of(v, value_type) for v, value_type in arguments))
    if name in _TEXT:
        return _TEXT[name](*values)
    raise UnsupportedError(f"function {name} has no row form")


def convert(value: Any, source: Type, target: Type) -> Any:
    """CAST of a value that is not NULL; NULL where it does not fit."""
    kind = target.kind
    if isinstance(value, float) and not math.isfinite(value) and not kind.is_fractional:
        raise UnsupportedError(f"CAST of {value} has no row form")
    if kind is Kind.DECIMAL and source.kind.is_fractional and 0 < abs(value) < 1e-30:
        raise UnsupportedError("CAST of a tiny double to a decimal has no row form")
    if source.kind is Kind.DECIMAL and (kind.is_fractional or kind is Kind.BOOLEAN) and _is_wide(value, source):
        raise UnsupportedError("CAST of a wide decimal to binary has no row form")
    if source.kind.is_number and kind.is_integer:
        whole = math.trunc(value)
        smallest, largest = target.integer_range()
        if not source.kind.is_integer and not smallest <= whole <= largest:
            raise UnsupportedError(f"CAST of {value} to {target} has no row form")
        return (whole - smallest) % (largest - smallest + 1) + smallest
    if source.kind.is_number and kind is Kind.DOUBLE:
        return float(value)
    if source.kind.is_number and kind is Kind.FLOAT:
        with np.errstate(over="ignore"):
            return float(np.float32(float(value)))
    if source.kind.is_number and kind is Kind.DECIMAL:
        rounded = Decimal(value).quantize(Decimal(1).scaleb(-target.scale), ROUND_HALF_UP, _WIDE)
        return rounded if rounded.copy_abs() < 10 ** (target.precision - target.scale) else None
    if source.kind.is_number and kind is Kind.BOOLEAN:
        return value != 0
    if source.kind is Kind.BOOLEAN and kind.is_number:
        return int(value)
    if kind is Kind.STRING and source.kind in (Kind.STRING, Kind.VARCHAR):
        return value
    if kind is Kind.VARCHAR and source.kind in (Kind.STRING, Kind.VARCHAR):
        return value[: target.precision]
    if kind is Kind.STRING and source.kind.is_integer:
        return str(value)
    if kind is Kind.STRING and source.kind is Kind.DATE:
        return moment_of(value, source).date().isoformat()
    if kind is Kind.STRING and source.kind.is_timestamp:
        return (
            moment_of(value, source).isoformat(" ").rstrip("0").rstrip(".")
            if value % 1_000_000
            else str(moment_of(value, source))
        )
    if kind is Kind.DATE and source.kind.is_timestamp:
        return value // DAY
    if kind is Kind.TIMESTAMP and source.kind is Kind.DATE:
        return value * DAY
    if source == target or (source.kind is kind):
        return value
    raise UnsupportedError(f"CAST of {source} to {target} has no row form")


def _is_wide(value: Any, value_type: Type) -> bool:
    """Whether Hive may lose the decimal on its way to binary: it goes through decimal(38,18)."""
    return abs(value) >= 10**20 or value_type.scale > 18


def _to_scale(quotient: Any, scale: int) -> Fraction:
    """A quotient rounded half up, away from 0."""
    units = abs(Fraction(quotient)) * 10**scale
    rounded = Fraction(math.floor(units + Fraction(1, 2)), 10**scale)
    return rounded if quotient >= 0 else -rounded


def _number(value: Any, result: Type) -> Any:
    if result.kind is Kind.DECIMAL and isinstance(value, int):
        return Fraction(value)
    return float(value) if result.kind.is_fractional else Fraction(value) if isinstance(value, Decimal) else value


def _wrapped(value: Any, result: Type) -> Any:
    if value is not None and result.kind is Kind.FLOAT and math.isfinite(value):
        if 0 < abs(value) < 1e-37:
            raise UnsupportedError("a float that may be rounded to 0 has no row form")
        with np.errstate(over="ignore"):
            return float(np.float32(value))
    if value is not None and result.kind is Kind.DECIMAL and abs(value) >= 10 ** (result.precision - result.scale):
        raise UnsupportedError("a decimal that does not fit has no row form")
    if value is None or not result.kind.is_integer:
        return value
    smallest, largest = result.integer_range()
    return (value - smallest) % (largest - smallest + 1) + smallest


def _divided(x: Any, y: Any) -> Any:
    return x / y if y else None


def _toward_zero(x: int, y: int) -> int:
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


def _bits(count: int) -> int:
    if not 0 <= count < 32:
        raise UnsupportedError("a shift by such a number of bits has no row form")
    return count


def _not_negative(x: int) -> int:
    if x < 0:
        raise UnsupportedError("an unsigned shift of a negative number has no row form")
    return x


def _remainder(x: int, n: int) -> int | None:
    return abs(x) % abs(n) * (1 if x >= 0 else -1) if n else None


def _positive_remainder(x: int, n: int) -> int | None:
    if not 0 <= n < 1 << 30:
        raise UnsupportedError("pmod by a negative or a large number has no row form")
    return x % n if n else None


def _unless_smallest(x: Any, result: Any) -> Any:
    if isinstance(x, int) and x in (-(1 << 7), -(1 << 15), -(1 << 31), -(1 << 63)):
        raise UnsupportedError("the negative of a smallest integer has no row form")
    return result


def _rounded(x: Any, digits: int = 0, half: str = ROUND_HALF_UP) -> Any:
    # Engines round the shortest decimal digits of a double: 0.305 is 0.31, though the double is a little less.
    result = Decimal(x.numerator) / Decimal(x.denominator) if isinstance(x, Fraction) else Decimal(str(x))
    rounded = result.quantize(Decimal(1).scaleb(-int(digits)), half, _WIDE)
    return float(rounded) if isinstance(x, float) else int(rounded) if isinstance(x, int) else Fraction(rounded)


def _above(limit: float, function: Callable[[float], float]) -> Callable[[Any], Any]:
    return lambda x: function(float(x)) if x > limit else None


_ARITHMETIC: Mapping[str, Callable[..., Any]] = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": _divided,
    "div": lambda x, y: None if y == 0 else _toward_zero(x, y),
    "&": lambda x, y: x & y,
    "|": lambda x, y: x | y,
    "^": lambda x, y: x ^ y,
    "~": lambda x: -x - 1,
    "shiftleft": lambda x, n: x * 2 ** _bits(n),
    "shiftright": lambda x, n: math.floor(Fraction(x, 2 ** _bits(n))),
    "shiftrightunsigned": lambda x, n: math.floor(Fraction(_not_negative(x), 2 ** _bits(n))),
    "%": _remainder,
    "pmod": lambda x, n: _positive_remainder(x, n),
    "negative": lambda x: _unless_smallest(x, -x),
    "positive": lambda x: x,
    "abs": lambda x: _unless_smallest(x, abs(x)),
    "floor": math.floor,
    "ceil": math.ceil,
    "round": _rounded,
    "bround": lambda x, digits=0: _rounded(x, digits, ROUND_HALF_EVEN),
    "exp": lambda x: math.exp(x) if x < 700 else math.inf,
    "expm1": lambda x: math.expm1(x) if x < 700 else math.inf,
    "log1p": _above(-1, math.log1p),
    "ln": _above(0, math.log),
    "log": _above(0, math.log),
    "log10": _above(0, math.log10),
    "log2": _above(0, math.log2),
    "sqrt": _above(0, math.sqrt),
    "sign": lambda x: float((x > 0) - (x < 0)),
    "sin": lambda x: math.sin(x),
    "cos": lambda x: math.cos(x),
    "asin": lambda x: math.asin(x) if -1 <= x <= 1 else None,
    "acos": lambda x: math.acos(x) if -1 <= x <= 1 else None,
    "atan": lambda x: math.atan(x),
    "tanh": lambda x: math.tanh(x),
    "degrees": lambda x: x * 180 / math.pi if abs(x) < 1e300 else _infinite(),
    "radians": lambda x: x * math.pi / 180,
    "cbrt": lambda x: float(np.cbrt(x)),
    "pow": lambda x, n: _power(x, n),
    "factorial": lambda n: math.factorial(n) if 0 <= n <= 20 else None,
}


def _infinite() -> float:
    raise UnsupportedError("a number that may be infinite has no row form")


def _power(x: float, n: float) -> float:
    if (x <= 0 and n < 0) or (x < 0 and n != int(n)):
        raise UnsupportedError("such a power of a negative number or of 0 has no row form")
    try:
        return math.pow(x, n)
    except OverflowError:
        return _infinite()


def _substring(text: str, start: int, length: int | None = None) -> str:
    first = start - 1 if start > 0 else 0 if start == 0 else len(text) + start
    if first < 0:
        raise UnsupportedError("substr from before the text has no row form: engines differ")
    wanted = [char for index, char in enumerate(text) if index >= first]
    return "".join(wanted if length is None else wanted[: max(length, 0)])


def _before(text: str, separator: str, count: int) -> str:
    if count != 1 or not separator:
        raise UnsupportedError("substring_index with these arguments has no row form")
    return text if separator not in text else text[: text.index(separator)]


def _repeated(text: str, count: int) -> str:
    if len(text) * count > 1 << 20:
        raise UnsupportedError("repeat beyond 1 Mi characters has no row form")
    return text * max(count, 0)


def _encoded(value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode()


def _sha2(value: Any, length: int) -> str | None:
    made_by = {0: hashlib.sha256, 224: hashlib.sha224, 256: hashlib.sha256, 384: hashlib.sha384, 512: hashlib.sha512}
    return made_by[length](_encoded(value)).hexdigest() if length in made_by else None


def _hex(value: Any) -> str:
    return f"{value & 0xFFFF_FFFF_FFFF_FFFF:X}" if isinstance(value, int) else _encoded(value).hex().upper()


def _ascii(text: str) -> int:
    if text and ord(text[0]) > 127:
        raise UnsupportedError("ascii of a character beyond ASCII has no row form: engines differ")
    return ord(text[0]) if text else 0


_TEXT: Mapping[str, Callable[..., Any]] = {
    "md5": lambda s: hashlib.md5(_encoded(s)).hexdigest(),
    "sha1": lambda s: hashlib.sha1(_encoded(s)).hexdigest(),
    "sha2": _sha2,
    "crc32": lambda s: zlib.crc32(_encoded(s)),
    "bin": lambda n: f"{n & 0xFFFF_FFFF_FFFF_FFFF:b}",
    "ascii": _ascii,
    "lower": lambda s: s.lower(),
    "upper": lambda s: s.upper(),
    "initcap": lambda s: re.sub("(^| ).", lambda found: found[0].title(), s.lower()),
    "left": lambda s, n: s[: max(n, 0)],
    "substring": _substring,
    "substring_index": _before,
    "trim": lambda s: s.strip(" "),
    "ltrim": lambda s: s.lstrip(" "),
    "rtrim": lambda s: s.rstrip(" "),
    "concat": lambda *parts: "".join(parts),
    "length": len,
    "hex": _hex,
    "repeat": _repeated,
}
