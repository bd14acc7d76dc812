"""Shrinks a failure to the smallest filter that still fails on one slice, and describes it as text."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from evaluator.language import expression as ex
from evaluator.language import outcome
from tests.prove.laws import Failure, check
from tests.prove.oracle import closed, rows_outcomes
from tests.prove.table import Table
from tests.prove.values import SCHEMA

__all__ = ["described", "smallest"]


def smallest(failure: Failure, table: Table) -> Failure:
    """Take children out of the tree as long as some slice still breaks the same law."""
    current = failure
    shrunk = True
    while shrunk:
        shrunk = False
        for candidate in _smaller(current.expression):
            failure_again = _again(candidate, current, table)
            if failure_again is not None:
                current, shrunk = failure_again, True
                break
    return current


def _again(expression: ex.HudiExpression, failure: Failure, table: Table) -> Failure | None:
    for seed in range(16):  # the laws take turns, and the choices that close a filter are drawn
        failures = check(expression, failure.semantics, table, random.Random(seed)).failures
        same = next((other for other in failures if other.law == failure.law), None)
        if same is not None:
            return same
    return None


def _smaller(expression: ex.HudiExpression) -> Iterator[ex.HudiExpression]:
    """Trees with one node less: a child in the place of its parent, or one member left out."""
    match expression:
        case ex.Not(child=child):
            yield child
            for inner in _smaller(child):
                yield ex.Not(inner)
        case ex.And(children=children) | ex.Or(children=children):
            yield from children
            for place, child in enumerate(children):
                if len(children) > 1:
                    yield replace(expression, children=children[:place] + children[place + 1 :])
                for inner in _smaller(child):
                    yield replace(expression, children=(*children[:place], inner, *children[place + 1 :]))
        case ex.In(members=members) if len(members) > 1:
            for place in range(len(members)):
                yield replace(expression, members=members[:place] + members[place + 1 :])
        case _:
            pass


def described(failure: Failure, table: Table) -> str:
    """The failure as text that can be turned into a test: filter, session, a row, and the slice's statistics."""
    names = {name.lower() for name in ex.column_names(failure.expression)}
    lines = [
        f"{failure.law}: {failure.expression}",
        f"  tree       {failure.expression!r}",
        f"  semantics  {failure.semantics}",
        f"  slice      {failure.index}: outcome {outcome.describe(failure.got)}, "
        f"must hold {outcome.describe(failure.wanted)}",
    ]
    values = rows_outcomes(list(closed(failure.expression, random.Random(0))), table.rows, SCHEMA, failure.semantics)
    lost = table.holds[failure.index] & ((values & (outcome.UNKNOWN ^ failure.got)) != 0)
    for row in np.flatnonzero(lost).tolist()[:2]:
        shown = {name: value for name, value in table.rows[row].items() if name in names}
        lines.append(f"  row        {shown}: {outcome.describe(int(values[row]))}")
    for source in table.sources:
        for name in sorted(names & set(source.statistics)):
            s = source.statistics[name]
            k = failure.index
            lo, hi = (side[k] if known[k] else None for side, known in ((s.lo, s.lo_known), (s.hi, s.hi_known)))
            lines.append(
                f"  {source.name}  {name} {s.type}: {lo!r} .. {hi!r}, {s.null_count[k]} nulls of "
                f"{s.row_count[k]} rows, trust {s.trust[k]}"
            )
            if s.parts is not None:
                p = s.parts.statistics
                lines.extend(
                    f"    file  {p.lo[j]!r} .. {p.hi[j]!r} known {p.lo_known[j]} {p.hi_known[j]}, "
                    f"{p.null_count[j]} nulls of {p.row_count[j]} rows"
                    for j in np.flatnonzero(s.parts.slice_of == k).tolist()
                )
    return "\n".join(lines)
