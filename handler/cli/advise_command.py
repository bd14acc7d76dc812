"""``sargo advise``: which indexes of one's own would be worth their bytes, before any is built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

import click

from evaluator.language.semantics import ENGINES, Semantics
from handler.cli.exit_codes import InputError
from handler.cli.extras import needs_extra
from handler.cli.html_option import html_option, write_page
from handler.cli.output.consoles import print_json, spinner, stdout_console
from handler.cli.table_options import table_argument, with_storage_options, with_table_options
from handler.cli.text_arguments import MAX_FILTER_BYTES, reading

if TYPE_CHECKING:
    from handler.sql.parsing import Engine

__all__ = ["command"]

#: As ``handler.advise.advisor.DEFAULT_FILES``, which is not imported for the help.
DEFAULT_FILES = 64


@click.command("advise")
@table_argument
@click.option(
    "--workload",
    metavar="FILE|-",
    default=None,
    help="Filters that were asked: the sidecar's filter_log, or conditions in SQL, one a line.",
)
@click.option(
    "--what-if",
    "arrangement",
    metavar="TEXT",
    default=None,
    help='"sort by (a, b)" or "zorder by (a, b)": what would be kept after such a clustering.',
)
@click.option(
    "--sample",
    "files",
    metavar="FILES",
    type=click.IntRange(min=1),
    default=DEFAULT_FILES,
    show_default=True,
    help="How many files are read at most; all of them make the answer exact.",
)
@click.option("--engine", type=click.Choice(ENGINES), help="Whose rules hold for SQL lines. Default: spark.")
@click.option("--time-zone", metavar="ZONE", help="Session zone of lines that name none. Default: this machine's.")
@click.option("--alias", metavar="NAME", help="The table's name in the queries (o.fare). Default: the one a line uses.")
@with_table_options
@with_storage_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@html_option
def command(
    table: str,
    workload: str | None,
    arrangement: str | None,
    files: int,
    engine: Engine | None,
    time_zone: str | None,
    alias: str | None,
    table_options: dict[str, str],
    storage_options: dict[str, str],
    as_json: bool,
    html_file: str | None,
) -> None:
    """Say which indexes of TABLE would skip most per byte, before anything is built.

    \b
    sargo advise /data/trips --workload /var/log/sargo/filters.jsonl
    sargo advise /data/trips --workload filters.sql --what-if "sort by (city, ts)"
    sargo advise /data/trips                       # without filters: how well each column tells files apart
    """
    Semantics.named(engine or "spark", time_zone)
    from handler.advise.advisor import Advisor
    from handler.advise.ranking import advise
    from handler.advise.reasons import why_nothing
    from handler.advise.what_if import arrangement_of, what_if
    from handler.advise.workload import read_workload
    from handler.views.advise import show_advice
    from handler.views.advise_report import advice_report
    from index_store.opened_table import open_table

    with spinner("reading a sample"):
        opened = open_table(table, table_options, storage_options=storage_options)
        filters = None
        if workload is not None:
            with reading(workload, "give the sidecar's filter_log, or a file of conditions") as file:
                lines, schema = _lines(file, workload), opened.table.schema
                filters = read_workload(lines, opened.path, schema, engine, time_zone, alias=alias)
        wanted = None if arrangement is None else arrangement_of(arrangement, opened.table)
        advisor = Advisor(opened, filters, files, time_zone, wanted[1] if wanted else ())
        advice = advise(advisor)
        nothing = why_nothing(advisor, advice)
        layout = None if wanted is None else what_if(advisor, *wanted)
    if html_file is not None:
        with needs_extra("advise --html", "html"):
            from handler.pages.advise_page import advise_page

            page = advise_page(advice, nothing, layout)
        write_page(page, html_file, with_json=as_json)
        if not as_json or html_file == "-":
            return
    if as_json:
        print_json(advice_report(advice, nothing, layout))
    else:
        show_advice(advice, nothing, layout, stdout_console())


def _lines(file: BinaryIO, name: str) -> Iterator[str]:
    """The lines of a workload. Raises InputError for one that is longer than the largest filter."""
    number = 0
    while line := file.readline(MAX_FILTER_BYTES + 1):
        number += 1
        if len(line) > MAX_FILTER_BYTES:
            raise InputError(f"the workload {name}: line {number} is larger than {MAX_FILTER_BYTES >> 20} MiB")
        yield line.decode("utf-8", errors="replace")
