"""Constants of a condition that have no single value in a plan, and the literals to write in their place.

    condition                        constant                    why it is open                  literal to write
    -------------------------------  --------------------------  ------------------------------  -----------------------
    dt < current_date()              current_date()              the clock only moves on: it is  DATE '2026-11-22'
                                                                 at least DATE '2026-11-22'
    dt >= my_date(3)                 my_date(3)                  function my_date is not decided  DATE 'yyyy-MM-dd'
    fare > rand()                    rand()                      it changes from row to row      none: another filter

A constant is the largest part of a condition that reads no column and holds nothing that was not understood.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from evaluator.binding.bind import bind_operand
from evaluator.binding.operands import BoundConstant
from evaluator.language import expression as ex
from evaluator.language.clock import reads_clock
from evaluator.language.errors import UnsupportedError
from evaluator.language.records import record
from evaluator.language.schema import Schema
from evaluator.language.semantics import Semantics
from evaluator.language.time_spans import TimeSpan
from evaluator.language.types import Kind, Type
from evaluator.language.value_texts import cut

__all__ = ["OpenConstant", "open_constants"]

#: Functions without a value that one literal could stand for.
_VOLATILE = frozenset(
    {
        "input_file_block_length",
        "input_file_block_start",
        "input_file_name",
        "monotonically_increasing_id",
        "rand",
        "randn",
        "random",
        "randstr",
        "reflect",
        "shuffle",
        "spark_partition_id",
        "surrogate_key",
        "uniform",
        "uuid",
    }
)
#: Functions whose result has a type of its own, whatever it is compared with.
_RESULTS = {
    **dict.fromkeys(("current_timestamp", "localtimestamp", "now", "to_timestamp", "date_trunc"), Kind.TIMESTAMP),
    **dict.fromkeys(("from_utc_timestamp", "to_utc_timestamp", "make_timestamp"), Kind.TIMESTAMP),
    **dict.fromkeys(("unix_timestamp", "to_unix_timestamp", "unix_millis", "unix_micros", "unix_seconds"), Kind.BIGINT),
}
_FORMS = {
    Kind.BOOLEAN: "TRUE or FALSE",
    Kind.DATE: "DATE 'yyyy-MM-dd'",
    Kind.TIMESTAMP: "TIMESTAMP 'yyyy-MM-dd HH:mm:ss'",
    Kind.TIMESTAMP_LTZ: "TIMESTAMP 'yyyy-MM-dd HH:mm:ss'",
}
_NOTHING = Schema(())


@record
class OpenConstant:
    """``text``: the constant as it is written, cut. ``why``: a reason. ``literal``: what to write, "" for nothing.

    ``of_clock``: it depends on the moment of the query, which ``as_of_clock`` would fix.
    """

    text: str
    why: str
    literal: str
    of_clock: bool = False

    @property
    def remedy(self) -> str:
        """What to write instead; "" where that would be another filter."""
        if not self.literal:
            return ""
        moment = ", or as_of_clock= with the moment of the query" if self.of_clock else ""
        return f"{self.literal} in place of {self.text}{moment}"


def open_constants(node: ex.HudiExpression, schema: Schema | None, semantics: Semantics) -> tuple[OpenConstant, ...]:
    """The constants of a condition that are not one value, each once. ``schema``: for the form of their literals."""
    found: dict[ex.Node, OpenConstant] = {}
    for operand, counterparts in _operands(node):
        if operand not in found and (constant := _open(operand, counterparts, schema, semantics)) is not None:
            found[operand] = constant
    return tuple(found.values())


def _operands(node: ex.HudiExpression) -> Iterator[tuple[ex.Operand, tuple[ex.Node, ...]]]:
    """The largest parts without columns that are more than a literal, each with all that are compared."""
    stack: list[tuple[ex.Node, tuple[ex.Node, ...]]] = [(node, ())]
    while stack:
        current, counterparts = stack.pop()
        if isinstance(current, ex.Call | ex.Cast | ex.If) and _is_constant(current):
            yield current, counterparts
            continue
        children = ex.children_of(current)
        compared = children if isinstance(current, ex.Compare | ex.In) else ()
        stack.extend((child, compared) for child in reversed(children) if not isinstance(child, ex.Literal))


def _is_constant(node: ex.Node) -> bool:
    return not any(isinstance(part, ex.Column | ex.Opaque | ex.Unknown) for part in ex.walk(node))


def _open(
    operand: ex.Operand, counterparts: tuple[ex.Node, ...], schema: Schema | None, semantics: Semantics
) -> OpenConstant | None:
    text = cut(ex.to_text(operand))
    if any(isinstance(part, ex.Call) and part.function in _VOLATILE for part in ex.walk(operand)):
        return OpenConstant(text, f"{text} may differ from row to row", "")
    wanted = _result(operand) or next((of.kind for one in counterparts if (of := _column_type(one, schema))), None)
    moves = semantics.clock is None or not semantics.clock.is_fixed
    try:
        bound = bind_operand(operand, _NOTHING, semantics)
    except (UnsupportedError, OverflowError) as error:
        return OpenConstant(text, str(error), _form(wanted), reads_clock(operand) and moves)
    if not isinstance(bound, BoundConstant) or not bound.interval.value or bound.interval.is_point:
        return None
    interval = bound.interval
    limits = {
        word: ex.to_text(ex.Literal(limit, bound.type))
        for word, limit in (("at least", interval.lo), ("at most", interval.hi))
        if _is_literal(limit)
    }
    if bound.of_clock and "at least" in limits:
        limits = {"at least": limits["at least"]}  # the clock only moves on
    known = " and ".join(f"{word} {limit}" for word, limit in limits.items())
    is_day = bound.type.kind is Kind.DATE  # a moment has too many digits to be an example
    literal = next(iter(limits.values())) if len(limits) == 1 and (is_day or not bound.of_clock) else ""
    why = f"{text} is only known to be {known}" if known else f"{text} is not one value"
    if bound.of_clock and moves:
        why = f"the query may run later than this plan, and the clock only moves on: {why}"
    return OpenConstant(text, why, literal or _form(wanted), bound.of_clock and moves)


def _is_literal(limit: Any) -> bool:
    """Whether a limit has the form of a literal's value."""
    return limit is not None and not isinstance(limit, Fraction)


def _result(operand: ex.Operand) -> Kind | None:
    """The kind of a value that is not that of the column beside it: a date moved by hours is a timestamp."""
    for part in ex.walk(operand):
        if isinstance(part, ex.Call) and part.function in _RESULTS:
            return _RESULTS[part.function]
        if isinstance(part, ex.Literal) and isinstance(part.value, TimeSpan) and part.value.unit == "micros":
            return Kind.TIMESTAMP
    return None


def _column_type(node: ex.Node, schema: Schema | None) -> Type | None:
    if not isinstance(node, ex.Column):
        return None
    field = None if schema is None else schema.resolve(node.name, case_sensitive=False)
    return node.type if field is None else field.type


def _form(kind: Kind | None) -> str:
    if kind is None:
        return "its value as a literal"
    if kind.is_text:
        return "its text in quotes"
    return _FORMS.get(kind, "its number" if kind.is_number else "its value as a literal")
