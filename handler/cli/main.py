"""The command line ``sargo``: the command group, and the commands decode, inspect, files, prune, explain and demo.

The other commands have a module each (``advise_command``, ``index_command``, ...). A command imports what it needs when
it runs, so that help costs no library. ``exit_codes`` has the exit codes. An error is one line on stderr. With
``--json`` stdout is one JSON document and nothing else.
"""

from __future__ import annotations

import functools
import math
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from evaluator.language.errors import UnsupportedError
from evaluator.language.semantics import ENGINES, Semantics
from handler.cli.advise_command import command as advise_command
from handler.cli.cache_command import command as cache_command
from handler.cli.consoles import print_json, print_text, spinner, stdout_console
from handler.cli.doctor_command import command as doctor_command
from handler.cli.encodable_output import EncodableOutput, OutputError
from handler.cli.exit_codes import (
    BAD_INPUT,
    NO_SPACE,
    OK,
    STOPPED,
    TRACEBACK_VARIABLE,
    InputError,
    code_and_message,
    exit_code_lines,
    message_line,
)
from handler.cli.index_command import command as index_command
from handler.cli.index_command import sql_command
from handler.cli.report_command import command as report_command
from handler.cli.serve_command import command as serve_command
from handler.cli.table_options import table_argument, with_options, with_storage_options, with_table_options
from handler.cli.text_arguments import read_filter_argument, read_sql_argument

if TYPE_CHECKING:
    from evaluator.language.clock import Clock
    from handler.planning.filters import ReadFilter
    from handler.planning.plan import Plan
    from handler.sql.parsing import Engine

__all__ = ["main"]


#: The variable in which a shell asks for completions.
_COMPLETE = "_SARGO_COMPLETE"
#: As ``handler.advise.remedies.DEFAULT_SECONDS``, which is not imported for the help; the longest that can be given.
_SECONDS, _MAX_SECONDS = 5.0, 3600.0


class _Sargo(click.Group):
    """The command group: every error is printed as one line and becomes an exit code."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        if os.environ.get(_COMPLETE):
            self._complete(prog_name or "sargo")
        try:
            code = self._answer(list(sys.argv[1:] if args is None else args), prog_name or "sargo", extra)
        except KeyboardInterrupt:
            _exit(STOPPED, "stopped")
        except Exception as error:
            if os.environ.get(TRACEBACK_VARIABLE):
                import traceback

                traceback.print_exc()
            _exit(*code_and_message(error))
        sys.exit(code)

    def _complete(self, name: str) -> NoReturn:
        """Answer the shell, which asks for completions by a variable of the environment."""
        from click.shell_completion import shell_complete

        try:
            code = shell_complete(self, {}, name, _COMPLETE, os.environ[_COMPLETE])
            EncodableOutput(sys.stdout).flush()
        except Exception as error:
            _exit(BAD_INPUT, f"{_COMPLETE}={os.environ[_COMPLETE]} is no request for completions: {error}")
        _exit(BAD_INPUT if code else OK, f"{_COMPLETE}={os.environ[_COMPLETE]} is not known" if code else "")

    def _answer(self, arguments: list[str], name: str, extra: dict[str, Any]) -> int:
        """Run the command; the exit code. click's ``main`` answers errors with codes of its own and other streams."""
        code: object = OK
        if any("\0" in one for one in arguments):
            raise InputError("an argument holds a NUL character")
        try:
            with self.make_context(name, arguments, **extra) as context:
                self.invoke(context)
        except click.exceptions.Exit as end:
            code = end.exit_code
        except click.exceptions.NoArgsIsHelpError as error:
            print_text(error.format_message())
        except SystemExit as end:
            code = end.code
        try:
            EncodableOutput(sys.stdout).flush()
        except OutputError as error:
            if not error.reader_left:
                raise
        return code if isinstance(code, int) else OK


def _exit(code: int, message: str) -> NoReturn:
    """Leave with a code, after one line on stderr; a stderr that cannot be written changes nothing."""
    if message:
        with suppress(OSError, ValueError):
            click.echo(f"sargo: {message_line(message)}", err=True)
    sys.exit(code)


def _chosen_filter(where: str | None, hive_filter: str | None, engine: Engine | None) -> tuple[ReadFilter, Engine]:
    """The filter of exactly one of the two options, and the engine whose rules it follows."""
    if (where is None) == (hive_filter is None):
        raise click.UsageError("give either --where SQL|@FILE|- or --hive-filter B64|@FILE|-")
    from handler.planning.filters import ReadFilter, read_condition

    if where is not None:
        text = read_sql_argument(where)
        return read_condition(text, engine or "spark"), engine or "spark"
    assert hive_filter is not None
    given = read_filter_argument(hive_filter)
    import sarg

    return ReadFilter(sarg.decode(given)), engine or "hive"


def _chosen_clock(
    as_of_clock: str | None, skew: float | None, time_zone: str | None, *, is_of_hive: bool
) -> Clock | None:
    """The clock of the query. Hive fixes its own before the filter is written, so nothing is known of it."""
    from handler.planning.clocks import CLOCK_SKEW, check_clock, clock_of

    skew = CLOCK_SKEW if skew is None else skew
    try:
        check_clock(as_of_clock, skew)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    return None if as_of_clock is None and is_of_hive else clock_of(as_of_clock, skew, time_zone)


def _with_plan(command: Callable[..., None]) -> Any:
    """Add the options of a table and a filter to a command, which is called with their plan in their place."""

    @functools.wraps(command)
    def call_with_plan(
        table: str,
        where: str | None,
        hive_filter: str | None,
        engine: Engine | None,
        as_of: str | None,
        table_options: dict[str, str],
        storage_options: dict[str, str],
        time_zone: str | None,
        as_of_clock: str | None,
        clock_skew: float | None,
        alias: str | None,
        strict: bool,
        **others: Any,
    ) -> None:
        read, rules = _chosen_filter(where, hive_filter, engine)
        _check_session(time_zone, as_of)
        clock = _chosen_clock(as_of_clock, clock_skew, time_zone, is_of_hive=hive_filter is not None)
        from handler.planning.arguments import check_alias
        from handler.planning.prune import OnFailure, plan_expression
        from index_store.opened_table import open_table

        check_alias(alias)
        with spinner("pruning"):
            opened = open_table(table, table_options, storage_options=storage_options)
            on_failure = OnFailure.RAISE if strict else OnFailure.SKIP_NOTHING
            plan = plan_expression(
                opened, read, rules, as_of, time_zone, clock=clock, on_failure=on_failure, alias=alias
            )
        command(plan, **others)

    return with_options(
        table_argument,
        click.option("--where", metavar="SQL|@FILE|-", help="A condition, such as \"fare > 50 AND city = 'sf'\"."),
        click.option("--hive-filter", metavar="B64|@FILE|-", help="The value of hive.io.filter.expr.serialized."),
        click.option(
            "--engine",
            type=click.Choice(ENGINES),
            help="Whose rules hold. Default: spark for --where, hive for --hive-filter.",
        ),
        click.option("--as-of", metavar="INSTANT", help="Answer for the table as of this instant or date."),
        with_table_options,
        with_storage_options,
        click.option("--time-zone", metavar="ZONE", help="Session zone of the query. Default: this machine's."),
        click.option("--alias", metavar="NAME", help="The table's name in the query (o.fare). Default: the one used."),
        click.option(
            "--as-of-clock",
            metavar="MOMENT",
            help="When the query runs, if its filter reads the clock. Default: from now on.",
        ),
        click.option(
            "--clock-skew",
            type=float,
            metavar="SECONDS",
            help="By how much the clock of the query may be behind this machine's. Default: 300.",
        ),
        click.option(
            "--strict",
            is_flag=True,
            help="Fail instead of skipping nothing: unknown columns, indexes that cannot be read.",
        ),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
    )(call_with_plan)


@click.group(cls=_Sargo, epilog=exit_code_lines(), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="sargo", prog_name="sargo")
def main() -> None:
    """File skipping for Apache Hudi tables, from Hive and from Spark."""
    import logging

    # A text that sqlglot cannot parse is reported as an error, without its warning.
    logging.getLogger("sqlglot").setLevel(logging.CRITICAL)


@main.command()
@click.argument("filter_", metavar="FILTER|@FILE|-")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--raw", is_flag=True, help="Print Hive's typed tree as JSON and nothing else.")
def decode(filter_: str, as_json: bool, raw: bool) -> None:
    """Show what is in a Hive filter (hive.io.filter.expr.serialized, Base64 or bytes)."""
    given = read_filter_argument(filter_)
    import sarg

    if raw:
        print_json(sarg.decode_exprnode(given).to_dict())
        return
    decoded = sarg.decode_detailed(given)
    if as_json:
        from evaluator.language.expression import to_dict, to_text

        hive = None if decoded.exprnode is None else decoded.exprnode.to_dict()
        print_json(
            {
                "profile": str(decoded.profile),
                "hive": hive,
                "filter": {"text": to_text(decoded.expression), "tree": to_dict(decoded.expression)},
            }
        )
        return
    from handler.views.decode import show_decoded

    show_decoded(decoded, stdout_console())


@main.command()
@table_argument
@click.option("--as-of", metavar="INSTANT", help="Look at the table as of this instant or date.")
@with_table_options
@with_storage_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def inspect(
    table: str, as_of: str | None, table_options: dict[str, str], storage_options: dict[str, str], as_json: bool
) -> None:
    """Show a table: version, instants, slices, indexes, coverage, statistics that are not trusted."""
    _check_session(None, as_of)
    from handler.inspection.table_report import report_table
    from handler.views.table import show_table
    from index_store.opened_table import open_table

    with spinner("reading the table"):
        report = report_table(open_table(table, table_options, storage_options=storage_options), as_of)
    if as_json:
        print_json(report.to_dict())
    else:
        show_table(report, stdout_console())


@main.command()
@table_argument
@click.option("--partition", metavar="PATH", help="Show the files of this partition, such as dt=2026-01-01.")
@click.option("--as-of", metavar="INSTANT", help="Show the files of the slices of this instant or date only.")
@with_storage_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def files(table: str, partition: str | None, as_of: str | None, storage_options: dict[str, str], as_json: bool) -> None:
    """List a table's partitions, or the files of one, from the metadata table: no directory is listed."""
    _check_session(None, as_of)
    from handler.inspection.listing_report import report_files
    from handler.views.listing import show_files
    from index_store.opened_table import open_table

    with spinner("reading the list of files"):
        report = report_files(open_table(table, storage_options=storage_options), partition, as_of)
    if as_json:
        print_json(report.to_dict())
    else:
        show_files(report, stdout_console())


@main.command("prune")
@_with_plan
def prune_command(plan: Plan, as_json: bool) -> None:
    """Answer which file slices of TABLE a filter needs.

    \b
    sargo prune /data/trips --where "fare > 50 AND city = 'sf'"
    sargo prune /data/trips --hive-filter @filter.b64 --json
    """
    if as_json:
        print_json(plan.to_dict())
    else:
        from handler.views.plan import show_plan

        show_plan(plan, stdout_console())


@main.command()
@_with_plan
@click.option("--file", "file_id", metavar="FILE_ID", help="Show every condition in one file slice; a prefix will do.")
@click.option(
    "--what-if-seconds",
    "seconds",
    metavar="SECONDS",
    type=click.FloatRange(min=0, max=_MAX_SECONDS),
    default=_SECONDS,
    show_default=True,
    help="How long data files may be read to find out what would help; 0: not at all.",
)
def explain(plan: Plan, as_json: bool, file_id: str | None, seconds: float) -> None:
    """Show what each condition of a filter skips in TABLE, why not more, and what would help."""
    from handler.advise.remedies import what_helps
    from handler.views.explain import explained, file_report, show_explanation, show_file

    indices = [i for i, item in enumerate(plan.slices) if file_id is not None and item.file_id.startswith(file_id)]
    if file_id is not None and len(indices) != 1:
        raise InputError(f"{len(indices)} file slices have an id that starts with {file_id}: see 'sargo prune'")
    if math.isnan(seconds):
        raise InputError("--what-if-seconds is not a number")
    if indices:
        if as_json:
            print_json({**plan.to_dict(), "file": file_report(plan, indices[0])})
        else:
            show_file(plan, indices[0], stdout_console())
        return
    with spinner("asking the data what would help"):
        help_ = what_helps(plan, seconds)
    if as_json:
        print_json(explained(plan, help_))
    else:
        show_explanation(plan, stdout_console(), help_)


@main.command()
@click.option(
    "--keep",
    metavar="FOLDER",
    help="Leave the table and the filters in FOLDER, to try the other commands on.",
)
def demo(keep: str | None) -> None:
    """Skip files of a real Hudi table with real Hive filters, and prove that no row is lost."""
    if keep is not None and (not keep or "\0" in keep):
        raise InputError("--keep needs the name of a folder")
    from handler.demo import run as demonstration

    try:
        code = demonstration.run(stdout_console(), None if keep is None else Path(keep))
    except OSError as error:
        if keep is None or error.errno in NO_SPACE:
            raise
        raise InputError(f"cannot write --keep {keep}: {error.strerror or error}") from error
    sys.exit(code)


main.add_command(advise_command)
main.add_command(cache_command)
main.add_command(index_command)
main.add_command(sql_command)
main.add_command(serve_command)
main.add_command(report_command)
main.add_command(doctor_command)


def _check_session(time_zone: str | None, as_of: str | None) -> None:
    """Refuse a zone or an instant that cannot be one before a table is opened."""
    from index_store.table.timeline import parse_as_of

    try:
        Semantics.named("spark", time_zone)
        if as_of is not None:
            parse_as_of(as_of)
    except (UnsupportedError, ValueError) as error:
        raise InputError(str(error)) from error
