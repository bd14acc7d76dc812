"""The search of a pruning formula: in which of many slices it is TRUE, without a look at most of them.

A formula is evaluated in one of three ways. All of them compare the same single bounds
(``evaluation.pruning_formula``), and the one that compares the fewest is taken:

    interval look-up   an AND that bounds one column from both sides, or selectively from one, takes its slices from the
                       column's interval index; its other children are tested in those slices only
    zone map           where the layout follows a column, zones of 1,024 slices are tested first, and then the slices of
                       the zones that are left
    scan               the codes (or values) of all slices are compared, the most selective child of an AND first; once
                       fewer than one in 32 slices is left, the other children are tested in those only

Without a search index (``evaluator.statistics.indexing``) a formula is a scan of the bounds themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.binding.truth_values import TruthValue
from evaluator.evaluation.formula_zones import Traits, test_zones, zone_size
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
from evaluator.evaluation.row_order import ascending
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
        selected = _Search(n, evaluate_opaque, masks).select(formula)
        return nonzero(selected) if selected.dtype == np.bool_ else ascending(selected).astype(np.int64)


def _union(parts: Sequence[Rows]) -> Rows:
    """All rows that occur, each once, ascending."""
    rows = ascending(np.concatenate(parts)) if parts else np.zeros(0, np.int32)
    return rows[np.concatenate(([True], rows[1:] != rows[:-1]))] if len(rows) else rows


@dataclass(slots=True)
class _BoundPair:
    """The most selective lower and upper test of an AND on one column that has an index."""

    index: ColumnIndex
    upper_end: Atom | None = None
    lower_end: Atom | None = None

    def atoms(self) -> list[Atom]:
        return [atom for atom in (self.upper_end, self.lower_end) if atom is not None]


class _Search:
    """One search; the code of each constant is computed once."""

    def __init__(self, n: int, evaluate_opaque: EvaluateOpaque, masks: Masks) -> None:
        self._n = n
        self._masks = masks
        self._evaluate_opaque = evaluate_opaque
        self._codes: dict[Atom, int | None] = {}
        self._costs: dict[Symbol, int] = {}
        self._traits = Traits()

    # -- all slices: a result is a mask over all of them, or the rows that are TRUE in any order

    def select(self, node: Symbol) -> Rows | Mask:
        match node:
            case Conjunction(children=children):
                return self._select_all(node, children)
            case Disjunction(children=children):
                return self._select_any(children)
            case Atom() | Within() if self._look_up_cost(node) * _SPARSE <= self._n:
                return self._look_up(node)
            case _:
                return self._by_zones(node) if self._traits.is_clustered(node) else self.test(node, slice(0, self._n))

    def _select_all(self, node: Conjunction, children: Sequence[Symbol]) -> Rows | Mask:
        drivers = self._drivers(children)
        cost, driver, used = min(drivers, key=lambda candidate: candidate[0], default=(self._n, None, ()))
        if driver is not None and cost * _SPARSE <= self._n:
            rows = self._rows_of_pair(driver) if isinstance(driver, _BoundPair) else self._as_rows(self.select(driver))
            others = [child for child in children if all(child is not atom for atom in used)]
            return rows[self._test_all(others, rows)] if others else rows
        if self._traits.is_clustered(node):
            return self._by_zones(node)
        return self._scan_all(children)

    def _scan_all(self, children: Sequence[Symbol]) -> Rows | Mask:
        everywhere = slice(0, self._n)
        ordered = sorted(children, key=self._cost_order)
        mask: Mask | None = None
        for position, child in enumerate(ordered):
            of_child = (
                self._as_mask(self.select(child)) if isinstance(child, Disjunction) else self.test(child, everywhere)
            )
            if mask is None:
                mask = of_child
            else:
                np.logical_and(mask, of_child, out=mask)
                self._masks.give_back(of_child)
            left = ordered[position + 1 :]
            is_dense = position == 0 and isinstance(child, Atom) and self._count(child) * _SPARSE > self._n
            if left and not is_dense and np.count_nonzero(mask) * _SPARSE <= self._n:
                rows = nonzero(mask)
                return rows[self._test_all(left, rows)]
        assert mask is not None
        return mask

    def _select_any(self, children: Sequence[Symbol]) -> Rows | Mask:
        mask: Mask | None = None
        row_lists: list[Rows] = []
        for child in sorted(children, key=self._cost_order):
            if isinstance(child, OpaquePredicate) and mask is not None:
                open_rows = np.flatnonzero(~self._merge(mask, row_lists))
                row_lists = [open_rows[self.test(child, open_rows)]]
                continue
            selected = self.select(child)
            if selected.dtype != np.bool_:
                row_lists.append(selected)
            elif mask is None:
                mask = selected
            else:
                np.logical_or(mask, selected, out=mask)
                self._masks.give_back(selected)
        if mask is None and sum(map(len, row_lists)) * _SPARSE <= self._n:
            return _union(row_lists)
        return self._merge(np.zeros(self._n, np.bool_) if mask is None else mask, row_lists)

    @staticmethod
    def _merge(mask: Mask, row_lists: Sequence[Rows]) -> Mask:
        for rows in row_lists:
            mask[rows] = True
        return mask

    def _as_rows(self, selected: Rows | Mask) -> Rows:
        return nonzero(selected) if selected.dtype == np.bool_ else selected

    def _as_mask(self, selected: Rows | Mask) -> Mask:
        return selected if selected.dtype == np.bool_ else self._merge(np.zeros(self._n, np.bool_), [selected])

    # -- interval look-ups

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

    def _bound_pairs(self, children: Sequence[Symbol]) -> list[_BoundPair]:
        pairs: dict[int, _BoundPair] = {}
        for child in children:
            if isinstance(child, Atom) and child.column.index is not None:
                pair = pairs.setdefault(id(child.column), _BoundPair(child.column.index))
                best = pair.upper_end if child.is_lower else pair.lower_end
                if best is None or self._count(child) < self._count(best):
                    if child.is_lower:
                        pair.upper_end = child
                    else:
                        pair.lower_end = child
        return list(pairs.values())

    def _codes_of_pair(self, pair: _BoundPair) -> tuple[np.uint16, np.uint16]:
        lowest = BELOW if pair.lower_end is None else np.uint16(self._code(pair.lower_end) or 0)
        highest = ABOVE if pair.upper_end is None else np.uint16(self._code(pair.upper_end) or 0)
        return lowest, highest

    def _drivers(self, children: Sequence[Symbol]) -> list[tuple[int, _BoundPair | Symbol, Sequence[Symbol]]]:
        """What an AND could begin with: (slices to compare, where they come from, the children that this settles)."""
        drivers: list[tuple[int, _BoundPair | Symbol, Sequence[Symbol]]] = [
            (self._cost_of_pair(pair), pair, pair.atoms()) for pair in self._bound_pairs(children)
        ]
        drivers += [
            (self._look_up_cost(child), child, (child,))
            for child in children
            if isinstance(child, Disjunction | Within)
        ]
        return drivers

    def _cost_of_pair(self, pair: _BoundPair) -> int:
        if pair.lower_end is not None and pair.upper_end is not None:
            return pair.index.intervals.cost(*self._codes_of_pair(pair))
        return min(self._count(atom) for atom in pair.atoms())

    def _look_up_cost(self, node: Symbol) -> int:
        """How many slices are compared when a node is answered from stretches; all, if it cannot be."""
        if node not in self._costs:
            self._costs[node] = self._look_up_cost_of(node)
        return self._costs[node]

    def _look_up_cost_of(self, node: Symbol) -> int:
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
                    total += self._look_up_cost(child)
                    if total >= self._n:
                        break
                return min(total, self._n)
            case _:
                return self._n

    def _look_up(self, node: Atom | Within) -> Rows:
        index = node.column.index
        assert index is not None
        if isinstance(node, Atom):
            return self._rows_of_pair(
                _BoundPair(index, node if node.is_lower else None, None if node.is_lower else node)
            )
        rows_of_members = [
            self._rows_of_pair(_BoundPair(index, Atom(node.column, "<=", value), Atom(node.column, ">=", value)))
            for value in node.members.values
        ]
        return _union(rows_of_members)

    def _rows_of_pair(self, pair: _BoundPair) -> Rows:
        if pair.lower_end is None or pair.upper_end is None:
            [atom] = pair.atoms()
            bound, code = (pair.index.lo if atom.is_lower else pair.index.hi), self._code(atom) or 0
            start, end = int(bound.offsets[code]), int(bound.offsets[code + 1])
            sure = bound.order[:start] if atom.is_lower else bound.order[end:]
            doubtful: Rows = bound.order[start:end]
        else:
            sure, doubtful = pair.index.intervals.meeting(*self._codes_of_pair(pair))
        for atom in pair.atoms():
            if len(doubtful):
                doubtful = doubtful[test_atom(atom, self._code(atom), doubtful, None)]
        return np.concatenate((sure, doubtful)) if len(doubtful) else sure

    # -- zone maps

    def _by_zones(self, node: Symbol) -> Rows | Mask:
        size, everywhere = zone_size(node), slice(0, self._n)
        allowed = True if size is None else test_zones(node, self._code)
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

    # -- some slices

    def test(self, node: Symbol, where: Where) -> Mask:
        """Whether a node is TRUE in these slices, ``(k,) bool``."""
        match node:
            case Atom():
                return test_atom(node, self._code(node), where, self._masks.take() if self._is_whole(where) else None)
            case Within():
                return test_within(node, where, self._masks.take() if self._is_whole(where) else None)
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

    def _is_whole(self, where: Where) -> bool:
        return isinstance(where, slice) and where.stop - where.start == self._n

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
        mask = np.zeros(size, np.bool_)
        mask[left] = True
        return mask

    def _test_any(self, children: Sequence[Symbol], where: Where) -> Mask:
        mask: Mask = np.zeros(_size(where), np.bool_)
        open_positions = np.arange(len(mask))
        for child in sorted(children, key=self._cost_order):
            holds = self.test(child, rows_of(where, open_positions))
            mask[open_positions[holds]] = True
            open_positions = open_positions[~holds]
            if not len(open_positions):
                break
        return mask

    def _cost_order(self, node: Symbol) -> tuple[int, int]:
        """Cheap before dear, then selective before not."""
        match node:
            case Atom():
                return 0, self._count(node)
            case Flag():
                return 0, self._n
            case Conjunction() | Disjunction():
                return (2 if self._traits.holds_opaque(node) else 1), self._look_up_cost(node)
            case OpaquePredicate():
                return 3, self._n
            case _:
                return 1, self._n


def _size(where: Where) -> int:
    return where.stop - where.start if isinstance(where, slice) else len(where)
