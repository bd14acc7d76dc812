"""The program of a filter: its ANDs, ORs and NOTs over numbered leaves, in postfix order.

    filter                     steps
    -------------------------  --------------------------------------------
    a = 5 AND NOT (b < 3)      Leaf(0)  Leaf(1)  Not()  And(2)
    a = 5 OR b < 3 OR c > 1    Leaf(0)  Leaf(1)  Leaf(2)  Or(3)
    a > 0 AND b = 1 AND a < 0  Leaf(0)  Leaf(1)  Leaf(2)  And(3)  Leaf(3)  Refine(TRUE)

The last one has a leaf of its own for ``a > 0 AND a < 0`` (``evaluator.binding.refinement``): the AND is TRUE only
where that leaf is, too.

A filter that is nested 10,000 levels deep is folded by a loop, without recursion. ``fold`` is the one interpreter of
programs: outcomes of one slice, arrays of outcomes, formulas and residuals are folds with other functions.

Most questions are about one value of the filter only: where can it be TRUE? For those, NOT vanishes. An AND under NOT
is an OR of what is sought below it, an OR under NOT is an AND, and of each leaf only one value is sought: TRUE under an
even number of NOTs, FALSE under an odd one (contract C1). ``fold_sought`` folds a program that way:

    NOT (a = 5 AND b < 3) can be TRUE  where  a = 5 can be FALSE  or  b < 3 can be FALSE
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from evaluator.binding.truth_values import TruthValue
from evaluator.language.records import record

__all__ = ["And", "Leaf", "Not", "Or", "Program", "Refine", "Step"]

T = TypeVar("T")


@record
class Leaf:
    """The leaf of this number."""

    index: int

    @property
    def arity(self) -> int:
        """How many results of earlier steps this step takes."""
        return 0


@record
class Not:
    """NOT of the last result."""

    @property
    def arity(self) -> int:
        """How many results of earlier steps this step takes."""
        return 1


@record
class And:
    """AND of the last ``arity`` results; of none at all it is TRUE."""

    arity: int


@record
class Or:
    """OR of the last ``arity`` results; of none at all it is FALSE."""

    arity: int


@record
class Refine:
    """The result before the last one, without those of the values ``bits`` that the last one, a leaf, rules out."""

    bits: int

    @property
    def arity(self) -> int:
        """How many results of earlier steps this step takes."""
        return 2


Step = Leaf | Not | And | Or | Refine


@record
class Program:
    """Steps in postfix order; each leaf's number occurs once."""

    steps: tuple[Step, ...]

    def fold(
        self,
        *,
        leaf: Callable[[int], T],
        negate: Callable[[T], T],
        conjoin: Callable[[list[T]], T],
        disjoin: Callable[[list[T]], T],
        refine: Callable[[T, T, int], T] | None = None,
    ) -> T:
        """The result of the whole filter, given those of leaves, and how results are combined.

        Without ``refine`` the conditions of the filter stand as they are.
        """
        results: list[T] = []
        for step in self.steps:
            form = type(step)
            if form is Leaf:
                results.append(leaf(step.index))  # type: ignore[union-attr]
            elif form is Not:
                results[-1] = negate(results[-1])
            elif form is Refine:
                leaf_result = results.pop()
                if refine is not None:
                    results[-1] = refine(results[-1], leaf_result, step.bits)  # type: ignore[union-attr]
            else:
                first = len(results) - step.arity
                operands = results[first:]
                del results[first:]
                results.append(conjoin(operands) if form is And else disjoin(operands))
        [result] = results
        return result

    def fold_sought(
        self,
        *,
        leaf: Callable[[int, TruthValue], T],
        conjoin: Callable[[list[T]], T],
        disjoin: Callable[[list[T]], T],
    ) -> T:
        """The fold for "can the filter be TRUE?": ``leaf`` gets the value that is sought of the leaf."""
        if not self.uses(Not) and not self.uses(Refine):
            return self.fold(leaf=lambda index: leaf(index, _TRUE), negate=_no_not, conjoin=conjoin, disjoin=disjoin)
        positive, sought = self._without_not()
        return positive.fold(
            leaf=lambda index: leaf(index, sought[index]), negate=_no_not, conjoin=conjoin, disjoin=disjoin
        )

    def sought_values(self) -> Mapping[int, TruthValue]:
        """For each leaf the value that lets the filter be TRUE: FALSE under an odd number of NOTs, otherwise TRUE."""
        return self._without_not()[1]

    @property
    def leaf_indices(self) -> tuple[int, ...]:
        """The numbers of the leaves, in the order of the filter."""
        return tuple(step.index for step in self.steps if type(step) is Leaf)

    def uses(self, form: type[Step]) -> bool:
        """Whether any step is of this form."""
        return form in map(type, self.steps)

    @property
    def is_flat_conjunction(self) -> bool:
        """True for a single leaf, and for one AND of leaves."""
        last = self.steps[-1]
        return (type(last) is And and last.arity == len(self.steps) - 1) or len(self.steps) == 1

    def _without_not(self) -> tuple[Program, Mapping[int, TruthValue]]:
        """NOT pushed down to the leaves, by De Morgan, and left out there; and the value sought of each leaf."""
        sought: dict[int, TruthValue] = {}
        steps: list[Step] = []
        pending = [False]  # for each open step, whether an odd number of NOTs stands above it
        is_of_use = True  # whether the next step, a leaf, says something of the value that is sought
        for step in reversed(self.steps):
            negated, form = pending.pop(), type(step)
            if form is Leaf:
                sought[step.index] = _FALSE if negated else _TRUE  # type: ignore[union-attr]
                if is_of_use:
                    steps.append(step)
                is_of_use = True
            elif form is Not:
                pending.append(not negated)
            elif form is Refine:
                pending.extend((negated, negated))
                is_of_use = bool(step.bits & (_FALSE if negated else _TRUE).bit)  # type: ignore[union-attr]
                if is_of_use:
                    steps.append(And(2))
            else:
                pending.extend([negated] * step.arity)
                steps.append(step if not negated else Or(step.arity) if form is And else And(step.arity))
        steps.reverse()
        return Program(tuple(steps)), sought


_TRUE, _FALSE = TruthValue.TRUE, TruthValue.FALSE


def _no_not(_: T) -> T:
    raise AssertionError("NOT was pushed down to the leaves")
