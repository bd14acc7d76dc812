"""``sargo index`` and ``sargo sql``: create, refresh and drop indexes that the table's writer does not maintain."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import click

from evaluator.language.records import frozen
from handler.cli.exit_codes import InputError
from handler.cli.output.consoles import print_json, stderr_console, stdout_console
from handler.cli.table_options import table_argument, with_options, with_storage_options, with_table_options

if TYPE_CHECKING:
    from handler.indexes.operations import IndexWork, Report
    from handler.indexes.statements import IndexStatement

__all__ = ["command", "sql_command"]

#: As ``index_store.own.sketches`` and ``handler.indexes.operations``, which are not imported for the help.
SKETCHES = ("null_count", "nan_count", "min_max", "value_list", "prefix_set", "partition", "bloom_filter", "sum")
DEFAULT_SKETCH = "min_max"


#: About a thousand years.
_MAX_HOURS = 10_000_000


def _number(context: click.Context, parameter: click.Parameter, value: float | None) -> float | None:
    """Refuse NaN, which is in every range."""
    del context
    if value is not None and math.isnan(value):
        raise click.BadParameter("it is not a number", param=parameter)
    return value


@frozen
class _TableArguments:
    """The arguments that every command has: the table, the folder of its index, and the form of the output."""

    table: str
    path: str
    table_options: dict[str, str]
    storage_options: dict[str, str]
    as_json: bool

    def work(self) -> IndexWork:
        """The indexes of the table, without a progress bar."""
        from handler.indexes.operations import IndexWork

        return IndexWork(self.table, self.path, self.table_options, self.storage_options)


def _of_table(command: Callable[..., None]) -> Any:
    """Add the options of ``_TableArguments`` to a command, which is called with them as one record."""

    @functools.wraps(command)
    def call_with_arguments(
        table: str,
        path: str,
        table_options: dict[str, str],
        storage_options: dict[str, str],
        as_json: bool,
        **others: Any,
    ) -> None:
        command(_TableArguments(table, path, table_options, storage_options, as_json), **others)

    return with_options(
        table_argument,
        click.option(
            "--path",
            metavar="FOLDER",
            default="",
            help="The folder of the index, when it is not beside the table's data: local or a URI.",
        ),
        with_table_options,
        with_storage_options,
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
    )(call_with_arguments)


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
    arguments: _TableArguments,
    on: Sequence[str],
    using: Sequence[str],
    name: str,
    if_needed: bool,
    time_zone: str | None,
    spark: bool,
) -> None:
    with _with_progress(arguments, spark=spark, time_zone=time_zone) as work:
        report = work.create(on, using, name, if_needed=if_needed)
    _print_report(report, arguments.as_json)


@command.command("list")
@_of_table
def list_command(arguments: _TableArguments) -> None:
    """List the indexes of TABLE."""
    _print_list(arguments)


@command.command("show")
@_of_table
@click.argument("name", default="")
def show_command(arguments: _TableArguments, name: str) -> None:
    """Show an index of TABLE: what it holds, its size, and how far the table is ahead of it."""
    from handler.indexes.benefit import benefits_at
    from handler.indexes.operations import staleness
    from handler.views.index import place_report, show_place
    from index_store import TableError

    work = arguments.work()
    opened = work.open()
    location = work.one(opened, name)
    if location.index is None:
        raise TableError(location.folder.path, location.fault)
    behind, benefits = staleness(opened, location.index), benefits_at(opened, location.index)
    if arguments.as_json:
        print_json(place_report(location, behind, benefits))
    else:
        show_place(location, behind, stdout_console(), benefits)


@command.command("refresh")
@_of_table
@click.argument("name", default="")
@click.option("--full", is_flag=True, help="Build every file again, not only new ones.")
@_with_spark
def refresh_command(arguments: _TableArguments, name: str, full: bool, spark: bool) -> None:
    """Bring the index NAME of TABLE up to the latest commit, or all indexes."""
    with _with_progress(arguments, spark=spark) as work:
        reports = work.refresh(name, full=full)
    _print_reports(reports, arguments.as_json)


@command.command("optimize")
@_of_table
@click.argument("name", default="")
def optimize_command(arguments: _TableArguments, name: str) -> None:
    """Put what many refreshes left of the index NAME together, or of all indexes."""
    with _with_progress(arguments) as work:
        reports = work.optimize(name)
    _print_reports(reports, arguments.as_json)


@command.command("vacuum")
@_of_table
@click.argument("name", default="")
@click.option(
    "--retain-hours",
    metavar="HOURS",
    type=click.FloatRange(min=0, max=_MAX_HOURS),
    default=None,
    callback=_number,
    help="Keep what is younger, for readers and builders that are at it. Default: 168 (7 days).",
)
def vacuum_command(arguments: _TableArguments, name: str, retain_hours: float | None) -> None:
    """Remove files that no version of the index NAME needs any more, or of all indexes."""
    with _with_progress(arguments) as work:
        reports = work.vacuum(name, None if retain_hours is None else timedelta(hours=retain_hours))
    _print_reports(reports, arguments.as_json)


@command.command("drop")
@_of_table
@click.argument("name", default="")
@click.option("--if-exists", "if_needed", is_flag=True, help="Do nothing when there is no index of this name.")
def drop_command(arguments: _TableArguments, name: str, if_needed: bool) -> None:
    """Remove the index NAME of TABLE. The table's data stays as it is."""
    _print_report(arguments.work().drop(name, if_needed=if_needed), arguments.as_json)


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
    from handler.indexes.statements import parse_statement

    parsed = parse_statement(statement)
    if not parsed.table.strip():
        raise InputError("the statement's table is empty")
    options = dict(parsed.options)
    path = options.pop("path", "")
    arguments = _TableArguments(parsed.table, path, table_options, storage_options, as_json)
    if parsed.action == "list":
        _print_list(arguments)
        return
    with _with_progress(arguments, spark=spark, time_zone=time_zone) as work:
        reports = _run(work, parsed, options)
    if as_json:
        _print_report(reports[0], as_json)
    else:
        _print_reports(reports, as_json)


def _run(work: IndexWork, parsed: IndexStatement, options: dict[str, str]) -> list[Report]:
    match parsed.action:
        case "create":
            return [
                work.create_of(
                    [(on, _sketch(kind, options)) for on, kind in parsed.uses], parsed.name, if_needed=parsed.if_needed
                )
            ]
        case "refresh":
            return work.refresh(parsed.name, full=parsed.full)
        case "optimize":
            return work.optimize(parsed.name)
        case "vacuum":
            return work.vacuum(parsed.name)
        case "drop":
            return [work.drop(parsed.name, if_needed=parsed.if_needed)]
        case other:
            from handler.indexes.statements import StatementError

            raise StatementError(other, f"{other} is not there yet")


def _sketch(kind: str, options: dict[str, str]) -> str:
    """A sketch as its own text."""
    return f"{kind}({', '.join(f'{name}={value}' for name, value in options.items())})" if options else kind


def _print_list(arguments: _TableArguments) -> None:
    from handler.views.index import place_report, show_places

    work = arguments.work()
    locations = work.locations(work.open())
    if arguments.as_json:
        print_json({"table": work.table_path, "indexes": [place_report(one) for one in locations]})
    else:
        show_places(locations, work.table_path, stdout_console())


def _print_report(report: Report, as_json: bool) -> None:
    from handler.views.index import report_of, show_reports

    if as_json:
        print_json(report_of(report))
    else:
        show_reports([report], stdout_console())


def _print_reports(reports: Sequence[Report], as_json: bool) -> None:
    from handler.views.index import report_of, show_reports

    if as_json:
        print_json({"indexes": [report_of(report) for report in reports]})
    else:
        show_reports(reports, stdout_console())


@contextmanager
def _with_progress(
    arguments: _TableArguments, *, spark: bool = False, time_zone: str | None = None
) -> Iterator[IndexWork]:
    """The indexes of a table, with a progress bar on stderr if that is a terminal."""
    work = replace(arguments.work(), spark=spark, time_zone=time_zone)
    console = stderr_console()
    if console is None:
        yield work
        return
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

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
