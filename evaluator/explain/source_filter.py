"""The source filter: the filter as its author wrote it, over a bound filter's program.

Binding may turn one condition into several bound leaves: ``c IN (0.1, 5)`` is a test of members OR a range, and
``upper(c) = 'A'`` is ANDed with a range of ``c`` that it implies. People and engines know the source condition only.
Here each source condition is one leaf again, with the piece of the bound program that evaluates it:

    source filter    (upper(c) = 'A')                            AND  NOT (d = 5)
    bound program    Leaf(0) Leaf(1) Leaf(2) And(3)                   Leaf(3) Not()          And(2)
    source program   Leaf(0)                                          Leaf(1) Not()          And(2)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.program import And, Leaf, Not, Or, Program, Refine, Step
from evaluator.binding.truth_values import TruthValue
from evaluator.evaluation.evaluate import Evaluation
from evaluator.evaluation.statistics_evaluation import outcomes_of
from evaluator.language import expression as ex
from evaluator.language.outcome import Outcomes
from evaluator.language.records import entity

__all__ = ["SourceFilter", "SourceLeaf", "source_filter"]


@entity
class SourceLeaf:
    """A condition of the source filter.

    program   the piece of the bound program that evaluates it
    sought    the value that lets the filter be TRUE: FALSE under an odd number of NOTs
    """

    node: ex.HudiExpression
    program: Program
    sought: TruthValue

    @property
    def text(self) -> str:
        """For people: what is sought of the condition, with the NOT under which it stands."""
        negated = self.sought is TruthValue.FALSE and not isinstance(self.node, ex.Unknown)
        return ex.to_text(ex.Not(self.node) if negated else self.node)

    @property
    def bound(self) -> tuple[int, ...]:
        """The bound leaves that evaluate it, the source condition itself first."""
        return self.program.leaf_indices

    def outcomes(self, evaluation: Evaluation, slices: npt.NDArray[np.intp]) -> Outcomes:
        """``(k,) uint8``: the outcomes in these slices."""
        return outcomes_of(self.program, lambda index: evaluation.leaf_at(index, slices), len(slices))


@entity
class SourceFilter:
    """The conditions of a source filter in order, and the program that joins them."""

    leaves: tuple[SourceLeaf, ...]
    program: Program


def source_filter(bound: BoundExpression) -> SourceFilter:
    """Walk the source tree and the bound program side by side, from the end, without recursion."""
    steps = bound.program.steps
    starts = _starts(steps)
    pieces: list[tuple[ex.HudiExpression, Program]] = []
    backwards: list[Step] = []
    stack: list[tuple[ex.HudiExpression, int]] = [(bound.expression, len(steps) - 1)]
    while stack:
        node, end = stack.pop()
        if not isinstance(steps[end], Leaf):
            end = _unrefined(steps, end)
        match node:
            case ex.And(children=children) | ex.Or(children=children):
                backwards.append(And(len(children)) if isinstance(node, ex.And) else Or(len(children)))
                ends = []
                for child in reversed(children):
                    end -= 1
                    ends.append((child, end))
                    end = starts[end]
                stack.extend(reversed(ends))
            case ex.Not(child=child):
                backwards.append(Not())
                stack.append((child, end - 1))
            case _:
                backwards.append(Leaf(len(pieces)))
                pieces.append((node, Program(steps[starts[end] : end + 1])))
    last = len(pieces) - 1
    program = Program(
        tuple(Leaf(last - step.index) if isinstance(step, Leaf) else step for step in reversed(backwards))
    )
    sought = program.sought_values()
    leaves = [SourceLeaf(node, piece, sought[last - index]) for index, (node, piece) in enumerate(pieces)]
    return SourceFilter(tuple(reversed(leaves)), program)


def _unrefined(steps: Sequence[Step], end: int) -> int:
    """The last step without the leaves that judge conditions of one column together: they repeat what stands there."""
    while isinstance(steps[end], Refine):
        end -= 2
    return end


def _starts(steps: Sequence[Step]) -> list[int]:
    """For each step, where the piece of the program starts that ends with it."""
    starts: list[int] = []
    open_pieces: list[int] = []
    for position, step in enumerate(steps):
        start = position
        for _ in range(step.arity):
            start = open_pieces.pop()
        open_pieces.append(start)
        starts.append(start)
    return starts
