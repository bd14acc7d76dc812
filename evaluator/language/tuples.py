"""Tuples that are compared as whole values: ``(a, b) IN ((1, 2), (3, 4))`` and ``(a, b) = (1, 2)``.

A tuple is never NULL, and NULL equals NULL in it. So the comparison is one of its fields that is never NULL itself:

    (a, b) IN ((1, 2), (3, 4))    (a <=> 1 AND b <=> 2) OR (a <=> 3 AND b <=> 4)
    (a, b) = (1, 2)               a <=> 1 AND b <=> 2

    a = 1, b = NULL               FALSE, where ``a = 1 AND b = 2`` is NULL

Spark 3.5 and 4.1 compare so (``tests/handler/spark/test_tuples.py``), and refuse tuples whose fields have other types.
Front ends translate fields of one type only.
"""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.language.expression import And, Compare, HudiExpression, Operand, Or

__all__ = ["among_tuples", "equal_tuples"]


def equal_tuples(fields: Sequence[Operand], values: Sequence[Operand]) -> HudiExpression:
    """``(fields) = (values)``; both have as many members, at least one."""
    equalities = tuple(Compare("<=>", field, value) for field, value in zip(fields, values, strict=True))
    return equalities[0] if len(equalities) == 1 else And(equalities)


def among_tuples(choices: Sequence[HudiExpression]) -> HudiExpression:
    """``(fields) IN (members)`` of what ``equal_tuples`` gives for each member, or Unknown for it."""
    return choices[0] if len(choices) == 1 else Or(tuple(choices))
