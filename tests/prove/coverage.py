"""The coverage of the cases: counts by leaf form, operator, type, function, cast, semantics, outcome and fault.

``cases`` are (filter, slice) pairs with the feature in the filter; ``decided`` are those where a leaf with the feature
has an outcome other than unknown, and ``valued`` are rows for which the oracle has a value. A listed feature without a
case or without a value is a hole, and a hole fails the run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from evaluator.evaluation.evaluate import Evaluation
from evaluator.functions import FUNCTIONS
from evaluator.language import expression as ex
from evaluator.language import outcome
from evaluator.language.construction import condition_of_truth
from tests.prove.grammar import OPERATORS
from tests.prove.operand_grammar import CAST_TARGETS
from tests.prove.values import TYPES
from tests.prove.writers import FAULTS

__all__ = ["Coverage", "listed"]

FORMS = (
    "column op constant",
    "constant op column",
    "column op column",
    "column op NULL",
    "boolean column",
    "function op constant",
    "function op column",
    "constant op constant",
    "opaque value",
    "IN",
    "IN with NULL",
    "IN with 100 members",
    "IN with neighbours",
    "key set",
    "IS NULL",
    "IS NULL of a function",
    "LIKE",
    "LIKE with escape",
    "ILIKE",
    "try_cast",
    "TRUE FALSE NULL",
    "unknown condition",
    "AND",
    "OR",
    "NOT",
    "NOT IN",
    "conditions on one column",
    "condition as a value",
    "more than 100 levels",
    "struct field",
    "declared as another type",
    "IF",
)
OUTCOMES = tuple(outcome.describe(o) for o in range(1, 8))


def listed(semantics: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Every feature that must have cases, by group."""
    return {
        "form": FORMS,
        "operator": OPERATORS,
        "type": tuple(dict.fromkeys(map(str, TYPES.values()))),
        "function": tuple(FUNCTIONS),
        "cast to": tuple(map(str, CAST_TARGETS)),
        "semantics": tuple(semantics),
        "outcome": OUTCOMES,
        "row's value": OUTCOMES[:2] + OUTCOMES[3:4],
        "writer": FAULTS,
    }


def _neighbours(members: Sequence[ex.Operand]) -> set[int]:
    """The integers of a list whose next one is in the list, too."""
    values = {m.value for m in members if isinstance(m, ex.Literal) and type(m.value) is int}
    return {value for value in values if value + 1 in values}


@dataclass
class Coverage:
    """Counts by (group, feature)."""

    cases: Counter[tuple[str, str]] = field(default_factory=Counter)
    decided: Counter[tuple[str, str]] = field(default_factory=Counter)
    valued: Counter[tuple[str, str]] = field(default_factory=Counter)

    def add(self, expression: ex.HudiExpression, semantics: str, n: int, values: outcome.Outcomes) -> None:
        """Count one filter over n slices, and the values of the rows."""
        valued = int(np.count_nonzero(values))
        for feature in {*features_of(expression), ("semantics", semantics)}:
            self.cases[feature] += n
            self.valued[feature] += valued
        for bit in (outcome.TRUE, outcome.FALSE, outcome.NULL):
            self.cases["row's value", outcome.describe(bit)] += int(np.count_nonzero(values & bit))

    def add_answers(self, evaluation: Evaluation) -> None:
        """Count the leaves' and the filter's outcomes."""
        for leaf, answer in zip(evaluation.bound.leaves, evaluation.leaves, strict=True):
            decided = int(np.count_nonzero(answer.outcomes != outcome.UNKNOWN))
            for feature in set(features_of(leaf.node)):
                self.decided[feature] += decided
        for outcome_set, count in zip(*np.unique(evaluation.outcomes, return_counts=True), strict=True):
            self.cases["outcome", outcome.describe(int(outcome_set))] += int(count)

    def merge(self, other: Coverage) -> None:
        self.cases += other.cases
        self.decided += other.decided
        self.valued += other.valued

    def holes(self, wanted: dict[str, tuple[str, ...]]) -> list[str]:
        """Listed features without a case, and functions and types of which nothing was ever decided."""
        missing = [
            f"{group}: {name}" for group, names in wanted.items() for name in names if not self.cases[group, name]
        ]
        for group in ("form", "function", "cast to", "type", "operator"):
            for name in wanted[group]:
                if not self.valued[group, name]:
                    missing.append(f"no row has a value: {group} {name}")
                if not self.decided[group, name] and group != "form":
                    missing.append(f"never decided: {group} {name}")
        return missing


def features_of(expression: ex.HudiExpression) -> Iterator[tuple[str, str]]:
    """(group, feature) of everything in a filter; some more than once."""
    depth = 0
    for node in ex.walk(expression):
        depth += isinstance(node, ex.And | ex.Or | ex.Not)
        yield from _of_node(node)
    if depth > 100:
        yield "form", "more than 100 levels"


def _of_node(node: ex.Node) -> Iterator[tuple[str, str]]:
    match node:
        case ex.And() | ex.Or():
            yield "form", type(node).__name__.upper()
            columns = [ex.column_names(child) for child in node.children]
            if len(columns) > 1 and len(set(columns)) == 1 and len(columns[0]) == 1:
                yield "form", "conditions on one column"
        case ex.Not(child=child):
            yield "form", "NOT IN" if isinstance(child, ex.In | ex.InKeys) else "NOT"
        case ex.Compare(op=op, left=left, right=right):
            yield "operator", op
            yield "form", _form(left, right)
        case ex.In(members=members):
            yield "form", "IN"
            if any(isinstance(m, ex.Literal) and m.value is None for m in members):
                yield "form", "IN with NULL"
            if len(members) >= 100:
                yield "form", "IN with 100 members"
            if len(_neighbours(members)) > 2:
                yield "form", "IN with neighbours"
        case ex.InKeys():
            yield "form", "key set"
        case ex.IsNull(operand=operand):
            yield "form", "IS NULL" if isinstance(operand, ex.Column) else "IS NULL of a function"
        case ex.Like(operand=operand, pattern=pattern, escape=escape):
            in_any_case = isinstance(operand, ex.Call)
            yield "form", "ILIKE" if in_any_case else "LIKE with escape" if escape in pattern else "LIKE"
        case ex.Constant():
            yield "form", "TRUE FALSE NULL"
        case ex.Unknown():
            yield "form", "unknown condition"
        case ex.Column(type=declared):
            column_type = TYPES[node.name.lower()]
            yield "type", str(column_type)
            if declared not in (None, column_type):
                yield "form", "declared as another type"
            if "." in node.name:
                yield "form", "struct field"
        case ex.Cast(type=to):
            yield "cast to", str(to)
        case ex.Call(function="try_cast"):
            yield "form", "try_cast"
        case ex.Call(function=name):
            yield "function", name
        case ex.If():
            yield "form", "IF" if condition_of_truth(node) is None else "condition as a value"
        case _:
            pass


def _form(left: ex.Operand, right: ex.Operand) -> str:
    kinds = [_kind(side) for side in (left, right)]
    if "opaque" in kinds:
        return "opaque value"
    if "NULL" in kinds:
        return "column op NULL"
    if "function" in kinds:
        return "function op constant" if "constant" in kinds else "function op column"
    if kinds == ["column", "constant"] and isinstance(right, ex.Literal) and right.value is True:
        return "boolean column"
    return " op ".join(kinds)


def _kind(operand: ex.Operand) -> str:
    match operand:
        case ex.Literal(value=value):
            return "NULL" if value is None else "constant"
        case ex.Column():
            return "column"
        case ex.Opaque():
            return "opaque"
        case _:
            return "function"
