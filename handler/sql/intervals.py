"""INTERVAL literals of sqlglot's trees."""

from __future__ import annotations

from sqlglot import exp

from evaluator.language.expression import Literal, Opaque, Operand
from evaluator.language.time_spans import TIME_SPAN, span_of_parts, span_of_range, span_of_text
from handler.sql.literals import shortened

__all__ = ["interval"]


def interval(node: exp.Interval) -> Operand:
    """``INTERVAL '3' MONTH``, ``INTERVAL '1-2' YEAR TO MONTH``, ``INTERVAL '1 day 2 hours'``; else Opaque."""
    amount, unit = node.this, node.args.get("unit")
    while isinstance(amount, exp.Paren):
        amount = amount.this
    sign = ""
    if isinstance(amount, exp.Neg):
        sign, amount = "-", amount.this
    if not isinstance(amount, exp.Literal):
        return Opaque("an interval whose length is no number is not decided")
    span = None
    match unit:
        case None if amount.is_string and not sign:
            span = span_of_text(amount.this)
        case exp.IntervalSpan() if not sign:
            span = span_of_range(amount.this, unit.this.name, unit.expression.name)
        case exp.Var() | exp.Anonymous(expressions=[exp.Literal()]):  # ``day``, or ``day (3)``
            span = span_of_parts([(sign + amount.this, unit.name)])
        case _:
            pass
    if span is None:
        return Opaque(f"the interval '{shortened(amount.this)}' is not understood")
    return Literal(span, TIME_SPAN)
