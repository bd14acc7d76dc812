"""The canonical key of an expression: one text for all spellings of it, under which its statistics are stored.

    source                               canonical key
    -----------------------------------  -------------------------------------------------------
    lower(City), LCASE(city)             lower(city string) string
    amount * 1.1, 1.1 * amount           *(1.1 decimal(2,1), amount decimal(10,2)) decimal(13,3)
    to_date(ts), in Europe/Berlin        to_date(ts timestamp with local time zone) date in Europe/Berlin
    if(a > 1, b, c), isnan(d)            none: conditions, and what yields truth, have none
    a varchar(3) over longer text        none: readers differ
    datediff(current_date(), d)          none: it depends on the moment of the query

The key holds everything that the result depends on: names, constants and types as they are bound, and the session zone
where a moment is involved. Engines may compute different results for one key. Statistics that are stored under it must
hold for every engine of ``evaluator.language.semantics.ENGINES``.
"""

from __future__ import annotations

from evaluator.binding.operands import (
    BoundColumn,
    BoundConstant,
    BoundFunction,
    BoundIf,
    BoundOperand,
    BoundReading,
    columns_of,
)
from evaluator.language.function_names import KEY_NAMES
from evaluator.language.types import Kind

__all__ = ["canonical_key"]

_COMMUTATIVE = frozenset({"+", "*"})
#: What depends on no zone as long as no timestamp is involved.
_ZONE_FREE = frozenset(
    {
        "%",
        "*",
        "+",
        "-",
        "/",
        "abs",
        "add_months",
        "ascii",
        "bin",
        "bround",
        "cast",
        "ceil",
        "coalesce",
        "concat",
        "crc32",
        "date_add",
        "date_sub",
        "datediff",
        "day",
        "dayofyear",
        "exp",
        "expm1",
        "factorial",
        "floor",
        "greatest",
        "hex",
        "last_day",
        "least",
        "left",
        "substring_index",
        "length",
        "ln",
        "log",
        "log10",
        "log1p",
        "log2",
        "lower",
        "md5",
        "ltrim",
        "month",
        "negative",
        "pmod",
        "positive",
        "quarter",
        "repeat",
        "round",
        "sha1",
        "sha2",
        "rtrim",
        "sign",
        "sqrt",
        "substr",
        "trim",
        "upper",
        "year",
    }
)


def canonical_key(function: BoundFunction) -> tuple[str, str] | None:
    """The key, and the first of its columns in order of name; None when the expression has no key."""
    columns = columns_of(function)
    if not columns or function.type.kind in (Kind.BOOLEAN, Kind.VOID, Kind.OTHER, Kind.CHAR):
        return None
    texts: list[str] = []
    zone_free = True
    stack: list[tuple[BoundOperand, int]] = [(function, -1)]
    while stack:  # without recursion: filters may be nested deeply
        operand, arguments = stack.pop()
        zone_free = zone_free and not operand.type.kind.is_timestamp
        if isinstance(operand, BoundIf | BoundReading):
            return None
        if isinstance(operand, BoundFunction) and operand.function == "/" and operand.type.kind is Kind.DECIMAL:
            return None  # each engine has a type of its own for a quotient
        if isinstance(operand, BoundFunction):
            name = KEY_NAMES.get(operand.function, operand.function)
            zone_free = zone_free and name in _ZONE_FREE
            if arguments < 0:
                stack.append((operand, len(operand.arguments)))
                stack.extend((one, -1) for one in operand.arguments)
                continue
            given = [texts.pop() for _ in range(arguments)]
            texts.append(f"{name}({', '.join(sorted(given) if name in _COMMUTATIVE else given)}) {operand.type}")
        elif isinstance(operand, BoundColumn):
            texts.append(f"{operand.field.name} {operand.type}")
        elif isinstance(operand, BoundConstant):
            if operand.of_clock:
                return None  # another value in the next query
            ends = operand.interval
            value = f"{ends.lo!r}" if ends.is_point else f"{ends.lo!r}..{ends.hi!r}" if ends.value else "NULL"
            texts.append(f"{value} {operand.type}")
    [text] = texts
    return (text if zone_free else f"{text} in {function.semantics.zone}"), min(columns)
