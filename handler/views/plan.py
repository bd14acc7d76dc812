"""``sargo prune``: the kept and skipped files of a plan, the residuals, and why not more is skipped."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from evaluator.language.expression import to_text
from handler.planning.plan import Plan
from handler.views.texts import bar, count_text, of_text, shortened
from index_store import FileSlice

__all__ = ["show_plan", "show_reasons", "show_summary", "show_why_not_more", "slice_name"]

#: More files than this are counted, not listed; --json lists them all.
MAX_FILES = 40
MAX_RESIDUALS = 8


def show_plan(plan: Plan, console: Console) -> None:
    """Print the summary, the files, what is left to check on their rows, and the reasons."""
    show_summary(plan, console)
    show_why_not_more(plan, console)
    full = {item.file_id for item in plan.fully_matched}
    _show_files("Kept", plan.kept, "yellow", console, full)
    _show_files("Skipped", plan.skipped, "green", console, set())
    _show_residuals(plan, console)
    show_reasons(plan, console)


def show_summary(plan: Plan, console: Console) -> None:
    """Print the table, the filter, and how many slices are skipped."""
    total, skipped = len(plan.slices), len(plan.skipped)
    lines = Table.grid(padding=(0, 2))
    lines.add_row(Text("table", style="dim"), Text(plan.table))
    lines.add_row(Text("instant", style="dim"), Text(plan.instant or "no commit"))
    lines.add_row(Text("filter", style="dim"), Text(shortened(to_text(plan.expression), 400)))
    lines.add_row(Text("rules of", style="dim"), Text(f"{plan.engine}, time zone {plan.time_zone}"))
    if plan.moment is not None:
        lines.add_row(Text("moment", style="dim"), Text(f"the plan {plan.moment}"))
    lines.add_row(
        Text("skipped", style="dim"),
        Text.assemble(
            bar(skipped, total, "green"),
            f"  {of_text(skipped, total, 'file slice')}; {_kept_text(len(plan.kept), len(plan.fully_matched))}",
        ),
    )
    if plan.row_count.counted:
        counted = plan.row_count
        lines.add_row(
            Text("counted", style="dim"),
            Text(
                f"{counted.rows} matching rows from row counts alone, "
                f"in {count_text(len(counted.counted), 'file slice')}; "
                f"{count_text(len(counted.to_read), 'file slice')} left to read"
            ),
        )
    lines.add_row(
        Text("time", style="dim"),
        Text(", ".join(f"{phase} {spent * 1000:.1f} ms" for phase, spent in plan.seconds.items())),
    )
    console.print(lines)


def _kept_text(kept: int, full: int) -> str:
    if not kept or not full:
        return f"{kept} kept"
    if kept == 1:
        return "1 kept, which matches in every row"
    return f"{kept} kept, {full} of them {'matches' if full == 1 else 'match'} in every row"


def show_why_not_more(plan: Plan, console: Console) -> None:
    """Print in one sentence what keeps most of the kept slices."""
    if plan.why_not_more:
        console.print(
            Text.assemble(
                ("\nWhy not more  ", "bold"),
                plan.why_not_more[0].sentence,
                (" (see sargo explain)", "dim") if len(plan.why_not_more) > 1 else "",
            )
        )


def _show_residuals(plan: Plan, console: Console) -> None:
    """Print the distinct residuals, unless the whole filter is left everywhere."""
    groups = plan.residual_groups
    if not groups or (len(groups) == 1 and to_text(groups[0].expression) == to_text(plan.expression)):
        return
    console.print(Text("\nLeft to check on the rows", style="bold"))
    listing = Table.grid(padding=(0, 2))
    for group in groups[:MAX_RESIDUALS]:
        text = group.text
        shown = Text("nothing: every row matches", style="green") if text == "TRUE" else Text(shortened(text, 200))
        listing.add_row("", Text(f"{len(group.slices)}", style="yellow"), shown)
    console.print(listing)
    if len(groups) > MAX_RESIDUALS:
        console.print(Text(f"  … and {len(groups) - MAX_RESIDUALS} more (--json lists them all)", style="dim"))


def show_reasons(plan: Plan, console: Console) -> None:
    """Print the reasons of the plan: what could not be used for skipping."""
    if plan.reasons:
        console.print(Text("\nWhat could not be used", style="bold"))
    for reason in plan.reasons:
        console.print(Text.assemble(("  • ", "magenta"), (f"{reason.scope}  ", "dim"), reason.text))


def slice_name(item: FileSlice) -> Text:
    """The name of the base file, in which the file id stands out; the id where there is none."""
    name = (item.base_file or "").rpartition("/")[2]
    if name.startswith(item.file_id):
        return Text.assemble(item.file_id, (name.removeprefix(item.file_id), "dim"))
    return Text(f"{item.file_id}  {name}".rstrip())


def _show_files(title: str, items: Sequence[FileSlice], style: str, console: Console, full: set[str]) -> None:
    if not items:
        return
    console.print(Text(f"\n{title}", style=f"bold {style}"))
    listing = Table.grid(padding=(0, 2))
    for item in items[:MAX_FILES]:
        notes = [f"+ {count_text(len(item.log_files), 'log file')}"] if item.log_files else []
        notes += ["every row matches"] if item.file_id in full else []
        listing.add_row(
            "", Text(item.partition or "·", style="dim"), slice_name(item), Text(", ".join(notes), style="dim")
        )
    console.print(listing)
    if len(items) > MAX_FILES:
        console.print(Text(f"  … and {len(items) - MAX_FILES} more (--json lists them all)", style="dim"))
