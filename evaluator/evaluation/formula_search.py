"""Searching a formula: which of many slices can be TRUE, without looking at most of them.

Three ways to evaluate a formula, all by the same single bounds (``evaluation.pruning_formula``); the number of bounds
that would be compared decides:

    stretch   an AND that bounds one column from both sides, or selectively from one, takes its slices from the column's
              interval index; its other children look at those slices only
    blocks    where the layout follows a column, the formula is first asked of runs of 1,024 slices at once
    scan      all codes (or values) are compared, the most selective child of an AND first; once fewer than one in
              32 slices is left, the remaining children look at those only

Without an index (``ColumnStatistics.indexed``) everything is a scan of the bounds themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.truth_values import TruthValue
from evaluator.evaluation.masks import Masks, masks_of
from evaluator.evaluation.pruning_formula import (
    Apart,
    Atom,
    Conjunction,
    Disjunction,
    Flag,
    Formula,
    OpaquePredicate,
    Symbol,
    Within,
)
from evaluator.evaluation.single_bounds import (
    Where,
    code_of,
    nonzero,
    rows_of,
    test_apart,
    test_atom,
    test_flag,
    test_within,
)
from evaluator.statistics.codes import ABOVE, BELOW
from evaluator.statistics.column_index import ColumnIndex

__all__ = ["MAX_DEPTH", "EvaluateOpaque", "depth_of", "search"]

Rows = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
#: ``evaluate_opaque(leaf, sought, where)``: whether a leaf can have a value in these slices, ``(k,) bool``.
EvaluateOpaque = Callable[[int, TruthValue, Where], Mask]

#: A formula that is nested more deeply is not searched but evaluated as a whole.
MAX_DEPTH = 200
#: Looking at single slices pays when at most one in this many is left: comparing all codes is a matter of bandwidth.
_SPARSE = 32
_MAX_MEMBERS = 64
_MAX_RUNS = 64


def depth_of(formula: Formula) -> int:
    """How deeply ANDs and ORs are nested."""
    return formula.depth if isinstance(formula, Conjunction | Disjunction) else 0


def search(formula: Formula, n: int, evaluate_opaque: EvaluateOpaque) -> npt.NDArray[np.int64]:
    """The slices in which a formula is TRUE, ``(k,) int64``, ascending."""
    if not isinstance(formula, Symbol):
        return np.arange(n if formula else 0, dtype=np.int64)
    with masks_of(n) as masks:
        found = _Search(n, evaluate_opaque, masks).select(formula)
        return nonzero(found) if found.dtype == np.bool_ else np.sort(found).astype(np.int64)


def _union(parts: Sequence[Rows]) -> Rows:
    """All rows that occur, each once, ascending."""
    rows = np.sort(np.concatenate(parts)) if parts else np.zeros(0, np.int32)
    return rows[np.concatenate(([True], rows[1:] != rows[:-1]))] if len(rows) else rows


@dataclass(slots=True)
class _Box:
    """The most selective lower and upper test of an AND on one column that has an index."""

    index: ColumnIndex
    upper_end: Atom | None = None
    lower_end: Atom | None = None

    def atoms(self) -> list[Atom]:
        return [atom for atom in (self.upper_end, self.lower_end) if atom is not None]


class _Search:
    """One search; the codes of constants are found once."""

    def __init__(self, n: int, evaluate_opaque: EvaluateOpaque, masks: Masks) -> None:
        self._n = n
        self._masks = masks
        self._evaluate_opaque = evaluate_opaque
        self._codes: dict[Atom, int | None] = {}
        self._reaches: dict[Symbol, int] = {}
        self._traits: dict[Symbol, tuple[bool, bool]] = {}

    # -- all slices: an answer is a mask over all of them, or the rows that are TRUE in any order

    def select(self, node: Symbol) -> Rows | Mask:
        match node:
            case Conjunction(children=children):
                return self._select_all(node, children)
            case Disjunction(children=children):
                return self._select_any(children)
            case Atom() | Within() if self._reach(node) * _SPARSE <= self._n:
                return self._stretch(node)
            case _:
                return self._blocks(node) if self._is_clustered(node) else self.test(node, slice(0, self._n))

    def _select_all(self, node: Conjunction, children: Sequence[Symbol]) -> Rows | Mask:
        drivers = self._drivers(children)
        cost, driver, used = min(drivers, key=lambda found: found[0], default=(self._n, None, ()))
        if driver is not None and cost * _SPARSE <= self._n:
            rows = self._box_rows(driver) if isinstance(driver, _Box) else self._as_rows(self.select(driver))
            others = [child for child in children if all(child is not atom for atom in used)]
            return rows[self._test_all(others, rows)] if others else rows
        if self._is_clustered(node):
            return self._blocks(node)
        return self._scan_all(children)

    def _scan_all(self, children: Sequence[Symbol]) -> Rows | Mask:
        everywhere = slice(0, self._n)
        ordered = sorted(children, key=self._cost_order)
        mask: Mask | None = None
        for place, child in enumerate(ordered):
            found = (
                self._as_mask(self.select(child)) if isinstance(child, Disjunction) else (self.test(child, everywhere))
            )
            if mask is None:
                mask = found
            else:
                np.logical_and(mask, found, out=mask)
                self._masks.give_back(found)
            left = ordered[place + 1 :]
            known_dense = place == 0 and isinstance(child, Atom) and self._count(child) * _SPARSE > self._n
            if left and not known_dense and np.count_nonzero(mask) * _SPARSE <= self._n:
                rows = nonzero(mask)
                return rows[self._test_all(left, rows)]
        assert mask is not None
        return mask

    def _select_any(self, children: Sequence[Symbol]) -> Rows | Mask:
        mask: Mask | None = None
        loose: list[Rows] = []
        for child in sorted(children, key=self._cost_order):
            if isinstance(child, OpaquePredicate) and mask is not None:
                open_rows = np.flatnonzero(~self._merge(mask, loose))
                loose = [open_rows[self.test(child, open_rows)]]
                continue
            found = self.select(child)
            if found.dtype != np.bool_:
                loose.append(found)
            elif mask is None:
                mask = found
            else:
                np.logical_or(mask, found, out=mask)
                self._masks.give_back(found)
        if mask is None and sum(map(len, loose)) * _SPARSE <= self._n:
            return _union(loose)
        return self._merge(np.zeros(self._n, np.bool_) if mask is None else mask, loose)

    @staticmethod
    def _merge(mask: Mask, loose: Sequence[Rows]) -> Mask:
        for rows in loose:
            mask[rows] = True
        return mask

    def _as_rows(self, found: Rows | Mask) -> Rows:
        return nonzero(found) if found.dtype == np.bool_ else found

    def _as_mask(self, found: Rows | Mask) -> Mask:
        return found if found.dtype == np.bool_ else self._merge(np.zeros(self._n, np.bool_), [found])

    # -- stretches

    def _code(self, atom: Atom) -> int | None:
        if atom not in self._codes:
            self._codes[atom] = code_of(atom)
        return self._codes[atom]

    def _count(self, atom: Atom) -> int:
        """How many slices an atom leaves, at most; all, if its column has no index."""
        code, index = self._code(atom), atom.column.index
        if code is None or index is None:
            return self._n
        return (index.lo if atom.is_lower else index.hi).count(atom.op, code)

    def _boxes(self, children: Sequence[Symbol]) -> list[_Box]:
        boxes: dict[int, _Box] = {}
        for child in children:
            if isinstance(child, Atom) and child.column.index is not None:
                box = boxes.setdefault(id(child.column), _Box(child.column.index))
                held = box.upper_end if child.is_lower else box.lower_end
                if held is None or self._count(child) < self._count(held):
                    if child.is_lower:
                        box.upper_end = child
                    else:
                        box.lower_end = child
        return list(boxes.values())

    def _box_codes(self, box: _Box) -> tuple[np.uint16, np.uint16]:
        lowest = BELOW if box.lower_end is None else np.uint16(self._code(box.lower_end) or 0)
        highest = ABOVE if box.upper_end is None else np.uint16(self._code(box.upper_end) or 0)
        return lowest, highest

    def _drivers(self, children: Sequence[Symbol]) -> list[tuple[int, _Box | Symbol, Sequence[Symbol]]]:
        """What an AND could begin with: (slices to compare, where they come from, the children that this settles)."""
        found: list[tuple[int, _Box | Symbol, Sequence[Symbol]]] = [
            (self._box_cost(box), box, box.atoms()) for box in self._boxes(children)
        ]
        found += [
            (self._reach(child), child, (child,)) for child in children if isinstance(child, Disjunction | Within)
        ]
        return found

    def _box_cost(self, box: _Box) -> int:
        if box.lower_end is not None and box.upper_end is not None:
            return box.index.intervals.cost(*self._box_codes(box))
        return min(self._count(atom) for atom in box.atoms())

    def _reach(self, node: Symbol) -> int:
        """How many slices are compared when a node is answered from stretches; all, if it cannot be."""
        if node not in self._reaches:
            self._reaches[node] = self._reach_of(node)
        return self._reaches[node]

    def _reach_of(self, node: Symbol) -> int:
        match node:
            case Atom():
                return self._count(node)
            case Within(column=column, members=members) if column.index is not None and (
                len(members.values) <= _MAX_MEMBERS
            ):
                codes = [np.uint16(column.index.coder.code(value)) for value in members.values]
                return sum(column.index.intervals.cost(code, code) for code in codes)
            case Conjunction(children=children):
                return min((cost for cost, _, _ in self._drivers(children)), default=self._n)
            case Disjunction(children=children):
                total = 0
                for child in children:
                    total += self._reach(child)
                    if total >= self._n:
                        break
                return min(total, self._n)
            case _:
                return self._n

    def _stretch(self, node: Atom | Within) -> Rows:
        index = node.column.index
        assert index is not None
        if isinstance(node, Atom):
            return self._box_rows(_Box(index, node if node.is_lower else None, None if node.is_lower else node))
        found = [
            self._box_rows(_Box(index, Atom(node.column, "<=", value), Atom(node.column, ">=", value)))
            for value in node.members.values
        ]
        return _union(found)

    def _box_rows(self, box: _Box) -> Rows:
        if box.lower_end is None or box.upper_end is None:
            [atom] = box.atoms()
            bound, code = (box.index.lo if atom.is_lower else box.index.hi), self._code(atom) or 0
            start, end = int(bound.offsets[code]), int(bound.offsets[code + 1])
            sure = bound.order[:start] if atom.is_lower else bound.order[end:]
            doubtful: Rows = bound.order[start:end]
        else:
            sure, doubtful = box.index.intervals.meeting(*self._box_codes(box))
        for atom in box.atoms():
            if len(doubtful):
                doubtful = doubtful[test_atom(atom, self._code(atom), doubtful, None)]
        return np.concatenate((sure, doubtful)) if len(doubtful) else sure

    # -- blocks

    def _is_clustered(self, node: Symbol) -> bool:
        """True when the layout of the slices follows a column of this node."""
        return self._traits_of(node)[0]

    def _holds_opaque(self, node: Symbol) -> bool:
        return self._traits_of(node)[1]

    def _traits_of(self, node: Symbol) -> tuple[bool, bool]:
        if node not in self._traits:
            match node:
                case Conjunction(children=children) | Disjunction(children=children):
                    below = [self._traits_of(child) for child in children]
                    self._traits[node] = any(clustered for clustered, _ in below), any(opaque for _, opaque in below)
                case Atom(column=column):
                    self._traits[node] = column.index is not None and column.index.clustered, False
                case _:
                    self._traits[node] = False, isinstance(node, OpaquePredicate)
        return self._traits[node]

    def _blocks(self, node: Symbol) -> Rows | Mask:
        size, everywhere = self._block_size(node), slice(0, self._n)
        allowed = True if size is None else self._test_blocks(node)
        if size is None or isinstance(allowed, bool) or np.count_nonzero(allowed) * 2 > len(allowed):
            return self._scan_all(node.children) if isinstance(node, Conjunction) else self.test(node, everywhere)
        edges = np.flatnonzero(np.diff(np.concatenate(([False], allowed, [False])).astype(np.int8)))
        starts, ends = edges[::2] * size, np.minimum(edges[1::2] * size, self._n)
        if len(starts) <= _MAX_RUNS:
            parts = [
                np.flatnonzero(self.test(node, slice(start, end))) + start
                for start, end in zip(starts.tolist(), ends.tolist(), strict=True)
            ]
            return np.concatenate(parts) if parts else np.zeros(0, np.int64)
        rows = (np.flatnonzero(allowed)[:, None] * size + np.arange(size)).ravel()
        rows = rows[rows < self._n]
        return rows[self.test(node, rows)]

    def _block_size(self, node: Symbol) -> int | None:
        """The one block size of all columns with an index, or None."""
        sizes, stack = set(), [node]
        while stack:
            match stack.pop():
                case Conjunction(children=children) | Disjunction(children=children):
                    stack.extend(children)
                case Atom(column=column) if column.index is not None:
                    sizes.add(column.index.zone_map.size)
                case _:
                    pass
        return sizes.pop() if len(sizes) == 1 else None

    def _test_blocks(self, node: Symbol) -> Mask | bool:
        """Whether any slice of a block can be TRUE: a block's bounds hold those of its slices."""
        match node:
            case Atom(column=column) if column.index is not None:
                code = np.uint16(self._code(node) or 0)
                mask: Mask = column.index.zone_map.lo <= code if node.is_lower else column.index.zone_map.hi >= code
                return mask
            case Conjunction(children=children):
                masks = [found for found in map(self._test_blocks, children) if not isinstance(found, bool)]
                return np.logical_and.reduce(masks) if masks else True
            case Disjunction(children=children):
                answers = [self._test_blocks(child) for child in children]
                known = [found for found in answers if not isinstance(found, bool)]
                return np.logical_or.reduce(known) if len(known) == len(answers) else True
            case _:
                return True

    # -- some slices

    def test(self, node: Symbol, where: Where) -> Mask:
        """Whether a node is TRUE in these slices, ``(k,) bool``."""
        match node:
            case Atom():
                whole = isinstance(where, slice) and where.stop - where.start == self._n
                return test_atom(node, self._code(node), where, self._masks.take() if whole else None)
            case Within():
                return test_within(node, where)
            case Apart():
                return test_apart(node, where)
            case Flag():
                return test_flag(node, where)
            case OpaquePredicate(leaf=leaf, sought=sought):
                return self._evaluate_opaque(leaf, sought, where)
            case Conjunction(children=children):
                return self._test_all(children, where)
            case Disjunction(children=children):
                return self._test_any(children, where)
            case _:
                raise TypeError(f"not a node of a formula: {node!r}")

    def _test_all(self, children: Sequence[Symbol], where: Where) -> Mask:
        size = _size(where)
        left: Rows | None = None
        for child in sorted(children, key=self._cost_order):
            if left is None:
                mask = self.test(child, where)
                left = np.flatnonzero(mask)
                if len(left) == size:
                    left = None
            else:
                left = left[self.test(child, rows_of(where, left))]
            if left is not None and not len(left):
                break
        if left is None:
            return np.ones(size, np.bool_)
        found: Mask = np.zeros(size, np.bool_)
        found[left] = True
        return found

    def _test_any(self, children: Sequence[Symbol], where: Where) -> Mask:
        found: Mask = np.zeros(_size(where), np.bool_)
        open_places = np.arange(len(found))
        for child in sorted(children, key=self._cost_order):
            holds = self.test(child, rows_of(where, open_places))
            found[open_places[holds]] = True
            open_places = open_places[~holds]
            if not len(open_places):
                break
        return found

    def _cost_order(self, node: Symbol) -> tuple[int, int]:
        """Cheap before dear, then selective before not."""
        match node:
            case Atom():
                return 0, self._count(node)
            case Flag():
                return 0, self._n
            case Conjunction() | Disjunction():
                return (2 if self._holds_opaque(node) else 1), self._reach(node)
            case OpaquePredicate():
                return 3, self._n
            case _:
                return 1, self._n


def _size(where: Where) -> int:
    return where.stop - where.start if isinstance(where, slice) else len(where)
