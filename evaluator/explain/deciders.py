"""What decided each skipped slice: the conditions that rule it out, and the index kinds that answered them.

    filter                           a slice is skipped by
    -------------------------------  ------------------------------------------------------------
    i = 100 OR u = 7                 i = 100 and u = 7: column_stats + own index
    p = 'a' AND i > 10 AND j > 10    i > 10: column_stats, though j > 10 may be impossible there, too

Several conditions may each be enough. The first in the order of the filter is named, and of the kinds that rule it out
by themselves the first one that was asked. Under OR every condition is needed, so all of them are named. Nothing is
decided a second time: the outcomes are those of the evaluation that pruned (``evaluation.leaves``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import Fixed
from evaluator.binding.truth_values import TruthValue
from evaluator.evaluation.evaluate import Evaluation
from evaluator.language.records import frozen

__all__ = ["KEPT", "Deciders", "SkipDecision", "deciders"]

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]

#: The decision number of a kept slice.
KEPT = -1
#: Kinds in place of the name of an index.
BY_FILTER, TOGETHER = "filter", "several indexes together"
#: Bytes that the masks of one chunk of slices may take.
CHUNK_BYTES = 64 << 20
#: Bits of a group number that are used before the numbers are made dense again.
_BITS = 40


@frozen
class SkipDecision:
    """A way in which slices are skipped.

    conditions   numbers of the bound leaves that rule the slices out, in the order of the filter
    kinds        the index kinds that answered them, each once; "filter" where no statistics were needed
    """

    conditions: tuple[int, ...]
    kinds: tuple[str, ...]


@frozen(eq=False)
class Deciders:
    """The decision of every slice.

    decisions   the distinct ones, that of most slices first
    counts      the number of slices of each
    of_slice    ``(n,) int32``: its number in ``decisions``; ``KEPT`` for a slice that is kept
    """

    decisions: tuple[SkipDecision, ...]
    counts: tuple[int, ...]
    of_slice: npt.NDArray[np.int32]


def deciders(evaluation: Evaluation, n: int) -> Deciders:
    """What decided each of the n slices."""
    bound = evaluation.bound
    of_slice = np.full(n, KEPT, np.int32)
    skipped = np.flatnonzero(~evaluation.keep).astype(np.int64)
    tree = _Tree(bound)
    numbers: dict[SkipDecision, int] = {}
    size = max(CHUNK_BYTES // max(3 * len(bound.program.steps), 1), 1024)
    for start in range(0, len(skipped), size):
        rows = skipped[start : start + size]
        for decision, members in _decided(bound, evaluation, tree, rows):
            of_slice[rows[members]] = numbers.setdefault(decision, len(numbers))
    found = Counter(dict(zip(*(part.tolist() for part in np.unique(of_slice, return_counts=True)), strict=True)))
    names = list(numbers)
    order = sorted(range(len(names)), key=lambda number: -found[number])
    place = np.empty(len(names) + 1, np.int32)
    place[order], place[KEPT] = np.arange(len(names), dtype=np.int32), KEPT
    return Deciders(tuple(names[number] for number in order), tuple(found[number] for number in order), place[of_slice])


_Part = tuple[int, str, Mask]  # leaf, kind, slices


def _decided(
    bound: BoundExpression, evaluation: Evaluation, tree: _Tree, rows: Rows
) -> Iterator[tuple[SkipDecision, npt.NDArray[np.intp]]]:
    """The decisions of some skipped slices, each with the positions in ``rows`` of its slices."""
    parts = [
        (leaf, kind, mask)
        for leaf, needed in tree.needed(evaluation, rows)
        for kind, mask in _kinds(bound, evaluation, tree, leaf, needed, rows)
        if mask.any()
    ]
    ruled_out = np.logical_or.reduce([mask for _, _, mask in parts]) if parts else np.zeros(len(rows), np.bool_)
    matched: list[tuple[tuple[int, ...], str, Mask]] = []
    rest = ~ruled_out
    for kind, match in evaluation.matches.items():
        by_match = rest & ~match.filter_might_match[rows]
        matched.append((tuple(match.leaves), kind, by_match))
        rest &= ~by_match
    masks = [mask for _, _, mask in parts] + [mask for _, _, mask in matched]
    groups, first = _grouped(masks, len(rows))
    order = np.argsort(groups, kind="stable")
    for positions in np.split(order, np.cumsum(np.bincount(groups, minlength=len(first)))[:-1]):
        row = positions[0]
        chosen: list[tuple[tuple[int, ...], str]] = [((leaf,), kind) for leaf, kind, mask in parts if mask[row]]
        chosen += [(leaves, kind) for leaves, kind, mask in matched if mask[row]]
        conditions = dict.fromkeys(leaf for leaves, _ in chosen for leaf in leaves)
        kinds = dict.fromkeys(kind for _, kind in chosen) or {BY_FILTER: None}
        yield SkipDecision(tuple(conditions), tuple(kinds)), positions


def _grouped(masks: list[Mask], n: int) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """A number for each slice, the same for slices that are in the same masks; and the first slice of each number."""
    groups, first = np.zeros(n, np.int64), np.zeros(min(n, 1), np.intp)
    for start in range(0, max(len(masks), 1), 20):
        for mask in masks[start : start + 20]:
            groups = groups * 2 + mask
        _, first, groups = np.unique(groups, return_index=True, return_inverse=True)
        groups = groups.reshape(-1).astype(np.int64)
        assert groups.max(initial=0) < 1 << _BITS
    return groups.astype(np.intp), first.astype(np.intp)


def _kinds(
    bound: BoundExpression, evaluation: Evaluation, tree: _Tree, leaf: int, needed: Mask, rows: Rows
) -> Iterator[tuple[str, Mask]]:
    """The kinds that rule a leaf out where it is needed: of several the one that was asked first."""
    if isinstance(bound.leaves[leaf].test, Fixed):
        yield BY_FILTER, needed
        return
    rest = needed.copy()
    for kind, outcomes in evaluation.leaves[leaf].by_provider.items():
        mask = rest & ((outcomes[rows] & tree.sought[leaf].bit) == 0)
        yield kind, mask
        rest &= ~mask
    yield TOGETHER if evaluation.leaves[leaf].by_provider else BY_FILTER, rest


@dataclass(slots=True, eq=False)
class _Node:
    """A leaf of the tree, or a node that is what is sought only when all (or any) of its children are."""

    position: int
    leaf: int | None = None
    children: tuple[_Node, ...] = ()
    needs_all: bool = True


class _Tree:
    """The bound filter without NOT, by what is sought of each leaf; every child before its parent."""

    def __init__(self, bound: BoundExpression) -> None:
        self.sought = bound.program.sought_values()
        self._nodes: list[_Node] = []
        bound.program.fold_sought(leaf=self._leaf, conjoin=self._all, disjoin=self._any)

    def _leaf(self, index: int, _: TruthValue) -> _Node:
        return self._added(_Node(len(self._nodes), index))

    def _all(self, children: list[_Node]) -> _Node:
        return self._added(_Node(len(self._nodes), None, tuple(children)))

    def _any(self, children: list[_Node]) -> _Node:
        return self._added(_Node(len(self._nodes), None, tuple(children), needs_all=False))

    def _added(self, node: _Node) -> _Node:
        self._nodes.append(node)
        return node

    def needed(self, evaluation: Evaluation, rows: Rows) -> Iterator[tuple[int, Mask]]:
        """By leaf: in which of the slices its impossibility is one of those that rule the slice out."""
        impossible: list[Mask] = []
        for node in self._nodes:
            if node.leaf is not None:
                bit = self.sought[node.leaf].bit
                impossible.append((evaluation.leaf_at(node.leaf, rows) & bit) == 0)
            else:
                combine = np.logical_or if node.needs_all else np.logical_and
                parts = [impossible[child.position] for child in node.children]
                impossible.append(combine.reduce(parts) if parts else np.full(len(rows), not node.needs_all))
        needed = {len(self._nodes) - 1: impossible[-1]}
        found: list[tuple[int, Mask]] = []
        for node in reversed(self._nodes):
            rest = needed.pop(node.position)
            if node.leaf is not None:
                found.append((node.leaf, rest))
            for child in node.children:
                needed[child.position] = rest & impossible[child.position]
                if node.needs_all:
                    rest = rest & ~impossible[child.position]
        return reversed(found)
