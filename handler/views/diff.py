"""``sargo diff``: what two filters, instants or engines keep, beside each other."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evaluator.language.expression import to_text
from handler.planning.plan_diff import OneSided, PlanDiff
from handler.views.plan import slice_name
from handler.views.texts import bar, count_text, shortened

__all__ = ["show_diff"]

#: More slices than this are counted, not listed; --json lists them all.
_MAX_SHOWN = 20
_NAMES = ("A", "B")


def show_diff(diff: PlanDiff, console: Console) -> None:
    """Print both plans in a line each, and the slices that only one of them keeps."""
    console.print(Text.assemble(("table  ", "dim"), diff.plans[0].table))
    lines = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("", "filter", "instant", "rules of", "kept", ""):
        lines.add_column(title, overflow="fold")
    for name, plan in zip(_NAMES, diff.plans, strict=True):
        kept, total = len(plan.kept_rows), len(plan.slices)
        lines.add_row(
            Text(name, style="bold"),
            Text(shortened(to_text(plan.expression), 300)),
            Text(plan.instant or "no commit"),
            Text(plan.engine),
            Text(f"{kept} of {total}"),
            bar(kept, total, "yellow"),
        )
    console.print(lines)
    changed = f", {len(diff.changed)} of them with other files" if diff.changed else ""
    console.print(Text(f"\nkept by both: {count_text(len(diff.both), 'file slice')}{changed}"))
    for name, only in zip(_NAMES, (diff.first, diff.second), strict=True):
        _show_only(f"kept by {name} only", only, console)
    if not diff.first and not diff.second:
        console.print(Text("\nBoth keep the same file slices.", style="bold green"))


def _show_only(title: str, found: Sequence[OneSided], console: Console) -> None:
    if not found:
        return
    console.print(Text(f"\n{title}: {count_text(len(found), 'file slice')}", style="bold yellow"))
    listing = Table.grid(padding=(0, 2))
    for one in found[:_MAX_SHOWN]:
        item = one.file_slice
        listing.add_row("", Text(item.partition or "·", style="dim"), slice_name(item), Text(one.other, style="dim"))
    console.print(listing)
    if len(found) > _MAX_SHOWN:
        console.print(Text(f"  … and {len(found) - _MAX_SHOWN} more (--json lists them all)", style="dim"))
