"""``sargo explain``: the filter's tree with what each condition skipped, why not more, and one file in detail."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from evaluator.outcome import describe
from handler.explanation import ColumnReport, Explanation, Step
from handler.leaf_reports import IN_RANGE
from handler.plan import Plan, slice_as_dict
from handler.plan_view import bar, show_reasons, show_summary
from handler.tree_view import grow

__all__ = ["file_report", "leaf_tree", "show_explanation", "show_file", "show_shortfalls"]

MOST_SHORTFALLS = 12


def show_explanation(plan: Plan, console: Console) -> None:
    """Print the summary, the tree with counts, the shortfalls by weight, and what could not be used."""
    show_summary(plan, console)
    if plan.explanation is not None:
        console.print(Text("\nWhat each condition rules out", style="bold"))
        console.print(leaf_tree(plan.explanation))
        show_shortfalls(plan, console)
    show_reasons(plan, console)


def leaf_tree(explanation: Explanation) -> Tree:
    """The tree of the filter; behind each condition the number of slices that it rules out, by index kind."""
    reports = explanation.leaves

    def label(step: Step) -> Text:
        if step.operation != "leaf":
            return Text(step.operation.upper(), style="bold")
        report, why = reports[step.leaf], explanation.bound.leaves[step.leaf].reason
        kinds = ", ".join(f"{kind} {count}" for kind, count in report.by_kind.items() if count)
        notes = (f"  {kinds}" if kinds else "") + ("  under NOT" if report.negated else "")
        style = "green" if report.skipped else "magenta" if why else "yellow"
        return Text.assemble((report.text, style), "  ", bar(report.skipped, report.slices, "green", 10),
                             f" {report.skipped}/{report.slices}", (notes, "dim"),
                             (f"  {why}" if why and why not in report.text else "", "magenta"))

    return grow(explanation.tree, label, lambda step: step.children)


def show_shortfalls(plan: Plan, console: Console) -> None:
    """Print why the conditions did not rule out more: what could be mended first, then what the values say."""
    counts: Counter[tuple[str, str]] = Counter()
    for leaf in plan.leaves:
        for shortfall in leaf.shortfalls:
            counts[leaf.text, shortfall.text] += shortfall.slices
    if not counts:
        return
    console.print(Text("\nWhy not more was skipped", style="bold"))
    rows = Table.grid(padding=(0, 2))
    ranked = sorted(counts.items(), key=lambda item: (item[0][1] == IN_RANGE, -item[1]))
    for (leaf_text, why), slices in ranked[:MOST_SHORTFALLS]:
        rows.add_row("", Text(f"{slices} slices", style="yellow"), Text(leaf_text), Text(why, style="dim"))
    console.print(rows)


def file_report(plan: Plan, index: int) -> dict[str, object]:
    """Every condition in one file slice, as plain values for JSON."""
    leaves = [] if plan.explanation is None else [leaf.to_dict() for leaf in plan.explanation.file_leaves(index)]
    return {**slice_as_dict(plan.slices[index]), "outcome": describe(int(plan.outcomes[index])), "leaves": leaves}


def show_file(plan: Plan, index: int, console: Console) -> None:
    """Print every condition in one file slice, with the statistics behind it."""
    item = plan.slices[index]
    kept = item in plan.kept
    console.print(Text.assemble((item.partition or "·", "dim"), "  ", (item.file_id, "bold"), "  ",
                                ("kept", "yellow") if kept else ("skipped", "green"),
                                f"  outcome {describe(int(plan.outcomes[index]))}"))
    for path in item.files:
        console.print(Text(f"  {path}", style="dim"))
    if plan.explanation is None:
        show_reasons(plan, console)
        return
    for leaf in plan.explanation.file_leaves(index):
        why = f"  {leaf.reason}" if leaf.reason else ""
        console.print(Text.assemble("\n", (leaf.text, "bold"), f"  {leaf.outcome}", (why, "magenta")))
        rows = Table.grid(padding=(0, 2))
        for column in leaf.columns:
            rows.add_row("", Text(column.kind, style="dim"), Text(column.column, style="green"), Text(_bounds(column)),
                         Text(column.trust or "", style="magenta"))
        console.print(rows)


def _bounds(column: ColumnReport) -> str:
    nulls = "?" if column.null_count is None else str(column.null_count)
    rows = "?" if column.row_count is None else str(column.row_count)
    return f"[{column.lo or '?'}, {column.hi or '?'}]  nulls {nulls} of {rows} rows"
