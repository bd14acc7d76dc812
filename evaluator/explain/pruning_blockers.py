"""Pruning blockers: why not more slices were skipped, by condition and cause, and how many each cause alone keeps.

    i = 100 OR u = 7, 12 of 14 slices kept

    condition  cause          reason                                        open   alone   beside
    ---------  -------------  --------------------------------------------  -----  ------  -------
    u = 7      no statistics  no statistics of column u                     12     9       i = 100
    i = 100    range          in a typical slice i covers 62 % of its ...   3      0       u = 7

*open* counts the kept slices in which the condition may hold or not for this cause. *alone* counts those of them that
would be skipped if the condition were impossible there and all else stayed as it is: the most that a repair of this one
cause can gain. What does gain something is not known from statistics: ``handler.advise.remedies`` asks the data. It is
computed from the outcomes of the evaluation, by one rule for each node of the tree:

    the node cannot be what is sought when ...        so a child alone decides where ...
    ------------------------------------------------  ---------------------------------------------
    any child cannot    (AND; OR under NOT)           its parent decides
    no child can        (OR; AND under NOT)           its parent decides, and no other child can be
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field

import numpy as np
import numpy.typing as npt

from evaluator.binding.bound_expression import BoundExpression
from evaluator.binding.leaves import Comparison, Membership, NullTest, Prefix, Test
from evaluator.binding.truth_values import TruthValue
from evaluator.evaluation.evaluate import Evaluation, StatisticsProvider
from evaluator.explain.hidden_errors import intervals_in, remedy_of_errors
from evaluator.explain.open_constants import open_constants
from evaluator.explain.reasons import undecided_functions
from evaluator.explain.source_filter import SourceFilter, SourceLeaf, source_filter
from evaluator.language.records import frozen
from evaluator.language.schema import Schema
from evaluator.language.value_texts import cut
from evaluator.statistics.columns import UNKNOWN_COUNT
from evaluator.statistics.distrust import Trust, reason
from evaluator.statistics.range_width import typical_range_width

__all__ = ["PruningBlocker", "pruning_blockers"]

Mask = npt.NDArray[np.bool_]
Rows = npt.NDArray[np.int64]

#: Bytes that the tree of one chunk of slices may take.
CHUNK_BYTES = 64 << 20
#: Slices that are inspected one by one.
SAMPLED = 64
#: Slices whose ranges are measured.
MEASURED = 4096


@frozen
class PruningBlocker:
    """One cause for which one condition does not rule out more.

    cause     "no statistics", "not trusted", "not decided", "nulls" or "range"
    open      number of kept slices in which the condition is open for this cause
    alone     how many of them would be skipped if the condition were impossible there, all else as it is
    beside    conditions beside it under OR: what they rule out, this one may keep
    remedy    what would help: a literal to write, or what a what-if on the data has confirmed; "" for nothing known
    """

    condition: str
    columns: tuple[str, ...]
    _: KW_ONLY
    cause: str
    reason: str
    open: int
    alone: int
    beside: tuple[str, ...]
    remedy: str

    @property
    def sentence(self) -> str:
        """For people: the condition, the reason, and what mending it could gain."""
        what = self.reason if self.condition == f"?({self.reason})" else f"{self.condition}: {self.reason}"
        if not self.alone:
            others = f"; {' and '.join(self.beside)}, beside it under OR, would still keep them" if self.beside else ""
            return f"{what}, in {_slices(self.open)} of those kept{others}"
        if self.remedy or self.cause == "not decided":
            mended = f"with {self.remedy}" if self.remedy else "were it decided"
            return f"{what}; {mended}, up to {_slices(self.alone, 'more ')} could be skipped"
        return f"{what}; it alone keeps {_slices(self.alone)}"

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON."""
        return {
            "condition": self.condition,
            "columns": list(self.columns),
            "cause": self.cause,
            "reason": self.reason,
            "open": self.open,
            "alone": self.alone,
            "beside": list(self.beside),
            "remedy": self.remedy,
        }


def _slices(count: int, more: str = "") -> str:
    return f"{count} {more}file slice{'' if count == 1 else 's'}"


@dataclass(slots=True)
class _Tally:
    """What is counted for one condition and cause, and some of the slices."""

    open: int = 0
    alone: int = 0
    rows: list[Rows] = field(default_factory=list)

    def add(self, rows: Rows, alone: Mask, wanted: int) -> None:
        self.open += len(rows)
        self.alone += int(np.count_nonzero(alone))
        if len(rows) and wanted:
            self.rows.append(rows[np.unique(np.linspace(0, len(rows) - 1, min(wanted, len(rows))).astype(np.intp))])


_Cause = tuple[str, str, str]  # cause, column, reason


def pruning_blockers(
    evaluation: Evaluation,
    sources: Sequence[StatisticsProvider],
    schema: Schema | None = None,
) -> tuple[PruningBlocker, ...]:
    """All pruning blockers of a filter, those first that keep most by themselves.

    ``schema``: of the table, for the form of literals to write.
    """
    bound = evaluation.bound
    source = source_filter(bound)
    tree = _Tree(source)
    rows = evaluation.kept_rows.astype(np.int64)
    size = max(CHUNK_BYTES // max(len(source.program.steps), 1), 1024)
    tallies: dict[tuple[int, _Cause], _Tally] = defaultdict(_Tally)
    for start in range(0, len(rows), size):
        chunk = rows[start : start + size]
        wanted = -(-MEASURED * len(chunk) // len(rows))
        for number, is_open, alone in tree.undecided(evaluation, chunk):
            for cause, mask in _causes(bound, sources, source.leaves[number], chunk, is_open):
                tallies[number, cause].add(chunk[mask], alone[mask], wanted)
    beside = tree.beside()
    blockers = [
        _blocker(bound, sources, schema, source.leaves[number], cause, tally, beside[number])
        for (number, cause), tally in tallies.items()
        if tally.open
    ]
    return tuple(sorted(blockers, key=lambda blocker: (-blocker.alone, -blocker.open, blocker.cause == "range")))


@dataclass(slots=True, eq=False)
class _Node:
    """A node of the tree: a condition, or a node that joins others.

    needs_all    the node is what is sought only when all of its children are
    """

    position: int
    leaf: int | None = None
    children: tuple[_Node, ...] = ()
    needs_all: bool = True


class _Tree:
    """The tree over the source conditions without NOT, by what is sought of each; every child before its parent."""

    def __init__(self, source: SourceFilter) -> None:
        self._source = source
        self._nodes: list[_Node] = []
        source.program.fold_sought(
            leaf=lambda index, _: self._added(_Node(len(self._nodes), index)),
            conjoin=lambda children: self._added(_Node(len(self._nodes), None, tuple(children))),
            disjoin=lambda children: self._added(
                _Node(len(self._nodes), None, tuple(children), needs_all=len(children) == 1)
            ),
        )

    def _added(self, node: _Node) -> _Node:
        self._nodes.append(node)
        return node

    def undecided(self, evaluation: Evaluation, rows: Rows) -> Iterator[tuple[int, Mask, Mask]]:
        """(number, open, alone) of each condition: where it is open, and where it alone lets the filter be TRUE."""
        possible: list[Mask] = []
        is_open: dict[int, Mask] = {}
        for node in self._nodes:
            if node.leaf is not None:
                leaf = self._source.leaves[node.leaf]
                outcomes = leaf.outcomes(evaluation, rows)
                possible.append((outcomes & leaf.sought.bit) != 0)
                is_open[node.leaf] = possible[-1] & (outcomes != leaf.sought.bit)
            else:
                combine = np.logical_and if node.needs_all else np.logical_or
                parts = [possible[child.position] for child in node.children]
                neutral = np.full(len(rows), node.needs_all)
                possible.append(combine.reduce(parts) if parts else neutral)
        alone: dict[int, Mask] = {len(self._nodes) - 1: np.ones(len(rows), np.bool_)}
        for node in reversed(self._nodes):
            decides = alone.pop(node.position)
            if node.leaf is not None:
                yield node.leaf, is_open[node.leaf], decides & is_open[node.leaf]
            elif node.needs_all:
                alone.update((child.position, decides) for child in node.children)
            else:
                count = np.sum([possible[child.position] for child in node.children], axis=0, dtype=np.int32)
                alone.update((child.position, decides & (count == possible[child.position])) for child in node.children)

    def beside(self) -> dict[int, tuple[str, ...]]:
        """For each condition those beside it under the nearest OR above it: one for each of its siblings there."""
        beside: dict[int, tuple[str, ...]] = {}
        above: dict[int, tuple[str, ...]] = {len(self._nodes) - 1: ()}
        for node in reversed(self._nodes):
            texts = above.pop(node.position)
            if node.leaf is not None:
                beside[node.leaf] = texts
            for child in node.children:
                others = [other for other in node.children if other is not child][:3]
                above[child.position] = texts if node.needs_all else tuple(map(self._text, others))
        return beside

    def _text(self, node: _Node) -> str:
        """The first condition of a node, and a mark if there are more."""
        more = ""
        while node.children:
            more = " …" if len(node.children) > 1 else more
            node = node.children[0]
        return "" if node.leaf is None else cut(self._source.leaves[node.leaf].text) + more


def _causes(
    bound: BoundExpression,
    sources: Sequence[StatisticsProvider],
    leaf: SourceLeaf,
    rows: Rows,
    is_open: Mask,
) -> Iterator[tuple[_Cause, Mask]]:
    """Why a condition is open, as disjoint masks over the rows."""
    condition = bound.leaves[leaf.bound[0]]
    if condition.reason is not None:
        yield ("not decided", "", condition.reason), is_open
        return
    rest = is_open.copy()
    for column in condition.columns:
        by_provider = [source.statistics[column] for source in sources if column in source.statistics]
        if not by_provider:
            yield ("no statistics", column, f"no statistics of column {column}"), rest
            return
        if isinstance(condition.test, NullTest):
            has = [s.null_count[rows] != UNKNOWN_COUNT for s in by_provider]
        else:
            has = [s.lo_known[rows] | s.hi_known[rows] | ~_at(s.may_be_value, rows) for s in by_provider]
        lacking = rest & ~np.logical_or.reduce(has)
        rest &= ~lacking
        best = np.minimum.reduce([s.trust[rows] for s in by_provider])
        for code in np.flatnonzero(np.bincount(best[lacking])).tolist():  # each once
            why = reason(Trust(code)) if code else f"the {_wanted(condition.test)} are not known"
            cause = "no statistics" if code in (Trust.OK, Trust.NO_RECORD, Trust.NO_BOUNDS) else "not trusted"
            named = why if len(condition.columns) == 1 else f"{column}: {why}"
            yield (cause, column, named), lacking & (best == code)
    if isinstance(condition.test, NullTest):
        yield ("nulls", condition.columns[0], f"{condition.columns[0]} holds NULL beside values, or may"), rest
    else:
        yield ("range", ", ".join(condition.columns), ""), rest


def _wanted(test: object) -> str:
    return "null counts" if isinstance(test, NullTest) else "bounds"


def _at(flags: object, rows: Rows) -> Mask:
    """Flags that may be one for all slices."""
    mask: Mask = flags[rows] if isinstance(flags, np.ndarray) else np.full(len(rows), bool(flags))
    return mask


def _blocker(
    bound: BoundExpression,
    sources: Sequence[StatisticsProvider],
    schema: Schema | None,
    leaf: SourceLeaf,
    cause: _Cause,
    tally: _Tally,
    beside: tuple[str, ...],
) -> PruningBlocker:
    kind, _, why = cause
    remedy = ""
    if kind in ("range", "not decided"):
        constants = open_constants(leaf.node, schema, bound.semantics)
        remedies = [constant.remedy for constant in constants if constant.remedy]
        rows = np.concatenate(tally.rows)
        sample = rows[np.unique(np.linspace(0, len(rows) - 1, min(SAMPLED, len(rows))).astype(np.intp))].tolist()
        known = schema or Schema(bound.columns)
        remedies.append(remedy_of_errors(leaf.node, leaf.sought, known, bound.semantics, sources, sample))
        remedy = "; ".join(filter(None, remedies))
        if kind == "range":
            kind, why = (
                ("not decided", "; ".join(constant.why for constant in constants))
                if constants
                else _of_range(bound, sources, leaf, rows, sample)
            )
    return PruningBlocker(
        leaf.text,
        bound.leaves[leaf.bound[0]].columns,
        cause=kind,
        reason=why,
        open=tally.open,
        alone=tally.alone,
        beside=beside,
        remedy=remedy,
    )


def _of_range(
    bound: BoundExpression, sources: Sequence[StatisticsProvider], leaf: SourceLeaf, rows: Rows, sample: Sequence[int]
) -> tuple[str, str]:
    """(cause, reason) of a condition whose bounds are known: a function without a range, or a wide range."""
    condition = bound.leaves[leaf.bound[0]]
    undecided = [
        functions[0]
        for row in sample
        if (functions := undecided_functions(condition.test, intervals_in(row, condition.columns, sources)))
    ]
    if len(undecided) * 2 > len(sample):
        return "not decided", f"{undecided[0]} is not decided on the bounds of most slices"
    if len(condition.columns) != 1:
        return "range", f"the ranges of {' and '.join(condition.columns)} overlap"
    column = condition.columns[0]
    width = typical_range_width([s.statistics[column] for s in sources if column in s.statistics], rows)
    if width is None:
        return "range", "its bounds allow a matching row"
    if width and _needs_one_value(condition.test, leaf.sought):
        return "range", f"a slice with more than one value of {column} may hold a match"
    share = "less than 1 %" if 0 < width < 0.01 else f"{width:.0%}".replace("%", " %")
    return "range", f"in a typical slice {column} covers {share} of its range in the table"


def _needs_one_value(test: Test, sought: TruthValue) -> bool:
    """Whether bounds rule the test out only where they are one value, as for ``<>`` and LIKE '%x'."""
    match test:
        case Comparison(op=op):
            return op == "!=" if sought is TruthValue.TRUE else op in ("=", "<=>")
        case Membership():
            return sought is TruthValue.FALSE
        case Prefix(prefix=prefix, exact=exact):
            return not prefix.value if sought is TruthValue.TRUE else not exact
        case _:
            return False
