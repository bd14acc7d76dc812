"""Which nodes of a pruning formula follow the layout of the slices, and the zones in which they can be TRUE."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from evaluator.evaluation.pruning_formula import Atom, Conjunction, Disjunction, OpaquePredicate, Symbol

__all__ = ["Traits", "test_zones", "zone_size"]

Mask = npt.NDArray[np.bool_]


class Traits:
    """Two traits of the nodes of one formula, each found out once."""

    def __init__(self) -> None:
        self._known: dict[Symbol, tuple[bool, bool]] = {}

    def is_clustered(self, node: Symbol) -> bool:
        """True when the layout of the slices follows a column of this node."""
        return self._of(node)[0]

    def holds_opaque(self, node: Symbol) -> bool:
        """True when a part of this node is evaluated as a whole."""
        return self._of(node)[1]

    def _of(self, node: Symbol) -> tuple[bool, bool]:
        if node not in self._known:
            match node:
                case Conjunction(children=children) | Disjunction(children=children):
                    below = [self._of(child) for child in children]
                    self._known[node] = any(clustered for clustered, _ in below), any(opaque for _, opaque in below)
                case Atom(column=column):
                    self._known[node] = column.index is not None and column.index.clustered, False
                case _:
                    self._known[node] = False, isinstance(node, OpaquePredicate)
        return self._known[node]


def zone_size(node: Symbol) -> int | None:
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


def test_zones(node: Symbol, code_of: Callable[[Atom], int | None]) -> Mask | bool:
    """Whether any slice of a block can be TRUE: a block's bounds hold those of its slices."""
    match node:
        case Atom(column=column) if column.index is not None:
            code = np.uint16(code_of(node) or 0)
            mask: Mask = column.index.zone_map.lo <= code if node.is_lower else column.index.zone_map.hi >= code
            return mask
        case Conjunction(children=children):
            tested = [test_zones(child, code_of) for child in children]
            masks = [one for one in tested if not isinstance(one, bool)]
            return np.logical_and.reduce(masks) if masks else True
        case Disjunction(children=children):
            tested = [test_zones(child, code_of) for child in children]
            masks = [one for one in tested if not isinstance(one, bool)]
            return np.logical_or.reduce(masks) if len(masks) == len(tested) else True
        case _:
            return True
