"""Why a plan keeps a file group that Hudi skips: a row that all recorded statistics allow, and that the filter selects.

    kept, skipped by Hudi, and no row matches      a witness is looked for
    a witness is found                             the statistics do not rule the group out: Hudi was right by luck
    the filter is an error on a row, or engines
    differ on it                                   so it stays, too
    nothing is found                               perhaps a skip that was missed

Rows are tried, in value form, from the constants of the filter and the bounds of the group: a found one is a proof,
and to find none is no proof of the contrary.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from evaluator.binding.leaves import Comparison
from evaluator.binding.operands import BoundConstant
from evaluator.evaluation.slice_intervals import interval_at
from evaluator.language import expression as ex
from evaluator.language.errors import UnsupportedError
from evaluator.language.interval import Interval
from evaluator.language.schema import Field, Schema
from evaluator.language.semantics import Semantics
from evaluator.language.types import Kind, Type
from evaluator.reference.row_oracle import value_of
from handler.planning.explanation import Explanation

__all__ = ["Found", "find_witness"]

#: Rows that are tried for one group, and values of one column.
TRIES, VALUES = 4_000, 400
#: From values to the values near them that functions map to a constant.
_NEAR = (0, *(sign * step for step in (1, 2, 4, 256, 65_536, 1 << 32) for sign in (1, -1)))


@dataclass(frozen=True)
class Found:
    """``how``: "witness", "error or engines differ", or "nothing"; and the row."""

    how: str
    row: Mapping[str, Any]


def find_witness(explanation: Explanation, index: int, schema: Schema, semantics: Semantics) -> Found:
    """A row of the slice of this index that the filter selects, as far as its statistics tell."""
    expression = explanation.bound.expression
    fields = [schema.resolve(name, case_sensitive=semantics.case_sensitive) for name in ex.column_names(expression)]
    constants = [*_constants(expression), *_computed(explanation)]
    choices = [
        (field, _choices(field, _intervals(explanation, field.name, index), constants))
        for field in fields
        if field is not None
    ]
    undecided: Mapping[str, Any] | None = None
    for row in _rows(choices):
        try:
            if value_of(expression, row, schema, semantics) is True:
                return Found("witness", row)
        except (UnsupportedError, ArithmeticError, ValueError):
            undecided = row
    return Found("nothing", {}) if undecided is None else Found("error or engines differ", undecided)


def _intervals(explanation: Explanation, column: str, index: int) -> list[Interval]:
    """What each index kind knows of the column in the slice."""
    return [
        interval_at(provider.statistics[column], index)
        for provider in explanation.evaluation.providers
        if column in provider.statistics
    ]


def _rows(choices: Sequence[tuple[Field, Sequence[Any]]]) -> Iterator[Mapping[str, Any]]:
    names = [field.name for field, _ in choices]
    if math.prod(len(values) for _, values in choices) <= TRIES:
        for row in itertools.product(*(values for _, values in choices)):
            yield dict(zip(names, row, strict=True))
        return
    dice = random.Random(5)
    for _ in range(TRIES):
        yield {field.name: dice.choice(values) for field, values in choices}


def _choices(field: Field, known: Sequence[Interval], constants: Sequence[Any]) -> list[Any]:
    """Values of the column that all intervals allow, those near the filter's constants first."""
    dice = random.Random(3)
    wanted = list(dict.fromkeys(_near(field.type, constants, known, dice)))
    found = [value for value in wanted if all(_allows(one, value, field.type) for one in known)][:VALUES]
    nulls = [None] * max(1, len(found) // 4) if all(one.null for one in known) else []
    return found + nulls


def _constants(expression: ex.HudiExpression) -> list[Any]:
    values: list[Any] = []
    for node in ex.walk(expression):
        if isinstance(node, ex.Literal) and node.value is not None:
            values.append(node.value)
        elif isinstance(node, ex.Like):
            values += [node.pattern.replace("%", fill).replace("_", "a") for fill in ("", "a")]
    return values


def _computed(explanation: Explanation) -> list[Any]:
    """The constants of the filter as they were bound: ``repeat('x', 3)`` is 'xxx'."""
    tests = [leaf.test for leaf in explanation.bound.leaves]
    return [
        test.right.interval.lo
        for test in tests
        if isinstance(test, Comparison) and isinstance(test.right, BoundConstant) and test.right.interval.lo is not None
    ]


def _ends(known: Sequence[Interval], of: Type) -> list[Any]:
    scale = Decimal(10) ** -of.scale
    ends = [end for one in known if one.value for end in (one.lo, one.hi) if end is not None]
    return [Decimal(end) * scale for end in ends] if of.kind is Kind.DECIMAL else ends


def _near(of: Type, constants: Sequence[Any], known: Sequence[Interval], dice: random.Random) -> Iterator[Any]:
    ends = _ends(known, of)
    kind = of.kind
    if kind is Kind.BOOLEAN:
        yield from (True, False)
    elif kind.is_text or kind is Kind.BINARY:
        texts = [one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one) for one in [*constants, *ends]]
        forms = [*(form for text in texts for form in _forms(text)), *"AMZamz09 ~\u00e9"]
        yield from (form.encode() for form in forms) if kind is Kind.BINARY else forms
    else:
        numbers = [Fraction(number) for one in constants if (number := _number(one)) is not None]
        limits = [Fraction(end) for end in ends if not isinstance(end, float) or math.isfinite(end)]
        spread = (
            [limits[0] + (max(limits) - min(limits)) * Fraction(dice.random()) for _ in range(150)] if limits else []
        )
        near = [number * factor + step for number in numbers for factor in (1, -1, 2, Fraction(1, 2)) for step in _NEAR]
        for number in [*limits, *near, *spread, *(number + Fraction(1, 100) for number in numbers)]:
            yield from _as_value(number, of)
        if kind.is_fractional:
            yield from (math.inf, -math.inf)


def _forms(text: str) -> Iterator[str]:
    yield from (
        text,
        text.lower(),
        text.upper(),
        text.capitalize(),
        text.swapcase(),
        text + "a",
        f" {text}",
        text[::-1],
    )
    yield from (f"{text[:1]}{text[1:].lower()}", text[:1].lower() + text[1:], text[:1].upper() + text[1:], f"{text} ")


def _number(value: Any) -> Any:
    if isinstance(value, bytes):
        return None
    try:
        number = Decimal(value) if isinstance(value, str) else value
        return number if math.isfinite(number) else None
    except (ArithmeticError, TypeError, ValueError):
        return None


def _as_value(number: Fraction, of: Type) -> Iterator[Any]:
    if of.kind.is_fractional:
        try:
            yield float(number)
        except OverflowError:
            return
    elif of.kind is Kind.DECIMAL:
        scaled = math.floor(number * 10**of.scale)
        if abs(scaled) < 10**of.precision:
            yield Decimal(scaled).scaleb(-of.scale)
    else:
        whole = math.floor(number)
        if not of.kind.is_integer or of.integer_range()[0] <= whole <= of.integer_range()[1]:
            yield whole


def _allows(known: Interval, value: Any, of: Type) -> bool:
    if not known.value:
        return False
    if of.kind is Kind.DECIMAL:
        value = int(value.scaleb(of.scale))
    return not ((known.lo is not None and value < known.lo) or (known.hi is not None and value > known.hi))
