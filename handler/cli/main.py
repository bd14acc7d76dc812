"""The command line ``sargo``: the command group, and the commands decode, inspect, files, prune, explain and demo.

The other commands have a module each (``advise_command``, ``index_command``, ...), imported when the command is named.
A command imports what it needs when it runs, so that help costs no library. ``exit_codes`` has the exit codes.
An error is one line on stderr. With ``--json`` stdout is one JSON document and nothing else.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from handler.cli.completion_command import COMPLETE_VARIABLE
from handler.cli.exit_codes import (
    BAD_INPUT,
    NO_SPACE,
    OK,
    STOPPED,
    TRACEBACK_VARIABLE,
    InputError,
    code_and_message,
    exit_code_lines,
    leave_with,
)
from handler.cli.extras import needs_extra
from handler.cli.filter_options import check_session, with_plan
from handler.cli.html_option import html_option, write_page
from handler.cli.inspect_page_option import check_what_if, inspected_page, what_if_option
from handler.cli.output.consoles import print_json, print_text, spinner, stdout_console
from handler.cli.output.encodable_output import EncodableOutput, OutputError
from handler.cli.prune_formats import print_plan, with_formats
from handler.cli.table_options import table_argument, with_storage_options, with_table_options
from handler.cli.text_arguments import read_filter_argument
from handler.version import VERSION

if TYPE_CHECKING:
    from handler.planning.plan import Plan

__all__ = ["main"]


#: As ``handler.advise.remedies.DEFAULT_SECONDS``, which is not imported for the help; the longest that can be given.
_SECONDS, _MAX_SECONDS = 5.0, 3600.0

#: command -> the module of ``handler.cli`` that has it, and its name there
_OTHER_COMMANDS = {
    "advise": ("advise_command", "command"),
    "cache": ("cache_command", "command"),
    "completion": ("completion_command", "command"),
    "conf": ("conf_command", "command"),
    "diff": ("diff_command", "command"),
    "doctor": ("doctor_command", "command"),
    "index": ("index_command", "command"),
    "jar": ("jar_command", "command"),
    "report": ("report_command", "command"),
    "serve": ("serve_command", "command"),
    "sql": ("index_command", "sql_command"),
}


class _Sargo(click.Group):
    """The command group: every error is printed as one line and becomes an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in alphabetical order."""
        return sorted({*super().list_commands(ctx), *_OTHER_COMMANDS})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name; None: there is none."""
        if cmd_name not in _OTHER_COMMANDS:
            return super().get_command(ctx, cmd_name)
        module, member = _OTHER_COMMANDS[cmd_name]
        command = getattr(import_module(f"handler.cli.{module}"), member)
        assert isinstance(command, click.Command)
        return command

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
        if os.environ.get(COMPLETE_VARIABLE):
            self._complete(prog_name or "sargo")
        try:
            code = self._answer(list(sys.argv[1:] if args is None else args), prog_name or "sargo", extra)
        except KeyboardInterrupt:
            leave_with(STOPPED, "stopped")
        except Exception as error:
            if os.environ.get(TRACEBACK_VARIABLE):
                import traceback

                traceback.print_exc()
            leave_with(*code_and_message(error))
        sys.exit(code)

    def _complete(self, name: str) -> NoReturn:
        """Answer the shell, which asks for completions by a variable of the environment."""
        from click.shell_completion import shell_complete

        try:
            code = shell_complete(self, {}, name, COMPLETE_VARIABLE, os.environ[COMPLETE_VARIABLE])
            EncodableOutput(sys.stdout).flush()
        except Exception as error:
            leave_with(
                BAD_INPUT, f"{COMPLETE_VARIABLE}={os.environ[COMPLETE_VARIABLE]} is no request for completions: {error}"
            )
        leave_with(
            BAD_INPUT if code else OK,
            f"{COMPLETE_VARIABLE}={os.environ[COMPLETE_VARIABLE]} is not known" if code else "",
        )

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


@click.group(cls=_Sargo, epilog=exit_code_lines(), context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="sargo")
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
@html_option
@what_if_option
def inspect(
    table: str,
    as_of: str | None,
    table_options: dict[str, str],
    storage_options: dict[str, str],
    as_json: bool,
    html_file: str | None,
    arrangement: str | None,
) -> None:
    """Show a table: version, instants, slices, indexes, coverage, statistics that are not trusted."""
    check_session(None, as_of)
    check_what_if(arrangement, html_file, as_of)
    from handler.inspection.table_report import report_table
    from handler.views.table import show_table
    from index_store.opened_table import open_table

    with spinner("reading the table"):
        opened = open_table(table, table_options, storage_options=storage_options)
        report = report_table(opened, as_of)
        page = None if html_file is None else inspected_page(opened, report, as_of, arrangement)
    if page is not None and html_file is not None:
        write_page(page, html_file, with_json=as_json)
        if not as_json or html_file == "-":
            return
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
    check_session(None, as_of)
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
@with_plan
@with_formats
def prune_command(plan: Plan, as_json: bool, form: str | None, as_paths: bool, nul: bool) -> None:
    """Answer which file slices of TABLE a filter needs.

    \b
    sargo prune /data/trips --where "fare > 50 AND city = 'sf'"
    sargo prune /data/trips --hive-filter @filter.b64 --json
    sargo prune /data/trips --where "fare > 50" --paths
    """
    print_plan(plan, form, as_json=as_json, as_paths=as_paths, nul=nul)


@main.command()
@with_plan
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
@html_option
def explain(plan: Plan, as_json: bool, file_id: str | None, seconds: float, html_file: str | None) -> None:
    """Show what each condition of a filter skips in TABLE, why not more, and what would help."""
    if file_id is not None and html_file is not None:
        raise click.UsageError("give either --file or --html: the page shows all files")
    from handler.advise.remedies import what_helps
    from handler.views.explain import explained, file_report, show_explanation, show_file

    indices = [i for i, item in enumerate(plan.slices) if file_id is not None and item.file_id.startswith(file_id)]
    if file_id is not None and len(indices) != 1:
        found = f"{len(indices) or 'no'} file slices have an id that starts with {file_id}"
        raise InputError(f"{found}, one is expected: see 'sargo prune'")
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
    if html_file is not None:
        with needs_extra("explain --html", "html"):
            from handler.pages.explain_page import explain_page

            page = explain_page(plan, help_)
        write_page(page, html_file, with_json=as_json)
        if not as_json or html_file == "-":
            return
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
        code = demonstration.run(stdout_console(), None if keep is None else Path(keep).absolute())
    except OSError as error:
        if keep is None or error.errno in NO_SPACE:
            raise
        raise InputError(f"cannot write --keep {keep}: {error.strerror or error}") from error
    sys.exit(code)
