"""``sargo inspect``: a table on one screen."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from handler.inspection.table_report import TableReport
from handler.views.texts import bar, count_text

__all__ = ["show_table"]

MAX_PARTITIONS = 12


def show_table(report: TableReport, console: Console) -> None:
    """Print version, instants, slices, indexes, coverage per column and untrusted statistics."""
    facts = Table.grid(padding=(0, 2))
    for name, value in _facts(report):
        facts.add_row(Text(name, style="dim"), Text(value))
    console.print(facts)
    _show_indexes(report, console)
    _show_coverage(report, console)
    _show_distrust(report, console)
    for failure in report.failures:
        console.print(Text.assemble(("cannot be read  ", "red"), failure))


def _show_distrust(report: TableReport, console: Console) -> None:
    columns: dict[tuple[int, str, str], list[str]] = {}
    for item in report.distrust:
        columns.setdefault((-item.slices, item.kind, item.reason), []).append(item.column)
    if columns:
        console.print(Text("\nStatistics that are missing or not trusted", style="bold"))
    rows = Table.grid(padding=(0, 2))
    for (slices, kind, why), names in sorted(columns.items()):
        rows.add_row(
            "",
            Text(count_text(-slices, "slice"), style="yellow"),
            Text(kind, style="dim"),
            Text.assemble((", ".join(names), "green"), f"  {why}"),
        )
    console.print(rows)


def _facts(report: TableReport) -> list[tuple[str, str]]:
    timeline, slices = report.timeline, report.slices
    partitions = [f"{name or '·'} {count}" for name, count in list(slices.by_partition.items())[:MAX_PARTITIONS]]
    if len(slices.by_partition) > MAX_PARTITIONS:
        partitions.append(f"and {len(slices.by_partition) - MAX_PARTITIONS} more")
    return [
        ("table", f"{report.name or '?'}  {report.path}"),
        ("version", f"{report.version}, {report.table_type}"),
        (
            "instant",
            f"{report.instant or 'no commit'}  ({timeline.completed} completed, {timeline.pending} pending, "
            f"{timeline.first} to {timeline.last})",
        ),
        (
            "keys",
            f"record key {', '.join(report.record_key) or '?'}; partitioned by "
            f"{', '.join(report.partition_fields) or 'nothing'}",
        ),
        (
            "slices",
            f"{count_text(slices.count, 'file slice')} with {count_text(slices.log_files, 'log file')}, "
            f"from the {slices.source}{': ' + slices.note if slices.note else ''}",
        ),
        ("partitions", ", ".join(partitions)),
    ]


def _show_indexes(report: TableReport, console: Console) -> None:
    if not report.indexes:
        return
    console.print(Text("\nIndexes of the metadata table", style="bold"))
    rows = Table.grid(padding=(0, 2))
    for index in report.indexes:
        what = ", ".join(index.columns)
        if index.function not in ("", "identity", index.name):
            what = f"{index.function}({what})"
        rows.add_row(
            "",
            Text(index.name),
            Text("read" if index.read else "not read", style="green" if index.read else "yellow"),
            Text.assemble((what, "dim"), "  " if what and index.why_not else "", index.why_not),
        )
    console.print(rows)


def _show_coverage(report: TableReport, console: Console) -> None:
    for covered in report.coverage:
        if not covered.columns:
            console.print(
                Text.assemble(
                    (f"\nCoverage of {covered.kind}", "bold"), "  known when a filter asks" if covered.slices else ""
                )
            )
            continue
        console.print(Text(f"\nCoverage of {covered.kind}", style="bold"))
        rows = Table.grid(padding=(0, 2))
        for name, column in covered.columns.items():
            rows.add_row(
                "",
                Text(name, style="green"),
                bar(column.usable, covered.slices, "green"),
                Text(f"{column.usable}/{covered.slices}"),
            )
        console.print(rows)
