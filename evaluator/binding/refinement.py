"""Refinement: conditions of a program that say more together than leaf by leaf, each time as a leaf of their own.

Conditions on one column are brought together by ``evaluator.binding.interval_sets``, comparisons of one pair of
operands by ``evaluator.binding.operand_pairs``. The result is a leaf beside those that it is made of. The step
``Refine`` of the program intersects their outcomes:

    conditions                         refined                         why
    ---------------------------------  ------------------------------  -----------------------------------------------
    a tree over one column only        TRUE, FALSE and NULL            it has the same value on every row
    a tree over one pair only          TRUE and FALSE                  likewise
    some members of an AND             TRUE                            the AND is TRUE only where these are
    some members of an OR              FALSE                           the OR is FALSE only where these are

Nothing is added where leaf by leaf is as tight. In a slice of several files it is not: with a file of 1 to 3 and one of
7 to 9 ``i >= 4 AND i <= 6`` is TRUE in neither, while each leaf is TRUE in one. So for statistics by file the commonest
conditions are refined, too (``refined_by_file``); other tables do not pay for it. A list alone is refined where its
members are all values of an interval (``evaluator.binding.member_runs``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.interval_sets import column_of, is_one_interval, is_tight, judged_together, without_last_nots
from evaluator.binding.leaves import BoundLeaf, Membership, Test
from evaluator.binding.member_runs import interval_sets_of, runs_of
from evaluator.binding.operand_pairs import OperandPair, judged, pair_of
from evaluator.binding.operands import BoundColumn
from evaluator.binding.program import And, Leaf, Not, Or, Program, Refine, Step
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.semantics import Semantics

__all__ = ["refined", "refined_by_file"]

#: A filter of more leaves is left as it is.
_MAX_LEAVES = 256

_Subject = BoundColumn | OperandPair


def refined(leaves: list[BoundLeaf], steps: list[Step], semantics: Semantics) -> list[Step]:
    """The steps of a program with ``Refine`` where conditions say more together; adds their leaves."""
    if len(leaves) > _MAX_LEAVES:
        return steps
    names = [leaf.columns for leaf in leaves]
    shared: set[tuple[str, ...]] = {name for name in names if names.count(name) > 1 and len(name) == 1}
    several = [frozenset(name) for name in names if len(name) > 1]
    if (
        (not shared or _is_plain_conjunction(leaves, steps, shared))
        and len(several) == len(set(several))
        and not any(isinstance(leaf.test, Membership) and _holds_runs(leaf.test) for leaf in leaves)
    ):
        return steps
    return _Walk(leaves, semantics, by_file=False).walk(steps)


def refined_by_file(bound: BoundExpression) -> BoundExpression:
    """The filter as files of a slice are judged by it: conditions on one column together, also where one range needs
    no more than each by itself. The leaves of the filter keep their numbers.
    """
    steps = _without_refinements(bound.program.steps)
    leaves = list(bound.leaves[: 1 + max((step.index for step in steps if type(step) is Leaf), default=-1)])
    if len(leaves) > _MAX_LEAVES:
        return bound
    refined_steps = _Walk(leaves, bound.semantics, by_file=True).walk(steps)
    return BoundExpression(
        bound.expression, tuple(leaves), Program(tuple(refined_steps)), bound.columns, bound.semantics
    )


def _without_refinements(steps: Sequence[Step]) -> list[Step]:
    plain: list[Step] = []
    for step in steps:
        if type(step) is Refine:
            plain.pop()  # its leaf
        else:
            plain.append(step)
    return plain


def _is_plain_conjunction(leaves: Sequence[BoundLeaf], steps: Sequence[Step], shared: set[tuple[str, ...]]) -> bool:
    """Whether a filter of ANDs has one interval that is not empty for each column: the commonest filters."""
    tests: dict[tuple[str, ...], list[tuple[Test, bool]]] = {name: [] for name in shared}
    last: list[tuple[Test, bool]] | None = None
    for step in steps:
        form = type(step)
        if form is Leaf:
            leaf = leaves[step.index]  # type: ignore[union-attr]
            last = tests.get(leaf.columns, [])
            last.append((leaf.test, False))
        elif form is Not and last is not None:
            last[-1] = (last[-1][0], True)
            last = None
        elif form is And:
            last = None
        else:
            return False
    return all(is_one_interval(of_column) for of_column in tests.values())


@dataclass(slots=True)
class _Part:
    """A piece of the program: over one subject only, or an AND or OR (``form``) with parts that are.

    subject  the subject, or the pair of operands
    parts    the members over one subject of a mixed AND or OR, by subject
    """

    steps: list[Step]
    subject: _Subject | None = None
    form: type[And] | type[Or] | None = None
    parts: dict[_Subject, list[list[Step]]] = field(default_factory=dict)

    @property
    def is_compound(self) -> bool:
        """Whether it joins leaves."""
        return any((type(step) is And or type(step) is Or) and step.arity > 1 for step in self.steps)


class _Walk:
    def __init__(self, leaves: list[BoundLeaf], semantics: Semantics, *, by_file: bool) -> None:
        self._leaves = leaves
        self._by_file = by_file
        pairs: set[OperandPair] = set()
        self._subjects = [column_of(leaf.test) or _known_pair(leaf.test, pairs, semantics) for leaf in leaves]

    def walk(self, steps: Sequence[Step]) -> list[Step]:
        stack: list[_Part] = []
        for step in steps:
            form = type(step)
            if form is Leaf:
                stack.append(_Part([step], self._subjects[step.index]))  # type: ignore[union-attr]
            elif form is Not:
                stack[-1] = self._negated(stack[-1])
            else:
                first = len(stack) - step.arity
                children = stack[first:]
                del stack[first:]
                stack.append(self._joined(step, children))
        [whole] = stack
        return self._closed(whole).steps

    def _negated(self, part: _Part) -> _Part:
        steps = [*part.steps, Not()]
        if part.form is None:
            return _Part(steps, part.subject)
        negated = {
            subject: [_without_not_not([*member, Not()]) for member in members]
            for subject, members in part.parts.items()
        }
        return _Part(steps, form=Or if part.form is And else And, parts=negated)

    def _joined(self, step: Step, children: list[_Part]) -> _Part:
        """An AND or OR of parts."""
        form = type(step)
        assert form is And or form is Or
        if len(children) == 1:  # it is what its only member is
            children[0].steps.append(step)
            return children[0]
        subject = children[0].subject if children else None
        if subject is not None and all(child.subject == subject for child in children):
            return _Part([*(inner for child in children for inner in child.steps), step], subject)
        joined = _Part([], form=form)
        for child in children:
            if child.subject is not None:
                joined.parts.setdefault(child.subject, []).append(_without_not_not(child.steps))
            elif child.form is form:
                for subject, members in child.parts.items():
                    joined.parts.setdefault(subject, []).extend(members)
            closed = child if child.subject is None and child.form is form else self._closed(child)
            joined.steps += closed.steps
        joined.steps.append(step)
        return joined

    def _closed(self, part: _Part) -> _Part:
        """The part with the refinements that its conditions allow."""
        steps = list(part.steps)
        if part.subject is not None and part.is_compound:
            steps += self._refinement(part.subject, part.steps, _loose_bits(part.steps))
        elif part.form is None:
            steps = self._by_runs(steps)
        else:
            for subject, members in part.parts.items():
                if len(members) > 1:
                    assert part.form is not None
                    together = [*(step for member in members for step in member), part.form(len(members))]
                    steps += self._refinement(subject, together, outcome.TRUE if part.form is And else outcome.FALSE)
        return _Part(steps)

    def _by_runs(self, steps: list[Step]) -> list[Step]:
        """The steps of one leaf; where it is a list, refined by the intervals that its members fill."""
        first, *negations = steps
        leaf = self._leaves[first.index]  # type: ignore[union-attr]
        if not isinstance(leaf.test, Membership) or not isinstance(column := leaf.test.operand, BoundColumn):
            return steps
        if (runs := runs_of(column.type, leaf.test.members)) is None:
            return steps
        test = interval_sets_of(column, runs, has_null=leaf.test.members.has_null)
        self._leaves.append(BoundLeaf(leaf.node, test, leaf.columns, note="by the values that it leaves out"))
        return [first, Leaf(len(self._leaves) - 1), Refine(outcome.FALSE | outcome.NULL), *negations]

    def _refinement(self, subject: _Subject, steps: list[Step], bits: int) -> list[Step]:
        """A leaf that judges these steps over one subject together, and the step that uses it; nothing if of no use."""
        program = Program(tuple(steps))
        test: Test | None
        if isinstance(subject, OperandPair):
            test, exact = judged(subject, program, {index: self._leaves[index].test for index in program.leaf_indices})
            bits &= exact
        else:
            is_loose = self._by_file or not is_tight(program, self._leaves, subject.type)
            test = judged_together(program, self._leaves, subject) if is_loose else None
        if test is None or not bits:
            return []
        node = program.fold(
            leaf=lambda index: self._leaves[index].node,
            negate=ex.Not,
            conjoin=lambda nodes: _one_or(ex.And, nodes),
            disjoin=lambda nodes: _one_or(ex.Or, nodes),
        )
        columns = self._leaves[program.leaf_indices[0]].columns
        self._leaves.append(BoundLeaf(node, test, columns))
        return [Leaf(len(self._leaves) - 1), Refine(bits)]


def _known_pair(test: Test, known: set[OperandPair], semantics: Semantics) -> OperandPair | None:
    """The pair of a comparison, in the order in which it came first."""
    pair = pair_of(test, semantics)
    if pair is not None:
        pair = pair.mirrored if pair.mirrored in known else pair
        known.add(pair)
    return pair


def _holds_runs(test: Membership) -> bool:
    column = test.operand
    return isinstance(column, BoundColumn) and runs_of(column.type, test.members) is not None


def _without_not_not(steps: list[Step]) -> list[Step]:
    """A member as it is judged: NOT of NOT is what it is of, so both forms of a filter say the same of a slice."""
    core = without_last_nots(steps)
    return [*core, Not()] if (len(steps) - len(core)) % 2 else list(core)


def _one_or(form: type[ex.And] | type[ex.Or], nodes: list[ex.HudiExpression]) -> ex.HudiExpression:
    """The AND or OR of the different ones: one condition of the filter may be several leaves."""
    flat = [inner for node in nodes for inner in (node.children if isinstance(node, form) else (node,))]
    different = tuple(dict.fromkeys(flat))
    return different[0] if len(different) == 1 else form(different)


def _loose_bits(steps: Sequence[Step]) -> int:
    """Of conditions over one column the values that leaf by leaf may claim without cause.

    An AND is FALSE where any leaf is, so FALSE is exact, and of an OR TRUE is. NOT exchanges them.
    """
    core = without_last_nots(steps)
    if any(type(step) is And or type(step) is Or for step in core[:-1]):
        return outcome.UNKNOWN
    loose = outcome.NULL | (outcome.TRUE if type(core[-1]) is And else outcome.FALSE)
    return outcome.NOT_TABLE[loose] if (len(steps) - len(core)) % 2 else loose
