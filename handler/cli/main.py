"""The command line ``sargo``: the command group, and the commands decode, inspect, files, prune, explain and demo.

The other commands have a module each (``advise_command``, ``index_command``, ...).

Exit codes: 0 answered, 2 the input cannot be read, 3 the table cannot be read. An error is one line on stderr. With
``--json`` stdout is one JSON document and nothing else.
"""

from __future__ import annotations

import functools
import importlib
import logging
import os
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, NoReturn

import click

import sarg
from evaluator.language.errors import SargoError, UnsupportedError
from evaluator.language.expression import HudiExpression, to_dict, to_text
from evaluator.language.semantics import ENGINES, Semantics
from handler.cli.advise_command import command as advise_command
from handler.cli.cache_command import command as cache_command
from handler.cli.consoles import spinner, stdout_console
from handler.cli.index_command import command as index_command
from handler.cli.index_command import sql_command
from handler.cli.table_options import with_options, with_storage_options, with_table_options
from handler.demo import run as demonstration
from handler.inspection.listing_report import report_files
from handler.inspection.table_report import TableReport, report_table
from handler.planning.filters import is_hive_filter
from handler.planning.plan import Plan
from handler.planning.prune import prune
from handler.sql.parsing import Engine, SqlError, parse
from handler.views.decode import show_decoded
from handler.views.explain import file_report, show_explanation, show_file
from handler.views.json_text import json_text
from handler.views.listing import show_files
from handler.views.plan import show_plan
from handler.views.table import show_table
from index_store import StatsError, TableError
from index_store.opened_table import open_table
from index_store.table.timeline import parse_as_of

# A text that sqlglot cannot parse is reported as an error, without its warning.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

__all__ = ["BAD_INPUT", "UNREADABLE_TABLE", "main"]

BAD_INPUT, UNREADABLE_TABLE = 2, 3
#: A longer input is cut. The limit is above the largest filter that is decoded, so a cut input is refused.
MAX_BYTES = 32 << 20

_HINTS: dict[type[SargoError], str] = {
    StatsError: "leave out --strict to answer without this index",
    SqlError: "see 'sargo prune --help' for examples",
    sarg.DecodeError: "give the whole value of hive.io.filter.expr.serialized, or @FILE",
}


class _InputError(click.ClickException):
    exit_code = BAD_INPUT


class _LazyCommand(click.Command):
    """A command whose module needs the libraries of an extra, and is imported when it is called."""

    def __init__(self, name: str, module: str, extra: str, short_help: str) -> None:
        super().__init__(name, short_help=short_help)
        self._module = module
        self._extra = extra

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        try:
            command: click.Command = importlib.import_module(self._module).command
        except ImportError as error:
            raise _InputError(
                f"'sargo {self.name}' needs the extra '{self._extra}' ({error.name} is missing): "
                f"pip install 'sargo[{self._extra}]'"
            ) from error
        return command.make_context(info_name, args, parent, **extra)


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
        try:
            code = super().main(args, prog_name or "sargo", complete_var, standalone_mode=False, **extra)
            sys.stdout.flush()
        except click.exceptions.Abort:
            _exit(130, "stopped")
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.format_message())
            sys.exit(0)
        except click.ClickException as error:
            _exit(error.exit_code, error.format_message())
        except (TableError, StatsError) as error:
            _exit(UNREADABLE_TABLE, _with_hint(error))
        except SargoError as error:
            _exit(BAD_INPUT, _with_hint(error))
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the reader has closed the pipe: exit without a second error
            sys.exit(0)
        sys.exit(code if isinstance(code, int) else 0)


def _with_hint(error: SargoError) -> str:
    """The error, and a hint at the remedy."""
    if isinstance(error, TableError) and "not a Hudi table" in error.why:
        return f"{error}: give the folder that holds .hoodie"
    hint = _HINTS.get(type(error))
    return f"{error}: {hint}" if hint else str(error)


def _exit(code: int, message: str) -> NoReturn:
    click.echo("sargo: " + " ".join(message.split()), err=True)
    sys.exit(code)


def _print_json(document: object) -> None:
    click.echo(json_text(document))


def _read_hive_filter(argument: str) -> str | bytes:
    """The text itself, the content of @FILE, or stdin for ``-``: Base64 or raw bytes."""
    content: bytes
    if argument == "-":
        content = sys.stdin.buffer.read(MAX_BYTES)
    elif argument.startswith("@"):
        try:
            with Path(argument[1:]).open("rb") as file:
                content = file.read(MAX_BYTES)
        except OSError as error:
            raise _InputError(f"cannot read {argument[1:]}: {error.strerror}") from error
    else:
        return argument
    text = content.decode("ascii", errors="replace")
    return text.strip() if is_hive_filter(text) else content


def _chosen_filter(where: str | None, hive_filter: str | None, engine: Engine | None) -> tuple[HudiExpression, Engine]:
    """The filter of exactly one of the two options, and the engine whose rules it follows."""
    if (where is None) == (hive_filter is None):
        raise click.UsageError("give either --where SQL or --hive-filter B64|@FILE")
    if where is not None:
        return parse(where, engine or "spark"), engine or "spark"
    assert hive_filter is not None
    return sarg.decode(_read_hive_filter(hive_filter)), engine or "hive"


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
        strict: bool,
        **others: Any,
    ) -> None:
        expression, rules = _chosen_filter(where, hive_filter, engine)
        _check_session(time_zone, as_of)
        with spinner("pruning"):
            opened = open_table(table, table_options, storage_options=storage_options)
            plan = prune(opened, expression, rules, as_of, strict, time_zone)
        command(plan, **others)

    return with_options(
        click.argument("table"),
        click.option("--where", metavar="SQL", help="A condition, such as \"fare > 50 AND city = 'sf'\"."),
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
        click.option("--strict", is_flag=True, help="Fail instead of skipping nothing when an index cannot be read."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document."),
    )(call_with_plan)


@click.group(cls=_Sargo, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(version("sargo"), prog_name="sargo")
def main() -> None:
    """File skipping for Apache Hudi tables, from Hive and from Spark."""


@main.command()
@click.argument("filter_", metavar="FILTER|@FILE|-")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--raw", is_flag=True, help="Print Hive's typed tree as JSON and nothing else.")
def decode(filter_: str, as_json: bool, raw: bool) -> None:
    """Show what is in a Hive filter (hive.io.filter.expr.serialized, Base64 or bytes)."""
    given = _read_hive_filter(filter_)
    if raw:
        _print_json(sarg.decode_exprnode(given).to_dict())
        return
    decoded = sarg.decode_detailed(given)
    if as_json:
        hive = None if decoded.exprnode is None else decoded.exprnode.to_dict()
        _print_json(
            {
                "profile": str(decoded.profile),
                "hive": hive,
                "filter": {"text": to_text(decoded.expression), "tree": to_dict(decoded.expression)},
            }
        )
        return
    show_decoded(decoded, stdout_console())


@main.command()
@click.argument("table")
@click.option("--as-of", metavar="INSTANT", help="Look at the table as of this instant or date.")
@with_table_options
@with_storage_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def inspect(
    table: str, as_of: str | None, table_options: dict[str, str], storage_options: dict[str, str], as_json: bool
) -> None:
    """Show a table: version, instants, slices, indexes, coverage, statistics that are not trusted."""
    _check_session(None, as_of)
    with spinner("reading the table"):
        report: TableReport = report_table(open_table(table, table_options, storage_options=storage_options), as_of)
    if as_json:
        _print_json(report.to_dict())
    else:
        show_table(report, stdout_console())


@main.command()
@click.argument("table")
@click.option("--partition", metavar="PATH", help="Show the files of this partition, such as dt=2026-01-01.")
@click.option("--as-of", metavar="INSTANT", help="Show the files of the slices of this instant or date only.")
@with_storage_options
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def files(table: str, partition: str | None, as_of: str | None, storage_options: dict[str, str], as_json: bool) -> None:
    """List a table's partitions, or the files of one, from the metadata table: no directory is listed."""
    _check_session(None, as_of)
    with spinner("reading the list of files"):
        report = report_files(open_table(table, storage_options=storage_options), partition, as_of)
    if as_json:
        _print_json(report.to_dict())
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
        _print_json(plan.to_dict())
    else:
        show_plan(plan, stdout_console())


@main.command()
@_with_plan
@click.option("--file", "file_id", metavar="FILE_ID", help="Show every condition in one file slice; a prefix will do.")
def explain(plan: Plan, as_json: bool, file_id: str | None) -> None:
    """Show what each condition of a filter skips in TABLE, and why not more."""
    indices = [i for i, item in enumerate(plan.slices) if file_id is not None and item.file_id.startswith(file_id)]
    if file_id is not None and len(indices) != 1:
        raise _InputError(f"{len(indices)} file slices have an id that starts with {file_id}: see 'sargo prune'")
    if as_json:
        document = plan.to_dict()
        if indices:
            document["file"] = file_report(plan, indices[0])
        _print_json(document)
    elif indices:
        show_file(plan, indices[0], stdout_console())
    else:
        show_explanation(plan, stdout_console())


@main.command()
@click.option(
    "--keep",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    help="Leave the table and the filters in FOLDER, to try the other commands on.",
)
def demo(keep: Path | None) -> None:
    """Skip files of a real Hudi table with real Hive filters, and prove that no row is lost."""
    sys.exit(demonstration.run(stdout_console(), keep))


main.add_command(advise_command)
main.add_command(cache_command)
main.add_command(index_command)
main.add_command(sql_command)
main.add_command(
    _LazyCommand(
        "serve",
        "handler.cli.serve_command",
        "sidecar",
        "Answer Hive over Thrift which of the files it listed may be skipped.",
    )
)
main.add_command(
    _LazyCommand(
        "report",
        "handler.cli.report_command",
        "sidecar",
        "Show what the sidecar skipped for a query, and why not more.",
    )
)
main.add_command(
    _LazyCommand(
        "doctor",
        "handler.cli.doctor_command",
        "sidecar",
        "Check an installation: jar, settings, sidecar, tables, filters.",
    )
)


def _check_session(time_zone: str | None, as_of: str | None) -> None:
    """Refuse a zone or an instant that cannot be one before a table is opened."""
    try:
        Semantics.named("spark", time_zone)
        if as_of is not None:
            parse_as_of(as_of)
    except (UnsupportedError, ValueError) as error:
        raise _InputError(str(error)) from error
