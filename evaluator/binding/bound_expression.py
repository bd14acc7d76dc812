"""A bound filter: its leaves, the program that joins them, and the columns whose statistics it needs."""

from __future__ import annotations

from evaluator.binding.leaves import BoundLeaf
from evaluator.binding.program import Program
from evaluator.language import expression as ex
from evaluator.language.records import entity
from evaluator.language.schema import Field
from evaluator.language.semantics import Semantics

__all__ = ["BoundExpression"]


@entity
class BoundExpression:
    """A filter that is ready to evaluate on statistics of its ``columns``.

    ``program`` numbers the ``leaves`` in their order. ``expression`` is the filter before binding.
    """

    expression: ex.HudiExpression
    leaves: tuple[BoundLeaf, ...]
    program: Program
    columns: tuple[Field, ...]
    semantics: Semantics
