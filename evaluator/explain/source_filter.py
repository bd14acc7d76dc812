"""The filter as it was written, over a bound filter's program.

Binding may spread one written leaf over several bound ones: ``c IN (0.1, 5)`` is a test of members OR a range, and
``upper(c) = 'A'`` is ANDed with what it implies of ``c``. People and engines know only the written leaf, so here each
leaf is one again, with the piece of the program that answers it:

    written          (upper(c) = 'A')                       AND  NOT (d = 5)
    bound program    leaf 0, leaf 1, leaf 2, and 3               leaf 3, not          and 2
    written program  leaf 0                                      leaf 1, not          and 2
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.binding.bind import BoundExpression, Instruction
from evaluator.evaluation.evaluate import Evaluation
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.outcome import Outcomes

__all__ = ["SourceFilter", "SourceLeaf", "source_filter"]


@dataclass(frozen=True, slots=True, eq=False)
class SourceLeaf:
    """A leaf of the filter as written.

    program   the piece of the bound program that answers it
    negated   an odd number of NOTs stands above it: it rules a slice out where it cannot be FALSE
    """

    node: ex.HudiExpression
    program: tuple[Instruction, ...]
    negated: bool

    @property
    def bound(self) -> tuple[int, ...]:
        """The bound leaves that answer it, the written condition itself first."""
        return tuple(step.operand for step in self.program if step.operation == "leaf")

    def outcomes(self, evaluation: Evaluation, slices: npt.NDArray[np.intp]) -> Outcomes:
        """``(k,) uint8``: the outcomes in these slices."""
        stack: list[Outcomes] = []
        for step in self.program:
            match step.operation:
                case "leaf":
                    stack.append(evaluation.leaf_at(step.operand, slices))
                case "not":
                    stack.append(outcome.negate(stack.pop()))
                case operation:
                    parts = [stack.pop() for _ in range(step.operand)]
                    combine = outcome.conjoin if operation == "and" else outcome.disjoin
                    stack.append(combine(parts, len(slices)))
        return stack[0]


@dataclass(frozen=True, slots=True, eq=False)
class SourceFilter:
    """The written leaves in order, and the tree over them as a postfix program of leaf, and, or, not."""

    leaves: tuple[SourceLeaf, ...]
    program: tuple[Instruction, ...]


def source_filter(bound: BoundExpression) -> SourceFilter:
    """Walk the written tree and the bound program side by side, from the end, without recursion."""
    starts = _starts(bound.program)
    leaves: list[SourceLeaf] = []
    backwards: list[Instruction] = []
    stack: list[tuple[ex.HudiExpression, int, bool]] = [(bound.expression, len(bound.program) - 1, False)]
    while stack:
        node, end, negated = stack.pop()
        match node:
            case ex.And(children=children) | ex.Or(children=children):
                backwards.append(Instruction("and" if isinstance(node, ex.And) else "or", len(children)))
                places = []
                for child in reversed(children):
                    end -= 1
                    places.append((child, end, negated))
                    end = starts[end]
                stack.extend(reversed(places))
            case ex.Not(child=child):
                backwards.append(Instruction("not", 1))
                stack.append((child, end - 1, not negated))
            case _:
                backwards.append(Instruction("leaf", len(leaves)))
                leaves.append(SourceLeaf(node, tuple(bound.program[starts[end] : end + 1]), negated))
    last = len(leaves) - 1
    program = tuple(
        step if step.operation != "leaf" else Instruction("leaf", last - step.operand) for step in reversed(backwards)
    )
    return SourceFilter(tuple(reversed(leaves)), program)


def _starts(program: tuple[Instruction, ...]) -> list[int]:
    """For each step, where the piece of the program starts that ends with it."""
    starts: list[int] = []
    open_pieces: list[int] = []
    for place, step in enumerate(program):
        start = place
        for _ in range(0 if step.operation == "leaf" else step.operand):
            start = open_pieces.pop()
        open_pieces.append(start)
        starts.append(start)
    return starts
