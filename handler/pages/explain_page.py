"""``explain_page``: what a filter skips in a table, what decides, why not more, and what to do next, as one page."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaluator.language.expression import to_text
from evaluator.language.records import frozen
from evaluator.language.sql_text import to_sql
from handler.advise.remedies import DEFAULT_SECONDS, WhatHelps, what_helps
from handler.pages.environment import render_page
from handler.pages.range_charts import condition_charts
from handler.pages.slice_data import MAX_LISTED, slice_data
from handler.planning.explanation import Explanation, FilterNode
from handler.planning.leaf_reports import LeafReport
from handler.planning.plan import Plan
from handler.views.texts import count_text
from handler.views.tree import MAX_DEPTH, MAX_NODES

__all__ = ["TreeStep", "explain_html", "explain_page", "explain_values", "steps_of", "tree_steps"]

MAX_BLOCKERS, MAX_RESIDUALS = 30, 20


@frozen(kw_only=True)
class TreeStep:
    """A step of writing the tree: ``open`` and ``close`` a node that joins others, a ``leaf``, or a ``note``."""

    form: str
    text: str = ""
    number: int = -1
    report: LeafReport | None = None
    why: str = ""
    children: int = 0


def explain_page(plan: Plan, help_: WhatHelps | None = None) -> str:
    """The page of a plan; ``help_``: what would make it keep fewer slices, if that was asked of the data."""
    slices = slice_data(plan)
    return render_page(
        "explain.html.j2",
        title=f"{plan.table.rstrip('/').rpartition('/')[2] or plan.table}: what is skipped, and why",
        scripts=("page.js", "slice_map.js"),
        data={**slices.document, "command": _ask_command(plan)},
        with_tables=True,
        slices=slices,
        marked=slices.document["marked"],
        **explain_values(plan, help_),
    ).html


def explain_html(
    plan: Plan, file: str | os.PathLike[str] | None = None, *, what_if_seconds: float = DEFAULT_SECONDS
) -> str:
    """The page of ``sargo explain --html``, also written to ``file`` if it is given.

    ``what_if_seconds``: how long data files are read to find out what would help; 0 reads none.
    """
    page = explain_page(plan, what_helps(plan, what_if_seconds) if what_if_seconds else None)
    if file is not None:
        Path(file).write_text(page, encoding="utf-8", newline="\n")
    return page


def explain_values(plan: Plan, help_: WhatHelps | None) -> dict[str, Any]:
    """What the template shows beside the slices."""
    explanation = plan.explanation
    total, kept = len(plan.slices), len(plan.kept_rows)
    blockers = plan.why_not_more if help_ is None else help_.why_not_more
    return {
        "plan": plan,
        "help": help_,
        "filter": to_text(plan.expression),
        "total": total,
        "kept": kept,
        "skipped": total - kept,
        "full": len(plan.fully_matched),
        "tree": steps_of(plan),
        "charts": [] if explanation is None else condition_charts(explanation),
        "blockers": blockers[:MAX_BLOCKERS],
        "more_blockers": max(len(blockers) - MAX_BLOCKERS, 0),
        "residuals": plan.residual_groups[:MAX_RESIDUALS],
        "more_residuals": max(len(plan.residual_groups) - MAX_RESIDUALS, 0),
        "ask_command": _ask_command(plan),
        "max_listed": MAX_LISTED,
        "seconds": [(phase, spent, sum(plan.seconds.values())) for phase, spent in plan.seconds.items()],
        "coverage": [
            (covered.kind, name, column.usable, covered.slices)
            for covered in plan.coverage
            for name, column in covered.columns.items()
        ],
    }


def steps_of(plan: Plan) -> list[TreeStep]:
    """The tree of a plan's filter; only its conditions where the plan was made in another process."""
    if plan.explanation is not None:
        return list(tree_steps(plan.explanation))
    return [
        TreeStep(form="leaf", number=number, report=report) for number, report in enumerate(plan.leaves[:MAX_NODES])
    ]


def tree_steps(explanation: Explanation) -> Iterator[TreeStep]:
    """The tree of the filter from the top, cut as in a terminal."""
    reports = explanation.leaves
    stack: list[tuple[FilterNode | TreeStep, int]] = [(explanation.tree, 1)]
    count = 0
    while stack:
        node, depth = stack.pop()
        if isinstance(node, TreeStep):
            yield node
            continue
        count += 1
        if count > MAX_NODES:
            left = sum(not isinstance(one, TreeStep) for one, _ in stack) + 1
            yield TreeStep(form="note", text=f"{count_text(left, 'more branch', 'more branches')} not shown")
            stack = [(one, level) for one, level in stack if isinstance(one, TreeStep) and one.form == "close"]
            continue
        if node.leaf is not None:
            report, why = reports[node.leaf], explanation.bound.leaves[node.leaf].reason or ""
            yield TreeStep(form="leaf", number=node.leaf, report=report, why="" if why in report.text else why)
        elif depth >= MAX_DEPTH:
            yield TreeStep(form="note", text="deeper levels are not shown")
        else:
            yield TreeStep(form="open", text=node.operator or "", children=len(node.children))
            stack.append((TreeStep(form="close"), depth))
            stack.extend((child, depth + 1) for child in reversed(node.children))


def _ask_command(plan: Plan) -> str:
    """The command that asks the data what would help."""
    where = to_sql(plan.expression, plan.engine)
    quoted = f'"{where}"' if not set('"$`\\!\n') & set(where) else shlex.quote(where)
    return f"sargo explain {shlex.quote(plan.table)} --where {quoted} --engine {plan.engine}"
