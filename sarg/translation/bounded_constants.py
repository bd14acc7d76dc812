"""Comparisons with a constant of which only two bounds are known.

The constant v is somewhere in [low, high]. Every value that ``x op v`` can take must be in the outcome (contract C1):

    ==========  =======================================================  ==============================
    op          expression                                               x < low   between   x > high
    ==========  =======================================================  ==============================
    x <  v      x < low OR (x < high AND ?)                              TRUE      any       FALSE
    x <= v      x < low OR (x <= high AND ?)                             TRUE      any       FALSE
    x =  v      x >= low AND x <= high AND ?                             FALSE     any       FALSE
    x <=> v     the same AND x IS NOT NULL                               FALSE     any       FALSE
    > >= !=     NOT of <= < =
    ==========  =======================================================  ==============================

``d < v`` with v from 2020-01-01 to 2020-01-02 is TRUE for 2019-12-31, FALSE for 2020-01-03, and undecided between.
"""

from __future__ import annotations

from evaluator.language.expression import And, Compare, HudiExpression, IsNull, Literal, Not, Operand, Or, Unknown

__all__ = ["compare_with_range"]


def compare_with_range(op: str, x: Operand, low: Literal, high: Literal, reason: str) -> HudiExpression:
    """``x op v`` for a constant v in [low, high]; ``reason`` says why v is not known exactly."""
    unknown = Unknown(reason)
    match op:
        case "<":
            return Or((Compare("<", x, low), And((Compare("<", x, high), unknown))))
        case "<=":
            return Or((Compare("<", x, low), And((Compare("<=", x, high), unknown))))
        case ">" | ">=" | "!=":
            negated = {">": "<=", ">=": "<", "!=": "="}[op]
            return Not(compare_with_range(negated, x, low, high, reason))
        case "=":
            return And((Compare(">=", x, low), Compare("<=", x, high), unknown))
        case "<=>":
            return And((Not(IsNull(x)), compare_with_range("=", x, low, high, reason)))
        case _:
            return unknown
