"""``sargo explain``: the filter's tree with what each condition skipped, why not more, what helps; and one file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from evaluator.explain.reasons import USED, Decision
from evaluator.language.outcome import FALSE, TRUE, UNKNOWN, describe
from evaluator.language.sql_text import to_sql
from handler.planning.explanation import Explanation, FilterNode
from handler.planning.plan import Plan, slice_as_dict
from handler.views.plan import show_reasons, show_summary
from handler.views.texts import bar, count_text, of_text
from handler.views.tree import draw_tree

if TYPE_CHECKING:
    from evaluator.explain.pruning_blockers import PruningBlocker
    from handler.advise.remedies import WhatHelps

__all__ = [
    "explained",
    "file_report",
    "leaf_tree",
    "show_explanation",
    "show_file",
    "show_pruning_blockers",
    "show_what_helps",
]

MAX_BLOCKERS = 12
_UNDECIDED = describe(UNKNOWN)


def show_explanation(plan: Plan, console: Console, help_: WhatHelps | None = None) -> None:
    """Print the summary, the tree with counts, the pruning blockers, what would help, and the reasons."""
    show_summary(plan, console)
    if plan.explanation is not None:
        console.print(Text("\nWhat each condition rules out", style="bold"))
        console.print(leaf_tree(plan.explanation))
        for match in plan.matches:
            console.print(Text(match.sentence, style="green"))
        show_pruning_blockers(plan.why_not_more if help_ is None else help_.why_not_more, len(plan.kept), console)
    if help_ is not None:
        show_what_helps(help_, console)
    show_reasons(plan, console)


def explained(plan: Plan, help_: WhatHelps) -> dict[str, object]:
    """The plan as plain values for JSON, with what would help."""
    return {
        **plan.to_dict(),
        "why_not_more": [one.to_dict() for one in help_.why_not_more],
        "what_helps": help_.to_dict(),
    }


def leaf_tree(explanation: Explanation) -> Tree:
    """The tree of the filter, with the number of slices that each condition rules out, by index kind, and of these the
    number that only that kind rules out."""
    reports = explanation.leaves

    def label(node: FilterNode) -> Text:
        if node.leaf is None:
            return Text(node.operator or "", style="bold")
        report, why = reports[node.leaf], explanation.bound.leaves[node.leaf].reason
        kinds = ", ".join(
            _share(kind, count, report.only_by[kind], alone=len(report.by_kind) == 1)
            for kind, count in report.by_kind.items()
            if count
        )
        notes = (f"  {kinds}" if kinds else "") + ("  under NOT" if report.negated else "")
        style = "green" if report.skipped else "magenta" if why else "yellow"
        return Text.assemble(
            (report.text, style),
            "  ",
            bar(report.skipped, report.slices, "green", 10),
            f" {report.skipped}/{report.slices}",
            (notes, "dim"),
            (f"  {why}" if why and why not in report.text else "", "magenta"),
        )

    return draw_tree(explanation.tree, label, lambda step: step.children)


def _share(kind: str, count: int, only: int, *, alone: bool) -> str:
    """The slices that a kind rules out, and how many of these no other kind does."""
    return f"{kind} {count}" if alone else f"{kind} {count} ({only} only by it)"


def show_pruning_blockers(blockers: Sequence[PruningBlocker], kept: int, console: Console) -> None:
    """Print why ``kept`` slices are kept; the cause first that alone keeps most slices."""
    if not blockers:
        return
    console.print(Text("\nWhy not more was skipped", style="bold"))
    rows = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    rows.add_column("  it alone keeps", no_wrap=True)
    rows.add_column("open in", justify="right", no_wrap=True)
    rows.add_column("condition", max_width=44)
    rows.add_column("because")
    for one in blockers[:MAX_BLOCKERS]:
        because = Text(one.reason, style="magenta" if one.cause in ("not decided", "not trusted") else "")
        because.append(f"; helps: {one.remedy}" if one.remedy and one.alone else "", "dim")
        because.append(f"; kept by {' and '.join(one.beside)} too" if one.beside and not one.alone else "", "dim")
        condition = "" if one.condition == f"?({one.reason})" else one.condition
        rows.add_row(
            Text.assemble("  ", bar(one.alone, kept, "yellow", 10), f" {one.alone}"),
            str(one.open),
            Text(condition),
            because,
        )
    console.print(rows)
    if len(blockers) > MAX_BLOCKERS:
        console.print(Text(f"  … and {len(blockers) - MAX_BLOCKERS} more (--json lists them all)", style="dim"))


def show_what_helps(help_: WhatHelps, console: Console) -> None:
    """Print what would make the filter keep fewer slices, with the commands to run, or why nothing is proposed."""
    if not help_.kept:
        return
    console.print(Text("\nWhat would help", style="bold"))
    if help_.not_asked or help_.nothing:
        known = f"not asked: {help_.not_asked}" if help_.not_asked else f"nothing: {help_.nothing}"
        console.print(Text(f"  {known}", style="magenta" if help_.not_asked else ""))
        return
    rows = Table.grid(padding=(0, 2))
    for one in help_.remedies:
        kept = f"{one.kept:,.0f}" if one.exact else f"about {one.kept:,.0f}"
        rows.add_row(
            "",
            Text(f"{one.kind}" if one.command else ""),
            Text(one.text, style="green"),
            Text(f"{kept} of {count_text(help_.slices, 'file slice')} would be kept, not {help_.kept:,}"),
        )
    console.print(rows)
    for command in help_.commands:
        console.print(Text(f"  {command}", style="green"), soft_wrap=True)
    looked_at = f"asked of the data of {of_text(help_.looked_at, help_.slices, 'file slice')} in {help_.seconds:.2g} s"
    console.print(Text(f"  {looked_at}", style="dim"))


def file_report(plan: Plan, index: int) -> dict[str, object]:
    """Every condition in one file slice, as plain values for JSON."""
    leaves = [] if plan.explanation is None else [leaf.to_dict() for leaf in plan.explanation.file_leaves(index)]
    return {**slice_as_dict(plan.slices[index]), "outcome": describe(int(plan.outcomes[index])), "leaves": leaves}


def show_file(plan: Plan, index: int, console: Console) -> None:
    """Print every condition in one file slice, with the statistics behind it."""
    item = plan.slices[index]
    kept = item in plan.kept
    console.print(
        Text.assemble(
            (item.partition or "·", "dim"),
            "  ",
            (item.file_id, "bold"),
            "  ",
            ("kept", "yellow") if kept else ("skipped", "green"),
            f"  outcome {describe(int(plan.outcomes[index]))}",
        )
    )
    for path in item.files:
        console.print(Text(f"  {path}", style="dim"))
    if plan.explanation is None:
        show_reasons(plan, console)
        return
    for leaf in plan.explanation.file_leaves(index):
        console.print(Text.assemble("\n", (leaf.text, "bold"), f"  {leaf.outcome}"))
        rows = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
        for title in ("  index", "rule", "statistic", "value", "outcome", "trust"):
            rows.add_column(title, min_width=28 if title == "rule" else None)
        for one in leaf.decisions:
            rows.add_row(
                f"  {one.kind}",
                Text(one.rule),
                Text(one.statistic),
                Text(one.value),
                Text(one.outcome, style=_style(one)),
                Text(one.trust, style="" if one.trust == USED else "magenta"),
            )
        console.print(rows)
    for kind, match in plan.explanation.evaluation.matches.items():
        if not match.filter_might_match[index]:
            conditions = " and ".join(plan.explanation.bound.leaves[number].text for number in match.leaves)
            console.print(Text(f"\n{kind}: no row with {conditions}", style="green"))
    console.print(Text.assemble("\nleft to check on its rows  ", (_residual_text(plan, index), "bold")))


def _style(decision: Decision) -> str:
    return "yellow" if decision.outcome in (_UNDECIDED, describe(TRUE | FALSE)) else "green"


def _residual_text(plan: Plan, index: int) -> str:
    text = to_sql(plan.residual(index).expression, plan.engine)
    return {"FALSE": "nothing, it is skipped", "TRUE": "nothing, every row matches"}.get(text, text)
