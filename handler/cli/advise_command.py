"""``sargo advise``: which indexes of one's own would be worth their bytes, before any is built."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import click

from evaluator.language.semantics import ENGINES, Semantics
from handler.advise.advisor import DEFAULT_FILES, Advisor
from handler.advise.ranking import advise
from handler.advise.reasons import why_nothing
from handler.advise.what_if import arrangement_of, what_if
from handler.advise.workload import read_workload
from handler.cli.consoles import spinner, stdout_console
from handler.cli.table_options import with_storage_options, with_table_options
from handler.indexes.entries import IndexWorkError
from handler.sql.parsing import Engine
from handler.views.advise import advice_report, show_advice
from handler.views.json_text import json_text
from index_store.opened_table import open_table

__all__ = ["command"]


@click.command("advise")
@click.argument("table")
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
@with_table_options
@with_storage_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def command(
    table: str,
    workload: str | None,
    arrangement: str | None,
    files: int,
    engine: Engine | None,
    time_zone: str | None,
    table_options: dict[str, str],
    storage_options: dict[str, str],
    as_json: bool,
) -> None:
    """Say which indexes of TABLE would skip most per byte, before anything is built.

    \b
    sargo advise /data/trips --workload /var/log/sargo/filters.jsonl
    sargo advise /data/trips --workload filters.sql --what-if "sort by (city, ts)"
    sargo advise /data/trips                       # without filters: how well each column tells files apart
    """
    Semantics.named(engine or "spark", time_zone)
    with spinner("reading a sample"):
        opened = open_table(table, table_options, storage_options=storage_options)
        filters = None
        if workload is not None:
            with _lines(workload) as lines:
                filters = read_workload(lines, opened.path, opened.table.schema, engine, time_zone)
        wanted = None if arrangement is None else arrangement_of(arrangement, opened.table)
        advisor = Advisor(opened, filters, files, time_zone, wanted[1] if wanted else ())
        advice = advise(advisor)
        nothing = why_nothing(advisor, advice)
        layout = None if wanted is None else what_if(advisor, *wanted)
    if as_json:
        click.echo(json_text(advice_report(advice, nothing, layout)))
    else:
        show_advice(advice, nothing, layout, stdout_console())


@contextmanager
def _lines(path: str) -> Iterator[Iterable[str]]:
    """The lines of a file, or of stdin. Raises IndexWorkError when it cannot be read."""
    if path == "-":
        yield sys.stdin
        return
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            yield file
    except OSError as error:
        raise IndexWorkError(
            f"cannot read the workload {path}: {error.strerror}; give the sidecar's filter_log, or a file of conditions"
        ) from error
