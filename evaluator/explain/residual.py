"""Residuals: the filter that is still to be applied to the rows of a slice, without the leaves that are decided there.

    filter      p = 'p1' AND (i = 100 OR u > 5) AND NOT (s LIKE 'x%')
    slice       p = 'p1' is {true}, i = 100 is {false}, u > 5 is open, s LIKE 'x%' is {false, null}
    residual    u > 5 AND NOT (s LIKE 'x%')

For every row of the slice the residual is TRUE exactly when the filter is TRUE. It fits a WHERE clause only: where the
filter is FALSE or NULL the residual may be either. Every leaf stands in one of two contexts, by the number of
NOTs above it, and only one value of it matters there:

    context             question     decided no: FALSE     decided yes: TRUE       may be exchanged
    ------------------  -----------  --------------------  ----------------------  ----------------
    even number of NOTs  is it TRUE?   TRUE is impossible    nothing but TRUE        FALSE and NULL
    odd number of NOTs   is it FALSE?  nothing but FALSE     FALSE is impossible     TRUE and NULL

AND and OR hand the question on (an AND is TRUE when all children are, and FALSE when any is), NOT turns it round. So
in the example ``s LIKE 'x%'`` stays: under NOT, {false, null} is *not* FALSE on the NULL rows, for which the filter is
not TRUE either.

Slices are grouped while the tree is folded: at each node, slices with the same children's residuals share theirs.
No step looks at one slice by itself: numpy numbers the combinations that occur.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.binding.truth_values import TruthValue
from evaluator.evaluation.evaluate import Evaluation
from evaluator.explain.source_filter import SourceLeaf, source_filter
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.records import entity, frozen

__all__ = ["Residuals", "is_complete", "residuals"]

Classes = npt.NDArray[np.int64]

_NEVER, _ALWAYS, _OPEN = 0, 1, 2
_DECIDED: tuple[ex.HudiExpression, ...] = (ex.Constant(False), ex.Constant(True))


@frozen(eq=False)
class Residuals:
    """The distinct residuals of k slices, and which slice has which: ``expressions[group_of[i]]``, ``(k,) intp``."""

    expressions: tuple[ex.HudiExpression, ...]
    group_of: npt.NDArray[np.intp]


@dataclass(slots=True)
class _Part:
    """A node's residuals: class 0 is FALSE, 1 is TRUE, and each slice's class."""

    expressions: list[ex.HudiExpression]
    classes: Classes


def residuals(evaluation: Evaluation, slices: npt.NDArray[np.intp]) -> Residuals:
    """The residuals of these slices, given by index. Sound for a WHERE clause only: see above."""
    source = source_filter(evaluation.bound)

    def residual_of_leaf(index: int) -> _Part:
        leaf = source.leaves[index]
        return _Part([*_DECIDED, leaf.node], _decide(leaf, evaluation, slices))

    whole = source.program.fold(
        leaf=residual_of_leaf,
        negate=_negate,
        conjoin=lambda parts: _combine(parts, len(slices), ex.And),
        disjoin=lambda parts: _combine(parts, len(slices), ex.Or),
    )
    # Conditions on one column may decide together what none of them decides.
    whole.classes[evaluation.outcomes_at(slices) == outcome.TRUE] = _ALWAYS
    group_of, used = _renumbered(whole.classes, len(whole.expressions))
    return Residuals(tuple(whole.expressions[c] for c in used), group_of)


def is_complete(residual: ex.HudiExpression) -> bool:
    """Whether the residual states everything: otherwise an engine has to apply its own filter to the rows.

    A part of the filter that was not understood stands in it as ``Unknown`` or ``Opaque``, and a conditional whose
    condition is not at hand as the values that it may have. A list of keys has no text.
    """

    def is_partial(node: ex.Node) -> bool:
        return isinstance(node, ex.Unknown | ex.Opaque | ex.InKeys) or (
            isinstance(node, ex.Call) and node.function == "branches"
        )

    return not any(is_partial(node) for node in ex.walk(residual))


def _decide(leaf: SourceLeaf, evaluation: Evaluation, slices: npt.NDArray[np.intp]) -> Classes:
    """Class 0, 1 or 2 (open) of a leaf in each slice, by its context."""
    impossible, certain = (_ALWAYS, _NEVER) if leaf.sought is TruthValue.FALSE else (_NEVER, _ALWAYS)
    bit = leaf.sought.bit
    classes = [certain if outcome == bit else _OPEN if outcome & bit else impossible for outcome in range(8)]
    return np.array(classes, np.int64)[leaf.outcomes(evaluation, slices)]


def _negate(part: _Part) -> _Part:
    flipped = np.where(part.classes >= _OPEN, part.classes, _ALWAYS - part.classes)
    return _Part([*_DECIDED, *(ex.Not(left) for left in part.expressions[_OPEN:])], flipped)


def _combine(parts: list[_Part], k: int, joined: type[ex.And] | type[ex.Or]) -> _Part:
    """AND or OR: a part that decides the node makes it a constant, a part that cannot is left out."""
    deciding, neutral = (_NEVER, _ALWAYS) if joined is ex.And else (_ALWAYS, _NEVER)
    decided = np.zeros(k, np.bool_)
    for part in parts:
        decided |= part.classes == deciding
    combination = np.zeros(k, np.int64)
    meaning: list[_Chosen | None] = [None]  # of each combination: the children that are left, the last one first
    for part in parts:
        width = len(part.expressions)
        chosen = combination * width + np.where(decided, neutral, part.classes)
        combination, numbers = _renumbered(chosen, len(meaning) * width)
        meaning = [
            meaning[number // width]
            if number % width == neutral
            else _Chosen(part.expressions[number % width], meaning[number // width])
            for number in numbers
        ]
    expressions, class_of = list(_DECIDED), []
    for last in meaning:
        class_of.append(neutral if last is None else len(expressions))
        if last is not None:
            left = last.unrolled()
            expressions.append(left[0] if len(left) == 1 else joined(left))
    return _Part(expressions, np.where(decided, deciding, np.array(class_of, np.int64)[combination]))


@entity
class _Chosen:
    """An open child of a node, behind the ones before it."""

    expression: ex.HudiExpression
    before: _Chosen | None

    def unrolled(self) -> tuple[ex.HudiExpression, ...]:
        expressions: list[ex.HudiExpression] = []
        current: _Chosen | None = self
        while current is not None:
            expressions.append(current.expression)
            current = current.before
        return tuple(reversed(expressions))


def _renumbered(numbers: Classes, limit: int) -> tuple[Classes, list[int]]:
    """Numbers below ``limit`` as 0, 1, 2, ..., and the old number of each new one."""
    if limit > 4 * len(numbers) + 1024:
        distinct, new_numbers = np.unique(numbers, return_inverse=True)
        return new_numbers.reshape(-1).astype(np.int64), distinct.tolist()
    distinct = np.flatnonzero(np.bincount(numbers, minlength=limit))
    new_number = np.zeros(limit, np.int64)
    new_number[distinct] = np.arange(len(distinct))
    return new_number[numbers], distinct.tolist()
