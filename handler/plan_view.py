"""``sargo prune``: how much is read, how much is skipped, which files, and why not fewer."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evaluator.expression import to_text
from handler.plan import Plan
from index_store import FileSlice

__all__ = ["bar", "show_plan", "show_reasons", "show_summary"]

#: More files than this are counted, not listed; --json lists them all.
MOST_FILES = 40
BAR_WIDTH = 24


def bar(part: int, whole: int, style: str, width: int = BAR_WIDTH) -> Text:
    """A share as a bar of ``width`` characters."""
    filled = round(width * part / whole) if whole else 0
    return Text.assemble(("█" * filled, style), ("░" * (width - filled), "dim"))


def show_plan(plan: Plan, console: Console) -> None:
    """Print the summary, the files and the reasons."""
    show_summary(plan, console)
    full = {item.file_id for item in plan.fully_matched}
    _show_files("Kept", plan.kept, "yellow", console, full)
    _show_files("Skipped", plan.skipped, "green", console, set())
    show_reasons(plan, console)


def show_summary(plan: Plan, console: Console) -> None:
    """Print the table, the filter, and how many slices are skipped."""
    total, skipped = len(plan.slices), len(plan.skipped)
    lines = Table.grid(padding=(0, 2))
    lines.add_row(Text("table", style="dim"), Text(plan.table))
    lines.add_row(Text("instant", style="dim"), Text(plan.instant or "no commit"))
    lines.add_row(Text("filter", style="dim"), Text(_short(to_text(plan.expression))))
    lines.add_row(Text("rules of", style="dim"), Text(f"{plan.engine}, time zone {plan.time_zone}"))
    lines.add_row(Text("skipped", style="dim"), Text.assemble(
        bar(skipped, total, "green"), f"  {skipped} of {total} file slices; {len(plan.kept)} kept, "
        f"{len(plan.fully_matched)} of them match in every row"))
    lines.add_row(Text("time", style="dim"), Text(", ".join(f"{phase} {spent * 1000:.1f} ms"
                                                           for phase, spent in plan.seconds.items())))
    console.print(lines)


def show_reasons(plan: Plan, console: Console) -> None:
    """Print why less was skipped than might have been, if there is anything to say."""
    if plan.reasons:
        console.print(Text("\nWhat could not be used", style="bold"))
    for reason in plan.reasons:
        console.print(Text.assemble(("  • ", "magenta"), (f"{reason.scope}  ", "dim"), reason.text))


def _show_files(title: str, items: Sequence[FileSlice], style: str, console: Console, full: set[str]) -> None:
    if not items:
        return
    console.print(Text(f"\n{title}", style=f"bold {style}"))
    listing = Table.grid(padding=(0, 2))
    for item in items[:MOST_FILES]:
        notes = [f"+ {len(item.log_files)} log files"] if item.log_files else []
        notes += ["every row matches"] if item.file_id in full else []
        listing.add_row("", Text(item.partition or "·", style="dim"), Text(item.file_id),
                        Text(", ".join(notes), style="dim"))
    console.print(listing)
    if len(items) > MOST_FILES:
        console.print(Text(f"  … and {len(items) - MOST_FILES} more (--json lists them all)", style="dim"))


def _short(text: str, most: int = 400) -> str:
    return text if len(text) <= most else text[:most - 1] + "…"
