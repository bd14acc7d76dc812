"""``sargo inspect --html FILE --what-if TEXT``: the page of a table, with the ranges after another order of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from handler.cli.exit_codes import InputError
from handler.cli.extras import needs_extra

if TYPE_CHECKING:
    from handler.inspection.table_report import TableReport
    from index_store.opened_table import OpenTable

__all__ = ["check_what_if", "inspected_page", "what_if_option"]

what_if_option: Callable[[Any], Any] = click.option(
    "--what-if",
    "arrangement",
    metavar="TEXT",
    default=None,
    help='"sort by (a, b)" or "zorder by (a, b)": the page also shows the ranges after such a clustering.',
)


def check_what_if(arrangement: str | None, html_file: str | None, as_of: str | None) -> None:
    """Refuse a layout without a page, and one of an older state of the table."""
    if arrangement is not None and html_file is None:
        raise click.UsageError("--what-if is shown on the page: give --html FILE, or use 'sargo advise --what-if'")
    if arrangement is not None and as_of is not None:
        raise click.UsageError("--what-if reads the latest files: leave out --as-of")


def inspected_page(opened: OpenTable, report: TableReport, as_of: str | None, arrangement: str | None) -> str:
    """The page of a table. Raises InputError for a layout that is not understood."""
    with needs_extra("inspect --html", "html"):
        from handler.pages.inspect_page import inspect_page
    from handler.indexes.entries import IndexWorkError
    from handler.inspection.overlap_report import report_overlap

    overlap = report_overlap(opened, as_of)
    layout = None
    if arrangement is not None:
        from handler.advise.advisor import Advisor
        from handler.advise.what_if import arrangement_of, what_if

        try:
            order, columns = arrangement_of(arrangement, opened.table)
        except IndexWorkError as error:
            raise InputError(str(error)) from error
        beside = tuple(column for column in overlap.fields if column not in columns)
        layout = what_if(Advisor(opened, None, also=(*columns, *beside)), order, columns, beside)
    with needs_extra("inspect --html", "html"):
        return inspect_page(report, overlap, layout)
