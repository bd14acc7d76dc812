"""Random small tables for filters from outside, and the check of a filter against the row-by-row oracle.

The tables are those of ``tests.prove``: rows, file slices, and the statistics that writers with all their known faults
keep of them.
"""

from __future__ import annotations

import functools
import random
import zlib
from dataclasses import replace
from typing import Any

import numpy as np

from evaluator.binding.bind import bind
from evaluator.evaluation.evaluate import evaluate
from evaluator.language import expression as ex
from evaluator.language.expression import HudiExpression
from tests.evaluator.evaluation_values import all_answers
from tests.fuzz.fuzzer import Fault
from tests.prove.laws import check
from tests.prove.rounds import SEMANTICS
from tests.prove.shrink import described
from tests.prove.table import Table
from tests.prove.values import SCHEMA, TYPES

__all__ = ["check_filter"]

TABLES = 6
#: Larger filters are bound and evaluated; the oracle is asked about smaller ones only.
_MAX_NODES_FOR_ROWS = 400
#: The evaluation of larger filters may reach its budget in one way of asking and not in another. All ways are sound.
_MAX_NODES_IN_BUDGET = 60
#: Of so many filters one is also asked for reasons, residuals, pruning blockers and orders.
_EXPLAINED = 6
_NAMES = tuple(TYPES)


@functools.cache
def _table(seed: int) -> Table:
    return Table.drawn(random.Random(seed))


def check_filter(expression: HudiExpression, drawn_from: bytes, engine: str = "") -> None:
    """Bind and evaluate a filter; as far as its columns are the table's, hold every outcome against the rows.

    Table, session and time zone follow from ``drawn_from``. Raises Fault for an outcome that lacks a row's value.
    """
    number = zlib.crc32(drawn_from)
    rng = random.Random(number)
    table = _table(number % TABLES)
    semantics = SEMANTICS[rng.choice([name for name in SEMANTICS if name.startswith(f"{engine}," if engine else "")])]
    bound = bind(expression, SCHEMA, semantics)
    evaluation = evaluate(bound, len(table.holds), table.sources)
    evaluation.outcomes  # noqa: B018
    nodes = sum(1 for _ in ex.walk(expression))
    if nodes > _MAX_NODES_FOR_ROWS:
        return
    if number % _EXPLAINED == 0:
        rows = np.array(sorted(rng.sample(range(len(table.holds)), 4)), np.int64)
        all_answers(bound, evaluation, table.sources, rows, SCHEMA)
    renamed = in_columns(expression, rng)
    failures = check(renamed, semantics, table, rng).failures
    if nodes > _MAX_NODES_IN_BUDGET:
        failures = tuple(failure for failure in failures if failure.law == "sound")
    if failures:
        raise Fault(f"{failures[0].law}: {described(failures[0], table)}")


def in_columns(expression: HudiExpression, rng: random.Random) -> HudiExpression:
    """The filter with each column that the tables lack under the name of one that they have."""
    names: dict[str, tuple[str, ...]] = {}

    def visit(node: ex.Node, children: list[ex.Node]) -> ex.Node:
        match node:
            case ex.Column() if SCHEMA.resolve(node.name, case_sensitive=False) is None:
                return ex.Column(names.setdefault(node.name, tuple(rng.choice(_NAMES).split("."))))
            case ex.Column():
                return ex.Column(node.path)
            case _:
                return _with_children(node, children)

    return ex.fold(expression, visit)  # type: ignore[return-value]


def _with_children(node: ex.Node, children: list[Any]) -> ex.Node:
    match node:
        case ex.And() | ex.Or():
            return replace(node, children=tuple(children))
        case ex.Not():
            return ex.Not(children[0])
        case ex.Compare(op=op):
            return ex.Compare(op, *children)
        case ex.In():
            return ex.In(children[0], tuple(children[1:]))
        case ex.IsNull() | ex.Like() | ex.Cast():
            return replace(node, operand=children[0])
        case ex.Call():
            return replace(node, arguments=tuple(children))
        case ex.If():
            return ex.If(*children, node.type)
        case _:
            return node
