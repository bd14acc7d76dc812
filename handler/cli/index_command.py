"""``sargo index`` and ``sargo sql``: make, keep and remove indexes of a table whose writer knows nothing of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from handler.cli.table_options import storage_options as with_storage_options
from handler.cli.table_options import table_options as with_table_options
from handler.indexes.benefit import benefits_at
from handler.indexes.operations import DEFAULT_SKETCH, IndexWork, Report, staleness
from handler.indexes.statements import IndexStatement, StatementError, parse_statement
from handler.views.index import place_report, report_of, show_place, show_places, show_reports
from handler.views.json_text import json_text
from index_store import TableError
from index_store.own.sketches import SKETCHES

__all__ = ["command", "sql_command"]


def _of_table(command: Callable[..., None]) -> Any:
    """What every command has: TABLE, where its index is, and how it is printed."""
    options: list[Callable[[Any], Any]] = [
        click.argument("table"),
        click.option(
            "--path",
            metavar="FOLDER",
            default="",
            help="The folder of the index, when it is not beside the table's data: local or a URI.",
        ),
        with_table_options,
        with_storage_options,
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
    ]
    decorated: Any = command
    for option in reversed(options):
        decorated = option(decorated)
    return decorated


_with_zone = click.option(
    "--time-zone", metavar="ZONE", help="Session zone in which expressions are computed. Default: this machine's."
)


_with_spark = click.option(
    "--spark/--local", "spark", default=False, help="Build with Spark, or in threads of this process (default)."
)


@click.group("index")
def command() -> None:
    """Make and keep indexes of a table whose writer did not.

    \b
    sargo index create /data/trips --on city --using "bloom_filter(fpp=0.01)"
    sargo index create /data/trips --on city --on rider --using secondary_index
    sargo index refresh /data/trips
    """


@command.command(
    "create",
    help=f"""Make an index of columns of TABLE.

Sketches: {", ".join(SKETCHES)}. Each of --using is made of each of --on.

With --using secondary_index the columns of --on make one key, in their order: which file groups have a row with it.""",
)
@_of_table
@click.option(
    "--on",
    "on",
    metavar="COLUMN",
    multiple=True,
    required=True,
    help='A column, or an expression in Spark\'s SQL such as "lower(city)"; may be given repeatedly.',
)
@click.option(
    "--using",
    "using",
    metavar="SKETCH",
    multiple=True,
    help=f'A sketch, such as "bloom_filter(fpp=0.01)"; may be given repeatedly. Default: {DEFAULT_SKETCH}.',
)
@click.option("--name", metavar="NAME", default="", help="Name of the index. Default: its columns.")
@click.option("--if-not-exists", "if_needed", is_flag=True, help="Do nothing when there is an index of this name.")
@_with_zone
@_with_spark
def create_command(
    table: str,
    on: Sequence[str],
    using: Sequence[str],
    name: str,
    if_needed: bool,
    time_zone: str | None,
    spark: bool,
    path: str,
    table_options: dict[str, str],
    storage_options: dict[str, str],
    as_json: bool,
) -> None:
    with _work(table, path, table_options, storage_options, spark, time_zone) as work:
        done = work.create(on, using, name, if_needed=if_needed)
    _tell([done], as_json, one=True)


@command.command("list")
@_of_table
def list_command(
    table: str, path: str, table_options: dict[str, str], storage_options: dict[str, str], as_json: bool
) -> None:
    """List the indexes of TABLE."""
    _list(IndexWork(table, path, table_options, storage_options), as_json)


@command.command("show")
@_of_table
@click.argument("name", default="")
def show_command(
    table: str, name: str, path: str, table_options: dict[str, str], storage_options: dict[str, str], as_json: bool
) -> None:
    """Show an index of TABLE: what it holds, its size, and how far the table is ahead of it."""
    work = IndexWork(table, path, table_options, storage_options)
    opened = work.open()
    place = work.one(opened, name)
    if place.index is None:
        raise TableError(place.folder.path, place.fault)
    behind, benefits = staleness(opened, place.index), benefits_at(opened, place.folder)
    if as_json:
        click.echo(json_text(place_report(place, behind, benefits)))
    else:
        show_place(place, behind, _console(), benefits)


@command.command("refresh")
@_of_table
@click.argument("name", default="")
@click.option("--full", is_flag=True, help="Build every file again, not only new ones.")
@_with_spark
def refresh_command(
    table: str,
    name: str,
    full: bool,
    spark: bool,
    path: str,
    table_options: dict[str, str],
    storage_options: dict[str, str],
    as_json: bool,
) -> None:
    """Bring the index NAME of TABLE up to the latest commit, or all indexes."""
    with _work(table, path, table_options, storage_options, spark) as work:
        done = work.refresh(name, full=full)
    _tell(done, as_json)


@command.command("optimize")
@_of_table
@click.argument("name", default="")
def optimize_command(
    table: str, name: str, path: str, table_options: dict[str, str], storage_options: dict[str, str], as_json: bool
) -> None:
    """Put what many refreshes left of the index NAME together, or of all indexes."""
    with _work(table, path, table_options, storage_options) as work:
        done = work.optimize(name)
    _tell(done, as_json)


@command.command("vacuum")
@_of_table
@click.argument("name", default="")
@click.option(
    "--retain-hours",
    metavar="HOURS",
    type=click.FloatRange(min=0),
    default=None,
    help="Keep what is younger, for readers and builders that are at it. Default: 168 (7 days).",
)
def vacuum_command(
    table: str,
    name: str,
    retain_hours: float | None,
    path: str,
    table_options: dict[str, str],
    storage_options: dict[str, str],
    as_json: bool,
) -> None:
    """Remove files that no version of the index NAME needs any more, or of all indexes."""
    with _work(table, path, table_options, storage_options) as work:
        done = work.vacuum(name, None if retain_hours is None else timedelta(hours=retain_hours))
    _tell(done, as_json)


@command.command("drop")
@_of_table
@click.argument("name", default="")
@click.option("--if-exists", "if_needed", is_flag=True, help="Do nothing when there is no index of this name.")
def drop_command(
    table: str,
    name: str,
    if_needed: bool,
    path: str,
    table_options: dict[str, str],
    storage_options: dict[str, str],
    as_json: bool,
) -> None:
    """Remove the index NAME of TABLE. The table's data stays as it is."""
    work = IndexWork(table, path, table_options, storage_options)
    _tell([work.drop(name, if_needed=if_needed)], as_json, one=True)


@click.command("sql")
@click.argument("statement")
@with_table_options
@with_storage_options
@_with_zone
@_with_spark
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def sql_command(
    statement: str,
    table_options: dict[str, str],
    storage_options: dict[str, str],
    time_zone: str | None,
    spark: bool,
    as_json: bool,
) -> None:
    """Run a statement about indexes.

    \b
    sargo sql "CREATE INDEX IF NOT EXISTS by_city ON TABLE '/data/trips' USING bloom_filter(city)"
    sargo sql "CREATE INDEX idx_city ON TABLE '/data/trips' USING secondary_index(city)"
    sargo sql "SHOW INDEXES FROM TABLE '/data/trips'"
    sargo sql "REFRESH INDEX by_city ON TABLE '/data/trips'"
    sargo sql "DROP INDEX by_city ON TABLE '/data/trips'"
    """
    found = parse_statement(statement)
    options = dict(found.options)
    path = options.pop("path", "")
    if found.action == "list":
        _list(IndexWork(found.table, path, table_options, storage_options), as_json)
        return
    with _work(found.table, path, table_options, storage_options, spark, time_zone) as work:
        done = _run(work, found, options)
    _tell(done, as_json, one=True)


def _run(work: IndexWork, found: IndexStatement, options: dict[str, str]) -> list[Report]:
    match found.action:
        case "create":
            return [
                work.create_of(
                    [(on, _sketch(kind, options)) for on, kind in found.uses], found.name, if_needed=found.if_needed
                )
            ]
        case "refresh":
            return work.refresh(found.name, full=found.full)
        case "optimize":
            return work.optimize(found.name)
        case "vacuum":
            return work.vacuum(found.name)
        case "drop":
            return [work.drop(found.name, if_needed=found.if_needed)]
        case other:
            raise StatementError(other, f"{other} is not there yet")


def _sketch(kind: str, options: dict[str, str]) -> str:
    """A sketch as its own text."""
    return f"{kind}({', '.join(f'{name}={value}' for name, value in options.items())})" if options else kind


def _list(work: IndexWork, as_json: bool) -> None:
    places = work.locations(work.open())
    if as_json:
        click.echo(json_text({"table": work.table_path, "indexes": [place_report(one) for one in places]}))
    else:
        show_places(places, work.table_path, _console())


def _tell(done: Sequence[Report], as_json: bool, *, one: bool = False) -> None:
    if as_json:
        documents = [report_of(report) for report in done]
        click.echo(json_text(documents[0] if one else {"indexes": documents}))
    else:
        show_reports(done, _console())


def _console() -> Console:
    return Console(soft_wrap=False, width=None if sys.stdout.isatty() else 120, highlight=False)


@contextmanager
def _work(
    table: str,
    path: str,
    table_options: dict[str, str],
    storage_options: dict[str, str],
    spark: bool = False,
    time_zone: str | None = None,
) -> Iterator[IndexWork]:
    """Work with a progress bar on stderr, when a person looks at it."""
    work = IndexWork(table, path, table_options, storage_options, spark=spark, time_zone=time_zone)
    console = Console(stderr=True)
    if not console.is_terminal:
        yield work
        return
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        transient=True,
    ) as bars:
        tasks: dict[str, Any] = {}

        def progress(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what, total=total)
            bars.update(tasks[what], completed=done, total=total)

        yield replace(work, progress=progress)
