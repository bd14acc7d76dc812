"""``sargo files``: partitions or files, one per line, with sums."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from handler.inspection.listing_report import FileRow, ListingReport
from handler.views.texts import count_text, size_text

__all__ = ["show_files"]


def show_files(report: ListingReport, console: Console) -> None:
    """Print the partitions with the number and size of their files, or the files of the one that was asked for."""
    rows = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    if report.files is None:
        rows.add_column("partition", overflow="fold")
        for name in ("files", "log files", "size"):
            rows.add_column(name, justify="right")
        for row in report.partitions:
            rows.add_row(Text(row.name or "·"), str(row.files), str(row.log_files), size_text(row.bytes))
    else:
        rows.add_column("file", overflow="fold")
        rows.add_column("size", justify="right")
        rows.add_column("instant")
        for file in sorted(report.files, key=_by_group):
            rows.add_row(
                Text(file.name, style="" if file.kind == "base" else "yellow"),
                size_text(file.size),
                Text(file.instant, style="dim"),
            )
    if rows.row_count:
        console.print(rows)
    total = sum(row.files for row in report.partitions)
    logs = sum(row.log_files for row in report.partitions)
    console.print(
        Text(
            f"{total} files ({logs} log files) in {count_text(len(report.partitions), 'partition')}, "
            f"{size_text(sum(row.bytes for row in report.partitions))}, as of {report.instant or 'no commit'}, "
            f"from the {report.source}{': ' + report.note if report.note else ''}",
            style="bold",
        )
    )


def _by_group(file: FileRow) -> tuple[str, str, str]:
    return file.file_id, file.instant, file.name
